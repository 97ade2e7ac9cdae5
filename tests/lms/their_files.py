"""The smallest file of each LMS that an export takes, and an export by the format's name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from autograder.commands.exporting import FORMATS

if TYPE_CHECKING:
    from autograder.lms.exports.model import Export, Request

LIKE = {
    "canvas": "Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (7)\n    Points Possible,,,,,10\n"
    '"Ruiz, Ana",501,s1,ana,S,{}\n',
    "moodle-worksheet": "Identifier,Full name,ID number,Status,Grade,Maximum grade,Last modified (grade)\n"
    "Participant 501,Ana Ruiz,s1,s,{},10.00,-\n",
    "moodle-grades": "First name,Last name,ID number,Assignment: HW 1 (Real)\nAna,Ruiz,s1,{}\n",
    "blackboard": "Username,HW 1 [Total Pts: 10 Score] |11\ns1,{}\n",
    "brightspace": "OrgDefinedId,HW 1 Points Grade <Numeric MaxPoints:10>\n#s1,{}\n",
    "sakai": "Student ID,Name,HW 1 [10]\ns1,Ana,{}\n",
    "openedx": "user_id,username,block_id,title,Previous Points,New Points\n501,s1,b,HW 1,{},\n",
    "gradescope": "First Name,SID,Email,Total Score,Max Points,Submission ID\nAna,s1,,{},10,7\n",
}
"""A file of each LMS, with a place for the score that it has."""


def export(name: str, request: Request) -> Export:
    """Return what a format makes."""
    module = import_module(f"autograder.lms.exports.{FORMATS[name]}")
    done: Export = module.export(request)
    return done
