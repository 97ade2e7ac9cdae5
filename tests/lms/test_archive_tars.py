"""Tars that students made: no header stops a batch, or keeps it busy."""

from __future__ import annotations

import gzip
import io
import tarfile
import time

import pytest
from crafted_tars import FILE, HOSTILE, header, record, tar_of
from crafted_zips import contents, opened, zip_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import SubmissionError
from autograder.lms.archive import open_inner
from autograder.lms.archive.limits import DOWNLOAD

BUSY_S = 20.0
"""Seconds of the processor that none of them may take; several took minutes."""


@pytest.mark.parametrize("kind", ["tar", "tar.gz"])
@pytest.mark.parametrize("trick", HOSTILE)
def test_no_header_keeps_the_parser_busy(trick: str, kind: str) -> None:
    """It costs who made it, at once, in one line."""
    data = gzip.compress(HOSTILE[trick]) if kind == "tar.gz" else HOSTILE[trick]
    outer = opened(zip_bytes({f"ana.{kind}": data, "ben.ipynb": b"2"}), DOWNLOAD)
    began_s = time.process_time()

    with pytest.raises(SubmissionError, match=r"ana\.tar") as raised:
        open_inner(outer, outer.entries[0])

    assert time.process_time() - began_s < BUSY_S
    assert len(str(raised.value)) < 300
    assert outer.read(outer.entries[1]) == b"2"


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_honest_headers_are_read(form: int) -> None:
    """Long names, other letters, times of fractions of seconds, what a Mac adds, and a comment for all."""
    names = ["folder/" * 30 + "hw1.ipynb", "Übung-" + "1" * 200 + "/" + "ä" * 60 + ".ipynb", "x.ipynb"]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form, pax_headers={"comment": "a" * 40}) as tar:
        for number, name in enumerate(names):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = number + 1, 1_800_000_000.25
            info.pax_headers = {"LIBARCHIVE.xattr.com.apple.metadata": "YnBsaXN0" * 300}
            tar.addfile(info, io.BytesIO(b"12345"))
    outer = opened(zip_bytes({"ana.tar": stream.getvalue()}), DOWNLOAD)

    with open_inner(outer, outer.entries[0]) as inner:
        assert contents(inner) == {name: b"12345"[: number + 1] for number, name in enumerate(names)}


NAMED = header(tarfile.XHDTYPE, record("path", "ä.ipynb") + record("mtime", "1800000000.5"))
TAR = tar_of([NAMED, FILE, header(tarfile.GNUTYPE_LONGNAME, b"long" * 40), FILE])


@given(st.data())
@settings(max_examples=100)
def test_a_damaged_tar_is_told(data: st.DataObject) -> None:
    """Whatever byte is wrong, an error of the kit says so, or what is left is read."""
    whole = bytearray(TAR)
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    outer = opened(zip_bytes({"ana.tar": bytes(whole[: data.draw(st.integers(0, len(whole)))])}), DOWNLOAD)

    try:
        with open_inner(outer, outer.entries[0]) as inner:
            contents(inner)
    except SubmissionError as error:
        assert "ana.tar" in error.where  # noqa: PT017 - most are read
