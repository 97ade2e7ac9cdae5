"""
Moodle's web services: one address, functions by name, and refusals that look like success.

Everything is posted, so that the token is in no address and in no log of a
server. What Moodle refuses it answers with status 200 and an exception.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin

from autograder.errors import CourseError, OperatorError, RefusedError, ServerError, UncertainError
from autograder.lms.push.addresses import checked_address, origin_of
from autograder.lms.push.moodle.answers import as_object, id_of, useless
from autograder.lms.push.web import DEFAULT_CLOCK, DEFAULT_POLICY, Clock, Policy, Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import requests

    from autograder.lms.push.tokens import Secret

SERVER, UPLOAD = "/webservice/rest/server.php", "/webservice/upload.php"
ATTEMPTS = 3
"""How often files are uploaded anew, if nobody says that they have arrived."""
OF_ALL = frozenset(
    {
        "accessexception",
        "cannotcallservice",
        "enablewsdescription",
        "forcepasswordchangenotice",
        "invalidtoken",
        "nopermissions",
        "requireloginerror",
        "servicenotavailable",
        "servicerequireslogin",
        "sitemaintenance",
        "upgraderunning",
        "usernotfullysetup",
        "wsaccessuserdeleted",
        "wsaccessusersuspended",
    }
)
"""Codes of refusals that have nothing to do with one student."""

_HTML = re.compile(r"<[^<>]*>")
_LONGEST_REASON = 300
_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodleTarget:
    """
    Where grades go to.

    Parameters
    ----------
    url : str
        The address of Moodle: ``https://``, its host, and the folder it is in.
    course : str
        The course's number, or its exact short name.
    assignment : str
        Its address, the number in it (``cmid:12``), Moodle's other number (``id:12``), or its exact name.
    token : Secret
        A web-service token of somebody who may grade there.
    """

    url: str
    course: str
    assignment: str
    token: Secret


class MoodleRefusedError(RefusedError):
    """
    Moodle refused.

    Parameters
    ----------
    where : object
        Which function.
    code : str
        Moodle's ``errorcode``.
    said : str
        Its words, fit to be shown.
    """

    def __init__(self, where: object, code: str, said: str) -> None:
        remedy = _REMEDIES.get(code, "Look at it in Moodle.")
        super().__init__(where, f"Moodle refuses ({code}): {said}", remedy)
        self.code = code


_REMEDIES = {
    "invalidtoken": "Copy the token again, or make a new one: Preferences, Security keys.",
    "accessexception": "Add the function to the service, or give the token's user the right to use it.",
    "nopermissions": "Give the token's user the role of a teacher in the course.",
    "sitemaintenance": "Repeat the command when Moodle is back.",
}


class Service:
    """
    A Moodle that can be asked.

    Parameters
    ----------
    target : MoodleTarget
        Which, and with which token.
    policy : Policy, optional
        Bounds of requests.
    clock : Clock, optional
        Time.

    Raises
    ------
    CourseError
        If the address is none that a token may be sent to.
    """

    def __init__(
        self, target: MoodleTarget, *, policy: Policy = DEFAULT_POLICY, clock: Clock = DEFAULT_CLOCK
    ) -> None:
        address = checked_address(target.url, "the address of Moodle")
        if address.endswith(".php"):
            raise CourseError(address, "is a page of Moodle", "Give the address of its front page.")
        self.url = address
        self.clock = clock
        self.session = Session([address], [target.token], policy=policy, clock=clock)
        self._token = target.token

    def call(self, function: str, **arguments: Any) -> Any:
        """
        Call a function. All that are called here end in the same state however often they are called.

        Parameters
        ----------
        function : str
            Its name.
        **arguments : Any
            Numbers, texts, booleans, and lists and dicts of these.

        Returns
        -------
        object
            What it returns, as JSON has it; None for nothing.

        Raises
        ------
        MoodleRefusedError
            If Moodle refuses.
        ServerError
            If it does not answer, or answers what nobody can use.
        """
        form = [
            ("wstoken", self._token.reveal()),
            ("wsfunction", function),
            ("moodlewsrestformat", "json"),
            *flat(arguments),
        ]
        with self.session.repeating():
            answer = self.session.post(self.url + SERVER, data=form)
        return self._understood(answer, function)

    def upload(self, files: Sequence[tuple[str, bytes]]) -> int:
        """
        Put files into a new draft area.

        Parameters
        ----------
        files : sequence of (str, bytes)
            Their names, no two alike, and what is in them.

        Returns
        -------
        int
            The number of the area, to be given to a function that takes files.

        Raises
        ------
        MoodleRefusedError
            If Moodle refuses a file.
        ServerError
            If it does not answer.
        """
        problem: UncertainError | None = None
        for attempt in range(ATTEMPTS):
            try:
                return self._uploaded(files)
            except UncertainError as error:
                # A file that may be in the area cannot be put there again; another area is empty.
                problem = error
                self.clock.sleep(2.0**attempt)
        where = UPLOAD if problem is None else problem.where
        raise ServerError(where, "files do not arrive for sure", "Repeat the command in a while.")

    def _uploaded(self, files: Sequence[tuple[str, bytes]]) -> int:
        area = 0
        for name, data in files:
            form = {
                "token": self._token.reveal(),
                "filearea": "draft",
                "itemid": str(area),
                "filepath": "/",
            }
            sent = {"file_1": (name, data, "application/octet-stream")}
            told = self._understood(self.session.post(self.url + UPLOAD, data=form, files=sent), UPLOAD)
            first = told[0] if isinstance(told, list) and told else None
            area = id_of(as_object(first, UPLOAD).get("itemid"), UPLOAD)
        return area

    def download(self, url: str) -> bytes:
        """
        Return a file that Moodle has named.

        Parameters
        ----------
        url : str
            Its address, as Moodle tells it.

        Returns
        -------
        bytes
            All of it.

        Raises
        ------
        ServerError
            If it is on another server, or does not come.
        """
        try:
            goal = urljoin(self.url, url).partition("#")[0]
        except ValueError:
            raise useless("the address of a file") from None
        if origin_of(goal) != origin_of(self.url):
            where = self.session.scrubbed(goal.partition("?")[0])
            raise ServerError(where, "a file of Moodle's is on another server", "Look at it in Moodle.")
        with self.session.repeating():
            answer = self.session.post(goal, data={"token": self._token.reveal()})
        where = self.session.scrubbed(goal.partition("?")[0])
        if answer.status_code != _OK:
            raise ServerError(where, f"Moodle answers {answer.status_code}", "Look at the file in Moodle.")
        if "json" in answer.headers.get("Content-Type", ""):
            # A refusal; a file of this kind would be told by its name.
            self._understood(answer, where)
        return bytes(answer.content)

    def _understood(self, answer: requests.Response, where: str) -> Any:
        if answer.status_code != _OK:
            what = f"the server answers {answer.status_code}"
            raise ServerError(where, what, "Check the address of Moodle, and that web services are on there.")
        try:
            told = json.loads(answer.text)
            # Half a character, which JSON may hold, can neither be sent back nor shown.
            json.dumps(told, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise useless(where) from None
        if isinstance(told, dict) and ("exception" in told or "errorcode" in told):
            code = self.session.scrubbed(str(told.get("errorcode") or "unknown"))[:60]
            words = _HTML.sub(" ", str(told.get("message") or told.get("error") or "without a word"))
            said = self.session.scrubbed(" ".join(words.split())).rstrip(".")
            if code == "invalidtoken":
                raise OperatorError(
                    self._token.source, "Moodle does not know this token", _REMEDIES[code]
                ) from None
            raise MoodleRefusedError(where, code, said[:_LONGEST_REASON])
        return told


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """
    Yield the fields of a form as PHP reads lists and dicts from it.

    Parameters
    ----------
    value : Any
        Numbers, texts, booleans, and lists and dicts of these.
    name : str
        The name of the field; empty at the beginning.

    Yields
    ------
    name, text : str
        ``grades[0][userid]`` and ``7``, for example.
    """
    if isinstance(value, dict):
        for key, part in cast("Mapping[str, Any]", value).items():
            yield from flat(part, f"{name}[{key}]" if name else key)
    elif isinstance(value, list | tuple):
        for at, part in enumerate(value):
            yield from flat(part, f"{name}[{at}]")
    elif isinstance(value, bool):
        yield name, str(int(value))
    else:
        yield name, str(value)
