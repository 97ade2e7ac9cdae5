"""Canvas's zip: every entry goes to the student whose number it carries, or to nobody."""

from __future__ import annotations

import io
import unicodedata
from datetime import UTC
from typing import TYPE_CHECKING, Literal

import pytest
from canvas_zips import Upload, canvas_zip, entry_name, folded
from crafted_zips import zip_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreters import needs_ruby, ruby
from nasty_people import NASTY, TWINS, Nasty, classes

from autograder.lms.archive.limits import DOWNLOAD
from autograder.lms.archive.names import PART_BYTES
from autograder.lms.archive.zips import ZipArchive
from autograder.lms.downloads import canvas
from autograder.lms.downloads.model import Context
from autograder.lms.downloads.recognising import recognise
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.people import People

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.lms.downloads.model import Attempt, Download

    Form = Literal["NFC", "NFD"]


def person(user: str, name: str, student: str = "") -> Person:
    """Return somebody as Canvas knows them."""
    return Person(lms=Lms.CANVAS, name=name, student=student or f"s{user}", ids={IdKind.USER: user})


def opened(files: Mapping[str, bytes]) -> ZipArchive:
    """Open a zip of these files."""
    return ZipArchive("submissions.zip", io.BytesIO(zip_bytes(files)), DOWNLOAD)


def understood(
    files: Mapping[str, bytes], people: Iterable[Person], notebooks: tuple[str, ...] = ("hw1",)
) -> Download:
    """Read a zip of these files."""
    context = Context(people=People(people), notebooks=notebooks, assignment="ps1", zone=UTC)
    return canvas.read(opened(files), context)


def files_of(attempt: Attempt) -> dict[str, str]:
    """Return where each file goes, by its name in the zip."""
    return {entry.name: path for path, entry in attempt.files}


KNOWN = {
    "1234": "Müller, Jean-Luc",
    "1235": "O'Hara, Ana María",
    "1236": "李, 小龙",
    "1237": "Nguyễn, Thị Ánh",
    "1238": "x_99_y, Bo",
    "1239": "Tan_7",
    "1241": "Ruiz, Ana",
}
TABLE = [
    ("müllerjeanluc_1234_5678_hw1.ipynb", "1234", False, "hw1.ipynb"),
    ("oharaanamaría_LATE_1235_5679_hw1-1.ipynb", "1235", True, "hw1.ipynb"),
    ("李小龙_1236_5680_hw 1 (final).ipynb", "1236", False, "hw 1 (final).ipynb"),
    ("nguyễnthịánh_1237_5681_hw1.ipynb", "1237", False, "hw1.ipynb"),
    ("x_99_ybo_1238_5682_hw1.ipynb", "1238", False, "hw1.ipynb"),
    ("x99ybo_1238_5682_hw1.ipynb", "1238", False, "hw1.ipynb"),
    ("tan_7_1239_5683_hw1.ipynb", "1239", False, "hw1.ipynb"),
    ("tan_7_LATE_1239_5683_hw_12_34_1.ipynb", "1239", True, "hw_12_34_1.ipynb"),
    ("ruizana_1241_text.html", "1241", False, "text.html"),
    ("ruizana_LATE_1241_link.html", "1241", True, "link.html"),
    ("ruizana_1241_5690_a_1299_5682_hw1.ipynb", "1241", False, "a_1299_5682_hw1.ipynb"),
]


@pytest.mark.parametrize(("name", "user", "late", "path"), TABLE, ids=[row[0] for row in TABLE])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_every_form_is_understood(name: str, user: str, late: bool, path: str, form: Form) -> None:  # noqa: FBT001 - a row
    """Late or not, several numbers, several letters, whichever way accents are written."""
    people = [person(*one) for one in KNOWN.items()]
    download = understood({unicodedata.normalize(form, name): b"x"}, people)

    (attempt,) = download.attempts
    assert attempt.person is not None
    assert attempt.person.ids[IdKind.USER] == user
    assert attempt.late is late
    assert [one for one, _ in attempt.files] == [path]
    # 99 is no student's number, so that the pair (99, ybo) never was one; 7 is none either.
    assert not attempt.problem


def test_the_first_pair_of_numbers_may_be_part_of_a_name() -> None:
    """Tan_7 has the number 1239, also where 7 is another student's; so with numbers in the file's name."""
    people = [person("7", "Okafor, Ada"), person("1239", "Tan_7"), person("12", "Ek, Ida")]
    uploads = [
        Upload(sortable="Tan_7", user="1239", attachment=5683, display="a_12_34_b.ipynb"),
        Upload(sortable="Ek, Ida", user="12", attachment=5684),
    ]

    _, attempt = understood(canvas_zip(uploads), people).attempts
    assert attempt.person is not None
    assert attempt.person.name == "Tan_7"


