"""What looks like tampering is told for what it is, and honest work is left alone."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
from habits import HABITS
from hypothesis import given
from hypothesis import strategies as st
from known_solutions import BY_NAME, notebooks_of
from tricks import ACCIDENTS, TRICKS

from autograder.checks.student import Student
from autograder.findings import MAX_DETAIL, Evidence, EvidenceKind, Severity
from autograder.sandbox.evidence import MAX_EVIDENCE, Gathered
from autograder.sandbox.forged import in_place_of_answer, unasked
from autograder.sandbox.limits import Limits
from autograder.sandbox.notes import NO_NOTES, Note, noted
from autograder.sandbox.session import CodeCell, NotebookSession
from autograder.sandbox.worker import replaced
from autograder.sandbox.zygote import Origin
from autograder.variants import solved_cells
from autograder.wire.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from autograder.sandbox.sandbox import Sandbox

    See = Callable[..., tuple[Evidence, ...]]

_LIMITS = Limits(wall_time_s=10)


@pytest.fixture
def see(sandbox: Sandbox) -> See:
    """Return a function that runs a notebook's cells and returns the evidence."""

    def see(*cells: str | CodeCell, files: Sequence[Path] = ()) -> tuple[Evidence, ...]:
        code = [
            cell if isinstance(cell, CodeCell) else CodeCell(cell, where=f"cell {number}")
            for number, cell in enumerate(cells, start=1)
        ]
        # As notebooks are graded: behind a cell that was run for all of them.
        code = [CodeCell("import math", where="given", given=True), *code]
        origin = Origin.of([cell.source for cell in code], ("import math",))
        with NotebookSession(
            lambda: sandbox.start(_LIMITS, files=files, origin=origin), code, _LIMITS
        ) as one:
            one.run()
            return one.evidence()

    return see


def kinds(evidence: Sequence[Evidence]) -> list[tuple[EvidenceKind, Severity]]:
    """Return the kinds and severities."""
    return [(one.kind, one.severity) for one in evidence]


# ------------------------------------------------------------------ honest


@pytest.mark.sandbox
@pytest.mark.parametrize("cells", HABITS.values(), ids=HABITS)
def test_a_habit_is_no_evidence(see: See, cells: tuple[str, ...]) -> None:
    """Nothing at all is told: who is warned of everything reads no warning."""
    assert see(*cells) == ()


@pytest.mark.sandbox
def test_no_known_solution_is_evidence(see: See) -> None:
    """Right or wrong, all of them at once, each where it would stand."""
    cells = [
        CodeCell(source, where=name)
        for name, variant in BY_NAME.items()
        for notebook in notebooks_of(variant)
        for source in dict.fromkeys(solved_cells(notebook, variant).values())
    ]

    assert len({cell.source for cell in cells}) > len(BY_NAME)
    assert see("import numpy as np", *{cell.source: cell for cell in cells}.values()) == ()


@pytest.mark.sandbox
@pytest.mark.parametrize(("cells", "kind", "severity", "what"), ACCIDENTS.values(), ids=ACCIDENTS)
def test_an_accident_is_told_as_one(
    see: See, cells: tuple[str, ...], kind: EvidenceKind, severity: Severity, what: str
) -> None:
    """It accuses nobody, and there is nothing beside it."""
    (found,) = see(*cells)

    assert (found.kind, found.severity, found.where) == (kind, severity, "cell 1")
    assert found.detail.startswith(what)


# ------------------------------------------------------------------- tricks


@pytest.mark.sandbox
@pytest.mark.parametrize(("cells", "kind", "severity", "what"), TRICKS.values(), ids=TRICKS)
def test_a_trick_is_seen(
    see: See, cells: tuple[str, ...], kind: EvidenceKind, severity: Severity, what: str
) -> None:
    """With its kind, how bad it is, and the cell; the worst comes first."""
    found = see("x = 1", *cells)
    told = [one for one in found if one.detail.startswith(what)]

    assert kinds(told) == [(kind, severity)]
    assert told[0].where == f"cell {1 + len(cells)}"
    assert [one.severity for one in found] == sorted(
        (one.severity for one in found), key=[Severity.ATTACK, Severity.DOUBT, Severity.NOTICE].index
    )


