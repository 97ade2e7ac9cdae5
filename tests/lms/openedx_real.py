"""Open edX's own importers behind the same doors as those of `openedx_importer`, where they are installed."""

from __future__ import annotations

import base64
import json
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from export_scenes import Imported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from export_scenes import Scores
    from nasty_people import Nasty
    from openedx_importer import Overrides, StaffGraded

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-openedx" / "bin" / "python"
ABSENT = "no .venv-openedx; `make openedx` installs Open edX's own importers into it"


class OpenEdx:
    """A process that runs the importers; it is ended on leaving."""

    def __enter__(self) -> Self:
        """Start it."""
        script = Path(__file__).with_name("openedx_process.py")
        self.process = subprocess.Popen(
            [PYTHON, "-W", "ignore", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return what a method of the process's server returns."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, arguments]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class _Real:
    """What both files have in common."""

    kind: str

    def __init__(self, server: OpenEdx, people: Sequence[Nasty], scores: Scores) -> None:
        self.server, self.people, self.scores = server, people, dict(scores)
        self.logins = {one.user: one.login for one in people}
        self.users = {one.login: one.user for one in people}

    def start(
        self, title: str, max_points: float, points: dict[str, float], subsections: dict[str, str]
    ) -> None:
        """Let the process begin with these people and scores."""
        people = [
            {"user_id": int(one.user), "username": one.login, "full_name": one.full, "student_uid": one.sis}
            for one in self.people
        ]
        self.server.ask("start", people, title, max_points, points, subsections)

    def put_in(self) -> None:
        """Give the process the scores that are here."""
        raise NotImplementedError

    def download(self) -> bytes:
        """Return its file."""
        self.put_in()
        return base64.b64decode(self.server.ask("download", self.kind))

    def upload(self, data: bytes) -> Imported:
        """Let it take a file."""
        self.put_in()
        answer = self.server.ask("upload", self.kind, base64.b64encode(data).decode())
        self.take_out()
        return Imported(errors=answer["errors"])

    def take_out(self) -> None:
        """Get the scores back."""
        raise NotImplementedError


class RealStaffGraded(_Real):
    """A staff-graded problem of the importers themselves."""

    kind = "points"

    def __init__(self, server: OpenEdx, copy: StaffGraded) -> None:
        super().__init__(server, copy.people, copy.scores)
        self.name, self.max_points = copy.name, copy.max_points

    def title(self, _: str) -> str:
        """Return what the problem is called."""
        return self.name

    def put_in(self) -> None:
        """Give the process the scores of the problem."""
        points = {
            self.users[login]: float(points)
            for (login, title), points in self.scores.items()
            if title == self.name
        }
        self.start(self.name, float(self.max_points), points, {})

    def take_out(self) -> None:
        """Get them back; somebody who is not enrolled may have some."""
        others = {place: points for place, points in self.scores.items() if place[1] != self.name}
        points = {
            (self.logins.get(user, user), self.name): Decimal(str(points))
            for user, points in self.server.ask("points").items()
        }
        self.scores = others | points


class RealOverrides(_Real):
    """A gradebook of the importers themselves."""

    kind = "overrides"

    def __init__(self, server: OpenEdx, copy: Overrides) -> None:
        super().__init__(server, copy.people, copy.scores)
        self.subsections = copy.subsections

    def title(self, header: str) -> str:
        """Return what the subsection of a header is called."""
        return self.subsections[header.removeprefix("new_override-")]

    def put_in(self) -> None:
        """Give the process the grades of all subsections."""
        blocks = {title: f"{key}-of-32-letters" for key, title in self.subsections.items()}
        self.start("", 0, {}, {block: title for title, block in blocks.items()})
        for (login, title), points in self.scores.items():
            if title in blocks:
                self.server.ask("grade", self.users[login], blocks[title], float(points))

    def take_out(self) -> None:
        """Get them back."""
        others = {
            place: points
            for place, points in self.scores.items()
            if place[1] not in self.subsections.values()
        }
        for place, points in self.server.ask("grades").items():
            user, _, block = place.partition(" ")
            others[self.logins.get(user, user), self.subsections[block[:8]]] = Decimal(str(points))
        self.scores = others
