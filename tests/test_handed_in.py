"""Which file of a submission is which notebook: found if it can be only one, told if not, never guessed."""

from __future__ import annotations

import json
import os
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

import pytest
from handouts import COURSE, RELEASED, SPLIT, filled, handed_out

from autograder.errors import SubmissionError
from autograder.findings import RepairKind
from autograder.notebook import write_notebook
from autograder.submission.handed_in import MAX_DEPTH, MAX_NOTEBOOKS, HandedIn, by_name, find_notebooks

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Notebook

ONE, TWO, THREE = (released.name for released in RELEASED)
COUNT = RELEASED[0]


def put(folder: Path, name: str, notebook: Notebook | str) -> Path:
    """Write a file into a submission."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(notebook, str):
        path.write_text(notebook, encoding="utf-8")
    else:
        write_notebook(path, notebook)
    return path


def found_in(folder: Path) -> HandedIn:
    """Find the notebooks of the course's assignment."""
    return find_notebooks(folder, RELEASED)


def unmarked(released: ReleasedNotebook) -> Notebook:
    """Return a notebook that only its name tells: one cell of the student's."""
    cell: dict[str, Any] = {"cell_type": "code", "source": f"mine = {released.name!r}", "metadata": {}}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


NAMES = {
    "browser": f"{TWO} (1).ipynb",
    "dash": f"{TWO}-1.ipynb",
    "underscore": f"{TWO}_1.ipynb",
    "jupyter": f"{TWO}-Copy1.ipynb",
    "drive": f"Copy of {TWO}.ipynb",
    "windows": f"{TWO} - Copy.ipynb",
    "case": "Exercise2_Split_Heads.ipynb",
    "suffix-case": f"{TWO}.IPYNB",
    "blanks": "exercise2 split heads.ipynb",
    "more-blanks": "Exercise 2 - Split Heads.ipynb",
    "text": f"{TWO}.ipynb.txt",
    "json": f"{TWO}.json",
    "ipynb-json": f"{TWO}.ipynb.json",
    "name-before": f"mueller_ana_{TWO}.ipynb",
    "id-after": f"{TWO}_12345678.ipynb",
    "both": f"ana-98765_attempt2_{TWO} (3).ipynb",
    "sub-folder": f"multi_head_attention/{TWO}.ipynb",
    "two-folders": f"ana/hand in/{TWO}.ipynb",
    "both-wrong": f"ana/{TWO} (1).ipynb",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_misnamed_notebook_is_found_by_its_name(tmp_path: Path, name: str) -> None:
    """Even if its cells say nothing; and that it was found is told with the name it had."""
    put(tmp_path, f"{ONE}.ipynb", filled(COUNT))
    path = put(tmp_path, name, unmarked(SPLIT))

    found = found_in(tmp_path)

    assert found.paths == {ONE: tmp_path / f"{ONE}.ipynb", TWO: path}
    assert [(one.kind, one.where) for one in found.repairs.values()] == [(RepairKind.NAME, name)]
    assert found.unclear == {}
    assert found.ignored == ()


@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_accents_may_be_written_in_two_ways(
    tmp_path: Path, form: Literal["NFC", "NFD"], other: Literal["NFC", "NFD"]
) -> None:
    """One system keeps é as a letter, another as e and an accent."""
    released = [type(SPLIT)(name=unicodedata.normalize(form, "tête"), layout=SPLIT.layout, metadata={})]
    path = put(tmp_path, f"{unicodedata.normalize(other, 'tête')}.ipynb", unmarked(SPLIT))

    assert list(find_notebooks(tmp_path, released).paths.values()) == [path]


def strip(notebook: Notebook) -> None:
    """Take from a notebook what nbgrader put into it, and the ids."""
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"], cell["id"] = {}, f"cell{number}"


@pytest.mark.parametrize("stripped", [True, False])
def test_cells_tell_what_a_name_does_not(tmp_path: Path, *, stripped: bool) -> None:
    """A file called as its author liked, with or without nbgrader's metadata."""
    paths = {}
    for released, name in zip(RELEASED, ("final", "final final", "untitled"), strict=True):
        notebook = filled(released)
        if stripped:
            strip(notebook)
        paths[released.name] = put(tmp_path, f"{name}.ipynb", notebook)

    assert found_in(tmp_path).paths == paths


def test_cells_outweigh_a_name(tmp_path: Path) -> None:
    """The second notebook saved under the first one's name is the second."""
    path = put(tmp_path, f"{ONE} (1).ipynb", filled(SPLIT))

    assert found_in(tmp_path).paths == {TWO: path}


def test_the_right_name_always_wins(tmp_path: Path) -> None:
    """Copies beside it do not count, and are told."""
    path = put(tmp_path, f"{TWO}.ipynb", unmarked(SPLIT))
    for name in (f"{TWO} (1).ipynb", f"old/{TWO}.ipynb"):
        put(tmp_path, name, filled(SPLIT))

    found = found_in(tmp_path)

    assert found.paths == {TWO: path}
    assert (found.repairs, found.unclear) == ({}, {})
    assert found.ignored == (f"{TWO} (1)", f"old/{TWO}")


def test_two_that_could_be_it_are_not_guessed(tmp_path: Path) -> None:
    """Nobody knows which counts; the reason names both and says what to do."""
    put(tmp_path, f"{TWO} (1).ipynb", filled(SPLIT))
    put(tmp_path, f"{TWO} (2).ipynb", unmarked(SPLIT))

    found = found_in(tmp_path)

    assert found.paths == {}
    assert found.unclear == {
        TWO: f"{TWO} (1).ipynb and {TWO} (2).ipynb could each be {TWO}.ipynb. "
        f"Call the one that counts {TWO}.ipynb, and grade again."
    }


def test_copies_with_the_same_cells_are_one(tmp_path: Path) -> None:
    """Outputs, counts and ids of a second download do not make it another notebook."""
    first, second = filled(SPLIT), filled(SPLIT)
    for number, cell in enumerate(second["cells"]):
        cell["id"] = f"new{number}"
        if cell["cell_type"] == "code":
            cell["execution_count"] = 3
    put(tmp_path, f"{TWO} (2).ipynb", first)
    put(tmp_path, f"ana/{TWO} (1).ipynb", second)

    found = found_in(tmp_path)

    assert found.paths == {TWO: tmp_path / f"{TWO} (2).ipynb"}
    assert found.ignored == (f"ana/{TWO} (1)",)


def test_a_copy_of_what_was_handed_out_is_nobodys_work(tmp_path: Path) -> None:
    """Beside it, the one that somebody worked on is the one; alone, it is handed in."""
    blank = put(tmp_path, f"{TWO} (1).ipynb", handed_out(SPLIT))
    assert found_in(tmp_path).paths == {TWO: blank}

    mine = put(tmp_path, f"{TWO} (2).ipynb", filled(SPLIT))
    assert found_in(tmp_path).paths == {TWO: mine}


def test_one_file_that_could_be_two_notebooks_is_not_guessed(tmp_path: Path) -> None:
    """Everything in one notebook: whose cells are whose is for a person to say."""
    together = filled(COUNT)
    together["cells"] += filled(SPLIT)["cells"]
    put(tmp_path, f"{ONE} and {TWO}.ipynb", together)

    found = found_in(tmp_path)

    assert found.paths == {}
    assert (
        f"could be {ONE}.ipynb, but as well {TWO}.ipynb" in " ".join(found.unclear.values()) or found.unclear
    )


def test_a_broken_file_of_an_unknown_name_may_be_the_missing_one(tmp_path: Path) -> None:
    """Its work must not become a zero because nobody can look into it."""
    put(tmp_path, f"{ONE}.ipynb", filled(COUNT))
    put(tmp_path, "final.ipynb", '{"cells": [')

    found = found_in(tmp_path)

    assert set(found.paths) == {ONE}
    assert set(found.unclear) == {TWO, THREE}
    assert found.unclear[TWO].startswith(f"final.ipynb may be {TWO}.ipynb, but it")


def test_a_broken_misnamed_file_is_found_and_told_when_it_is_read(tmp_path: Path) -> None:
    """Its name is clear, only its content is not."""
    path = put(tmp_path, f"{TWO} (1).ipynb", '{"cells": [')

    assert found_in(tmp_path).paths == {TWO: path}


def test_a_broken_file_of_the_right_name_wins_and_names_the_copy_beside_it(tmp_path: Path) -> None:
    """Nobody knows whether the copy is older; somebody can look."""
    put(tmp_path, f"{TWO}.ipynb", '{"cells": [')
    put(tmp_path, f"{TWO} (1).ipynb", filled(SPLIT))

    notebook, repairs, reason = found_in(tmp_path).read(TWO)

    assert (notebook, repairs) == (None, ())
    assert reason.startswith(f"{TWO}.ipynb: ")
    assert reason.endswith(f" Beside it lies {TWO} (1): if that counts, call it {TWO}.ipynb.")


@pytest.mark.parametrize("files", [(), ("report.pdf",), ("a.pdf", "b.txt", "c.json")])
def test_a_submission_without_a_notebook_is_no_zero(tmp_path: Path, files: tuple[str, ...]) -> None:
    """Somebody meant to hand in; what lies there instead is told."""
    for name in files:
        put(tmp_path, name, "{}")

    found = found_in(tmp_path)

    assert (found.paths, set(found.unclear)) == ({}, {ONE, TWO, THREE})
    assert all(name in found.unclear[ONE] for name in files)


def test_a_notebook_that_is_none_of_the_assignments_is_ignored(tmp_path: Path) -> None:
    """A scratch notebook beside the work, and data that happens to be JSON."""
    put(tmp_path, f"{ONE}.ipynb", filled(COUNT))
    put(tmp_path, "scratch.ipynb", unmarked(SPLIT))
    put(tmp_path, "data.json", '{"cells": "none"}')

    found = found_in(tmp_path)

    assert (set(found.paths), found.unclear, found.ignored) == ({ONE}, {}, ("scratch",))


@pytest.mark.parametrize("where", ["__MACOSX", ".ipynb_checkpoints", ".hidden", "feedback"])
def test_what_systems_put_beside_is_never_taken(tmp_path: Path, where: str) -> None:
    """Checkpoints are older states, __MACOSX holds what is no notebook."""
    put(tmp_path, f"{where}/{TWO}.ipynb", filled(SPLIT))
    put(tmp_path, f"._{TWO}.ipynb", filled(SPLIT))

    found = found_in(tmp_path)

    assert (found.paths, found.ignored) == ({}, ())


def test_nothing_outside_the_folder_is_looked_at(tmp_path: Path) -> None:
    """A link may lead to somebody else's work; one of the right name is told when it is read."""
    other = put(tmp_path / "ben", f"{TWO}.ipynb", filled(SPLIT))
    folder = tmp_path / "ana"
    folder.mkdir()
    (folder / f"{TWO} (1).ipynb").symlink_to(other)
    (folder / "more").symlink_to(other.parent, target_is_directory=True)
    assert found_in(folder).paths == {}

    (folder / f"{TWO}.ipynb").symlink_to(other)
    assert found_in(folder).paths == {TWO: folder / f"{TWO}.ipynb"}


def test_when_it_was_handed_in_is_no_part_of_it(tmp_path: Path) -> None:
    """Who collects puts a time beside the notebooks; a folder with that alone is empty."""
    put(tmp_path, "timestamp.txt", "2027-03-01 10:05:00 UTC")
    assert set(found_in(tmp_path).unclear.values()) == {
        "nothing is in it. Ask for the right files, and grade again."
    }

    put(tmp_path, "notes.txt", "mine")
    assert all("but notes.txt." in reason for reason in found_in(tmp_path).unclear.values())


def test_deep_folders_are_not_looked_into(tmp_path: Path) -> None:
    """A submission may be a folder of folders of folders."""
    path = put(tmp_path, "/".join(["x"] * MAX_DEPTH) + f"/{TWO}.ipynb", filled(SPLIT))
    assert found_in(tmp_path).paths == {TWO: path}

    path.unlink()
    put(tmp_path, "/".join(["x"] * (MAX_DEPTH + 1)) + f"/{TWO}.ipynb", filled(SPLIT))
    assert found_in(tmp_path).paths == {}


def test_many_files_end_the_search(tmp_path: Path) -> None:
    """A submission may hold a million notebooks."""
    for number in range(2 * MAX_NOTEBOOKS):
        put(tmp_path, f"{number:04}.ipynb", "{}")

    assert len(found_in(tmp_path).ignored) == MAX_NOTEBOOKS


def test_names_that_are_no_text_are_told_as_text(tmp_path: Path) -> None:
    """A name of other bytes can be stored by Linux, and not in JSON."""
    put(tmp_path, f"{TWO} (1).ipynb", filled(SPLIT))
    odd = os.fsdecode(os.fsencode(tmp_path / TWO) + b"-\xff.ipynb")
    (tmp_path / f"{TWO} (1).ipynb").rename(odd)

    found = found_in(tmp_path)

    assert set(found.paths) == {TWO}
    assert json.dumps(found.repairs[TWO].to_dict(), ensure_ascii=False).encode()


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Not a zero for what is in it."""
    with pytest.raises(SubmissionError, match="cannot be read"):
        found_in(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("ps10.ipynb", {"ps1", "ps2"}, set()),
        ("ps1 (0).ipynb", {"ps1", "ps10"}, {"ps1"}),
        ("part-1.ipynb", {"part", "part_1"}, {"part_1"}),
        ("ana_part_1.ipynb", {"part", "part_1"}, {"part_1"}),
        ("1 (1).ipynb", {"1", "lab"}, set()),
        ("labyrinth.ipynb", {"lab"}, set()),
        ("Lab.ipynb", {"lab"}, {"lab"}),
        ("一年级作业 (1).ipynb", {"一年级作业"}, {"一年级作业"}),
    ],
)
def test_a_name_stands_for_whole_words(name: str, known: set[str], meant: set[str]) -> None:
    """Sheet 10 is not a copy of sheet 1."""
    assert by_name(name, known) == meant


def test_the_course_is_what_the_names_above_are_from() -> None:
    """Two notebooks that share many ids must be told apart by the rest."""
    assert [path.stem for path in sorted(COURSE.source("multi_head_attention").glob("*.ipynb"))] == [
        ONE,
        TWO,
        THREE,
    ]
