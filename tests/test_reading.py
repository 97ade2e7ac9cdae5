"""Feedback that everybody can read: headings, pictures in words, contrast, phones, what to read again."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import PHONE, needs_browser, width_on_a_phone
from handouts import RELEASED
from hypothesis import given, settings
from hypothesis import strategies as st
from known_solutions import WRONG as MISCONCEPTIONS
from small_course import (
    ASSIGNMENT,
    HOSTILE,
    PNG,
    WRONG,
    assert_harmless,
    assert_links_lead_somewhere,
    display,
    grade,
    make_course,
    markdown,
    read_page,
    write_feedback,
)

from autograder.illustration import Illustration, Kind
from autograder.notebook import read_notebook, write_notebook
from autograder.pages import content
from autograder.pages.figures import TOKEN_COLOURS, figures, shade
from autograder.pages.lessons import lessons

if TYPE_CHECKING:
    from autograder.course.course import Course

STYLE = (Path(content.__file__).parents[1] / "templates" / "style.css").read_text(encoding="utf-8")

SPLIT = Illustration(
    kind=Kind.PLACES,
    asked="split(x)",
    right=(((0, 1), (4, 5)), ((2, 3), (6, 7))),
    theirs=(((0, 1), (2, 3)), ((4, 5), (6, 7))),
    shape=(2, 2, 2),
    width=4,
)
MAPS = Illustration(
    kind=Kind.WEIGHTS,
    asked="forward(x, mask)",
    right=(((1.0, 0.0), (0.25, 0.75)),),
    theirs=(((0.5, 0.5), (0.25, 0.75)),),
    shape=(1, 2, 2),
    mask=((False, True), (False, False)),
)
COUNTS = Illustration(
    kind=Kind.COUNT, asked="count(3)", right=(((9.0, 9.0),),), theirs=(((27.0,),),), parts=("A", "B")
)
DRAWN = (SPLIT, MAPS, COUNTS)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course without students."""
    return make_course(tmp_path)


def levels(html: str) -> list[int]:
    """Return the levels of a page's headings in order."""
    return [int(level) for level in re.findall(r"<h([1-6])[ >]", html)]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as #a8461f, as WCAG defines it."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(factor * value for factor, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


# ---------------------------------------------------------------- headings


def test_headings_are_in_order_whatever_a_student_writes(course: Course) -> None:
    """One of the first level, and none skipped on the way down."""
    texts = ["###### deep\n\n# high\n\n### middle", "<h6>raw</h6><h2>raw <h5>inner</h5></h2>", *HOSTILE]
    grade(course, "ana", more=[markdown(text) for text in texts])

    for path in write_feedback(course, ASSIGNMENT, "ana").parent.iterdir():
        found = levels(path.read_text(encoding="utf-8"))
        assert found.count(1) == 1
        assert found[0] == 1
        assert all(down - up <= 1 for up, down in pairwise(found)), found


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from([*(f"<h{n}>" for n in "23456"), *(f"</h{n}>" for n in "23456"), "x", "# a\n"]))
)
def test_any_headings_are_well_nested_and_in_order(parts: list[str]) -> None:
    """Whatever a cell holds, its headings start at the third level of the page."""
    found = levels(content.markdown("\n".join(parts)))

    assert all(down - up <= 1 for up, down in pairwise([2, *found]))
    assert all(level >= 3 for level in found)


# ---------------------------------------------------------------- pictures


class Pictures(HTMLParser):
    """Reads each picture's title and description, as a screen reader does."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.labels: list[list[str]] = []
        self.alternatives: list[str] = []
        self._id = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a picture, and the texts that belong to it."""
        values = {name: value or "" for name, value in attrs}
        if tag == "svg":
            assert values["role"] == "img"
            self.labels.append(values["aria-labelledby"].split())
        if tag == "img":
            self.alternatives.append(values.get("alt", ""))
        self._id = values.get("id", "") if tag in {"title", "desc"} else ""

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if self._id:
            self.texts[self._id] = self.texts.get(self._id, "") + data


def test_every_picture_says_in_words_what_it_shows(course: Course) -> None:
    """Each drawing has a title and a description of its own on the page, each picture an alternative."""
    grade(course, "ana", illustrations=DRAWN, outputs=[display(image_png=PNG)])

    for name in ("index", "first"):
        page = write_feedback(course, ASSIGNMENT, "ana").with_name(f"{name}.html")
        seen = Pictures(page.read_text(encoding="utf-8"))

        assert len(seen.labels) == 5
        for label in seen.labels:
            assert all(seen.texts[one].strip() for one in label)
        assert seen.alternatives == ["Picture drawn by your code double"]
        assert_harmless(read_page(page))


