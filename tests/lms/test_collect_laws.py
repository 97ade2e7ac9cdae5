"""Whatever is collected in whatever order: the latest attempt is there, others are kept, nothing is lost."""

from __future__ import annotations

import io
import shutil
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from collect_courses import ASSIGNMENT, earlier, files, light_course
from crafted_zips import zip_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import OperatorError
from autograder.lms.archive.limits import DOWNLOAD
from autograder.lms.archive.zips import ZipArchive
from autograder.lms.collecting.folders import Shelf, timestamp
from autograder.lms.collecting.handed import order, read_attempt
from autograder.lms.collecting.planning import Action, Planned, plan
from autograder.lms.collecting.record import (
    Collected,
    CollectedFile,
    Record,
    load_record,
    record_path,
    save_record,
)
from autograder.lms.collecting.writing import settled, write
from autograder.lms.downloads.model import Attempt, Left
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.people import People

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

ANA = Person(lms=Lms.CANVAS, student="ana")
BEGUN = datetime(2027, 3, 1, 10, 0)  # noqa: DTZ001 - naive, in UTC


@dataclass(frozen=True)
class Try:
    """An attempt: when it was made, and what is in it. Without a time it has a number."""

    at: int
    data: bytes
    timed: bool


TRIES = st.builds(Try, at=st.integers(1, 5), data=st.sampled_from([b"a", b"b", b"c"]), timed=st.booleans())


