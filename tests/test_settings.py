"""Settings: defaults, then the course's file, then flags; every mistake is named."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest
from traitlets.config import Config

from autograder.course.configuration import CONFIG_FILE, read_config
from autograder.course.course import Course
from autograder.course.lms_settings import LmsSettings, lms_settings
from autograder.course.settings import Autograder, Settings, configure_nbgrader, help_texts, load_settings
from autograder.errors import ConfigError

ROOT = Path(__file__).parent.parent
NOT_OURS = {"course_id", "db_url", "late_penalty"}


def write(root: Path, text: str) -> None:
    """Write a course's configuration file."""
    (root / CONFIG_FILE).write_text(f"c = get_config()\n{text}\n")


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    """A course needs no settings of the kit."""
    settings = load_settings(tmp_path)

    assert settings.wall_time_s == 10
    assert settings.memory_mib == 1024
    assert settings.late_penalty == "none"
    assert settings.db_url == f"sqlite:///{tmp_path / 'gradebook.db'}"
    assert settings.jobs >= 1


def test_the_file_wins_over_defaults_and_a_flag_over_the_file(tmp_path: Path) -> None:
    """The order that every command-line tool has."""
    write(tmp_path, "c.Autograder.wall_time_s = 3\nc.Autograder.memory_mib = 512")

    settings = load_settings(tmp_path, wall_time_s=7, memory_mib=None)

    assert (settings.wall_time_s, settings.memory_mib) == (7, 512)


