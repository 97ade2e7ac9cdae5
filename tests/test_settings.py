"""Settings: defaults, then the course's file, then flags; every mistake is named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from traitlets.config import Config

from autograder.course import Course
from autograder.errors import ConfigError
from autograder.settings import (
    CONFIG_FILE,
    Autograder,
    Settings,
    configure_nbgrader,
    help_texts,
    load_settings,
)

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
        ("c.LateSubmissionPlugin.penalty_method = 'half'", "It may be 'none' or 'zero'"),
        ("c.AssignLatePenalties.plugin_class = 'mine.Late'", "only `nbgrader autograde` obeys"),
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


def test_every_setting_says_what_it_does_and_its_default() -> None:
    """`autograder doctor` and the manual print these texts."""
    texts = help_texts()

    assert set(texts) == {field.name for field in dataclasses.fields(Settings)} - NOT_OURS
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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c.CourseDirectory.submitted_directory = 'handed_in'", "use 'submitted'"),
        ("c.CourseDirectory.solution_directory = 'answers'", "use 'solutions'"),
        ("c.Autogradr.jobs = 2", "Did you mean 'Autograder'"),
    ],
)
def test_what_would_be_ignored_is_refused(tmp_path: Path, line: str, said: str) -> None:
    """A setting that changes nothing would grade the wrong folder, or with the wrong limits."""
    (tmp_path / "source").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n", encoding="utf-8")

    with pytest.raises(ConfigError, match=said):
        Course.find(tmp_path)
