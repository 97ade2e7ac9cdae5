"""Files that cannot be read: told what they are, where they broke, and what to do."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import socket
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from notebook_files import TEXT, refused, saved

from autograder.errors import OperatorError, SubmissionError
from autograder.notebook import SUBMITTED_BYTES, read_submitted
from autograder.reading import opening, reader

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
RELEASE = (ROOT / "release/multi_head_attention/exercise2_split_heads.ipynb").read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the place of a notebook."""
    return tmp_path / "a.ipynb"


def archive(*names: str) -> bytes:
    """Return a ZIP file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        for name in names:
            book.writestr(name, "x")
    return file.getvalue()


def arrays() -> bytes:
    """Return what numpy saves."""
    file = io.BytesIO()
    np.savez(file, x=np.zeros(3))
    return file.getvalue()


def page(title: str, body: str = "") -> str:
    """Return a web page."""
    return f"\n<!DOCTYPE html>\n<html lang=en><head><title>\n{title}</title></head><body>{body}</body></html>"


LARGE = b'{"cells": [{"outputs": [' + b'"' + b"A" * SUBMITTED_BYTES + b'",\n'
MINE, THEIRS = '  {"source": "a"}', '  {"source": "b"}'
CONFLICT = (
    f'{{\n "cells": [\n<<<<<<< HEAD\n{MINE}\n=======\n{THEIRS}\n>>>>>>> theirs\n ],\n "nbformat": 4\n}}'
)

FOREIGN: list[tuple[bytes | str, str, str]] = [
    ("", r"is empty \(0 bytes\)", "Save the notebook"),
    (" \r\n\t", "nothing but blanks", "Save the notebook"),
    ("\ufeff", "nothing but blanks", "Save the notebook"),
    (b"\0" * 5000, "nothing but NUL bytes", "checkpoint"),
    (TEXT.encode()[:500] + b"\0" * 900, r"NUL bytes from byte 500 \(line \d+\)", "checkpoint"),
    (LARGE + b"\0\0]}]}", r"NUL bytes from byte 41\d+ \(line 2\)", "checkpoint"),
    (b"%PDF-1.7\n...", "is a PDF", r"\.ipynb"),
    (archive("[Content_Types].xml", "word/document.xml"), "is a Word document", r"\.ipynb"),
    (archive("[Content_Types].xml", "xl/workbook.xml"), "is an Excel workbook", r"\.ipynb"),
    (archive("exercise1.ipynb"), "is a ZIP archive", "Unpack"),
    (archive(), "is a ZIP archive", "Unpack"),
    (arrays(), "arrays that numpy saved", "mixed up"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1...", "old Microsoft Office", r"\.ipynb"),
    (b"{\\rtf1\\ansi hello}", "RTF", r"\.ipynb"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a picture", r"\.ipynb"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "is a picture", r"\.ipynb"),
    (b"\0\0\0\x18ftypheic\0\0", "of a phone", r"\.ipynb"),
    (b"\x1f\x8b\x08\0\0\0", "compressed", "Unpack"),
    (b"a.ipynb".ljust(257, b"\0") + b"ustar\x0000", r"is an archive \(tar\)", "Unpack"),
    (b"\0\x05\x16\x07\0\x02\0\0Mac OS X", "AppleDouble", "mixed up"),
    (pickle.dumps({"cells": []}), "is a pickle", "mixed up"),
    ("import numpy as np\n\ndef split_heads(x):\n    return x\n", "is a Python script", "in its cells"),
    ("# %%\nx = 1\n", "is a Python script", "in its cells"),
    ("{'cells': [], 'nbformat': 4}", "Python dict that was printed", "json.dump"),
    ("My answer is 42.", r"is text but no notebook: it begins with 'My answer is 42\.'", "mixed up"),
    (page("Sign in · GitHub"), "is a login page .'Sign in · GitHub'", "Log in"),
    (page("Campus", "<input type=password>"), "is a login page|is a web page", "Log in|Download"),
    (page("hw/a.ipynb at main", "github.githubassets.com"), "is a page of GitHub", "Download raw file"),
    (
        page("exercise1", "<div class='jp-Notebook'>jupyter</div>"),
        "turned into a web page",
        "File > Download",
    ),
    (page("404 &amp; more"), "is a web page .'404 & more'", "Download the notebook file"),
    (page("Konto").encode("utf-16"), "is a web page", "Download the notebook file"),
    ("<svg xmlns='http://www.w3.org/2000/svg'></svg>", "is a picture", r"\.ipynb"),
    ("[InternetShortcut]\r\nURL=https://drive.google.com/x\r\n", "is a link", "Download"),
    ("https://colab.research.google.com/drive/1AbC\n", "is a web address", "Download"),
    (
        '<?xml version="1.0"?>\n<!DOCTYPE plist><plist><dict><key>URL</key></dict></plist>',
        "is a link",
        "Download",
    ),
    (
        '{"url": "https://docs.google.com/open?id=1", "doc_id": "1", "email": "a@b"}',
        "Google Drive",
        "Download",
    ),
    ('{"doc_id": "1", "resource_key": "", "email": "a@b"}', "Google Drive", "Download"),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git LFS", "git lfs pull"),
    (CONFLICT, "merge conflict .* in line 3", "Keep one"),
    (f"<<<<<<< HEAD\n{TEXT}", "merge conflict .* in line 1", "Keep one"),
    (
        TEXT.replace('   "outputs": [\n', '   "outputs": [\n<<<<<<< HEAD\n'),
        r"merge conflict .* in line 1\d",
        "Keep one",
    ),
    (LARGE + b'<<<<<<< HEAD\n"a"\n=======\n"b"\n>>>>>>> x\n]}]}', "merge conflict .* in line 2", "Keep one"),
    ("[1, 2]", "is JSON but not a notebook: it is a list", "mixed up"),
    ('"text"', "it is a text", "mixed up"),
    ("3.5", "it is a number", "mixed up"),
    ("null", "it is null", "mixed up"),
    ("{}", "it has no cells, but nothing at all", "mixed up"),
    (
        '{"metadata": {"total_size": 1}, "weight_map": {}}',
        "no cells, but 'metadata', 'weight_map'",
        "mixed up",
    ),
    ('{"message": "Not Found", "documentation_url": "x"}', "a server's answer.*'Not Found'", "again"),
    (
        '{"name": "a.ipynb", "type": "notebook", "content": {"cells": []}}',
        "server's record",
        "File > Download",
    ),
    ('{"nbformat": 4, "cells": {}}', "cells are no list", "Open it in Jupyter"),
    ('{"nbformat": 4, "cells": null, "metadata": {}}', "cells are no list", "Open it in Jupyter"),
    ('{"nbformat": 3, "worksheets": 5}', "worksheets are no list", "Open it in Jupyter"),
    ('{"nbformat": 3, "worksheets": [{"cells": 5}]}', "cells are no list", "Open it in Jupyter"),
    (TEXT.encode("latin-1", "replace"), r"is not UTF-8 text: byte \d+ in line 7 \(0xef\)", "UTF-8"),
    (TEXT.encode("utf-16-le")[:-40] + b"\x00\xd8x\x00" * 3 + b"\x00", "is damaged|breaks off", ""),
    (TEXT + "}", r"goes on in line \d+ where the notebook has already ended", "Delete"),
    (TEXT + TEXT, "goes on in line", "Delete"),
    (
        TEXT.replace('"id": "a",', '"id": "a"'),
        "is damaged in line 6, column 4: there should be a ','",
        "text editor",
    ),
    (TEXT.replace('"id": "a",', '"id" "a",'), "there should be a ':'", "text editor"),
    (TEXT.replace('"id": "a",', '"id": "a,'), "not closed, or holds a line end", "text editor"),
    (TEXT.replace('"id": "a",', "id: 3,"), "there should be a name in quotes", "text editor"),
    (TEXT.replace('"id": "a",', '"id": "\\a",'), "a backslash", "text editor"),
]


@pytest.mark.parametrize(("content", "what", "remedy"), FOREIGN, ids=range(len(FOREIGN)))
def test_what_a_file_is_instead_is_told_with_a_way_to_mend_it(
    path: Path, content: bytes | str, what: str, remedy: str
) -> None:
    """One line tells course staff, and the student, what to do next."""
    error = refused(path, content)

    assert re.search(what, error.what)
    assert re.search(remedy, error.remedy)
    assert "\n" not in str(error)
    assert not error.what.endswith(".")
    assert error.remedy.endswith(".")
    assert len(str(error)) < 400 + len(str(path))


def test_what_is_no_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is followed, waited for or tried again."""
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    (tmp_path / "link.ipynb").symlink_to("/etc/passwd")
    told = {
        "pipe": "not a plain file",
        "folder": "is a folder",
        "link": "is a link",
        "absent": "is not there",
    }
    with socket.socket(socket.AF_UNIX) as server:
        # The path of a socket must be short.
        monkeypatch.chdir(tmp_path)
        server.bind("socket.ipynb")
        for name, what in {**told, "socket": "not a plain file"}.items():
            assert what in refused(tmp_path / f"{name}.ipynb").what