def test_the_words_of_a_drawing_are_true() -> None:
    """Every number is in them, and what is said of the first wrong one is so."""
    split, maps, counts = figures(DRAWN, "f")

    assert split.finding == "Row 1 of your head 0 holds numbers of token 0; right are those of token 1."
    assert "Head 1. row 0: 4, 5, of token 1; row 1: 6, 7, of token 1." in split.rows[0][0].drawing
    assert "Head 1. row 0: 2, 3, of token 0; row 1: 6, 7, of token 1." in split.rows[0][1].drawing
    assert maps.finding == "In your head 0, query 0 gives the weight 0.50 to key 1, which is hidden from it."
    assert "query 0: 0.50, 0.50 hidden; query 1: 0.25, 0.75." in maps.rows[0][0].drawing
    assert "query 0: 1.00, 0.00 hidden; query 1: 0.25, 0.75." in maps.rows[0][1].drawing
    assert counts.finding == (
        "The matrices A, B have 9 + 9 = 18 numbers here; you count 27, as many as 3 of these matrices."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"theirs": (((1, 0), (4, 5)), ((2, 3), (6, 7)))}, "holds 1, 0; it should hold 0, 1, in this order."),
        ({"theirs": (((0, 99), (4, 5)), ((2, 3), (6, 7)))}, "holds a number that is not in x."),
        ({"theirs": (((0, None), (4, 5)), ((2, 3), (6, 7)))}, "no finite number, such as nan."),
        ({"theirs": (((0, 1), (2, 3)),), "shape": (2, 2)}, "the shape (2, 2), the right one has (2, 2, 2)."),
        ({"theirs": SPLIT.right}, "Here your numbers are right."),
        ({"theirs": (), "problem": "raised ValueError"}, "Your code raised ValueError."),
    ],
)
def test_what_is_wrong_is_said_in_its_own_words(changes: dict[str, Any], words: str) -> None:
    """A wrong order, a foreign number, a wrong shape and an exception are different mistakes."""
    (figure,) = figures([replace(SPLIT, **changes)], "f")

    assert words in figure.finding
    assert bool(figure.rows) == ("Here" not in words)


def test_rows_that_do_not_add_up_are_named() -> None:
    """The sum is what a student can check."""
    (figure,) = figures([replace(MAPS, theirs=(((0.6, 0.0), (0.25, 0.75)),))], "f")

    assert figure.finding == (
        "In your head 0, the weights of query 0 add up to 0.60. Each row should add up to 1."
    )


# ---------------------------------------------------------------- contrast


def test_every_number_in_a_drawing_has_enough_contrast() -> None:
    """4.5 to 1 for numbers on each token's colour and on each shade; 3 to 1 for frames."""
    fills = dict(re.findall(r"\.(g\w) \{ fill: (#[0-9a-f]{6}); \}", STYLE))
    ink, pale = (re.search(rf"\.{name} \{{ fill: (#[0-9a-f]{{6}});", STYLE) for name in ("ink", "pale"))
    frame = re.search(r"\.frame \{ fill: none; stroke: (#[0-9a-f]{6});", STYLE)
    assert ink is not None
    assert pale is not None
    assert frame is not None

    assert {f"g{number}" for number in range(TOKEN_COLOURS)} | {"gx"} == set(fills)
    for name, fill in fills.items():
        assert contrast(fill, ink[1]) >= 4.5, name
        assert contrast(fill, frame[1]) >= 3, name
    for share in (step / 100 for step in range(101)):
        assert contrast(shade(share), (pale if share >= 0.5 else ink)[1]) >= 4.5, share
    assert contrast("#ffffff", frame[1]) >= 3


def test_a_larger_weight_is_never_lighter() -> None:
    """The order of shades is the order of weights."""
    lights = [luminance(shade(step / 100)) for step in range(101)]

    assert lights == sorted(lights, reverse=True)
    assert len(set(lights)) > 90


@needs_browser
@pytest.mark.parametrize("name", ["index", "first"])
def test_drawings_fit_a_phone(course: Course, tmp_path: Path, name: str) -> None:
    """The widest drawings there can be leave the page as wide as the screen."""
    wide = tuple(tuple(float(n) for n in range(12)) for _ in range(5))
    large = replace(SPLIT, right=(wide,), theirs=(tuple(row[::-1] for row in wide),), shape=(5, 12), width=12)
    many = replace(MAPS, theirs=tuple(((0.5, 0.5),) for _ in range(8)), shape=(8, 1, 2))
    grade(course, "ana", illustrations=(*DRAWN[:1], large, many))

    page = write_feedback(course, ASSIGNMENT, "ana").with_name(f"{name}.html")

    assert width_on_a_phone(page, tmp_path) == PHONE


# -------------------------------------------------------------- read again


def test_it_says_where_to_read_again(course: Course) -> None:
    """The heading above the task, as a link to the lesson on the page."""
    grade(course, "ana")
    page = write_feedback(course, ASSIGNMENT, "ana")

    html = page.read_text(encoding="utf-8")

    link = re.search(r'Read again</span> <a href="#([\w-]+)">First steps</a>', html)
    assert link is not None
    assert f'id="{link[1]}">First steps</h3>' in html
    assert html.count("Read again") == 1
    assert_links_lead_somewhere(page)


