"""What an attempt holds: paths that stay inside, archives opened once, nothing replaced by anything else."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from crafted_zips import SMALL, RawZip, opened, zip_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import SubmissionError
from autograder.lms.archive.limits import ATTEMPT, DOWNLOAD, MIB
from autograder.lms.archive.zips import ZipArchive
from autograder.lms.collecting.contents import Reading
from autograder.lms.collecting.handed import read_attempt
from autograder.lms.downloads.model import Attempt, Left
from autograder.lms.model import Lms, Person
from autograder.lms.people import People
from autograder.lms.texts import same_on_disk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.lms.archive.limits import Limits

ANA = Person(lms=Lms.CANVAS, student="ana")


def reading(files: Mapping[str, tuple[str, bytes]]) -> Reading:
    """Return what reads an attempt of these files: by entry where each goes and what is in it."""
    archive = ZipArchive(
        "down.zip", io.BytesIO(zip_bytes({name: data for name, (_, data) in files.items()})), DOWNLOAD
    )
    attempt = Attempt(
        key="ana",
        person=ANA,
        files=tuple((files[entry.name][0], entry) for entry in archive.entries),
    )
    return Reading(archive, attempt)


def contents(one: Reading) -> dict[str, bytes]:
    """Return the files by path."""
    return {content.file.path: content.data for content in one.contents()}


def told(one: Reading) -> list[str]:
    """Return what somebody has to look at."""
    return [left.name for left in one.left if not left.harmless]


@pytest.mark.parametrize("path", ["..", "../x.ipynb", "/etc/x", "C:x", "a\x1bb", "a/../../b", "", "."])
def test_no_file_leaves_the_submission(path: str) -> None:
    """The part of a name that is the student's may be dots: Canvas's zip then has user_1_2_.. in it."""
    one = reading({"ana_1_2_x": (path, b"evil"), "ana_1_3_hw1.ipynb": ("hw1.ipynb", b"good")})

    assert contents(one) == {"hw1.ipynb": b"good"}
    assert told(one) == ["ana_1_2_x"]


def test_what_is_not_the_students_is_left_out() -> None:
    """When it was handed in, only the LMS says; what a Mac leaves behind nobody needs."""
    files = {
        "a": ("timestamp.txt", b"2001-01-01"),
        "b": ("Timestamp.TXT", b"2001-01-01"),
        "c": ("._hw1.ipynb", b"x"),
        "d": ("data/timestamp.txt", b"my own data"),
    }
    one = reading(files)

    assert contents(one) == {"data/timestamp.txt": b"my own data"}
    assert told(one) == []
    assert sorted(left.name for left in one.left) == ["a", "b", "c"]


def test_an_archive_with_a_notebook_is_opened() -> None:
    """One level deep, and each file is known by the entry and by its name in it."""
    inner = zip_bytes(
        {"hw/hw1.ipynb": b"1", "hw/more.zip": zip_bytes({"hw2.ipynb": b"2"}), "hw/.DS_Store": b""}
    )
    one = reading({"ana_1_2_work.zip": ("work.zip", inner), "ana_1_3_x.csv": ("x.csv", b"3")})
    files = {content.file.path: content.file for content in one.contents()}

    assert set(files) == {"hw/hw1.ipynb", "hw/more.zip", "x.csv"}
    assert (files["hw/hw1.ipynb"].entry, files["hw/hw1.ipynb"].inner) == ("ana_1_2_work.zip", "hw/hw1.ipynb")
    assert told(one) == []


def test_an_archive_of_data_stays_an_archive() -> None:
    """The student's code may open it; so does a broken one, and one that is a bomb, which is told."""
    data = zip_bytes({"in.csv": b"1"})
    bomb = zip_bytes({"hw1.ipynb": bytes(40_000_000)})
    one = reading(
        {
            "a": ("data.zip", data),
            "b": ("broken.zip", data[:-9]),
            "c": ("bomb.zip", bomb),
            "d": ("no.zip", b"text"),
        }
    )

    assert contents(one) == {"data.zip": data, "broken.zip": data[:-9], "bomb.zip": bomb, "no.zip": b"text"}
    assert told(one) == ["b", "c", "d"]


def test_what_is_refused_in_an_archive_is_told() -> None:
    """With the archive that it is in."""
    inner = RawZip().add("hw1.ipynb", b"1").add("../../evil", b"2").add("link", b"x", mode=0o120777).bytes()
    one = reading({"ana.zip": ("ana.zip", inner)})

    assert contents(one) == {"hw1.ipynb": b"1"}
    assert sorted(told(one)) == ["ana.zip: ../../evil", "ana.zip: link"]


def test_nothing_takes_the_place_of_anything_else() -> None:
    """A file beside an archive with one of the same name; the same once more is one."""
    inner = zip_bytes({"hw1.ipynb": b"inner", "HW2.ipynb": b"2", "data": b"a file"})
    one = reading(
        {
            "a": ("hw1.ipynb", b"outer"),
            "b": ("hw2.ipynb", b"2"),
            "c": ("data/in.csv", b"3"),
            "d": ("work.zip", inner),
        }
    )

    assert contents(one) == {
        "hw1.ipynb": b"outer",
        "hw2.ipynb": b"2",
        "data/in.csv": b"3",
        "work/hw1.ipynb": b"inner",
        "work/data": b"a file",
    }