@pytest.mark.parametrize("name", ["Lindqvist, Bo_502", "Lindqvist, Bo_502_77_x"])
@pytest.mark.parametrize("sure", [False, True])
def test_nobody_takes_anothers_name_and_number(name: str, *, sure: bool) -> None:
    """A name may end as another student's files begin; a roster from before the change does not know it."""
    people = [person("502", "Lindqvist, Bo"), person("503", "Müller, Jean-Luc")]
    files = canvas_zip([Upload(sortable=name, user="503", attachment=13, display="x.zip")])
    # One that Bo has called so himself, where Jean-Luc is seen to have another name.
    files |= canvas_zip([Upload(sortable="Müller, Jean-Luc", user="503", attachment=14)]) if sure else {}
    attempts = understood(files, people).attempts

    assert [one.person.name for one in attempts if one.person] == (
        ["Lindqvist, Bo", "Müller, Jean-Luc"] if sure else []
    )
    assert sure or "several ways" in attempts[0].problem


def test_nobody_gets_the_work_of_a_student_who_has_left() -> None:
    """If Tan_7 is in no roster any more, the one number that is somebody's is still not theirs."""
    files = canvas_zip([Upload(sortable="Tan_7", user="1239", attachment=5683)])

    (attempt,) = understood(files, [person("7", "Okafor, Ada")]).attempts
    assert attempt.person is None
    assert "several ways" in attempt.problem
    (attempt,) = understood(files, [person("8", "Okafor, Ada")]).attempts
    assert attempt.person is None
    assert "7 or 1239" in attempt.problem


def test_two_students_of_one_folded_name_are_two() -> None:
    """The number decides, not the name."""
    people = [person("601", "Park, Kim"), person("602", "Park-Kim"), person("603", "parkkim")]
    files = canvas_zip(Upload(sortable=one.name, user=one.ids[IdKind.USER], attachment=90) for one in people)

    attempts = understood(files, people).attempts
    assert [one.person for one in attempts] == people


def test_a_file_that_was_handed_in_again_gets_its_name_back() -> None:
    """Of expected names only: a notebook that is called lab-1 keeps its -1."""
    ana = [person("1241", "Ruiz, Ana")]

    def paths(*displays: str, notebooks: tuple[str, ...] = ("hw1", "lab-1")) -> list[str]:
        files = canvas_zip(
            Upload(sortable="Ruiz, Ana", user="1241", attachment=700 + number, display=display)
            for number, display in enumerate(displays)
        )
        return sorted(path for path, _ in understood(files, ana, notebooks).attempts[0].files)

    assert paths("hw1-1.ipynb", "lab-1.ipynb") == ["hw1.ipynb", "lab-1.ipynb"]
    assert paths("hw1-12.ipynb", "lab-1-3.ipynb") == ["hw1.ipynb", "lab-1.ipynb"]
    assert paths("hw1-1.ipynb", "notes-1.ipynb", "hw1-1.py") == ["hw1-1.py", "hw1.ipynb", "notes-1.ipynb"]
    # Which of two is the one, nobody can prove.
    assert paths("hw1.ipynb", "hw1-1.ipynb") == ["hw1-1.ipynb", "hw1.ipynb"]
    assert paths("hw1-1.ipynb", "hw1-2.ipynb") == ["hw1-1.ipynb", "hw1-2.ipynb"]
    assert paths("lab-1.ipynb", notebooks=("lab",)) == ["lab.ipynb"]
    assert paths("lab-1.ipynb", notebooks=("lab", "lab-1")) == ["lab-1.ipynb"]
    # None replaces another of the same name.
    assert paths("hw1.ipynb", "hw1.ipynb") == ["700/hw1.ipynb", "701/hw1.ipynb"]


def test_several_files_are_one_attempt() -> None:
    """Late if one of them is, and the latest number tells which attempt it is."""
    uploads = [
        Upload(sortable="Ruiz, Ana", user="1241", attachment=5690, display="hw1.ipynb"),
        Upload(sortable="Ruiz, Ana", user="1241", attachment=5702, display="b.csv"),
    ]
    (attempt,) = understood(canvas_zip(uploads), [person("1241", "Ruiz, Ana")]).attempts

    assert attempt.number == 5702
    assert attempt.key == "ruizana_1241"
    assert files_of(attempt) == {
        "ruizana_1241_5690_hw1.ipynb": "hw1.ipynb",
        "ruizana_1241_5702_b.csv": "b.csv",
    }
    assert attempt.submitted_at is None


@pytest.mark.parametrize("name", ["LATE_anon_ab12C_5685_hw1.ipynb", "anon_ab12C_text.html"])
def test_anonymous_work_is_nobodys(name: str) -> None:
    """It says so, and what to do."""
    (attempt,) = understood({name: b"x"}, [person("5685", "Ruiz, Ana")]).attempts

    assert attempt.person is None
    assert "anonymous" in attempt.problem


def test_a_student_may_be_called_anon() -> None:
    """A number that is somebody's, behind the name that is theirs."""
    files = canvas_zip([Upload(sortable="Anon", user="518", attachment=5685)])
    (attempt,) = understood(files, [person("518", "Anon")]).attempts

    assert attempt.person is not None


