"""The folder that student processes start from, and what is kept for the next one."""

from __future__ import annotations

import json
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from autograder.sandbox.runtime import Runtime

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for caches; where the list of fonts is kept in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "autograder" / f"fonts-{version('matplotlib')}"


def fonts(runtime: Runtime) -> list[str]:
    """Make the list of fonts; return the names in it."""
    runtime.list_fonts()
    (path,) = (runtime.shared / "matplotlib").glob("fontlist-*.json")
    assert path.stat().st_mode & 0o777 == 0o644
    return sorted(entry["name"] for entry in json.loads(path.read_text(encoding="utf-8"))["ttflist"])


def test_fonts_are_listed_once_for_all_runs(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run starts no Python for it; a newer matplotlib makes its own."""
    with Runtime() as runtime:
        first = fonts(runtime)
    assert "DejaVu Sans" in first

    with Runtime() as runtime, monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("Python was started"))
        assert fonts(runtime) == first

    kept.rename(kept.with_name("fonts-0.1"))
    with Runtime() as runtime:
        assert fonts(runtime) == first


def test_no_folder_for_caches_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a file in its place, say; each run then makes the list."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with Runtime() as runtime:
        assert "DejaVu Sans" in fonts(runtime)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
