"""Feedback pages: what a student must find there, and what nobody may."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from browser import PHONE, dump_dom, needs_browser, width_on_a_phone
from small_course import (
    ASSIGNMENT,
    EVIDENCE,
    HALVES,
    HOSTILE,
    PNG,
    REPAIR,
    STOPPED,
    WRONG,
    assert_harmless,
    assert_links_lead_somewhere,
    display,
    grade,
    lose_second,
    make_course,
    markdown,
    read_page,
    spoil_second,
    stream,
    write_feedback,
)

from autograder.errors import CourseError, SubmissionError
from autograder.findings import RepairKind
from autograder.graded import read_result, read_results
from autograder.notebook import read_notebook, write_notebook
from autograder.results import Status
from autograder.scores import CellScore, StudentScore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.notebook import Cell


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course without students."""
    return make_course(tmp_path)


def grade_hostile(course: Course, student: str, server: str = "far.example") -> None:
    """Grade work that is hostile wherever a student can write."""
    texts = [text.replace("SERVER", server) for text in HOSTILE]
    outputs: list[object] = [stream(text) for text in texts]
    outputs += [display(text_html=text, text_plain=text) for text in texts]
    outputs += [display(text_latex=text, image_png=text) for text in texts]
    outputs += [
        {"output_type": "error", "ename": text, "evalue": text, "traceback": [text, text]} for text in texts
    ]
    outputs += [None, 3, {"output_type": "display_data"}, {"output_type": "stream", "text": {}}]
    more = [markdown(text) for text in texts]
    more.append(markdown("\n\n".join(texts), **{"a.png": {"image/png": texts[0], "image/svg+xml": texts[2]}}))
    checks = [replace(WRONG, rationale=texts[0], hint=texts[1], misconception=texts[2]), STOPPED]
    grade(course, student, outputs=outputs, more=more, checks=checks)


# ------------------------------------------------------ what must be there


@pytest.mark.parametrize("name", ["index", "first"])
def test_every_check_is_told_in_its_sentence(course: Course, name: str) -> None:
    """A student learns what was checked, how it ended, what was found and what to do next."""
    grade(course, "ana")

    words = " ".join(
        read_page(write_feedback(course, ASSIGNMENT, "ana").with_name(f"{name}.html")).words.split()
    )

    for check in (WRONG, HALVES, STOPPED):
        assert check.claim in words
    assert "Wrong result double gives the square." in words
    assert "Stopped by the time limit Your code took too long." in words
    assert words.count(WRONG.hint) == 1
    assert STOPPED.hint in words
    assert "“double squares”" in words
    assert "0.5 of 2" in words


def test_the_overview_adds_up(course: Course) -> None:
    """The total is what was earned, beside what waits for a person."""
    grade(course, "ana")

    words = " ".join(read_page(write_feedback(course, ASSIGNMENT, "ana")).words.split())

    assert "1.5 of 3 points graded so far" in words
    assert "6 points in all. 3 wait for a person" in words
    assert "First steps 0.5 of 2 so far" in words
    assert "Second steps 1 of 1" in words


def test_the_students_own_work_is_on_the_page(course: Course) -> None:
    """Feedback without the work it speaks of is hard to read."""
    plot = display(image_png=PNG, text_plain="<Figure>")
    grade(
        course, "ana", outputs=[stream("one\n"), stream("two\n"), plot, display(text_html="<table><tr><td>7")]
    )

    page = read_page(write_feedback(course, ASSIGNMENT, "ana").with_name("first.html"))

    assert "return x ** 2  # a < b" in page.words
    assert "one\ntwo" in page.words
    assert "<Figure>" not in page.words
    assert page.values("src") == [f"data:image/png;base64,{PNG}"]
    assert "Because twice is x + x." in page.words
    assert "assert double(1) == 2" in page.words
    assert "2x" in page.words


def test_cells_of_every_type_are_shown_and_empty_ones_are_not(course: Course) -> None:
    """A student may add what a notebook can hold."""
    raw: Cell = {"cell_type": "raw", "source": "raw <b>words</b>", "metadata": {}}
    grade(course, "ana", more=[raw, markdown(""), markdown("<script>x</script>"), markdown("Mine.")])

    words = read_page(write_feedback(course, ASSIGNMENT, "ana").with_name("first.html")).words

    assert "raw <b>words</b>" in words
    assert "Mine." in words
    assert words.count("Your text") == 2