def test_a_group_is_told() -> None:
    """Canvas gives one member's number: the others have nothing, and somebody must know."""
    files = canvas_zip([Upload(sortable="Group 7", user="1240", attachment=5684)])
    download = understood(files, [person("1240", "Lindqvist, Bo")])

    (attempt,) = download.attempts
    assert attempt.person is not None
    (left,) = download.left
    assert not left.harmless
    assert "group7" in left.reason


def test_what_has_another_name_is_left() -> None:
    """Somebody else's files in the folder are told, each."""
    download = understood(
        {"notes.txt": b"x", "ruizana_1241_5690_hw1.ipynb": b"y"}, [person("1241", "Ruiz, Ana")]
    )

    assert [one.name for one in download.left] == ["notes.txt"]
    assert len(download.attempts) == 1


def test_a_number_that_two_students_share_is_nobodys() -> None:
    """The gradebook may hold the same number twice: for two LMSs, or by mistake."""
    people = [
        person("1241", "Ruiz, Ana", "ana"),
        Person(lms=Lms.PLAIN, student="bo", ids={IdKind.USER: "1241"}),
    ]
    files = canvas_zip([Upload(sortable="Lindqvist, Bo", user="1241", attachment=5690)])

    (attempt,) = understood(files, people).attempts
    assert attempt.person is None


def uploads_of(people: Iterable[Nasty]) -> list[Upload]:
    """Return an upload of each, with odd names of files."""
    displays = ("hw1.ipynb", "a_1_2_b.ipynb", "_.ipynb", "hw 1 (7_8_9).ipynb", "LATE_3_4_.ipynb")
    return [
        Upload(
            sortable=one.sortable,
            user=one.user,
            attachment=8000 + 3 * number,
            display=displays[number % len(displays)],
            late=number % 3 == 0,
        )
        for number, one in enumerate(people)
    ]


def whose(download: Download) -> dict[str, str]:
    """Return by entry which number the student has to whom it went."""
    return {
        entry.name: attempt.person.ids[IdKind.USER]
        for attempt in download.attempts
        if attempt.person is not None
        for _, entry in attempt.files
    }


def test_names_that_break_programs_break_nothing() -> None:
    """Each of them gets their own work, with the roster that Canvas writes."""
    people = [one.person(Lms.CANVAS, student=one.user, name=one.sortable) for one in (*NASTY, *TWINS)]
    uploads = uploads_of((*NASTY, *TWINS))
    download = understood(canvas_zip(uploads), people)

    expected = {unicodedata.normalize("NFC", entry_name(one)): one.user for one in uploads}
    assert whose(download) == expected
    assert download.left == ()
    assert {one.person.student: one.late for one in download.attempts if one.person} == {
        one.user: one.late for one in uploads
    }


@given(classes(), st.data())
@settings(max_examples=60)
def test_nobody_gets_what_is_somebody_elses(people: tuple[Nasty, ...], data: st.DataObject) -> None:
    """Whoever of a class is in the roster: work goes to whom it is of, or is told."""
    uploads = uploads_of(people)
    in_roster = data.draw(st.sets(st.sampled_from(people), min_size=1))
    download = understood(
        canvas_zip(uploads),
        [one.person(Lms.CANVAS, student=one.user, name=one.sortable) for one in in_roster],
    )

    expected = {unicodedata.normalize("NFC", entry_name(one)): one.user for one in uploads}
    # No disk takes a longer name: the archive refuses it, and tells.
    expected = {name: user for name, user in expected.items() if len(name.encode()) <= PART_BYTES}
    found = whose(download)
    assert {name: expected[name] for name in found} == found
    users = {one.user for one in in_roster}
    assert set(found) == {name for name, user in expected.items() if user in users}
    assert all(one.problem for one in download.attempts if one.person is None)


def test_it_is_recognised() -> None:
    """By its names, in a folder or not, also where some are of texts."""
    files = {name: b"x" for name, *_ in TABLE}

    assert recognise(opened(files)) == Lms.CANVAS
    assert recognise(opened({f"submissions/{name}": b"x" for name in files})) == Lms.CANVAS


@needs_ruby
def test_names_are_folded_as_ruby_folds_them() -> None:
    """The rule of this test and that of the kit are those of the language that Canvas is written in."""
    names = [one.sortable for one in (*NASTY, *TWINS)] + ["x_99_y, Bo", "Ⅷ ½ ² Ⅸ", "ΣΊΣΥΦΟΣ", "İpek"]
    told = ruby("cases.map { |name| name.downcase.gsub(/[^[:word:]]+/, '') }", names)

    kit, oracle = ([_folded_once_more(fold(name)) for name in names] for fold in (canvas.fold_name, folded))
    assert kit == [_folded_once_more(name) for name in told]
    assert kit == oracle


def _folded_once_more(name: str) -> str:
    """Return a name as it is compared: two programs need not agree on every small letter."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