@dataclass
class Place:
    """A course into which attempts of one student are collected."""

    course: Course
    record: Record = field(default_factory=lambda: Record(assignment=ASSIGNMENT))

    def collect(self, *tries: Try, force: bool = False) -> Planned | Left:
        """Collect a download with these attempts."""
        names = {f"{number}/{one.data.decode()}.ipynb": one.data for number, one in enumerate(tries)}
        archive = ZipArchive("down.zip", io.BytesIO(zip_bytes(names)), DOWNLOAD)
        shelf = Shelf(self.course.layout, ASSIGNMENT)
        attempts = []
        for entry, one in zip(archive.entries, tries, strict=True):
            attempt = Attempt(
                key=f"ana_{one.at}",
                person=ANA,
                files=((entry.name[2:], entry),),
                submitted_at=BEGUN + timedelta(minutes=one.at) if one.timed else None,
                number=0 if one.timed else one.at,
            )
            handed = read_attempt(archive, Lms.CANVAS, People([ANA]), attempt, [])
            assert handed is not None
            attempts.append(handed)
        self.record = load_record(self.course.root, ASSIGNMENT)
        found = plan(attempts, settled(self.record, shelf), shelf, force=force)
        if isinstance(found, Planned):
            assert list(write([found], self.record, shelf, [])) == [found]
        return found

    @property
    def there(self) -> dict[str, bytes]:
        """What is in the submission's folder."""
        return files(self.course.submitted("ana", ASSIGNMENT))

    def kept(self) -> set[bytes]:
        """Return the contents of all attempts that there are, earlier ones included."""
        found = [self.there, *earlier(self.course, "ana")]
        return {data for one in found for name, data in one.items() if name.endswith(".ipynb")}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course with nobody in it."""
    return light_course(tmp_path_factory.mktemp("laws") / "course")


def emptied(course: Course) -> Place:
    """Return the course without what was collected."""
    for name in ("submitted", ".autograder"):
        shutil.rmtree(course.root / name, ignore_errors=True)
    return Place(course)


@given(st.lists(st.lists(TRIES, min_size=1, max_size=3), min_size=1, max_size=4), st.booleans())
@settings(max_examples=60)
def test_the_latest_is_there_and_nothing_is_lost(
    empty: Course,
    downloads: list[list[Try]],
    timed: bool,  # noqa: FBT001 - as hypothesis calls it
) -> None:
    """If all attempts have times, or all have numbers, the result does not hang on the order of downloads."""
    place = emptied(empty)
    collected: list[Try] = []
    for download in downloads:
        tries = [Try(one.at, one.data, timed) for one in download]
        found = place.collect(*tries)
        best = max(one.at for one in tries)
        if len({one.data for one in tries if one.at == best}) > 1:
            assert isinstance(found, Left)
            continue
        if isinstance(found, Left):
            # Two attempts of one time with other files: nobody knows, and nothing was collected.
            assert len({one.data for one in (*collected, *tries) if one.at == best}) > 1
            continue
        collected += tries
        now = max(one.at for one in collected)
        assert {one.data for one in collected} <= place.kept()
        (data,) = (data for name, data in place.there.items() if name.endswith(".ipynb"))
        assert data in {one.data for one in collected if one.at == now}
        if timed:
            stamp = timestamp(BEGUN + timedelta(minutes=now))
            assert place.there["timestamp.txt"] == stamp.encode()
        before = place.there, earlier(empty, "ana")
        again = place.collect(*tries)
        assert isinstance(again, Planned)
        assert again.action in {Action.UNCHANGED, Action.OLDER}
        assert (place.there, earlier(empty, "ana")) == before


@given(st.lists(TRIES, min_size=2, max_size=4))
@settings(max_examples=40)
def test_what_cannot_be_compared_replaces_nothing(empty: Course, tries: list[Try]) -> None:
    """Times beside numbers: what is there stays until somebody says --force, and then it is kept."""
    place = emptied(empty)
    seen: set[bytes] = set()
    for one in tries:
        before = place.there
        if isinstance(place.collect(one), Left):
            assert place.there == before
            assert isinstance(place.collect(one, force=True), Planned)
        seen.add(one.data)
        assert seen <= place.kept()


def moment(at: int | None, number: int = 0, lms: Lms = Lms.CANVAS) -> Collected:
    """Return an attempt of some time."""
    time = None if at is None else BEGUN + timedelta(minutes=at)
    return Collected(student="ana", lms=lms, archive="", key="", files=(), submitted_at=time, number=number)


def test_which_is_later() -> None:
    """Times go before numbers; a number says nothing to another LMS's, and nothing to a time."""
    assert order(moment(2, 1), moment(1, 9)) == 1
    assert order(moment(1), moment(2)) == -1
    assert order(moment(1), moment(1)) == 0
    assert order(moment(None, 8), moment(None, 9)) == -1
    assert order(moment(None, 8), moment(2, 9)) == -1
    assert order(moment(None, 8), moment(None, 9, Lms.SAKAI)) is None
    assert order(moment(None), moment(None)) is None
    assert order(moment(None, 8), moment(2)) is None


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    """Letters of all kinds, with and without times."""
    file = CollectedFile(path="ä/b.ipynb", entry="x_1_2_b.zip", inner="ä/b.ipynb", size=3, sha256="0f")
    one = Collected(
        student="ana",
        lms=Lms.MOODLE,
        archive="a\u202eb.zip",
        key="Ana Ruiz_5501_assignsubmission_file",
        named="Ana Ruiz",
        ids={IdKind.PARTICIPANT: "5501", IdKind.SIS: "007"},
        files=(file,),
        submitted_at=BEGUN,
        late=True,
        number=7,
    )
    record = Record(assignment="ps1", students={"ana": one, "ben": moment(None)}, pending={"ana": moment(3)})
    save_record(tmp_path, record)
    back = load_record(tmp_path, "ps1")

    assert back.students["ana"] == one
    assert (back.students["ben"].submitted_at, back.pending["ana"].submitted_at) == (
        None,
        moment(3).submitted_at,
    )
    assert load_record(tmp_path, "ps2") == Record(assignment="ps2")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"students": {"a": 1}, "pending": {}}', "{", "\x00", '"x"']
)
def test_a_record_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    """It is never taken for an empty one: everything would look as if changed by hand."""
    path = record_path(tmp_path, "ps1")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(OperatorError, match="no record of what was collected"):
        load_record(tmp_path, "ps1")