def test_a_score_given_by_hand_and_comments_are_shown(course: Course) -> None:
    """What a person decided goes before what the grader found."""
    grade(course, "ana")
    cells = (
        CellScore(notebook="first", grade_id="explain", max_score=Decimal(3), manual_score=Decimal("2.5")),
        CellScore(
            notebook="first",
            grade_id="test_double",
            max_score=Decimal(2),
            auto_score=Decimal("0.5"),
            manual_score=Decimal(1),
            needs_manual_grade=True,
        ),
    )
    score = StudentScore(
        student="ana",
        first_name="Ana",
        last_name="<Lima>",
        email="",
        lms_user_id="",
        submitted=True,
        timestamp=None,
        seconds_late=93_600,
        penalty=Decimal("0.5"),
        cells=cells,
    )
    comments = {("first", "explain"): "Well said.\n<b>Short.</b>", ("first", "double"): "Look at line 2."}

    overview = write_feedback(course, ASSIGNMENT, "ana", score=score, comments=comments)

    words = " ".join(read_page(overview).words.split())
    assert "Feedback for Ana <Lima>" in words
    assert "4 of 6 points" in words
    assert "so far" not in words
    assert "1 day 2 hours late. That costs 0.5 of your points." in words
    assert "Well said. <b>Short.</b>" in words
    assert "looked at again" in words
    assert "Look at line 2." in read_page(overview.with_name("first.html")).words


def test_a_missing_notebook_is_told_and_its_old_page_is_gone(course: Course) -> None:
    """A page of an earlier submission would tell of points that are not there."""
    grade(course, "ana")
    overview = write_feedback(course, ASSIGNMENT, "ana")
    lose_second(course, "ana")

    write_feedback(course, ASSIGNMENT, "ana")

    assert sorted(path.name for path in overview.parent.iterdir()) == ["first.html", "index.html"]
    assert "Not handed in: second.ipynb" in read_page(overview).words
    assert_links_lead_somewhere(overview)


def test_links_lead_somewhere(course: Course) -> None:
    """From the table at the top to each task; and each page stands alone, as it is handed out alone."""
    grade(course, "ana")

    overview = write_feedback(course, ASSIGNMENT, "ana")

    for page in overview.parent.iterdir():
        assert "#cell-1-test_double" in read_page(page).values("href") or page.name == "second.html"
        assert [link for link in read_page(page).values("href") if not link.startswith("#")] == []
        assert_links_lead_somewhere(page)


def test_writing_twice_gives_the_same_pages(course: Course) -> None:
    """What did not change must not look changed; no half-written file is left."""
    grade(course, "ana")
    folder = write_feedback(course, ASSIGNMENT, "ana").parent
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    write_feedback(course, ASSIGNMENT, "ana")

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert set(before) == {"index.html", "first.html", "second.html"}


# -------------------------------------------------- what must not be there


def test_nothing_hidden_is_on_the_pages(course: Course) -> None:
    """Hidden tests, notes for staff and metadata stay with the staff."""
    grade(course, "ana")

    for page in write_feedback(course, ASSIGNMENT, "ana").parent.iterdir():
        text = page.read_text(encoding="utf-8")
        for secret in (
            "HIDDEN",
            "run_checks",
            REPAIR.detail,
            EVIDENCE.detail,
            "a box",
            "nbgrader",
            "test_halves",
            "checksum",
        ):
            assert secret not in text


def test_hostile_work_becomes_harmless_pages(course: Course) -> None:
    """Whatever a student writes, a page runs nothing, loads nothing and forges nothing."""
    grade_hostile(course, "ana")

    for path in write_feedback(course, ASSIGNMENT, "ana").parent.iterdir():
        assert_harmless(read_page(path))
        assert_links_lead_somewhere(path)


def test_a_hostile_name_is_only_a_name(course: Course) -> None:
    """Names of folders are students' to choose."""
    name = "<script>alert('x')</script>\"'&{{ 7 * 7 }}".replace("/", "")
    grade(course, name)

    page = read_page(write_feedback(course, ASSIGNMENT, name))

    assert_harmless(page)
    assert f"Feedback for {name}" in page.words


def test_pictures_come_from_attachments_only(course: Course) -> None:
    """An address that a browser would load tells its owner who reads the page."""
    mine = markdown(
        "![mine](attachment:a.png) ![far & away](https://far.example/b.png)", **{"a.png": {"image/png": PNG}}
    )
    grade(course, "ana", more=[mine])

    page = read_page(write_feedback(course, ASSIGNMENT, "ana").with_name("first.html"))

    assert page.values("src") == [f"data:image/png;base64,{PNG}"]
    assert page.values("alt") == ["mine"]
    assert "[picture: far & away]" in page.words
    assert "far.example" not in page.html