@pytest.mark.parametrize("change", ["deleted", "edited", "copied"])
def test_a_lesson_that_is_not_there_is_named_without_a_link(course: Course, change: str) -> None:
    """Students cut lessons out, write into them and copy them; no link may lead nowhere, or to two places."""
    grade(course, "ana")
    path = course.autograded("ana", ASSIGNMENT) / "first.ipynb"
    notebook = read_notebook(path)
    lesson = notebook["cells"].pop(0)
    if change != "deleted":
        notebook["cells"].insert(
            0, lesson | ({"source": lesson["source"] + "!"} if change == "edited" else {})
        )
    if change == "copied":
        notebook["cells"].insert(0, lesson)
    write_notebook(path, notebook)

    page = write_feedback(course, ASSIGNMENT, "ana")

    words = "<a href" if change == "copied" else "“First steps”"
    assert f"Read again</span> {words}" in page.read_text(encoding="utf-8")
    assert len(read_page(page).ids) == len(set(read_page(page).ids))
    assert_links_lead_somewhere(page)


def test_each_task_of_the_lesson_has_its_section() -> None:
    """A section of a task stands before the cells that students fill in for it."""
    for name, lesson in lessons(RELEASED).items():
        released = next(book for book in RELEASED if book.name == name)
        assert set(lesson.tasks) == {cell.grade_id for cell in released.graded}
        assert len({section.anchor for section in lesson.sections}) == len(lesson.sections)
        for section in lesson.tasks.values():
            assert re.match(r"\d\.\d · ", section.title)


@pytest.mark.parametrize(
    ("mistake", "title"),
    [
        ("split_reshape_only", "What reshape does"),
        ("merge_all_axes_reversed", "Two ways to write it"),
        ("scale_missing", "Why divide by √d_k"),
        ("scale_without_root", "Why divide by √d_k"),
        ("mask_inverted", "Masks: True means hidden"),
        ("mask_ignored", "Masks: True means hidden"),
        ("softmax_without_shift", "Why the softmax subtracts the maximum"),
        ("count_without_output", "Several heads"),
        ("state_shared_result", "The rules for this notebook"),
    ],
)
def test_the_section_that_explains_a_mistake_is_found(mistake: str, title: str) -> None:
    """Chosen by a reader of the lesson; the code knows nothing but the words."""
    section = section_for(mistake)

    assert section is not None
    assert section == title


def test_no_mask_is_explained_by_another_section() -> None:
    """A wrong pointer is worse than none."""
    masks = [one.name for one in MISCONCEPTIONS if one.name.startswith("mask_")]

    assert len(masks) > 9
    assert {section_for(name) for name in masks} <= {
        "Masks: True means hidden",
        "The rules for this notebook",
        None,
    }


def section_for(mistake: str) -> str | None:
    """Return the title of the section that is named for a misconception."""
    one = next(one for one in MISCONCEPTIONS if one.name == mistake)
    home = next(book for book in RELEASED if one.loses in {cell.grade_id for cell in book.graded})
    section = lessons(RELEASED)[home.name].near(one.loses, f"{one.claim} {one.hint}")
    return section.title if section is not None else None


# ------------------------------------------------------------ what else is told


def test_what_to_look_at_first_is_told_at_the_top(course: Course) -> None:
    """The points and the reason, before any table; and nothing if all is right."""
    grade(course, "ana")
    grade(course, "ben", checks=[])

    ana, ben = (read_page(write_feedback(course, ASSIGNMENT, name)).words for name in ("ana", "ben"))

    first = " ".join(ana[ana.index("Look at this first") : ana.index("At a glance")].split())
    assert first == (
        "Look at this first First steps 1.5 of 2 points lost You square the number instead of doubling it."
    )
    assert "Look at this first" not in ben


@pytest.mark.parametrize(("sandbox", "told"), [("tier A", False), ("tier A, tier C", True), ("tier C", True)])
def test_code_that_ran_without_a_wall_is_told(course: Course, sandbox: str, told: bool) -> None:  # noqa: FBT001 - a case
    """A result that anything could have changed is marked for the one whom it is about."""
    grade(course, "ana", sandbox=sandbox)

    for name in ("index", "first"):
        page = write_feedback(course, ASSIGNMENT, "ana").with_name(f"{name}.html")
        assert ("without a sandbox (tier C)" in read_page(page).words) is told


def test_what_was_found_again_is_told_once(course: Course) -> None:
    """Ten checks that fail for one reason are read as one."""
    found = replace(WRONG, misconception="", hint="")
    checks = [replace(found, name=f"c{n}", claim=f"Claim {n}.") for n in range(3)]
    other = replace(found, name="d", claim="Claim 4.", rationale="Another thing.")
    grade(course, "ana", checks=[*checks, other])

    words = read_page(write_feedback(course, ASSIGNMENT, "ana").with_name("first.html")).words

    assert words.count("`double` gives the square.".replace("`", "")) == 1
    assert words.count("The same as above.") == 2
    assert words.count("Another thing.") == 1