def test_nbgraders_own_settings_are_obeyed(tmp_path: Path) -> None:
    """Both routes store into the same gradebook with the same penalty."""
    write(
        tmp_path,
        "c.CourseDirectory.db_url = 'postgresql+psycopg2://host/grades'\n"
        "c.CourseDirectory.course_id = 'attention'\n"
        "c.LateSubmissionPlugin.penalty_method = 'zero'",
    )

    settings = load_settings(tmp_path)

    assert settings.db_url == "postgresql+psycopg2://host/grades"
    assert settings.course_id == "attention"
    assert settings.late_penalty == "zero"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c.Autograder.wall_tme_s = 3", "no setting Autograder.wall_tme_s. Did you mean 'wall_time_s'"),
        ("c.Autograder.wall_time_s = 'long'", "expected a float"),
        ("c.Autograder.wall_time_s = -1", "should not be less than"),
        ("c.Autograder.memory_mib = 1", "should not be less than 192"),
        ("c.LateSubmissionPlugin.penalty_method = 'half'", r"any of \['none', 'zero'\], not the str 'half'"),
        ("c.AssignLatePenalties.plugin_class = 'late'", "Set a class, or its name as 'module.Class'"),
        ("c.AssignLatePenalties.plugin_class = 3", "Set a class, or its name as 'module.Class'"),
        ("c.CourseDirectory.db_url = 3", "CourseDirectory cannot be read"),
        ("c.Execute.timeout = 'long'", "Execute cannot be read"),
        ("import no_such_module", "cannot be run .ModuleNotFoundError"),
        ("c.Autograder.jobs =", "cannot be run .SyntaxError"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    """A mistyped limit that is silently ignored would be no limit."""
    write(tmp_path, text)

    with pytest.raises(ConfigError, match=message):
        load_settings(tmp_path)


def test_an_unknown_flag_is_an_error(tmp_path: Path) -> None:
    """The same names hold on the command line."""
    with pytest.raises(ConfigError, match="Did you mean 'jobs'"):
        load_settings(tmp_path, job=3)


def test_where_the_lms_is_changes_no_grading(tmp_path: Path) -> None:
    """It is told apart from the limits, so that a new address grades nobody again."""
    before = load_settings(tmp_path)
    write(tmp_path, "c.Autograder.canvas_url = 'https://canvas.example.edu'")

    assert load_settings(tmp_path) == before
    told = lms_settings(read_config(tmp_path))
    assert (told.canvas_url, told.canvas_course) == ("https://canvas.example.edu", "")


def test_a_course_of_an_lms_may_be_its_number(tmp_path: Path) -> None:
    """Whoever copies it from the address of the course writes no quotes; an address is a text."""
    write(tmp_path, "c.Autograder.canvas_course = 4021")
    load_settings(tmp_path)
    assert lms_settings(read_config(tmp_path)).canvas_course == "4021"

    write(tmp_path, "c.Autograder.canvas_url = ['https://canvas.example.edu']")
    with pytest.raises(ConfigError, match="canvas_url"):
        load_settings(tmp_path)


def test_every_setting_says_what_it_does_and_its_default() -> None:
    """`autograder doctor` and the manual print these texts."""
    texts = help_texts()

    of_grading = {field.name for field in dataclasses.fields(Settings)} - NOT_OURS
    of_an_lms = {field.name for field in dataclasses.fields(LmsSettings)}
    assert set(texts) == of_grading | of_an_lms
    for name, text in texts.items():
        assert "(default" in text, name
    assert set(texts) == set(Autograder.class_trait_names(config=True))


def test_this_course_loads() -> None:
    """The configuration that is handed out is one that runs."""
    settings = load_settings(ROOT)

    assert settings.course_id == "multi_head_attention"


def test_configuring_twice_is_configuring_once() -> None:
    """The configuration file is loaded by nbgrader up to three times."""
    once, twice = Config(), Config()

    configure_nbgrader(once)
    configure_nbgrader(twice)
    configure_nbgrader(twice)

    assert once == twice


def test_a_section_that_is_almost_ours_is_refused(tmp_path: Path) -> None:
    """A setting that changes nothing would grade with the wrong limits."""
    (tmp_path / "source").mkdir()
    write(tmp_path, "c.Autogradr.jobs = 2")

    with pytest.raises(ConfigError, match="Did you mean 'Autograder'"):
        Course.find(tmp_path)


@pytest.mark.parametrize("section", ["Execute", "ExecutePreprocessor", "NotebookClient"])
def test_nbgraders_limit_on_a_cell_is_ours_and_the_others_grow_with_it(tmp_path: Path, section: str) -> None:
    """Whoever waits a minute for a cell must not be stopped by the notebook's two minutes."""
    write(tmp_path, f"c.{section}.timeout = 60")

    settings = load_settings(tmp_path)

    assert (settings.wall_time_s, settings.notebook_time_s, settings.cpu_time_s) == (60, 720, 360)


def test_our_own_limits_go_before_nbgraders(tmp_path: Path) -> None:
    """Each for itself; a short one of nbgrader's shortens no other."""
    write(tmp_path, "c.Execute.timeout = 60\nc.Autograder.wall_time_s = 5")
    assert load_settings(tmp_path).wall_time_s == 5
    assert load_settings(tmp_path).notebook_time_s == 120
    write(tmp_path, "c.Execute.timeout = 60\nc.Autograder.notebook_time_s = 90")
    assert (load_settings(tmp_path).wall_time_s, load_settings(tmp_path).notebook_time_s) == (60, 90)
    write(tmp_path, "c.Execute.timeout = 2")
    assert (load_settings(tmp_path).wall_time_s, load_settings(tmp_path).notebook_time_s) == (2, 120)


@pytest.mark.parametrize("timeout", ["None", "-1", "0"])
def test_where_nbgrader_has_no_limit_on_a_cell_there_is_a_long_one(tmp_path: Path, timeout: str) -> None:
    """A loop without end must end some time."""
    write(tmp_path, f"c.Execute.timeout = {timeout}")

    assert load_settings(tmp_path).wall_time_s == 120


@pytest.mark.parametrize(
    ("line", "penalty"),
    [
        ("", "none"),
        ("c.LateSubmissionPlugin.penalty_method = 'zero'", "zero"),
        ("c.AssignLatePenalties.plugin_class = 'late.SubMarks'", "late.SubMarks"),
        ("c.AssignLatePenalties.plugin_class = 'nbgrader.plugins.LateSubmissionPlugin'", "none"),
        ("import fractions as f\nc.AssignLatePenalties.plugin_class = f.Fraction", "fractions.Fraction"),
    ],
)
def test_how_late_work_is_penalized_is_told_by_name(tmp_path: Path, line: str, penalty: str) -> None:
    """Settings travel between processes; a plug-in is made where it is used."""
    write(tmp_path, line)

    assert load_settings(tmp_path).late_penalty == penalty


def test_jupyters_own_folders_are_read_before_the_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nbgrader looks: there a server keeps what all courses have in common."""
    common, course = tmp_path / "common", tmp_path / "course"
    for folder in (common, course):
        folder.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(common))
    write(common, "c.CourseDirectory.db_url = 'sqlite:////common.db'\nc.CourseDirectory.course_id = 'all'")
    write(course, "c.CourseDirectory.course_id = 'one'")

    settings = load_settings(course)

    assert (settings.course_id, settings.db_url) == ("one", "sqlite:////common.db")


def test_a_configuration_is_run_once_and_again_after_a_change(tmp_path: Path) -> None:
    """Every path of a course asks for it."""
    ran = tmp_path / "ran"
    line = f"import pathlib, uuid\n(pathlib.Path({str(ran)!r}) / str(uuid.uuid4())).touch()"
    ran.mkdir()
    write(tmp_path, line)
    for _ in range(3):
        load_settings(tmp_path)
    assert len(list(ran.iterdir())) == 1

    write(tmp_path, f"{line}\nc.Autograder.jobs = 7")

    assert load_settings(tmp_path).jobs == 7
    assert len(list(ran.iterdir())) == 2


def test_what_a_caller_changes_reaches_no_other(tmp_path: Path) -> None:
    """The command line's flags are of this command."""
    write(tmp_path, "c.Autograder.jobs = 2")

    assert load_settings(tmp_path, jobs=5).jobs == 5
    assert load_settings(tmp_path).jobs == 2


def test_modules_beside_the_configuration_can_be_imported_by_it(tmp_path: Path) -> None:
    """As nbgrader allows it."""
    (tmp_path / "settings_of_this_term.py").write_text("JOBS = 4\n")
    write(tmp_path, "import settings_of_this_term\nc.Autograder.jobs = settings_of_this_term.JOBS")

    assert load_settings(tmp_path).jobs == 4
    assert str(tmp_path) not in sys.path