@pytest.mark.sandbox
def test_it_is_seen_where_python_does_not_count_changes(see: See, sandbox: Sandbox) -> None:
    """A later Python may not: then everything is compared."""
    module = sandbox._runtime.lib / "autograder" / "sandbox" / "worker" / "replaced.py"
    source = inspect.getsource(replaced)
    changed = source.replace("_COUNTS_CHANGES = _counts_changes()", "_COUNTS_CHANGES = False")
    assert changed != source
    # The zygotes are started anew from what lies there.
    sandbox._slot.close()
    module.write_text(changed)
    try:
        found = see("import numpy as np", "np.sum = lambda x: 0", "y = 1", "np.max = np.min")
        honest = see("import numpy as np\nnp.random.seed(3)", "y = 1")
    finally:
        sandbox._slot.close()
        module.write_text(source)

    assert kinds(found) == [(EvidenceKind.PATCHED, Severity.DOUBT)]
    assert "numpy.sum, numpy.max" in found[0].detail
    assert honest == ()


@pytest.mark.sandbox
def test_what_is_alike_is_told_once(see: See) -> None:
    """With how often, where else, and a few of what it was about."""
    (found,) = see(*[f"!pip install p{i}" for i in range(30)])

    assert found.where == "cell 1"
    assert found.detail == (
        "tried to install a package: pip install p0, pip install p1, pip install p2 and 27 more,"
        " 30 times, also in cell 2, cell 3, cell 4 and others"
    )


@pytest.mark.sandbox
def test_one_attempt_is_one(see: See) -> None:
    """A name that is looked up on the way to an address, and a function that is put back, count once."""
    loading = "import urllib.request\nurllib.request.urlretrieve('https://example.org/a.csv', 'a.csv')"
    patching = (
        "import numpy as np\nown = np.sum\nnp.sum = lambda *a: own(*a)",
        "np.sum = own",
        "np.max = own",
    )

    assert [one.detail for one in see(loading, *patching)] == [
        "replaced a function of a library: numpy.sum, numpy.max, 2 times, also in cell 4",
        "tried to use the network: https://example.org/a.csv",
    ]


@pytest.mark.sandbox
def test_files_that_stand_for_modules_are_seen(see: See, tmp_path: Path) -> None:
    """A helper is honest, and what the course hands out is the course's."""
    handed_in, course = tmp_path / "handed_in", tmp_path / "course"
    for folder, names in (
        (handed_in, ("helper.py", "utils.py", "code.py", "data.csv", "random.py", "yaml.py", "pytest.py")),
        (handed_in / "numpy", ("__init__.py",)),
        (course, ("yaml.py", "IPython.py")),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("")

    found = see("import helper", files=(handed_in, course))

    assert {one.kind for one in found} == {EvidenceKind.FAKE_MODULE}
    assert [(one.where, one.severity) for one in found] == [
        ("pytest.py", Severity.ATTACK),
        ("numpy/__init__.py", Severity.DOUBT),
        ("random.py", Severity.NOTICE),
    ]
    assert not [one for one in found if "also" in one.detail]


@pytest.mark.sandbox
def test_a_student_has_no_part_in_what_was_handed_out(see: See) -> None:
    """An instructor's cell may load data, install and replace; a student's function it calls may not."""
    sources = (
        "!pip install torch",
        "import numpy as np\nnp.linalg.inv = None\nsetattr(np.linalg, 'solve', lambda a, b: 0)",
        "import os\ntry: os.fork()\nexcept OSError: pass",
        "import sys\nsys.path.insert(0, '..')",
    )
    given = [CodeCell(source, where="theirs", given=True) for source in sources]
    called = "def f():\n    import numpy as np\n    np.testing.assert_equal = lambda *a: None\n    return 4"
    test = CodeCell(
        "from numpy.testing import assert_equal\nassert_equal(f(), 4)", where="test_f", given=True
    )

    assert see(*given) == ()
    assert kinds(see(*(CodeCell(one.source, where="mine") for one in given))) != []
    (found,) = see(*given, called, test)
    assert (found.kind, found.severity, found.where) == (EvidenceKind.PATCHED, Severity.ATTACK, "test_f")


@pytest.mark.sandbox
def test_what_a_check_asks_with_is_not_told(sandbox: Sandbox) -> None:
    """A call that only a check provokes is seen; its target could hold hidden numbers."""
    source = "def f(x):\n    try: open(f'/srv/course/gradebook.db/{x}')\n    except OSError: return 3"
    cells = [CodeCell(source, where="cell 1"), CodeCell("", "check", where="test_f")]
    with NotebookSession(lambda: sandbox.start(_LIMITS), cells, _LIMITS) as session:
        session.run()
        assert session.evidence() == ()
        session.scope("check")
        assert Student(session.request).f(4711) == 3
        (found,) = session.evidence()

    assert (found.kind, found.severity, found.where) == (EvidenceKind.REFUSED_CALL, Severity.ATTACK, "test_f")
    assert "4711" not in found.detail


@pytest.mark.sandbox
def test_cells_that_run_again_are_told_once(see: See) -> None:
    """After a cell that ends the process, those before it are run in a new one."""
    (found,) = see("!ls", "import os; os._exit(1)", "x = 1", "import os; os._exit(1)", "y = 2")

    assert found.detail == "tried to run a shell command: ls"


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "source",
    [
        "import os; os._exit(1)",
        "import os; os.abort()",
        "import ctypes; ctypes.string_at(0)",
        "import numpy as np\ndef f(): return np.zeros(2**26)\nf()",
    ],
)
def test_a_crash_is_no_forgery(sandbox: Sandbox, source: str) -> None:
    """Nothing is told of the connection when a process just ends."""
    limits = Limits(wall_time_s=1)
    with NotebookSession(lambda: sandbox.start(limits), [CodeCell(source), CodeCell("1")], limits) as session:
        session.run()

    assert EvidenceKind.FORGED_FRAME not in {one.kind for one in session.evidence()}


