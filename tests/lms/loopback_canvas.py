"""
A Canvas on this machine: its addresses, parameters, pages, throttle and uploads.

It takes what Canvas documents and nothing else: what is not documented is
refused and noted in `LoopbackCanvas.violations`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from canvas_world import ASSIGNMENT, CATEGORY, COURSE, TOKEN, GradeError, World
from loopback import Answer, Asked, Loopback, Mishaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.lms.push.web import Clock

PLACE = f"/api/v1/courses/{COURSE}/assignments/{ASSIGNMENT}/submissions"
PAGED = {"page", "per_page"}
ALLOWED = {
    "GET /api/v1/courses": PAGED,
    f"GET /api/v1/courses/{COURSE}/assignments": PAGED,
    f"GET /api/v1/courses/{COURSE}/search_users": PAGED
    | {"enrollment_type[]", "enrollment_state[]", "include[]"},
    f"GET {PLACE}": PAGED | {"include[]"},
    f"GET /api/v1/courses/{COURSE}/students/submissions": PAGED
    | {"student_ids[]", "assignment_ids[]", "include[]"},
    f"GET /api/v1/group_categories/{CATEGORY}/groups": PAGED,
    f"POST {PLACE}/update_grades": set(),
}
"""Parameters of addresses, beside those that hold a number."""
ONE = {"submission[posted_grade]", "submission[excuse]", "prefer_points_over_scheme"}
SAID = {"comment[text_comment]", "comment[group_comment]", "comment[file_ids][]"}
BULK = re.compile(r"grade_data\[([^\]]+)\]\[(posted_grade|excuse)\]")
HIGH_WATER, BRIM, OUTFLOW_PER_S = 600.0, 800.0, 10.0

Fields = list[tuple[str, str]]


def unauthorized() -> Answer:
    """Return what Canvas says to who may not."""
    errors = [{"message": "user not authorized to perform that action"}]
    return Answer.of({"status": "unauthorized", "errors": errors}, status=403)


def with_headers(answer: Answer, **headers: str) -> Answer:
    """Return an answer with more headers, underscores standing for hyphens."""
    more = {name.replace("_", "-"): text for name, text in headers.items()}
    return replace(answer, headers=dict(answer.headers) | more)


class LoopbackCanvas(Loopback):
    """
    A Canvas with one course.

    Parameters
    ----------
    world : World
        What is in it.
    clock : Clock
        By which its bucket leaks.
    mishaps : Mishaps, optional
        What goes wrong.
    """

    def __init__(self, world: World, clock: Clock, mishaps: Mishaps | None = None) -> None:
        super().__init__(mishaps)
        self.world = world
        self.store = Store(self, mishaps)
        self.page = 2
        self.cost = 3.0
        self.courses = [{"id": COURSE, "name": "Deep Learning", "course_code": "DL-26"}]
        self.others: list[dict[str, Any]] = []
        """Assignments beside the one."""
        self.may_grade = True
        self.violations: list[str] = []
        self.throttled = 0
        self._clock = clock
        self._level, self._touched = 0.0, 0.0

    def __enter__(self) -> Self:
        super().__enter__()
        self.store.__enter__()
        return self

    def __exit__(self, *rest: object) -> None:
        self.store.__exit__(*rest)
        super().__exit__(*rest)

    def changing(self) -> list[str]:
        """Return the requests that could change something."""
        both = [*self.asked, *self.store.asked]
        return [f"{one.method} {one.path}" for one in both if one.method != "GET"]

    # ------------------------------------------------------------ the door

    def answer(self, asked: Asked) -> Answer:
        """Let in who has the token, as long as the bucket is not full."""
        if asked.headers.get("Authorization") != f"Bearer {TOKEN}":
            errors = [{"message": "Invalid access token."}]
            return with_headers(Answer.of({"errors": errors}, status=401), WWW_Authenticate="Bearer")
        if not asked.headers.get("User-Agent"):
            return Answer.of({"errors": "User-Agent"}, status=403)
        now = self._clock.now()
        self._level = max(self._level - (now - self._touched) * OUTFLOW_PER_S, 0.0)
        self._touched = now
        if self._level >= HIGH_WATER:
            self.throttled += 1
            words = b"403 Forbidden (Rate Limit Exceeded)\n"
            headers = {"Content-Type": "text/plain; charset=utf-8", "X-Rate-Limit-Remaining": "0.0"}
            return Answer(status=403, body=words, headers=headers)
        self._level = min(self._level + self.cost, BRIM)
        self.world.tick()
        answer = self._routed(asked)
        left = {"X-Rate-Limit-Remaining": str(HIGH_WATER - self._level), "X-Request-Cost": str(self.cost)}
        return replace(answer, headers=dict(answer.headers) | left)

    def refuse(self, what: str) -> Answer:
        """Note what no documented client does, and refuse it."""
        self.violations.append(what)
        return Answer.of({"error": what}, status=400)

    def _routed(self, asked: Asked) -> Answer:
        key = f"{asked.method} {asked.path}"
        fields = self._fields(asked)
        if fields is None:
            return self.refuse(f"{key} with {asked.content_type}")
        for pattern, answering in self._routes():
            if found := re.fullmatch(pattern, key):
                allowed = ALLOWED.get(key)
                stray = {name for name, _ in fields} - allowed if allowed is not None else set()
                stray = {name for name in stray if not BULK.fullmatch(name)}
                return (
                    self.refuse(f"{key} with {sorted(stray)}")
                    if stray
                    else answering(fields, *found.groups())
                )
        return Answer.of({"errors": [{"message": "The specified resource does not exist."}]}, status=404)

    def _fields(self, asked: Asked) -> Fields | None:
        query = parse_qsl(urlsplit(asked.target).query, keep_blank_values=True)
        if asked.method == "GET":
            return query if not asked.body else None
        return asked.form if asked.content_type == "application/x-www-form-urlencoded" else None

    def _routes(self) -> list[tuple[str, Callable[..., Answer]]]:
        api, course = "/api/v1", f"/api/v1/courses/{COURSE}"
        return [
            (f"GET {api}/courses", lambda fields: self._list(f"{api}/courses", self.courses, fields)),
            (rf"GET {api}/courses/([^/]+)", self._course),
            (f"GET {course}/assignments", self._assignments),
            (rf"GET {course}/assignments/([^/]+)", self._assignment),
            (f"GET {course}/search_users", self._users),
            (f"GET {PLACE}", self._submissions),
            (f"GET {course}/students/submissions", self._some_submissions),
            (f"POST {PLACE}/update_grades", self._update_grades),
            (rf"PUT {PLACE}/(\d+)", self._update),
            (rf"POST {PLACE}/(\d+)/comments/files", self._announce),
            (rf"GET {api}/progress/(\d+)", self._progress),
            (rf"GET {api}/files/(\d+)/create_success", self._created),
            (f"GET {api}/group_categories/{CATEGORY}/groups", self._groups),
            (rf"GET {api}/groups/(\d+)/users", self._members),
        ]

    # ------------------------------------------------------------ reading

    def _list(self, path: str, entries: list[dict[str, Any]], fields: Fields) -> Answer:
        """Return a page, and where the others are, as Canvas does."""
        given = dict(fields)
        size = min(int(given.get("per_page", "10")), self.page)
        page, last = int(given.get("page", "1")), max(-(-len(entries) // size), 1)
        rest = [(name, value) for name, value in fields if name not in PAGED]

        def link(number: int, relation: str) -> str:
            query = urlencode([*rest, ("page", str(number)), ("per_page", str(size))])
            return f'<{self.url}{path}?{query}>; rel="{relation}"'

        links = [link(page, "current"), *([link(page + 1, "next")] if page < last else [])]
        links += [link(1, "first"), link(last, "last")]
        return Answer.of(entries[(page - 1) * size : page * size], link=",".join(links))

    def _course(self, _: Fields, name: str) -> Answer:
        known = {str(one["id"]): one for one in self.courses} | {"sis_course_id:DL": self.courses[0]}
        return Answer.of(known[name]) if name in known else unauthorized()

    def _assignments(self, fields: Fields) -> Answer:
        listed = [self.world.assignment, *self.others]
        return self._list(f"/api/v1/courses/{COURSE}/assignments", listed, fields)

    def _assignment(self, _: Fields, name: str) -> Answer:
        known = {str(one["id"]): one for one in [self.world.assignment, *self.others]}
        return Answer.of(known[name]) if name in known else Answer.of({"errors": []}, status=404)

    def _users(self, fields: Fields) -> Answer:
        states = {value for name, value in fields if name == "enrollment_state[]"}
        listed = [pupil.facts() for pupil in self.world.pupils.values() if states & set(pupil.states)]
        return self._list(f"/api/v1/courses/{COURSE}/search_users", listed, fields)

    def _submissions(self, fields: Fields, users: set[str] | None = None) -> Answer:
        if not self.may_grade:
            return unauthorized()
        listed = []
        for work in self.world.visible():
            if users is None or str(work.user) in users:
                said = (
                    {"submission_comments": work.comments}
                    if ("include[]", "submission_comments") in fields
                    else {}
                )
                listed.append(work.facts() | said)
        path = PLACE if users is None else f"/api/v1/courses/{COURSE}/students/submissions"
        return self._list(path, listed, fields)

    def _some_submissions(self, fields: Fields) -> Answer:
        users = {value for name, value in fields if name == "student_ids[]"}
        if not users or ("assignment_ids[]", str(ASSIGNMENT)) not in fields:
            return self.refuse("whose submissions?")
        return self._submissions(fields, users)

    def _progress(self, _: Fields, number: str) -> Answer:
        job = self.world.jobs.get(int(number))
        return Answer.of(job.facts()) if job else Answer.of({"errors": []}, status=404)

    def _groups(self, fields: Fields) -> Answer:
        listed = [{"id": number, "name": f"Group {number}"} for number in self.world.groups]
        return self._list(f"/api/v1/group_categories/{CATEGORY}/groups", listed, fields)

    def _members(self, fields: Fields, number: str) -> Answer:
        listed = [{"id": user} for user in self.world.groups[int(number)]]
        return self._list(f"/api/v1/groups/{number}/users", listed, fields)

    # ------------------------------------------------------------ changing

    def _update_grades(self, fields: Fields) -> Answer:
        data: dict[str, dict[str, str]] = defaultdict(dict)
        for name, value in fields:
            found = BULK.fullmatch(name)
            if found is None:
                return self.refuse(f"update_grades with {name}")
            data[found[1]][found[2]] = value
        if not data:
            return Answer.of({"error": "'grade_data' parameter required"}, status=400)
        if not self.may_grade or not self.world.assignment["published"]:
            return unauthorized()
        return Answer.of(self.world.start(dict(data)).facts())

    def _update(self, fields: Fields, number: str) -> Answer:
        given, user = dict(fields), int(number)
        if stray := set(given) - ONE - SAID:
            return self.refuse(f"PUT with {sorted(stray)}")
        work = next((one for one in self.world.visible() if one.user == user), None)
        moderated = self.world.assignment["moderated_grading"] and "submission[posted_grade]" in given
        if work is None or moderated or not self.may_grade:
            return unauthorized()
        try:
            if "submission[posted_grade]" in given or "submission[excuse]" in given:
                excuse, points = (
                    given.get("submission[excuse]") == "true",
                    given.get("prefer_points_over_scheme"),
                )
                grade = given.get("submission[posted_grade]")
                self.world.enter(user, grade, excuse=excuse, points_first=points == "true")
        except GradeError as error:
            return Answer.of({"error": str(error)}, status=400)
        ids = [int(value) for name, value in fields if name == "comment[file_ids][]"]
        if not all(number in self.world.files and self.world.files[number].ready for number in ids):
            return unauthorized()
        if ids or given.get("comment[text_comment]"):
            self.world.say(user, given.get("comment[text_comment]", ""), ids)
        return Answer.of(work.facts() | {"submission_comments": work.comments})

    def _announce(self, fields: Fields, number: str) -> Answer:
        given = dict(fields)
        if set(given) != {"name", "size", "content_type"}:
            return self.refuse(f"a file announced by {sorted(given)}")
        if int(number) not in self.world.pupils or not self.may_grade:
            return unauthorized()
        file = self.world.announce(int(number), given["name"], int(given["size"]))
        return Answer.of(
            {"upload_url": f"{self.store.url}/upload", "upload_params": self.store.ticket(file.id)}
        )

    def _created(self, fields: Fields, number: str) -> Answer:
        file = self.world.files.get(int(number))
        if file is None or file.data is None or dict(fields).get("uuid") != file.uuid:
            return Answer.of({"errors": []}, status=404)
        file.ready = True
        return Answer.of(file.facts())


class Store(Loopback):
    """
    Where files are uploaded to: another server than Canvas, which must not see the token.

    Parameters
    ----------
    canvas : LoopbackCanvas
        Whose files.
    mishaps : Mishaps, optional
        What goes wrong.
    """

    def __init__(self, canvas: LoopbackCanvas, mishaps: Mishaps | None = None) -> None:
        super().__init__(mishaps)
        self._canvas = canvas
        self.style = "redirect"
        """How it ends an upload: "redirect", "created" (201 and where to ask), "told" (201 and the facts)."""

    def ticket(self, number: int) -> dict[str, Any]:
        """Return the fields that an upload must have, as they are."""
        return {
            "key": f"unfiled/{number}",
            "x-amz-signature": f"s{number * 7919}",
            "acl": "private",
            "max": None,
        }

    def answer(self, asked: Asked) -> Answer:
        """Take a form whose last field is the file, and nothing else."""
        if "Authorization" in asked.headers or TOKEN.encode() in asked.body or TOKEN in asked.target:
            return self._canvas.refuse("the store was shown the token")
        head = f"Content-Type: {asked.content_type}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + asked.body)
        parts = [(part.get_param("name", header="content-disposition"), part) for part in form.iter_parts()]
        names = [str(name) for name, _ in parts]
        if not names or names[-1] != "file":
            return self._canvas.refuse(f"the file is not last: {names}")
        fields = {str(name): part.get_content().rstrip("\r\n") for name, part in parts[:-1]}
        number = int(fields.get("key", "/0").rpartition("/")[2])
        given = {name: value or "" for name, value in self.ticket(number).items()}
        file = self._canvas.world.files.get(number)
        if file is None or fields != given:
            return self._canvas.refuse(f"an upload with {fields}")
        data = parts[-1][1].get_payload(decode=True)
        file.data = bytes(data) if isinstance(data, bytes) else b""
        where = f"{self._canvas.url}/api/v1/files/{number}/create_success?uuid={file.uuid}"
        if self.style == "redirect":
            return Answer(status=303, headers={"Location": where})
        file.ready = True
        told = file.facts() if self.style == "told" else {}
        return with_headers(Answer.of(told, status=201), Location=where)