PATHS = st.lists(st.sampled_from(["a", "A", "b", "ä", "a\u0308", "2"]), min_size=1, max_size=3).map("/".join)


@given(st.lists(st.tuples(PATHS, st.sampled_from([b"1", b"2"])), max_size=6))
@settings(max_examples=50)
def test_every_file_has_a_place_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[str, bytes]]
) -> None:
    """Whatever they are called: all can be written, no content is lost, twice is the same."""
    one = reading({str(number): file for number, file in enumerate(files)})
    first, again = contents(one), contents(Reading(one.archive, one.attempt))

    assert first == again
    assert set(first.values()) == {data for _, data in files}
    assert len({same_on_disk(path) for path in first}) == len(first)
    folder = tmp_path_factory.mktemp("written")
    for path, data in first.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("xb") as file:
            file.write(data)


def test_a_damaged_file_spoils_the_attempt() -> None:
    """Nobody is graded on a part of what they handed in because a download broke."""
    raw = RawZip().add("good.ipynb", b"1").add("bad.ipynb", b"2", crc=5)
    archive = opened(raw.bytes())
    files = tuple((entry.name, entry) for entry in archive.entries)
    left: list[Left] = []
    attempt, people = Attempt(key="ana_1", person=ANA, files=files), People([ANA])

    assert read_attempt(archive, Lms.CANVAS, people, attempt, left) is None
    assert [one.name for one in left] == ["ana_1"]
    assert "bad.ipynb" in left[0].reason
    assert read_attempt(archive, Lms.CANVAS, people, replace(attempt, files=()), left) is None
    assert "nothing that could be taken" in left[1].reason


def test_many_bombs_are_one() -> None:
    """What students packed counts together, and takes nothing from the files of others."""
    zeros = {f"{number}.zip": zip_bytes({"x.ipynb": bytes(1_900_000)}) for number in range(4)}
    limits = replace(SMALL, ratio_from_bytes=2_000_000)
    archive = opened(zip_bytes(zeros | {"y.ipynb": b"y" * 1_900_000}), limits)
    taken = {}
    for _ in range(2):
        for entry in archive.entries:
            one = Reading(archive, Attempt(key="k", person=ANA, files=((entry.name, entry),)))
            taken[entry.name] = [*contents(one), *told(one)]

    assert taken == {
        "0.zip": ["x.ipynb"],
        "1.zip": ["x.ipynb"],
        "2.zip": ["2.zip", "2.zip"],
        "3.zip": ["3.zip", "3.zip"],
        "y.ipynb": ["y.ipynb"],
    }


BOMB = zip_bytes({"hw1.ipynb": b"1", **{f"{number}.bin": bytes(15 * MIB) for number in range(2)}})


def test_archives_of_an_attempt_count_together() -> None:
    """What each may unpack to, all of one student's may not; those of others are opened all the same."""
    files = {f"{number}.zip": (f"{number}.zip", BOMB) for number in range(3)}
    evil = reading(files)
    taken = contents(evil)

    assert len(BOMB) * 3 < MIB
    assert sum(map(len, taken.values())) < DOWNLOAD.ratio_from_bytes
    assert told(evil) == ["1.zip", "2.zip"]
    assert "unpacks, with what is beside it, to more than 32 MiB" in evil.left[0].reason
    assert contents(Reading(evil.archive, evil.attempt)) == taken
    others = [
        Reading(evil.archive, Attempt(key=name, person=ANA, files=((name, entry),)))
        for name, entry in zip(files, evil.archive.entries, strict=True)
    ]
    assert all("hw1.ipynb" in contents(one) for one in others)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (replace(SMALL, entries=2), "holds more than 2 files"),
        (replace(SMALL, total_bytes=3 * MIB), "is larger than 3 MiB"),
    ],
)
def test_an_attempt_that_is_too_much_costs_its_owner(limits: Limits, reason: str) -> None:
    """Of files as of bytes."""
    files = {name: (name, name.encode() * (MIB + 700)) for name in ("a", "b", "c")}
    one = reading(files)
    one.limits = limits

    with pytest.raises(SubmissionError, match=f"ana: {reason}"):
        contents(one)


def test_files_of_an_archive_count_with_those_beside_it() -> None:
    """It stays as it is if with what is in it there would be too many."""
    inner = zip_bytes({f"{number}.ipynb": b"%d" % number for number in range(5)})
    one = reading({"a.zip": ("a.zip", inner), "b.zip": ("b.zip", inner), "x": ("x", b"x")})
    one.limits = replace(SMALL, entries=8)

    assert sorted(contents(one)) == [*(f"{number}.ipynb" for number in range(5)), "b.zip", "x"]
    assert told(one) == ["b.zip"]


def test_what_all_share_is_far_more_than_a_class_hands_in() -> None:
    """A few students who hand in as much as they can leave room for all others."""
    assert 1000 * ATTEMPT.total_bytes < DOWNLOAD.total_bytes
    assert 20 * ATTEMPT.entries < DOWNLOAD.entries
