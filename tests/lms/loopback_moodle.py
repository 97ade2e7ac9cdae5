"""
A Moodle on this machine: its web services for assignments, by its rules, clean-room.

Refusals have status 200 and an exception. What Moodle leaves out without a word
is left out here without a word. What no client should do is noted in `broken`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from email import message_from_bytes
from email.policy import HTTP
from typing import TYPE_CHECKING, Any

from loopback import Answer, Asked, Loopback, Mishaps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105 - made up
FUNCTIONS = (
    "core_webservice_get_site_info",
    "core_enrol_get_enrolled_users",
    "gradereport_user_get_grade_items",
    "mod_assign_get_assignments",
    "mod_assign_get_grades",
    "mod_assign_get_submission_status",
    "mod_assign_get_user_flags",
    "mod_assign_get_user_mappings",
    "mod_assign_save_grade",
)


class WsError(Exception):
    """What Moodle throws."""

    def __init__(self, code: str, said: str, kind: str = "moodle_exception") -> None:
        super().__init__(code)
        self.body = {"exception": kind, "errorcode": code, "message": said}


@dataclass(kw_only=True)
class Graded:
    """What Moodle has for a student in an assignment."""

    grade: Decimal | None = None
    comment: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    state: str = ""
    saved: int = 0
    """How often something was saved."""


@dataclass(kw_only=True)
class Assign:
    """An assignment, as its settings make it."""

    id: int = 31
    cmid: int = 131
    name: str = "Homework 1"
    grade: int = 10
    plugins: Sequence[str] = ("comments", "file")
    team: bool = False
    blind: bool = False
    workflow: bool = False
    rubric: bool = False
    submitted: set[int] = field(default_factory=set)
    """Who has handed in: grades of others are not listed."""
    locked: set[int] = field(default_factory=set)
    overridden: set[int] = field(default_factory=set)
    graded: dict[int, Graded] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    """By user the number of the participant."""


class MoodleSite(Loopback):
    """
    A site with one course.

    Parameters
    ----------
    users : sequence of dict
        Who is in the course.
    assigns : sequence of Assign
        Its assignments.
    mishaps : Mishaps, optional
        What goes wrong.
    """

    def __init__(
        self, users: Sequence[dict[str, Any]], assigns: Sequence[Assign], mishaps: Mishaps | None = None
    ) -> None:
        super().__init__(mishaps)
        self.users = list(users)
        self.assigns = {one.id: one for one in assigns}
        self.functions = list(FUNCTIONS)
        self.uploads = True
        self.broken: list[str] = []
        self.called: list[str] = []
        self.drafts: dict[int, dict[str, bytes]] = {}

    def answer(self, asked: Asked) -> Answer:
        """Return what a request is answered."""
        if TOKEN in asked.target:
            self.broken.append("a token in an address")
        try:
            if asked.path.endswith("/webservice/upload.php"):
                return Answer.of(self._upload(asked))
            if "/pluginfile.php/" in asked.path:
                return self._file(asked)
            if not asked.path.endswith("/webservice/rest/server.php") or asked.method != "POST":
                return Answer(status=404, body=b"<h1>Not found</h1>")
            return Answer.of(self._call(asked))
        except WsError as error:
            return Answer.of(error.body)

    # --------------------------------------------------------------- functions

    def _call(self, asked: Asked) -> Any:
        form = dict(asked.form)
        self._check_token(form.pop("wstoken", ""))
        function = form.pop("wsfunction", "")
        if form.pop("moodlewsrestformat", "") != "json":
            self.broken.append("an answer in XML would come")
        if function not in self.functions:
            raise WsError("accessexception", "Access control exception", "webservice_access_exception")
        self.called.append(function)
        return getattr(self, f"_{function}")(nested(form))

    def _check_token(self, token: str) -> None:
        if token != TOKEN:
            raise WsError("invalidtoken", "Invalid token - token not found", "moodle_exception")

    def _core_webservice_get_site_info(self, given: dict[str, Any]) -> Any:
        known(given)
        functions = [{"name": name, "version": "1"} for name in self.functions]
        return {"sitename": "School", "userid": 2, "uploadfiles": int(self.uploads), "functions": functions}

    def _mod_assign_get_assignments(self, given: dict[str, Any]) -> Any:
        known(given, "courseids", "includenotenrolledcourses", "capabilities")
        wanted = [int(one) for one in given.get("courseids", {"0": "5"}).values()]
        listed = [self._assign(one) for one in self.assigns.values()]
        course = {"id": 5, "fullname": "Attention", "shortname": "ATT-1", "assignments": listed}
        warnings = [{"item": "course", "itemid": one, "warningcode": "2"} for one in wanted if one != 5]
        return {"courses": [course] if 5 in wanted else [], "warnings": warnings}

    def _assign(self, assign: Assign) -> dict[str, Any]:
        configs = [
            {"plugin": name, "subtype": "assignfeedback", "name": "enabled", "value": "1"}
            for name in assign.plugins
        ]
        return {
            "id": assign.id,
            "cmid": assign.cmid,
            "course": 5,
            "name": assign.name,
            "grade": assign.grade,
            "teamsubmission": int(assign.team),
            "blindmarking": int(assign.blind),
            "revealidentities": 0,
            "markingworkflow": int(assign.workflow),
            "configs": [
                *configs,
                {"plugin": "file", "subtype": "assignsubmission", "name": "enabled", "value": "1"},
            ],
        }

    def _core_enrol_get_enrolled_users(self, given: dict[str, Any]) -> Any:
        known(given, "courseid", "options")
        options = {one["name"]: one["value"] for one in given.get("options", {}).values()}
        start, count = int(options.get("limitfrom", 0)), int(options.get("limitnumber", 0))
        page = self.users[start : start + count] if count else self.users[start:]
        # The page is cut before those are left out whom the token may not see.
        return [user for user in page if not user.get("hidden")]

    def _mod_assign_get_grades(self, given: dict[str, Any]) -> Any:
        known(given, "assignmentids", "since")
        found = []
        for number in given["assignmentids"].values():
            assign = self.assigns[int(number)]
            grades = [
                {"id": user, "userid": user, "attemptnumber": 0, "grade": shown(one.grade)}
                for user, one in assign.graded.items()
                if user in assign.submitted and not assign.team
            ]
            found.append({"assignmentid": assign.id, "grades": grades})
        return {"assignments": [one for one in found if one["grades"]], "warnings": []}

    def _mod_assign_get_user_flags(self, given: dict[str, Any]) -> Any:
        known(given, "assignmentids")
        assign = self.assigns[int(given["assignmentids"]["0"])]
        flags = [
            {"id": user, "userid": user, "workflowstate": one.state}
            for user, one in assign.graded.items()
            if one.state
        ]
        return {"assignments": [{"assignmentid": assign.id, "userflags": flags}], "warnings": []}

    def _mod_assign_get_user_mappings(self, given: dict[str, Any]) -> Any:
        known(given, "assignmentids")
        assign = self.assigns[int(given["assignmentids"]["0"])]
        pairs = [{"id": number, "userid": user} for user, number in assign.numbers.items()]
        return {"assignments": [{"assignmentid": assign.id, "mappings": pairs}], "warnings": []}

    def _gradereport_user_get_grade_items(self, given: dict[str, Any]) -> Any:
        known(given, "courseid", "userid", "groupid")
        found = []
        for user in self.users:
            items = [
                {
                    "cmid": assign.cmid,
                    "itemmodule": "assign",
                    "gradeislocked": user["id"] in assign.locked,
                    "gradeisoverridden": user["id"] in assign.overridden,
                }
                for assign in self.assigns.values()
            ]
            found.append({"userid": user["id"], "gradeitems": items})
        return {"usergrades": found, "warnings": []}

    def _mod_assign_get_submission_status(self, given: dict[str, Any]) -> Any:
        known(given, "assignid", "userid", "groupid")
        assign, user = self.assigns[int(given["assignid"])], int(given["userid"])
        one = assign.graded.get(user)
        released = not assign.workflow or (one is not None and one.state == "released")
        status = (
            ("notmarked" if one is None else one.state or "notmarked") if assign.workflow else "notgraded"
        )
        told: dict[str, Any] = {"lastattempt": {"gradingstatus": status}, "warnings": []}
        if user in assign.submitted and not assign.team:
            told["lastattempt"]["submission"] = {"id": user, "userid": user, "attemptnumber": 0}
        in_gradebook = one is not None and one.grade is not None and not assign.blind and released
        # A workflow hides comment and files, too, until it has come to its end.
        has_feedback = one is not None and bool(one.comment or one.files) and released
        if one is None or not (in_gradebook or has_feedback):
            return told
        editors = [{"name": "comments", "description": "", "text": one.comment, "format": 1}]
        files = [
            {
                "filename": name,
                "filepath": "/",
                "filesize": len(data),
                "fileurl": f"{self.url}/moodle/webservice/pluginfile.php/{assign.id}/{user}/{name}",
            }
            for name, data in one.files.items()
        ]
        plugins = [
            {"type": "comments", "name": "Feedback comments", "editorfields": editors},
            {
                "type": "file",
                "name": "Feedback files",
                "fileareas": [{"area": "feedback_files", "files": files}],
            },
        ]
        grade = {"id": 1, "userid": user, "grade": shown(one.grade)}
        return told | {"feedback": {"grade": grade, "plugins": plugins}}

    def _mod_assign_save_grade(self, given: dict[str, Any]) -> None:
        required = (
            "assignmentid",
            "userid",
            "grade",
            "attemptnumber",
            "addattempt",
            "workflowstate",
            "applytoall",
        )
        known(given, *required, "plugindata", "advancedgradingdata", needed=required)
        assign, user = self.assigns[int(given["assignmentid"])], int(given["userid"])
        if not re.fullmatch(r"-?\d+(\.\d+)?", given["grade"]):
            raise WsError(
                "invalidparameter", "Invalid parameter value detected", "invalid_parameter_exception"
            )
        if user not in {one["id"] for one in self.users}:
            raise WsError("usernotincourse", "User is not in the course")
        grade = Decimal(given["grade"])
        disabled = user in assign.locked | assign.overridden
        self.broken += [
            name
            for name, wrong in {
                "a score for the whole team": given["applytoall"] != "0",
                "another attempt": given["addattempt"] != "0",
                "no attempt is the latest": given["attemptnumber"] != "-1",
                "not every number is exact": not re.fullmatch(r"-?\d+(\.\d{1,2})?", given["grade"]),
            }.items()
            if wrong
        ]
        one = assign.graded.setdefault(user, Graded())
        one.saved += 1
        if not disabled and not assign.rubric and grade <= assign.grade:
            one.grade = None if grade == -1 else grade
        if assign.workflow and not disabled:
            one.state = given["workflowstate"]
        self._save_feedback(assign, one, given.get("plugindata", {}))

    def _save_feedback(self, assign: Assign, one: Graded, plugins: Mapping[str, Any]) -> None:
        """Keep comment and files; what is not given counts as an empty comment."""
        if "comments" in assign.plugins:
            one.comment = plugins.get("assignfeedbackcomments_editor", {}).get("text", "")
        if "file" in assign.plugins and "files_filemanager" in plugins:
            area = int(plugins["files_filemanager"])
            if area not in self.drafts:
                self.broken.append("a draft area that is not there")
            one.files = dict(self.drafts.get(area, {}))

    # ------------------------------------------------------------------- files

    def _upload(self, asked: Asked) -> Any:
        head = f"Content-Type: {asked.content_type}\r\n\r\n".encode()
        message = message_from_bytes(head + asked.body, policy=HTTP)
        parts = list(message.iter_parts()) if message.is_multipart() else []
        form = {part.get_param("name", header="content-disposition"): part for part in parts}
        self._check_token(_text(form.get("token")))
        if not self.uploads:
            raise WsError("cannotuploadfile", "No right to upload")
        area = int(_text(form.get("itemid")) or 0) or 700 + len(self.drafts)
        files = self.drafts.setdefault(area, {})
        part = form["file_1"]
        name, data = str(part.get_filename()), bytes(part.get_content())
        if name in files:
            raise WsError("filenameexist", "A file of this name is there already")
        files[name] = data
        return [{"filename": name, "itemid": area, "filearea": "draft"}]

    def _file(self, asked: Asked) -> Answer:
        self._check_token(dict(asked.form).get("token", "") if asked.method == "POST" else "")
        assign, user, name = asked.path.rsplit("/", 3)[1:]
        return Answer(body=self.assigns[int(assign)].graded[int(user)].files[name])


def nested(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a form as PHP reads them: lists and dicts alike by their keys."""
    found: dict[str, Any] = {}
    for name, text in form.items():
        keys = [name.partition("[")[0], *re.findall(r"\[(\w*)\]", name)]
        place = found
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = text
    return found


def known(given: Mapping[str, Any], *names: str, needed: Sequence[str] = ()) -> None:
    """Refuse what a function does not take, and what it lacks."""
    strange = set(given) - set(names)
    missing = set(needed) - set(given)
    if strange or missing:
        said = f"Unexpected keys ({', '.join(strange)}); missing keys ({', '.join(missing)})"
        raise WsError("invalidparameter", said, "invalid_parameter_exception")


def shown(grade: Decimal | None) -> str:
    """Return a grade as Moodle's database writes it."""
    return "-1.00000" if grade is None else f"{grade:.5f}"


def _text(part: Any) -> str:
    return "" if part is None else str(part.get_payload(decode=True).decode())
