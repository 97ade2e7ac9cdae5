"""Names in archives: decoded, in one form, and never two that some disk takes for one."""

from __future__ import annotations

import time
import unicodedata
from typing import TYPE_CHECKING

from crafted_zips import RawZip, contents, opened, reasons, zip_bytes
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms.archive import open_archive
from autograder.lms.archive.limits import DOWNLOAD
from autograder.lms.archive.names import clean
from autograder.lms.texts import same_on_disk

if TYPE_CHECKING:
    from pathlib import Path


def test_names_are_read_in_the_letters_that_they_were_written_in() -> None:
    """UTF-8 with the flag or without, else the letters of DOS, which is told."""
    utf, dos = "müller/übung.ipynb".encode(), "müller/größe.ipynb".encode("cp437")
    archive = opened(RawZip().add(utf, b"1").add(dos, b"2").add("李/hw.ipynb", b"3").bytes())

    assert contents(archive) == {"müller/übung.ipynb": b"1", "müller/größe.ipynb": b"2", "李/hw.ipynb": b"3"}
    assert [one.name for one in archive.left if one.harmless] == ["müller/größe.ipynb"]


def test_names_are_in_one_form(tmp_path: Path) -> None:
    """A Mac takes accents apart; a student must not become two by it."""
    apart = unicodedata.normalize("NFD", "Nguyễn Thị Ánh/hw1.ipynb")
    (tmp_path / "down" / apart).parent.mkdir(parents=True)
    (tmp_path / "down" / apart).write_bytes(b"2")

    with open_archive(tmp_path / "down") as folder:
        assert contents(folder) == {unicodedata.normalize("NFC", apart): b"2"}
    assert contents(opened(zip_bytes({apart: b"1"}))) == {unicodedata.normalize("NFC", apart): b"1"}


def test_names_that_some_disk_takes_for_one_are_refused() -> None:
    """Neither of the two silently wins."""
    archive = opened(
        RawZip()
        .add("ana/HW1.ipynb", b"1")
        .add("ana/hw1.ipynb", b"2")
        .add("ben/hw1.ipynb", b"3")
        .add("ben/hw1.ipynb", b"4")
        .add("cleo/hw1.ipynb", b"5")
        .add("cleo/hw1.ipynb", b"5")
        .add("dora", b"6")
        .add("dora/hw1.ipynb", b"7")
        .bytes()
    )

    assert contents(archive) == {"cleo/hw1.ipynb": b"5", "dora/hw1.ipynb": b"7"}
    told = reasons(archive)
    assert "case alone" in told["ana/HW1.ipynb"]
    assert "case alone" in told["ana/hw1.ipynb"]
    assert "there twice" in told["ben/hw1.ipynb"]
    assert "a folder at once" in told["dora"]


def test_what_systems_leave_behind_needs_nobody() -> None:
    """It is left out, and nothing has to be done about it."""
    junk = [
        "__MACOSX/ana/._hw1.ipynb",
        "ana/.DS_Store",
        "ana/Thumbs.db",
        "ana/.ipynb_checkpoints/hw1-checkpoint.ipynb",
        "ana/._hw1.ipynb",
        "ana\\__pycache__\\x.pyc",
        "Icon\r",
    ]
    archive = opened(zip_bytes(dict.fromkeys([*junk, "ana/hw1.ipynb"], b"x")))

    assert contents(archive) == {"ana/hw1.ipynb": b"x"}
    assert len(archive.left) == len(junk)
    assert all(one.harmless for one in archive.left)


NAMES = st.text(st.sampled_from("aAäß./\\:~ 李\u0301\u202e\0\n-_1\ud800C"), min_size=1, max_size=12)


def encoded(name: str) -> bytes:
    """Return a name as bytes, which need not be text."""
    return name.encode("utf-8", "surrogatepass").replace(b"\xed\xa0\x80", b"\xff")


def decoded(raw: bytes) -> str:
    """Return what a program of DOS or of today reads."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp437")


@given(st.dictionaries(NAMES, st.binary(max_size=9), max_size=6))
def test_every_entry_may_be_written(files: dict[str, bytes]) -> None:
    """Whatever the names: each is taken or left, and what is taken stays below a folder."""
    raw = RawZip()
    for name, data in files.items():
        raw.add(encoded(name), data)
    archive = opened(raw.bytes())

    names = [entry.name for entry in archive.entries]
    assert len({same_on_disk(name) for name in names}) == len(names)
    for name in names:
        assert unicodedata.is_normalized("NFC", name)
        assert not {"", ".", ".."} & set(name.split("/"))
        assert not any(unicodedata.category(letter) == "Cc" for letter in name)
    kept = {name: data for name, data in files.items() if data or name[-1] not in "/\\"}
    assert {*names, *(one.name for one in archive.left)} == {clean(decoded(encoded(name))) for name in kept}


def test_many_accents_in_a_row_keep_nobody_busy() -> None:
    """To sort them takes the square of their number; a name with so many is too long anyway."""
    accents = "\u0301" * 15_000 + "\u0316" * 15_000
    archive = RawZip()
    for number in range(40):
        archive.add(f"{number}{accents}.csv", b"x")
    began_s = time.process_time()
    opened_one = opened(archive.add("hw1.ipynb", b"1").bytes(), DOWNLOAD)

    assert time.process_time() - began_s < 20
    assert contents(opened_one) == {"hw1.ipynb": b"1"}
    assert all("longer than a disk takes" in reason for reason in reasons(opened_one).values())
    composed = "ü" * 700
    assert clean(unicodedata.normalize("NFD", composed)) == composed
