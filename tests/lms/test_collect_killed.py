"""A collect that is killed at any step leaves nothing half-written, and a repeat completes it."""

from __future__ import annotations

import random
import shutil
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

from autograder.gradebook import Gradebook
from autograder.lms.collecting.record import load_record

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

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


def test_a_killed_collect_is_completed_by_the_next(tmp_path: Path) -> None:
    """New, updated and unchanged submissions, new students, several attempts: all at any step."""
    first = prepared(tmp_path / "course")
    later = (upload("501", 91, b"new a"), upload("502", 92, b"new b"), upload("503", 83, OLD["jmuller"]))
    canvas = download(tmp_path / "new.zip", *later)
    times = {f"zoe+{ASSIGNMENT}+2027-03-0{day} 10:00:00.0 UTC/{NOTEBOOK}": b"z%d" % day for day in (2, 1)}
    exchange = write_zip(tmp_path / "in.zip", times)
    people = tmp_path / "zoe.csv"
    people.write_text("id,first_name,last_name\nzoe,Zoe,Adams\n", encoding="utf-8")
    words = [str(word) for word in (canvas, exchange, "--roster", people)]

    def copied(name: str) -> Course:
        shutil.copytree(first.root, tmp_path / name)
        return type(first)(root=tmp_path / name)

    whole = copied("whole")
    ((code, steps),) = collects({"course": str(whole.root), "words": words, "stop": 0})
    assert code == 0
    expected = state(whole)
    assert expected["submitted"] == {
        "aruiz": {NOTEBOOK: b"new a"},
        "blind": {NOTEBOOK: b"new b"},
        "jmuller": {NOTEBOOK: OLD["jmuller"]},
        "zoe": {NOTEBOOK: b"z2", "timestamp.txt": b"2027-03-02 10:00:00.000000 UTC"},
    }
    stops = sorted({1, 2, steps - 1, steps, *random.Random(steps).sample(range(3, steps - 1), KILLS)})  # noqa: S311
    courses = {stop: copied(f"killed-{stop}") for stop in stops}
    killed = collects(
        *({"course": str(course.root), "words": words, "stop": stop} for stop, course in courses.items())
    )
    assert {code for code, _ in killed} == {-9}
    allowed = {
        "aruiz": [{NOTEBOOK: OLD["aruiz"]}, {NOTEBOOK: b"new a"}],
        "blind": [{NOTEBOOK: b"new b"}],
        "jmuller": [{NOTEBOOK: OLD["jmuller"]}],
        "zoe": [expected["submitted"]["zoe"]],
    }
    for course in courses.values():
        assert all(files in allowed[student] for student, files in submitted(course).items())
    again = collects(
        *({"course": str(course.root), "words": words, "stop": 0} for course in courses.values())
    )
    assert {code for code, _ in again} == {0}
    for stop, course in courses.items():
        for what, told in state(course).items():
            assert (stop, what, told) == (stop, what, expected[what])
        assert leftovers(course) == []
