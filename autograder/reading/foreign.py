"""What a file is that is no notebook, told by its first bytes in plain words."""

from __future__ import annotations

import html
import re

from autograder.reading.unreadable import RESTORE, Unreadable

HEAD_BYTES = 2**16
"""How much of a file's beginning is looked at."""

_FILE = "the notebook file itself (.ipynb)"
_HAND_IN = f"Hand in {_FILE}, not something made of it."
_UNPACK = f"Unpack it and hand in {_FILE}."
_UPLOAD = f"Hand in {_FILE}; it was mixed up with another file."
_DOWNLOAD = f"Download {_FILE} from there and hand that in."
_PAGE = f"Download {_FILE}, not the page that shows it, and hand that in."

# Beginnings of files: the longest that fit go first.
_BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "is a PDF file", _HAND_IN),
    (b"%!PS", "is a PostScript file", _HAND_IN),
    (b"{\\rtf", "is a text file of a word processor (RTF)", _HAND_IN),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document of an old Microsoft Office", _HAND_IN),
    (b"\x89PNG\r\n", "is a picture (PNG)", _HAND_IN),
    (b"\xff\xd8\xff", "is a picture (JPEG)", _HAND_IN),
    (b"GIF8", "is a picture (GIF)", _HAND_IN),
    (b"II*\0", "is a picture (TIFF)", _HAND_IN),
    (b"MM\0*", "is a picture (TIFF)", _HAND_IN),
    (b"RIFF", "is a picture, a sound or a film (RIFF)", _HAND_IN),
    (b"\x1f\x8b", "is a compressed file (gzip)", _UNPACK),
    (b"BZh", "is a compressed file (bzip2)", _UNPACK),
    (b"\xfd7zXZ\0", "is a compressed file (xz)", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is a compressed file (zstd)", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "is an archive (7z)", _UNPACK),
    (b"Rar!\x1a\x07", "is an archive (RAR)", _UNPACK),
    (b"\x93NUMPY", "is an array that numpy saved", _UPLOAD),
    (b"\x89HDF\r\n", "is a file of data (HDF5)", _UPLOAD),
    (b"SQLite format 3\0", "is a database (SQLite)", _UPLOAD),
    (b"\x7fELF", "is a program", _UPLOAD),
    (
        b"\x00\x05\x16\x07",
        "is a companion file that macOS makes of files on other disks (AppleDouble)",
        _UPLOAD,
    ),
    (b"bplist00", "is a file of macOS settings, or a web page saved by Safari", _PAGE),
)
_ZIPS: tuple[tuple[bytes, str, str], ...] = (
    (b"word/", "is a Word document", _HAND_IN),
    (b"xl/", "is an Excel workbook", _HAND_IN),
    (b"ppt/", "is a PowerPoint presentation", _HAND_IN),
    (b"mimetypeapplication/vnd.oasis", "is an OpenDocument file", _HAND_IN),
    (b".npy", "is a file of arrays that numpy saved", _UPLOAD),
)
_TAR_AT = 257

# Of text only what no JSON begins with; letters' case does not count.
_TEXTS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"version https://git-lfs\.github\.com/spec"),
        "is a pointer of Git LFS: the notebook itself was not fetched",
        f"Run `git lfs pull` and hand in {_FILE}.",
    ),
    (
        re.compile(r"\[InternetShortcut\]", re.IGNORECASE),
        "is a link to a web address, not the notebook",
        _DOWNLOAD,
    ),
    (re.compile(r"https?://\S+\s*\Z"), "is a web address, not the notebook", _DOWNLOAD),
    (
        re.compile(r"<\?xml.{0,400}<plist", re.DOTALL | re.IGNORECASE),
        "is a link or settings of macOS, not the notebook",
        _DOWNLOAD,
    ),
    (re.compile(r"(<\?xml.{0,400})?<svg", re.DOTALL | re.IGNORECASE), "is a picture (SVG)", _HAND_IN),
    (
        re.compile(r"\{\s*'"),
        "is a Python dict that was printed, not JSON",
        "Write it with json.dump or nbformat.write, open it in Jupyter, and hand that in.",
    ),
    (re.compile(r"(diff --git|Index: |--- \S)"), "is a list of changes (a diff), not the notebook", _UPLOAD),
)
_HTML = re.compile(r"<(!doctype\s+html|html|head|body|script|meta|title|\?xml|!--)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,200})", re.IGNORECASE)
_LOGIN = re.compile(
    r"""type=["']?password|\b(sign|log)[ -]?in\b|\blogin\b|single sign-on|\bsaml""", re.IGNORECASE
)
_SCRIPT = re.compile(
    r"^(#!.*python|# ?%%|# -\*-|import \w|from [\w.]+ import |def \w+\(|class \w+[(:]|print\()", re.MULTILINE
)