def test_a_file_that_may_not_be_read_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rights are wrong, and somebody can give them."""
    saved(path, TEXT)
    path.chmod(0)
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "open", raising(PermissionError(13, "Permission denied")))

    assert "permission" in refused(path).what


def raising(error: OSError) -> Callable[..., int]:
    """Return a function that raises."""

    def fail(*_: object) -> int:
        raise error

    return fail


def test_a_failing_disk_is_not_the_students(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could be read tomorrow is not unreadable."""
    monkeypatch.setattr(os, "open", raising(OSError(5, "Input/output error")))

    with pytest.raises(OperatorError, match="Input/output error"):
        read_submitted(saved(path, TEXT))


def test_a_file_that_grows_while_it_is_read_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was small when it was opened."""
    monkeypatch.setattr(opening, "MAX_FILE_BYTES", SUBMITTED_BYTES + 5)
    monkeypatch.setattr(os, "fstat", lambda _: Path(__file__).stat())

    assert "is larger than 4 MiB" in refused(path, LARGE + b" " * 1000).what


# ------------------------------------------------------------- laws


@settings(deadline=None, max_examples=150)
@given(content=st.binary(max_size=200), whole=st.sampled_from([0, 10, 10**6]))
@example(content=b'{"cells": []}', whole=0)
def test_any_bytes_give_a_notebook_or_a_reason(
    content: bytes, whole: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing a student hands in stops the grader."""
    path = tmp_path_factory.getbasetemp() / "any.ipynb"

    assert_read_or_refused(saved(path, content), whole)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), whole=st.sampled_from([0, 100, 10**6]))
