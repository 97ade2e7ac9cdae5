"""Archives: what is safe comes out byte for byte, all else is refused with a reason, nothing is believed."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from crafted_zips import (
    ENCRYPTED,
    SMALL,
    UTF8,
    RawZip,
    contents,
    opened,
    overlapping,
    reasons,
    write_zip,
    zip_bytes,
)
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import AutograderError, CourseError, OperatorError, SubmissionError
from autograder.lms.archive import open_archive, open_inner

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BAD_NAMES = {
    "../out.ipynb": "leads out",
    "ana/../../out.ipynb": "leads out",
    "..\\out.ipynb": "leads out",
    "ana\\..\\..\\out.ipynb": "leads out",
    "/etc/cron.d/out": "place on a disk",
    "\\\\server\\share\\out": "place on a disk",
    "C:\\out.ipynb": "place on a disk",
    "c:out.ipynb": "place on a disk",
    "ana/a\x1b]0;x\x07.ipynb": "control characters",
    "ana/a\n.ipynb": "control characters",
    "ana/a\x9b2J.ipynb": "control characters",
    "ana/" + "ü" * 128 + ".ipynb": "longer than a disk",
    "a/" * 40 + "x.ipynb": "longer than a disk",
    "x" * 200 + "/" + "y" * 200 + "/" + "z" * 200 + "/" + "u" * 200 + "/" + "v" * 230: "longer than a disk",
}


def tar_bytes(files: Mapping[str, bytes], *links: tuple[str, bytes, str]) -> bytes:
    """Return a tar of files, and of links: name, type, target."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_800_000_000
            tar.addfile(info, io.BytesIO(data))
        for name, kind, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return stream.getvalue()


FILES = {"ana/hw1.ipynb": b"one" * 700, "ana/data/in.csv": b"", "ben/hw 1 (final).ipynb": b"\0\xff" * 31}


@pytest.mark.parametrize("kind", ["zip", "folder", "tar", "tar.gz"])
def test_what_was_packed_comes_out(tmp_path: Path, kind: str) -> None:
    """Whatever it is packed in, the names are sorted and the bytes are the same."""
    path = tmp_path / f"download.{kind}"
    if kind == "folder":
        for name, data in FILES.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    elif kind == "zip":
        write_zip(path, FILES)
    else:
        data = tar_bytes(FILES)
        path.write_bytes(gzip.compress(data) if kind == "tar.gz" else data)

    with open_archive(path) as archive:
        assert archive.left == ()
        assert [entry.name for entry in archive.entries] == sorted(FILES)
        assert contents(archive) == FILES
        assert [entry.size for entry in archive.entries] == [len(FILES[name]) for name in sorted(FILES)]
        assert archive.read(archive.entries[1], 4) == b"oneo"
        assert all(entry.modified is not None for entry in archive.entries)


@pytest.mark.parametrize(("name", "reason"), BAD_NAMES.items(), ids=range(len(BAD_NAMES)))
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_no_name_leads_out(name: str, reason: str, kind: str, tmp_path: Path) -> None:
    """A path that leads elsewhere is refused in whatever way it is written, and the rest is taken."""
    path = tmp_path / "download"
    if kind == "zip":
        path.write_bytes(RawZip().add(name, b"x").add("ben/hw1.ipynb", b"good").bytes())
    else:
        path.write_bytes(tar_bytes({name: b"x", "ben/hw1.ipynb": b"good"}))

    with open_archive(path) as archive:
        assert contents(archive) == {"ben/hw1.ipynb": b"good"}
        (told,) = reasons(archive).values()
    assert reason in told


def test_a_nul_ends_no_name() -> None:
    """What `zipfile` would cut to a harmless name is refused whole."""
    name = "ana/hw1.ipynb\0.exe"
    for archive in (opened(RawZip().add(one, b"x").bytes()) for one in (name, name.encode())):
        assert archive.entries == ()
        assert "control characters" in "".join(reasons(archive).values())


@pytest.mark.parametrize(
    ("mode", "word"), [(stat.S_IFLNK, "link"), (stat.S_IFIFO, "plain"), (stat.S_IFCHR, "plain")]
)
def test_a_zip_holds_no_links_and_devices(mode: int, word: str) -> None:
    """Nobody follows a student's link."""
    archive = opened(RawZip().add("ana/hw1.ipynb", b"/etc/passwd", mode=mode | 0o777).bytes())

    assert archive.entries == ()
    assert word in reasons(archive)["ana/hw1.ipynb"]