# ----------------------------------------------------------------- outputs


def test_long_outputs_are_cut_and_say_so(course: Course) -> None:
    """A page of a megabyte of digits is read by nobody."""
    grade(
        course, "ana", outputs=[stream("7" * 1_000_000), *[display(text_plain=f"n{n}.") for n in range(500)]]
    )

    path = write_feedback(course, ASSIGNMENT, "ana").with_name("first.html")

    assert "… 980,000 more characters." in path.read_text(encoding="utf-8")
    assert "… and 401 more outputs" in path.read_text(encoding="utf-8")
    assert path.stat().st_size < 100_000


def test_an_exception_shows_its_last_line_first(course: Course) -> None:
    """The line that matters is the last one of a traceback."""
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no \x1b[1mhead\x1b[0m",
        "traceback": ["\x1b[31mTraceback", "ValueError"],
    }
    grade(course, "ana", outputs=[error])

    html = write_feedback(course, ASSIGNMENT, "ana").with_name("first.html").read_text(encoding="utf-8")

    assert '<p class="raised">ValueError: no head</p>' in html
    assert ">Traceback\nValueError</pre></details>" in html


# ------------------------------------------------------------ reading back


def test_results_are_read_back_as_they_were(course: Course) -> None:
    """Feedback and report see exactly what the grader returned."""
    grade(course, "ana")
    lose_second(course, "ana")

    result = read_result(course, ASSIGNMENT, "ana")

    assert result.auto_score == Decimal("0.5")
    assert result.max_score == Decimal(6)
    assert result.sandbox == "a box"
    assert [book.status for book in result.notebooks] == [Status.GRADED, Status.MISSING]
    assert result.notebooks[0].repairs == (REPAIR,)
    assert result.notebooks[0].cells[0].checks == (WRONG, HALVES, STOPPED)


def test_one_unreadable_submission_does_not_stop_the_class(course: Course) -> None:
    """It is left out, and told by the one who asks for it alone."""
    for student in ("ana", "ben"):
        grade(course, student)
    path = course.autograded("ben", ASSIGNMENT) / "first.ipynb"
    notebook = read_notebook(path)
    notebook["cells"][3]["metadata"].pop("autograder")
    write_notebook(path, notebook)

    assert [result.student for result in read_results(course, ASSIGNMENT)] == ["ana"]
    with pytest.raises(SubmissionError, match="Run `autograder grade small_steps`"):
        write_feedback(course, ASSIGNMENT, "ben")


def test_feedback_on_ungraded_work_is_refused(course: Course) -> None:
    """There is nothing to tell yet; the nearest name may have been meant."""
    grade(course, "ana")

    with pytest.raises(CourseError, match="Did you mean 'ana'"):
        write_feedback(course, ASSIGNMENT, "anna")


# ---------------------------------------------------------- a real browser


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """Run a server that notes what is asked of it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    asked: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Handler) as one:
        one.asked = asked  # type: ignore[attr-defined]
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


@needs_browser
def test_a_browser_runs_and_loads_nothing(course: Course, server: HTTPServer, tmp_path: Path) -> None:
    """The pages are opened in the program that they must be safe in."""
    grade_hostile(course, "ana", f"127.0.0.1:{server.server_port}")
    overview = write_feedback(course, ASSIGNMENT, "ana")

    for path in (overview, overview.with_name("first.html")):
        title = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"))
        dom = dump_dom(path, tmp_path)
        assert title is not None
        assert title[0] in dom
        assert "<script" not in dom
    assert server.asked == []  # type: ignore[attr-defined]


@needs_browser
@pytest.mark.parametrize("name", ["index", "first"])
def test_pages_fit_a_phone(course: Course, tmp_path: Path, name: str) -> None:
    """A page wider than the screen makes every line a scroll."""
    wide = "x" * 300
    grade(
        course,
        "ana",
        outputs=[stream(wide), display(image_png=PNG)],
        more=[markdown(f"{wide}\n\n    {wide}")],
        repairs=[{"kind": kind, "where": f"{wide}.ipynb", "detail": ""} for kind in RepairKind],
    )
    spoil_second(course, "ana", f"{wide}.ipynb: breaks off in line 3.")

    page = write_feedback(course, ASSIGNMENT, "ana").with_name(f"{name}.html")

    assert width_on_a_phone(page, tmp_path) == PHONE