def test_any_damage_gives_a_notebook_or_a_reason(
    data: st.DataObject, whole: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bytes lost, doubled, exchanged or put in, in any encoding."""
    codec = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"]))
    content = TEXT.encode(codec)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 40)))
        tokens = st.sampled_from(
            [b'"', b"\\", b"[", b"}", b",", b"\0", b"\xff", b"\n<<<<<<< ", b"\xed\xa0\xbd", b"1e9"]
        )
        content = content[:start] + data.draw(tokens | st.just(content[start:end] * 2)) + content[end:]
    path = tmp_path_factory.getbasetemp() / "damaged.ipynb"

    assert_read_or_refused(saved(path, content), whole)


def assert_read_or_refused(path: Path, whole: int) -> None:
    """Read a file, and look at what comes of it."""
    try:
        notebook, _ = reader.read(path, error=SubmissionError, whole_bytes=whole)
    except SubmissionError as error:
        reason = error
    else:
        assert isinstance(notebook["cells"], list)
        json.dumps(notebook, ensure_ascii=False).encode()
        return
    assert reason.what
    assert reason.remedy.endswith(".")
    assert "\n" not in str(reason)


@pytest.mark.parametrize("whole", [0, 10**6])
def test_a_file_cut_off_at_any_byte_says_so_with_line_and_cells(path: Path, whole: int) -> None:
    """The commonest damage: a full disk, a dropped connection, a crash while saving."""
    content = TEXT.encode()
    for size in range(1, len(content) - 2):
        saved(path, content[:size])
        before = content[:size].decode(errors="ignore")
        line, cells = 1 + before.count("\n"), len(re.findall(r"^  \}", before, re.MULTILINE))

        with pytest.raises(SubmissionError) as caught:
            reader.read(path, error=SubmissionError, whole_bytes=whole)

        expected = (
            f"breaks off in line {line}: the rest of it is missing ({cells} whole cell{'s' * (cells != 1)}"
        )
        assert caught.value.what.startswith(expected), (size, before[-60:])
        assert "checkpoint" in caught.value.remedy


@settings(deadline=None, max_examples=60)
@given(size=st.integers(1, len(RELEASE.rstrip()) - 1), codec=st.sampled_from(["utf-8", "utf-16"]))
def test_a_released_notebook_cut_off_anywhere_says_so(
    size: int, codec: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Real ones too, and those saved by Windows."""
    content = RELEASE.decode().rstrip().encode(codec)
    path = saved(
        tmp_path_factory.getbasetemp() / "cut.ipynb", content[: max(4, size * len(content) // len(RELEASE))]
    )

    assert "breaks off in line" in refused(path).what