def check_bytes(head: bytes) -> None:
    """
    Refuse a file whose first bytes tell that it is no text.

    Parameters
    ----------
    head : bytes
        Its beginning.

    Raises
    ------
    Unreadable
        If it is of a known other kind.
    """
    if not head.strip(b"\0"):
        what = "holds nothing but NUL bytes, as a file does after a crash while it was saved"
        raise Unreadable(what, RESTORE)
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        kinds = ((what, remedy) for part, what, remedy in _ZIPS if part in head[:HEAD_BYTES])
        raise Unreadable(*next(kinds, ("is a ZIP archive", _UNPACK)))
    for beginning, what, remedy in _BEGINNINGS:
        if head.startswith(beginning):
            raise Unreadable(what, remedy)
    if head[:1] == b"\x80" and head[1:2] <= b"\5":
        raise Unreadable("is a pickle, data that Python saved; it is not opened", _UPLOAD)
    if head[4:8] == b"ftyp":
        raise Unreadable("is a picture or a film of a phone (HEIC or MP4)", _HAND_IN)
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        raise Unreadable("is an archive (tar)", _UNPACK)


def check_text(head: str) -> None:
    """
    Refuse a text whose beginning tells that it is no JSON but something well known.

    Parameters
    ----------
    head : str
        Its beginning.

    Raises
    ------
    Unreadable
        If it is.
    """
    head = head.lstrip("\ufeff \t\r\n")
    if not head:
        raise Unreadable("holds nothing but blanks", "Save the notebook in Jupyter and hand it in again.")
    for beginning, what, remedy in _TEXTS:
        if beginning.match(head):
            raise Unreadable(what, remedy)
    if _HTML.match(head):
        raise _web_page(head)


def no_json(text: str) -> Unreadable:
    """
    Return what a text is that does not even begin like JSON.

    Parameters
    ----------
    text : str
        Its beginning.

    Returns
    -------
    Unreadable
        In plain words.
    """
    if _SCRIPT.search(text):
        return Unreadable(
            "is a Python script, not a notebook", f"Hand in {_FILE} with the code in its cells."
        )
    beginning = " ".join(text.split())[:40]
    return Unreadable(f"is text but no notebook: it begins with {beginning!r}", _UPLOAD)


def _web_page(head: str) -> Unreadable:
    title = _TITLE.search(head)
    name = f" ({' '.join(html.unescape(title[1]).split())[:60]!r})" if title else ""
    lower = head.lower()
    if _LOGIN.search(title[1] if title else head):
        return Unreadable(
            f"is a login page{name}, not a notebook", f"Log in there, download {_FILE}, and hand that in."
        )
    if "github" in lower:
        return Unreadable(
            f"is a page of GitHub{name}, not a notebook",
            "Open the notebook there, choose 'Download raw file', and hand that in.",
        )
    if "jupyter" in lower or "nbconvert" in lower:
        return Unreadable(
            f"is a notebook turned into a web page{name}",
            "In Jupyter choose File > Download, not Save and Export, and hand in the .ipynb file.",
        )
    return Unreadable(f"is a web page{name}, not a notebook", _PAGE)