# ---------------------------------------------------------------- in general

texts = st.text(max_size=300)
notes = st.lists(st.lists(texts | st.integers() | st.none(), max_size=6), max_size=70)
events = st.sampled_from(["call", "replaced", "module", NO_NOTES, ""])
names = st.sampled_from(
    ["open", "os.fork", "socket.connect", "subprocess.Popen", "numpy.sum", "IPython.events", "builtins.len"]
)


@given(notes | texts | st.dictionaries(texts, texts))
def test_whatever_is_sent_becomes_notes(sent: Any) -> None:
    """Few, short and printable, or one that says that they are none."""
    found = noted(encode(sent))

    assert len(found) <= 60
    assert all(note.count > 0 for note in found)
    assert all(text.isprintable() for note in found for text in (note.kind, note.what, note.target, note.by))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_notes_are_told_as_such(payload: bytes) -> None:
    """They come from code that has broken into the process."""
    assert noted(payload) == [Note(NO_NOTES)]


@given(st.lists(st.builds(Note, events, names | texts, texts, texts, st.integers(1, 10**6)), max_size=80))
def test_any_notes_become_evidence_of_bounded_size(found: list[Note]) -> None:
    """Whatever they say, nothing is raised, and JSON can hold it."""
    gathered = Gathered()
    for hidden in (False, True):
        gathered.add_notes("cell 1", found, hidden=hidden)
        gathered.add_notes("cell 2", found, given="import numpy", hidden=hidden)
    evidence = gathered.evidence()

    assert len(evidence) <= MAX_EVIDENCE
    assert all(len(one.detail) <= MAX_DETAIL + 1 for one in evidence)
    assert [Evidence.from_dict(one.to_dict()) for one in evidence] == [*evidence]


CALL_ID = 0x0102030405060708
FRAME = CALL_ID.to_bytes(8) + (4).to_bytes(4) + b"true"


@pytest.mark.parametrize(
    ("data", "severity", "word"),
    [
        (b"hello world, this is text\n", Severity.DOUBT, "text"),
        (b"x", Severity.DOUBT, "text"),
        (b"\x00\x01", Severity.DOUBT, "bytes"),
        (b"\x80" * 20, Severity.DOUBT, "bytes"),
        (b"y" + FRAME, Severity.DOUBT, "text"),
        (FRAME, Severity.ATTACK, "frame of 4 bytes"),
        ((7).to_bytes(8) + bytes(4), Severity.ATTACK, "frame of 0 bytes"),
    ],
)
def test_what_nobody_asked_for_is_told_from_a_frame(data: bytes, severity: Severity, word: str) -> None:
    """Text that is written to an open file by accident is no frame, and a frame is no accident."""
    found = unasked(data, CALL_ID)

    assert found.severity is severity
    assert word in found.detail


@pytest.mark.parametrize(
    ("data", "severity"),
    [
        (CALL_ID.to_bytes(8) + (10**6).to_bytes(4) + b"long", None),
        (CALL_ID.to_bytes(8) + b"\xff" * 4, Severity.ATTACK),
        (FRAME * 2, Severity.ATTACK),
        (FRAME + b"more", Severity.DOUBT),
        (b"print", Severity.DOUBT),
    ],
)
def test_an_answer_that_is_too_long_is_honest(data: bytes, severity: Severity | None) -> None:
    """A function may return a million numbers; only what no memory holds is made up."""
    found = in_place_of_answer(data, CALL_ID, most_bytes=2**30)

    assert (None if found is None else found.severity) is severity
