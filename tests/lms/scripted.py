"""A server that answers what it is told to, in order, and sessions with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopback import Answer, Asked, Loopback, Mishap, Mishaps

from autograder.lms.push.tokens import Secret
from autograder.lms.push.web import Policy, Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from canvas_scenes import Hours

SECRET = Secret("7053~Zq1YhVbN0tSecret", "SOME_TOKEN")
HEADERS = {"Authorization": f"Bearer {SECRET.reveal()}"}


class Scripted(Loopback):
    """A server that answers what it was told to, in this order, and then "ok"."""

    def __init__(self, *answers: Answer | Callable[[Asked], Answer]) -> None:
        super().__init__()
        self.script = list(answers)

    def answer(self, asked: Asked) -> Answer:
        """Return the next answer."""
        following = self.script.pop(0) if self.script else Answer.of("ok")
        return following if isinstance(following, Answer) else following(asked)


class Endings(Mishaps):
    """Mishaps in a fixed order."""

    def __init__(self, *kinds: Mishap | None) -> None:
        super().__init__(0)
        self.order = list(kinds)

    def draw(self, asked: Asked) -> Mishap | None:  # noqa: ARG002 - the same whatever is asked
        """Return the next."""
        return self.order.pop(0) if self.order else None


def session(server: Loopback, hours: Hours, **bounds: Any) -> Session:
    """Return a session with a server on this machine."""
    return Session([server.url], [SECRET], policy=Policy(**bounds), clock=hours.clock())
