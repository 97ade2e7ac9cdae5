"""
What a check asks of the student's code and what comes back.

A check asks in steps: look up, call, set. Steps can wait until an answer is
needed; then all that wait travel in one request, in order, and are answered
one by one. One request has one time limit, that of a check's call.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from autograder.sandbox.limits import LimitReached
from autograder.wire.codec import Handle, ListEncoder, decode, encode
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    Path = tuple[str | Handle, ...]

_NUMPY_ERRORS = ("LinAlgError", "AxisError")
# Longer answers are no likeness of any that a check waits for, and take long to read.
_MOST_TAKEN_APART = 2**20


class StudentError(Exception):
    """
    The student's code raised an exception.

    Parameters
    ----------
    class_name : str
        The exception's class; its message stays in the student's process.
    """

    def __init__(self, class_name: str) -> None:
        super().__init__(class_name)
        self.class_name = class_name


class StudentMissing(Exception):  # noqa: N818 - an outcome, not an error of ours
    """
    The notebook, or an object of it, does not define a name.

    Parameters
    ----------
    name : str
        The name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class Exchange:
    """
    One request to the student's code and its answer, both encoded.

    Parameters
    ----------
    request : bytes
        What the check asked.
    answer : bytes
        What came back, not to be trusted.
    """

    request: bytes
    answer: bytes


