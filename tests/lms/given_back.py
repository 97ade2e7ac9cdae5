"""Downloads collected and pages packed for their way back: what tests of returns have in common."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from written_downloads import context_of, opened

from autograder.lms.collecting.record import Collected, CollectedFile
from autograder.lms.people import full_names
from autograder.lms.returns.model import Feedback, Work
from autograder.lms.zipping import write_zip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from written_downloads import Written

    from autograder.lms.downloads.model import Attempt, Reader
    from autograder.lms.model import Person
    from autograder.lms.returns.model import Packer, Returned

ASSIGNMENT = "hw1"


@dataclass(frozen=True)
class Back:
    """What was packed, and the files of the archive."""

    returned: Returned
    files: dict[str, bytes]

    @property
    def given(self) -> dict[str, set[str]]:
        """By student the entries that we say will reach them."""
        found: dict[str, set[str]] = {}
        for one in self.returned.given:
            found.setdefault(one.student, set()).add(one.entry)
        return found

    @property
    def left(self) -> dict[str, str]:
        """By student why they get nothing."""
        return {one.name: one.reason for one in self.returned.left}


def collected(written: Written, reader: Reader, people: Iterable[Person]) -> list[Collected]:
    """Return what collecting a download would record: each student's last attempt."""
    found: dict[str, Collected] = {}
    with opened(written) as archive:
        download = reader.read(archive, context_of(people))
        ordered = sorted(
            (one for one in download.attempts if one.person is not None and not one.problem),
            key=lambda one: (str(one.submitted_at), one.number),
        )
        for one in ordered:
            assert one.person is not None
            found[one.person.student] = Collected(
                student=one.person.student,
                lms=download.lms,
                archive=written.name,
                key=one.key,
                named=one.named,
                ids=one.person.ids,
                files=tuple(_files(archive, one)),
                number=one.number,
                same_name=one.same_name,
            )
    return sorted(found.values(), key=lambda one: one.student)


def _files(archive: Any, attempt: Attempt) -> Iterable[CollectedFile]:
    for path, entry in attempt.files:
        data = archive.read(entry)
        digest = hashlib.sha256(data).hexdigest()
        yield CollectedFile(path=path, entry=entry.name, size=len(data), sha256=digest)


def page(student: str, part: str = "") -> bytes:
    """Return a page that says whose it is."""
    return f"<!DOCTYPE html><title>{part or 'all'} of {student}</title>".encode()


def work_of(
    records: Sequence[Collected],
    folder: Path,
    people: Iterable[Person] = (),
    parts: Sequence[str] = (),
) -> Work:
    """Return pages for everybody who was collected, written into a folder."""
    names = {one.student: full_names(one) for one in people}
    feedback = {}
    for number, one in enumerate(records):
        place = folder / str(number)
        place.mkdir(parents=True)
        pages = {name: place / f"{name}.html" for name in parts}
        for name, path in pages.items():
            path.write_bytes(page(one.student, name))
        whole = place / "index.html"
        whole.write_bytes(page(one.student))
        feedback[one.student] = Feedback(
            student=one.student, whole=whole, parts=pages, names=names.get(one.student, ())
        )
    return Work(assignment=ASSIGNMENT, collected=records, feedback=feedback)


def packed(packer: Packer, work: Work, folder: Path) -> Back:
    """Pack, write the archive, read it again; nobody may be neither given a page nor told of."""
    returned = packer(work)
    path = folder / "back.zip"
    write_zip(path, returned.files)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    back = Back(returned, files)
    assert set(back.given) | set(back.left) == {one.student for one in work.collected}
    assert not set(back.given) & set(back.left)
    assert all(reason.endswith(".") for reason in back.left.values())
    return back


def whose(pages: Mapping[str, bytes] | Iterable[bytes]) -> set[str]:
    """Return the students that pages say they are of."""
    found = pages.values() if hasattr(pages, "values") else pages
    return {data.decode().rpartition(" of ")[2].removesuffix("</title>") for data in found}
