"""Where the course's LMS is, as ``nbgrader_config.py`` tells it; no token is ever a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from traitlets import CUnicode, Unicode
from traitlets.config import Configurable

if TYPE_CHECKING:
    from traitlets.config import Config


class LmsTraits(Configurable):
    """What may be set of an LMS as ``c.Autograder.<name>``."""

    canvas_url = Unicode(
        "",
        help="""Address of your Canvas, as https://canvas.example.edu (default: none). `autograder push
        canvas` sends grades there.""",
    ).tag(config=True)

    canvas_course = CUnicode(
        "",
        help="""The course in Canvas: its number, `sis_course_id:` and the registrar's id, or its exact
        name or code (default: none).""",
    ).tag(config=True)

    canvas_token_file = Unicode(
        "",
        help="""A file with the access token of Canvas, which only its owner may read (default: none;
        the variable AUTOGRADER_CANVAS_TOKEN comes first). Keep it outside the course folder.""",
    ).tag(config=True)

    moodle_url = Unicode(
        "",
        help="""Address of your Moodle, as https://moodle.example.edu (default: none). `autograder push
        moodle` sends grades there.""",
    ).tag(config=True)

    moodle_course = CUnicode(
        "",
        help="""The course in Moodle: its number or its exact short name (default: none).""",
    ).tag(config=True)

    moodle_token_file = Unicode(
        "",
        help="""A file with the web-service token of Moodle, which only its owner may read (default:
        none; the variable AUTOGRADER_MOODLE_TOKEN comes first). Keep it outside the course folder.""",
    ).tag(config=True)


LMS_SETTINGS = tuple(sorted(LmsTraits.class_trait_names(config=True)))
"""Names of these settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LmsSettings:
    """
    Where the course's LMS is.

    Parameters
    ----------
    canvas_url, canvas_course, canvas_token_file : str
        Of Canvas; empty where nothing is set.
    moodle_url, moodle_course, moodle_token_file : str
        Of Moodle; empty where nothing is set.
    """

    canvas_url: str
    canvas_course: str
    canvas_token_file: str
    moodle_url: str
    moodle_course: str
    moodle_token_file: str


def lms_settings(config: Config) -> LmsSettings:
    """
    Return where the course's LMS is.

    Parameters
    ----------
    config : Config
        The course's configuration, checked by `settings_of`.

    Returns
    -------
    LmsSettings
        What is set there.
    """
    section = config.Autograder
    return LmsSettings(**{name: str(section.get(name, "")) for name in LMS_SETTINGS})