class Exchanges(Sequence[Exchange]):
    """
    Exchanges as if each step had travelled alone; taken apart when looked at.

    Parameters
    ----------
    exchanges : sequence of Exchange
        What was asked and answered, in order.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._whole = tuple(exchanges)
        self._single: list[Exchange] | None = None

    @overload
    def __getitem__(self, index: int) -> Exchange: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Exchange]: ...
    def __getitem__(self, index: int | slice) -> Exchange | Sequence[Exchange]:
        """Return the exchange of one step, or of several."""
        return self._apart()[index]

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self._apart())

    def _apart(self) -> list[Exchange]:
        if self._single is None:
            self._single = [single for whole in self._whole for single in _each_step(whole)]
        return self._single


@dataclass(slots=True, eq=False)
class Step:
    """
    One step, and how it ended once it is answered.

    Parameters
    ----------
    names : tuple of str
        Names that it speaks of.
    number : int or None
        Number of the object that it makes or changes.
    needs : frozenset of int
        Numbers of the objects that it refers to, and of those that they came from.
    answer : dict or None
        What came back.
    error : Exception or None
        What it raised.
    """

    names: tuple[str, ...]
    number: int | None
    needs: frozenset[int] = frozenset()
    answer: dict[str, Any] | None = field(default=None, repr=False)
    error: Exception | None = None


class Conversation:
    """
    All that one check asks, in order.

    Parameters
    ----------
    send : callable
        Takes an encoded request, returns the encoded answer.
    path_of : callable
        Gives the path of what stands for an object of the student's, or
        raises TypeError if the value is something else.
    stand_in : callable
        Gives what stands for an object, from its handle.

    Attributes
    ----------
    exchanges : list of Exchange
        Everything that was asked and answered, in order.
    """

    def __init__(
        self,
        send: Callable[[bytes], bytes],
        path_of: Callable[[object], Path],
        stand_in: Callable[[Handle], object],
    ) -> None:
        self.exchanges: list[Exchange] = []
        self._send, self._path_of, self._stand_in = send, path_of, stand_in
        self._request, self._waiting = ListEncoder(self._describe), list[Step]()
        self._made: dict[int, Step] = {}
        self._found: dict[int, Handle] = {}
        self._mentioned: set[int] = set()
        self._asked: set[str] = set()
        self._untold: list[Step] = []

    def put_off(self, op: str, *, path: Path, keep: int | bool = False, **details: Any) -> Step:
        """
        Note a step, to be asked together with the next that cannot wait.

        Parameters
        ----------
        op : str
            See `autograder.sandbox.worker.dispatcher.Dispatcher`.
        path : tuple
            What it is about.
        keep : int or bool
            Number of the object that it changes, or True to number what it gives.
        **details
            What else the operation needs, encoded at once.

        Returns
        -------
        Step
            To get its answer with.
        """
        number = None
        if keep is not False:
            number = -len(self._made) - 1 if keep is True else keep
            details["keep"] = number
        self._note({"op": op, "path": path, **details})
        step = Step(tuple(name for name in path if isinstance(name, str)), number, self._needed(path))
        if keep is True:
            assert number is not None  # noqa: S101 - given above
            self._made[number] = step
        self._asked.update(step.names)
        self._waiting.append(step)
        return step

    def answer(self, step: Step) -> dict[str, Any]:
        """
        Return the answer to a step, after asking all that wait if need be.

        Raises
        ------
        StudentMissing
            If a name is not defined.
        StudentError
            If the code raised an exception.
        LimitReached
            If a limit stopped the code.
        WireError
            If what came back is no answer.
        """
        if step.answer is None and self._waiting:
            self._ask()
        if step.answer is None:
            msg = "an answer that never came"
            raise WireError(msg)
        if step.error is not None:
            told = {step.number, *step.needs}
            self._untold = [one for one in self._untold if one is not step and one.number not in told]
            raise step.error
        return step.answer

    def settle(self) -> None:
        """Ask what still waits, and raise the first error that the check was not told; as in `answer`."""
        if self._waiting:
            self._ask()
        if self._untold:
            self.answer(self._untold[0])

    def _note(self, step: dict[str, Any]) -> None:
        """Encode a step, after those that look up the attributes in its arguments."""
        while True:
            self._mentioned.clear()
            try:
                self._request.add(step)
            except _NotLookedUpError as error:
                found = self.put_off("get", path=self._path_of(error.proxy), keep=True)
                assert found.number is not None  # noqa: S101 - it is kept
                self._found[id(error.proxy)] = Handle(found.number)
            else:
                self._found.clear()
                return

    def _needed(self, path: Path) -> frozenset[int]:
        roots = {part.number for part in path[:1] if isinstance(part, Handle)} | self._mentioned
        return frozenset(roots).union(*(self._made[root].needs for root in roots if root in self._made))

    def _ask(self) -> None:
        request, steps = self._request.payload(), self._waiting
        self._request, self._waiting = ListEncoder(self._describe), []
        payload = self._send(request)
        self.exchanges.append(Exchange(request, payload))
        answers = decode(payload, resolve=self._stand_in)
        match answers:
            case {"limit": "wall_time_s" as limit}:
                raise LimitReached(limit)
            case list() if len(answers) == len(steps):
                # All are looked at before one is believed.
                errors = [self._error(step, answer) for step, answer in zip(steps, answers, strict=True)]
            case _:
                msg = "an answer that is no list, or of another length than the request"
                raise WireError(msg)
        for step, answer, error in zip(steps, answers, errors, strict=True):
            step.answer, step.error = answer, error
        self._untold += [step for step in steps if step.error is not None]

    def _error(self, step: Step, answer: object) -> Exception | None:
        """Return the error that an answer tells, if it tells one."""
        match answer:
            case {"value": _}:
                return None
            case {"missing": str(name)}:
                # Any other text would be the student's, and could tell what the check asked with.
                return StudentMissing(name if name in self._asked else "".join(step.names[-1:]))
            case {"raised": str(class_name)}:
                return StudentError(class_shown(class_name))
        msg = "an answer without a value"
        raise WireError(msg)

    def _describe(self, value: object) -> Handle:
        path = self._path_of(value)
        handle = path[0] if len(path) == 1 else None
        if not isinstance(handle, Handle):
            if id(value) not in self._found:
                raise _NotLookedUpError(value)
            handle = self._found[id(value)]
        self._mentioned.add(handle.number)
        return handle


class _NotLookedUpError(Exception):
    """An argument is an attribute that must be looked up before it can be passed."""

    def __init__(self, proxy: object) -> None:
        super().__init__()
        self.proxy = proxy


def _each_step(whole: Exchange) -> list[Exchange]:
    if len(whole.answer) > _MOST_TAKEN_APART:
        return [whole]
    try:
        steps, answers = decode(whole.request), decode(whole.answer)
        if not isinstance(answers, list) or len(answers) != len(steps):
            return [whole]
        return [
            Exchange(encode([step]), encode([answer])) for step, answer in zip(steps, answers, strict=True)
        ]
    except (WireError, TypeError):
        return [whole]


def class_shown(name: str) -> str:
    """
    Return the name of an exception's class if it may be shown.

    Parameters
    ----------
    name : str
        The name, which a student can choose: it could tell what a hidden test asked with.

    Returns
    -------
    str
        The same if it is one of Python's or numpy's, else "Exception".
    """
    known = getattr(builtins, name, None)
    is_known = isinstance(known, type) and issubclass(known, BaseException)
    return name if is_known or name in _NUMPY_ERRORS else "Exception"
