"""
Which file of a submission is which notebook.

Browsers, learning platforms and students rename what they hand in: ``name
(1).ipynb``, ``name-Copy1``, ``Ana_name``, a folder too many. A file is taken
for a missing notebook only if it alone can be it; else nobody guesses, and the
reason says what to do. Nothing is executed and no link is followed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.files import EXCHANGED, is_ignored
from autograder.findings import Repair, RepairKind, bounded
from autograder.notebook import joined, read_submitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Notebook

MAX_DEPTH = 4
"""Folders below a submission's that are looked into."""

MAX_ENTRIES, MAX_NOTEBOOKS = 5_000, 50
"""Files and folders that are looked at, and files that may be a notebook."""

MAX_READ_BYTES = 128 * 2**20
"""Bytes of misnamed files that are read to know what they are; beyond, names must tell."""

_NOT_TAKEN = {"__MACOSX", ".ipynb_checkpoints"}
_NOTEBOOK = re.compile(r"(?i)\.ipynb(?![a-z])|\.json$")
_SUFFIX = re.compile(r"(?i)(\.ipynb|\.json|\.txt)+$")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_SHORTEST = 3
_NAMED = 5
_CLEAR = 0.4
"""A file that holds this share of a notebook's cells, and half as many of any other, is that notebook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedIn:
    """
    What is in a submission's folder.

    Parameters
    ----------
    paths : mapping of str to Path
        The file of each notebook that was found, by its name.
    repairs : mapping of str to Repair
        What the file was called, of each notebook that was found under another name.
    unclear : mapping of str to str
        Why nobody knows which file is a notebook, and what to do; by its name.
        A notebook that is in neither was not handed in.
    ignored : tuple of str
        Other notebooks, which count for nothing; without the suffix if it is ``.ipynb``.
    """

    paths: Mapping[str, Path]
    repairs: Mapping[str, Repair] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The notebooks that were handed in, one way or another."""
        return frozenset(self.paths) | frozenset(self.unclear)

    def read(self, name: str) -> tuple[Notebook | None, tuple[Repair, ...], str]:
        """
        Read a notebook that was handed in.

        Parameters
        ----------
        name : str
            One of `names`.

        Returns
        -------
        notebook : dict or None
            As of `read_submitted`; None if it cannot be read.
        repairs : tuple of Repair
            What was put right to find and to read it.
        reason : str
            Why it cannot be read, and what to do; empty if it was.
        """
        if name in self.unclear:
            return None, (), self.unclear[name]
        repairs = (self.repairs[name],) if name in self.repairs else ()
        try:
            notebook, more = read_submitted(self.paths[name])
        except SubmissionError as error:
            beside = next((one for one in self.ignored if by_name(one, [name])), "")
            hint = f" Beside it lies {beside}: if that counts, call it {name}.ipynb." if beside else ""
            return None, repairs, f"{self.paths[name].name}: {error.what}. {error.remedy}{hint}"
        return notebook, (*repairs, *more), ""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A file that may be a notebook of another name."""

    path: Path
    shown: str
    """Its path in the submission."""
    digest: str
    """The same for files with the same cells; empty for one that nobody worked on."""
    fits: frozenset[str]
    """The notebooks that it may be."""
    problem: str
    """Why it cannot be read; empty if it can."""


def find_notebooks(folder: Path, released: Sequence[ReleasedNotebook]) -> HandedIn:
    """
    Return which file of a submission is which notebook of the assignment.

    Parameters
    ----------
    folder : Path
        The folder of the submission.
    released : sequence of ReleasedNotebook
        The notebooks of the assignment.

    Returns
    -------
    HandedIn
        The files by notebook. A file of the right name always is its notebook.

    Raises
    ------
    SubmissionError
        If the folder cannot be listed.
    """
    files = sorted(_walk(folder))
    shown = {path: _shown(path, folder) for path in files}
    exact = {book.name: folder / f"{book.name}.ipynb" for book in released}
    paths = {name: path for name, path in exact.items() if _is_there(path)}
    others = [path for path in files if path not in paths.values()]
    missing = {book.name for book in released} - paths.keys()
    candidates = _candidates(others, shown, released) if missing else []
    repairs, unclear = {}, {}
    told: set[Path] = set()
    for name in sorted(missing):
        fitting = _worth_it([one for one in candidates if name in one.fits])
        if len({one.digest for one in fitting}) == 1 and not (fitting[0].fits - {name}) & missing:
            paths[name] = fitting[0].path
            what = f"taken for {name}.ipynb, which it alone can be"
            repairs[name] = Repair(kind=RepairKind.NAME, where=bounded(fitting[0].shown), detail=what)
        elif fitting:
            unclear[name] = _told(name, fitting)
            told |= {one.path for one in fitting}
    lost = missing - paths.keys() - unclear.keys()
    unclear |= _unknown(lost, candidates) if lost else {}
    if not paths and not unclear:
        unclear = _nothing(missing, folder)
    told |= set(paths.values())
    left = (shown[path] for path in others if path not in told and ".ipynb" in path.name.lower())
    ignored = tuple(sorted(name.removesuffix(".ipynb") for name in left))
    return HandedIn(paths=paths, repairs=repairs, unclear=unclear, ignored=ignored)


# ----------------------------------------------------------------- folders


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that may be notebooks; no links, no checkpoints."""
    waiting, entries, found = [(folder, 0)], 0, 0
    while waiting:
        place, depth = waiting.pop(0)
        try:
            with os.scandir(place) as listing:
                inner = sorted(islice(listing, MAX_ENTRIES - entries), key=lambda entry: entry.name)
        except OSError as error:
            raise SubmissionError(place, f"cannot be read ({error.strerror})", "Check its rights.") from None
        entries += len(inner)
        for entry in inner:
            if entry.is_symlink() or entry.name in _NOT_TAKEN or is_ignored(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting += [(place / entry.name, depth + 1)] if depth < MAX_DEPTH else []
            elif _NOTEBOOK.search(entry.name) and entry.is_file(follow_symlinks=False):
                yield place / entry.name
                found += 1
                if found == MAX_NOTEBOOKS:
                    return
        if entries >= MAX_ENTRIES:
            return


def _shown(path: Path, folder: Path) -> str:
    # Names of files need not be text.
    return path.relative_to(folder).as_posix().encode("utf-8", "replace").decode()


def _is_there(path: Path) -> bool:
    # A link or a pipe of the right name is the notebook too, and reading says what is wrong with it.
    return os.path.lexists(path) and not (path.is_dir() and not path.is_symlink())


# -------------------------------------------------------- what a file may be


def _candidates(
    files: Iterable[Path], shown: Mapping[Path, str], released: Sequence[ReleasedNotebook]
) -> list[_Candidate]:
    found, left_bytes = [], MAX_READ_BYTES
    names = [book.name for book in released]
    blank = {_digest(cell.released for cell in book.layout) for book in released}
    for path in files:
        left_bytes -= path.lstat().st_size
        notebook, problem = _read(path) if left_bytes >= 0 else (None, "is too large to be looked into")
        if notebook is None and ".ipynb" not in path.name.lower():
            continue
        if notebook is None:
            digest, fits = shown[path], by_name(path.name, names)
        else:
            digest = _digest(_source(cell) for cell in notebook["cells"])
            fits = _by_cells(notebook, released) or by_name(path.name, names)
        found.append(
            _Candidate(path, shown[path], "" if digest in blank else digest, frozenset(fits), problem)
        )
    return found


def _read(path: Path) -> tuple[Notebook | None, str]:
    try:
        return read_submitted(path)[0], ""
    except SubmissionError as error:
        return None, error.what


def _by_cells(notebook: Notebook, released: Iterable[ReleasedNotebook]) -> set[str]:
    """Return the one notebook whose cells a file clearly holds, or nothing."""
    marks: set[str] = set()
    for cell in notebook["cells"]:
        if isinstance(cell, dict):
            metadata = cell.get("metadata")
            nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
            grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
            marks |= {
                f"{kind} {mark}"
                for kind, mark in (("cell", grade_id), ("id", cell.get("id")), ("text", _source(cell)))
                if isinstance(mark, str) and mark
            }
    shares = {
        book.name: sum(
            bool({f"cell {cell.grade_id}", f"id {cell.cell_id}", f"text {_plain(cell.released)}"} & marks)
            for cell in book.layout
        )
        / max(len(book.layout), 1)
        for book in released
    }
    best = max(shares, key=lambda name: shares[name], default="")
    second = max((share for name, share in shares.items() if name != best), default=0.0)
    return {best} if best and shares[best] >= _CLEAR and second <= shares[best] / 2 else set()


def by_name(name: str, known: Iterable[str]) -> set[str]:
    """
    Return the names that a file's or folder's name may stand for.

    Parameters
    ----------
    name : str
        A name, with or without its suffix.
    known : iterable of str
        The right names, without suffix.

    Returns
    -------
    set of str
        Those that it is in other letters or with other signs between its
        words, else the longest that it contains as whole words.
    """
    words = _words(_SUFFIX.sub("", name))
    wanted = {one: _words(one) for one in known}
    equal = {one for one, its in wanted.items() if _glued(its) == _glued(words)}
    if equal:
        return equal
    within = {
        one: its for one, its in wanted.items() if len("".join(its)) >= _SHORTEST and _holds(words, its)
    }
    longest = max((len(its) for its in within.values()), default=0)
    return {one for one, its in within.items() if len(its) == longest}


def _words(name: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", name).casefold())


def _glued(words: Iterable[str]) -> str:
    # Two numbers stay two: sheet 1 (0) is not sheet 10.
    return re.sub(r"(?<=\d) (?!\d)|(?<!\d) ", "", " ".join(words))


def _holds(words: list[str], its: list[str]) -> bool:
    return any(words[at : at + len(its)] == its for at in range(len(words) - len(its) + 1))


def _source(cell: object) -> str:
    return _plain(joined(cell.get("source"))) if isinstance(cell, dict) else ""


def _plain(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _digest(sources: Iterable[str]) -> str:
    text = json.dumps([_plain(source) for source in sources])
    return hashlib.sha256(text.encode()).hexdigest()


# ------------------------------------------------------------ one, or reasons


def _worth_it(fitting: list[_Candidate]) -> list[_Candidate]:
    """Leave out copies of what was handed out, if there is anything else; the shortest path goes first."""
    worked_on = [one for one in fitting if one.digest]
    return sorted(worked_on or fitting, key=lambda one: (one.shown.count("/"), one.shown))


def _told(name: str, fitting: Sequence[_Candidate]) -> str:
    """Say which files could be a notebook."""
    if len({one.digest for one in fitting}) == 1:
        also = " or ".join(f"{other}.ipynb" for other in sorted(fitting[0].fits - {name}))
        what = f"{fitting[0].shown} could be {name}.ipynb, but as well {also}"
    else:
        each = [f"{one.shown} (cannot be read)" if one.problem else one.shown for one in fitting]
        what = f"{_listed(each)} could each be {name}.ipynb"
    return f"{what}. Call the one that counts {name}.ipynb, and grade again."


def _unknown(lost: Iterable[str], candidates: Iterable[_Candidate]) -> dict[str, str]:
    """Return reasons for notebooks that may be in a file which cannot be read and has a name of no use."""
    broken = [one for one in candidates if one.problem and not one.fits]
    return {
        name: f"{one.shown} may be {name}.ipynb, but it {one.problem}. "
        f"If it is, get it whole, call it {name}.ipynb, and grade again."
        for one in broken[:1]
        for name in lost
    }


def _nothing(missing: Iterable[str], folder: Path) -> dict[str, str]:
    """Return reasons for a submission in which there is no notebook of the assignment."""
    with os.scandir(folder) as listing:
        # What tells when and by whom it was handed in was not handed in itself.
        entries = (entry.name for entry in islice(listing, MAX_ENTRIES) if entry.name not in EXCHANGED)
        here = sorted(_shown(folder / name, folder) for name in entries)
    what = f"of the assignment's notebooks there is none, but {_listed(here)}" if here else "nothing is in it"
    remedy = "Ask for the right files, and grade again."
    return dict.fromkeys(missing, f"{what}. {remedy}")


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    words = [*names[:_NAMED], *more]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
