"""A collect that is killed at any step leaves nothing half-written, and a repeat completes it."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from collect_courses import (
    ASSIGNMENT,
    FIRST,
    collect,
    download,
    earlier,
    light_course,
    roster,
    submitted,
    upload,
)
from crafted_zips import write_zip
from gradebook_rows import gradebook_rows
from killed_collects import collects

from autograder.course.course import Course
from autograder.gradebook import Gradebook
from autograder.lms.collecting.record import load_record

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOK = f"{FIRST}.ipynb"
KILLS = 8
"""How many of the steps are tried, at random; the first and the last ones are among them."""

OLD = {"aruiz": b"old a", "jmuller": b"old m"}


def prepared(root: Path) -> Course:
    """Return a course into which some was collected before."""
    course = light_course(root)
    folder = root.parent
    uploads = (upload("501", 81, OLD["aruiz"]), upload("503", 83, OLD["jmuller"]))
    words = (download(folder / f"{root.name}-old.zip", *uploads), "--roster", roster(folder))
    assert collect(course, *words)[0] == 0
    return course


def state(course: Course) -> dict[str, Any]:
    """Return all that counts of a course."""
    record = load_record(course.root, ASSIGNMENT)
    with Gradebook(course.db_url) as gradebook:
        people = gradebook.people(ASSIGNMENT)
    return {
        "submitted": submitted(course),
        "earlier": {student: earlier(course, student) for student in ("aruiz", "blind", "jmuller", "zoe")},
        "record": (record.students, record.pending),
        "people": people,
        "students": gradebook_rows(course.gradebook)["student"],
    }


def leftovers(course: Course) -> list[str]:
    """Return what is in the course and is nobody's."""
    return [path.name for path in course.root.rglob(".*~*")]


@dataclass(frozen=True)
class Scene:
    """A course into which some was collected, and what is to be collected next: new, updated, unchanged."""

    first: Course
    words: list[str]

    @classmethod
    def of(cls, folder: Path) -> Scene:
        """Make the course, its downloads and rosters."""
        first = prepared(folder / "course")
        later = (upload("501", 91, b"new a"), upload("502", 92, b"new b"), upload("503", 83, OLD["jmuller"]))
        times = {f"zoe+{ASSIGNMENT}+2027-03-0{day} 10:00:00.0 UTC/{NOTEBOOK}": b"z%d" % day for day in (2, 1)}
        people = folder / "zoe.csv"
        people.write_text("id,first_name,last_name\nzoe,Zoe,Adams\n", encoding="utf-8")
        files = (download(folder / "new.zip", *later), write_zip(folder / "in.zip", times))
        return cls(first, [*map(str, files), "--roster", str(people)])

    def copied(self, name: str) -> Course:
        """Return a copy of the course."""
        root = self.first.root.with_name(name)
        shutil.copytree(self.first.root, root)
        return Course(root=root)

    def asked(self, course: Course, stop: int = 0) -> dict[str, Any]:
        """Return what to collect into a course, to be killed at a step; 0 is none."""
        return {"course": str(course.root), "words": self.words, "stop": stop}


def test_a_killed_collect_is_completed_by_the_next(tmp_path: Path) -> None:
    """New, updated and unchanged submissions, new students, several attempts: all at any step."""
    scene = Scene.of(tmp_path)
    whole = scene.copied("whole")
    ((code, steps),) = collects(scene.asked(whole))
    assert code == 0
    expected = state(whole)
    new = expected["submitted"]
    stamp = b"2027-03-02 10:00:00.000000 UTC"
    assert new["zoe"] == {NOTEBOOK: b"z2", "timestamp.txt": stamp}
    assert {student: one[NOTEBOOK] for student, one in new.items()} == {
        "aruiz": b"new a",
        "blind": b"new b",
        "zoe": b"z2",
        "jmuller": OLD["jmuller"],
    }
    some = random.Random(steps).sample(range(3, steps - 1), KILLS)  # noqa: S311 - any will do
    courses = {stop: scene.copied(f"killed-{stop}") for stop in sorted({1, 2, steps - 1, steps, *some})}
    killed = collects(*(scene.asked(course, stop) for stop, course in courses.items()))
    assert {code for code, _ in killed} == {-9}

    for course in courses.values():
        for student, one in submitted(course).items():
            assert one in (new[student], {NOTEBOOK: OLD.get(student, b"")})
    assert {code for code, _ in collects(*map(scene.asked, courses.values()))} == {0}
    for stop, course in courses.items():
        for what, told in state(course).items():
            assert (stop, what, told) == (stop, what, expected[what])
        assert leftovers(course) == []