def test_a_tar_holds_no_links_and_devices(tmp_path: Path) -> None:
    """A hard link is one too."""
    path = tmp_path / "download.tar"
    links = [
        ("a", tarfile.SYMTYPE, "/etc/passwd"),
        ("b", tarfile.LNKTYPE, "hw1"),
        ("c", tarfile.FIFOTYPE, ""),
    ]
    path.write_bytes(tar_bytes({"hw1": b"x"}, *links))

    with open_archive(path) as archive:
        assert contents(archive) == {"hw1": b"x"}
        assert sorted(reasons(archive)) == ["a", "b", "c"]


def test_a_folder_holds_no_links_and_devices(tmp_path: Path) -> None:
    """Neither a linked file nor a linked folder nor a pipe is looked into, and reading does not wait."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "hw1.ipynb").write_bytes(b"secret")
    folder = tmp_path / "download"
    (folder / "ana").mkdir(parents=True)
    (folder / "ana" / "hw1.ipynb").symlink_to(secret / "hw1.ipynb")
    (folder / "ben").symlink_to(secret)
    os.mkfifo(folder / "ana" / "pipe.ipynb")
    (folder / "ana" / "good.ipynb").write_bytes(b"good")

    with open_archive(folder) as archive:
        assert contents(archive) == {"ana/good.ipynb": b"good"}
        assert sorted(reasons(archive)) == ["ana/hw1.ipynb", "ana/pipe.ipynb", "ben"]


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    """What was looked at is what is read."""
    folder = tmp_path / "download"
    folder.mkdir()
    (folder / "hw1.ipynb").write_bytes(b"good")
    (tmp_path / "secret").write_bytes(b"sec!")
    with open_archive(folder) as archive:
        (folder / "hw1.ipynb").unlink()
        (folder / "hw1.ipynb").symlink_to(tmp_path / "secret")
        with pytest.raises(OperatorError, match="cannot be read"):
            archive.read(archive.entries[0])


@pytest.mark.parametrize(
    ("lies", "word"),
    [
        ({"flags": UTF8 | ENCRYPTED}, "encrypted"),
        ({"method": 12}, "ordinary zip"),
        ({"method": 14}, "ordinary zip"),
        ({"size": 3_000_000}, "larger than"),
    ],
)
def test_what_cannot_be_read_is_refused(lies: dict[str, int], word: str) -> None:
    """One such entry costs nobody else theirs."""
    archive = opened(RawZip().add("ana/x.ipynb", b"x", **lies).add("ben/y.ipynb", b"y").bytes())

    assert contents(archive) == {"ben/y.ipynb": b"y"}
    assert word in reasons(archive)["ana/x.ipynb"]


@pytest.mark.parametrize("lies", [{"size": 7}, {"size": 100_000}, {"crc": 5}, {"packed_size": 9}])
def test_a_lie_about_size_or_content_is_found(lies: dict[str, int]) -> None:
    """Nobody is graded on half a file."""
    archive = opened(RawZip().add("ana/x.ipynb", b"x" * 99_999, **lies).add("b", b"y" * 99).bytes())

    with pytest.raises(SubmissionError, match=r"made\.zip: ana/x\.ipynb"):
        archive.read(archive.entries[0])
    assert archive.read(archive.entries[1]) == b"y" * 99


def test_a_bomb_is_stopped_while_it_is_read() -> None:
    """However small it says that it is, and whether or not each of its files is within bounds."""
    bomb = opened(RawZip().add("bomb.ipynb", bytes(1_500_000)).bytes())
    many = opened(zip_bytes({f"{number}.bin": os.urandom(1_900_000) for number in range(3)}))

    with pytest.raises(SubmissionError, match="zip bomb"):
        bomb.read(bomb.entries[0])
    assert list(reasons(many)) == ["2.bin"]
    assert bomb.read(bomb.entries[0], 500) == bytes(500)


def test_a_notebook_that_repeats_itself_is_no_bomb() -> None:
    """A loop that prints packs well; small files may."""
    data = b'"step\\n",' * 11_000
    archive = opened(zip_bytes({"hw1.ipynb": data}))

    assert len(zip_bytes({"hw1.ipynb": data})) * 50 < len(data)
    assert archive.read(archive.entries[0]) == data


@pytest.mark.parametrize("copies", [2, 30])
def test_entries_do_not_share_bytes(copies: int) -> None:
    """A bomb that is flat shows in its offsets: its entries lie over each other."""
    archive = opened(overlapping(copies, 90_000))

    assert archive.entries == ()
    assert len(reasons(archive)) == copies
    assert "shares its bytes" in reasons(archive)["0.ipynb"]


def test_an_entry_that_reaches_into_the_directory_is_refused() -> None:
    """A packed size that is too large would let it claim any ratio."""
    archive = opened(RawZip().add("x.ipynb", bytes(1_500_000), packed_size=900_000).bytes())

    assert "shares its bytes" in reasons(archive)["x.ipynb"]


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    """Of a zip and of a folder."""
    path = write_zip(tmp_path / "many.zip", {f"{number}.ipynb": b"" for number in range(41)})
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(41):
        (folder / f"{number}").touch()

    for one in (path, folder):
        with pytest.raises(CourseError, match="more than 40"):
            open_archive(one, SMALL)


@pytest.mark.parametrize("large", [False, True])
def test_a_huge_directory_is_refused_unread(monkeypatch: pytest.MonkeyPatch, *, large: bool) -> None:
    """Millions of entries would fill the memory of whoever lists them, also in a zip of the large kind."""
    huge = RawZip()
    for number in range(300):
        huge.add(f"{number:0120}", b"", at=0)
    monkeypatch.setattr(zipfile, "ZipFile", None)

    with pytest.raises(SubmissionError, match="more than 40"):
        opened(huge.bytes(large=large))


def test_a_compressed_tar_is_unpacked_within_limits(tmp_path: Path) -> None:
    """It has no directory: to list it is to unpack it."""
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(tar_bytes({"x": bytes(1_900_000)})))

    with pytest.raises(CourseError, match="unpacks to more"):
        open_archive(path, SMALL)


# ------------------------------------------------------------------ damage


@given(st.data())
def test_a_damaged_archive_is_told(data: st.DataObject) -> None:
    """Whatever byte is wrong, an error of the kit says so, or the bytes are the right ones."""
    whole = bytearray(zip_bytes({"ana/hw1.ipynb": b"one" * 50, "ben/hw1.ipynb": b"two"}))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole))) if data.draw(st.booleans()) else len(whole)

    try:
        archive = opened(bytes(whole[:cut]))
        for entry in archive.entries:
            assert archive.read(entry) in {b"one" * 50, b"two"}
    except AutograderError as error:
        told = error.where
    else:
        told = "made.zip"
    assert told.startswith("made.zip")


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"PK\3\4 cut off", b"\x1f\x8b\x08 cut off", b"x" * 600])
def test_what_is_no_archive_is_told(tmp_path: Path, data: bytes) -> None:
    """In one line, with the file."""
    (tmp_path / "down.zip").write_bytes(data)
    os.mkfifo(tmp_path / "pipe.zip")

    for name in ("down.zip", "absent.zip", "pipe.zip"):
        with pytest.raises(CourseError, match=name):
            open_archive(tmp_path / name)


# ------------------------------------------------------------ zips in zips


def test_archives_in_an_archive_count_together(tmp_path: Path) -> None:
    """Many small bombs are a large one; what one is refused takes no room from the others, nor from files."""
    inner = [zip_bytes({"hw1.ipynb": os.urandom(size * 100_000)}) for size in (19, 18, 17, 2, 1)]
    path = write_zip(tmp_path / "down.zip", {f"{number}.zip": data for number, data in enumerate(inner)})

    with open_archive(path, replace(SMALL, total_bytes=6_000_000)) as archive:
        taken = []
        for entry in archive.entries * 2:
            with open_inner(archive, entry, SMALL) as one:
                archive.packed.limits = replace(SMALL, total_bytes=4_000_000)
                try:
                    taken.append(len(one.read(one.entries[0])) // 100_000)
                except SubmissionError as error:
                    assert "beside it, to more than" in error.what  # noqa: PT017 - some are read
                    taken.append(0)
    assert taken == [19, 18, 0, 2, 1] * 2


def test_what_is_packed_in_it_may_be_damaged(tmp_path: Path) -> None:
    """One student's broken zip is told as theirs."""
    files = {"ana.zip": zip_bytes({"hw1.ipynb": b"x"})[:-30], "ben.tar": tar_bytes({"hw1.ipynb": b"y"})}
    with open_archive(write_zip(tmp_path / "down.zip", files)) as archive:
        with pytest.raises(SubmissionError, match=r"ana\.zip"):
            open_inner(archive, archive.entries[0])
        with open_inner(archive, archive.entries[1]) as inner:
            assert contents(inner) == {"hw1.ipynb": b"y"}
