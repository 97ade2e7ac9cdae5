"""Formgrader, in a real server: it grades through the kit and shows what a person must grade."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.course.released import grade_id_of
from autograder.notebook import read_notebook, write_notebook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.course import Course

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

ASSIGNMENT = "multi_head_attention"
NAME = "exercise2_split_heads"
START_S = 60
ANSWER = "Because **rows**.\n\nIt is <script>alert(1)</script><img src=x onerror=alert(2)> so."


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def formgrader(course: Course, tmp_path: Path) -> Iterator[str]:
    """Return the address of a Jupyter server on the course."""
    port = free_port()
    command = [
        str(Path(sys.executable).with_name("jupyter")),
        "server",
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--IdentityProvider.token=word",
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={course.root}",
    ]
    log = tmp_path / "server.log"
    with log.open("w") as file:
        server = subprocess.Popen(
            command,
            cwd=course.root,
            env=os.environ | {"HOME": str(tmp_path)},
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}/formgrader"
    try:
        wait_for(f"{address}/api/assignments", log)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def fetch(address: str, *, post: bool = False) -> str:
    """Return what the server answers."""
    request = urllib.request.Request(address, method="POST" if post else "GET", data=b"" if post else None)  # noqa: S310 - our own server
    request.add_header("Authorization", "token word")
    with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - the same
        text: str = answer.read().decode()
        return text


def wait_for(address: str, log: Path) -> None:
    """Wait until the server answers."""
    deadline_s = time.monotonic() + START_S
    while True:
        try:
            fetch(address)
        except (urllib.error.URLError, ConnectionError):
            assert time.monotonic() < deadline_s, log.read_text()
            time.sleep(0.3)
        else:
            return


def test_it_grades_a_submission_and_shows_it(course: Course, formgrader: str) -> None:
    """One click grades in the sandbox; the page a person grades on runs nothing of the student's."""
    notebook = read_notebook(course.release(ASSIGNMENT) / f"{NAME}.ipynb")
    for cell in notebook["cells"]:
        if grade_id_of(cell) == "explain_reshape_order":
            cell["source"] = ANSWER
    folder = course.submitted("ana", ASSIGNMENT)
    folder.mkdir(parents=True)
    write_notebook(folder / f"{NAME}.ipynb", notebook)
    (folder / "timestamp.txt").write_text("2026-11-01 12:00:00 UTC\n")

    done: dict[str, Any] = json.loads(
        fetch(f"{formgrader}/api/submission/{ASSIGNMENT}/ana/autograde", post=True)
    )
    (submission,) = json.loads(fetch(f"{formgrader}/api/submissions/{ASSIGNMENT}"))
    (mine,) = json.loads(fetch(f"{formgrader}/api/submitted_notebooks/{ASSIGNMENT}/{NAME}"))
    page = fetch(f"{formgrader}/submissions/{mine['id']}/?index=0")

    assert done["success"], done
    assert submission["autograded"] is True
    assert submission["needs_manual_grade"] is True
    assert mine["max_score"] == 9
    assert "0 of 3 points</strong><table>" in page
    assert "Because <strong>rows</strong>." in page
    assert "alert(1)" not in page
    assert "onerror" not in page
