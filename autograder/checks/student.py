"""
The student's names, as hidden checks see them.

A check calls ``student.split_heads(x, 2)`` as if the function were its own;
the call happens in the student's process, and only data comes back. Nothing
of the check itself goes there but the arguments.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.sandbox.limits import LimitReached
from autograder.wire.codec import Handle, decode, encode
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NUMPY_ERRORS = ("LinAlgError", "AxisError")


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


class Student:
    """
    A notebook's names; each attribute is data or a `Proxy`.

    Parameters
    ----------
    send : callable
        Takes an encoded request, returns the encoded answer.
    known : dict, optional
        What was found to be callable, for the next `Student` of the same
        notebook and test cell: by class of the owner and name, the class of
        the callable. An attribute in it is not asked for again before it is
        called, which halves the exchanges.

    Attributes
    ----------
    exchanges : list of Exchange
        Everything that was asked and answered, in order.
    """

    __slots__ = ("_known", "_send", "exchanges")

    def __init__(
        self, send: Callable[[bytes], bytes], known: dict[tuple[str, str], str] | None = None
    ) -> None:
        self._send = send
        self._known = {} if known is None else known
        self.exchanges: list[Exchange] = []

    def __getattr__(self, name: str) -> Any:
        """
        Return the value of a name of the notebook.

        Raises
        ------
        StudentMissing
            If the notebook does not define it.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        return self.look_up("", (name,))

    def look_up(self, owner: str, path: tuple[Any, ...]) -> Any:
        """
        Return what stands at the end of a path.

        Parameters
        ----------
        owner : str
            Class of the object that has it; empty for the notebook itself.
        path : tuple
            See `autograder.sandbox.worker.dispatcher.Dispatcher`.

        Returns
        -------
        object
            Data or a `Proxy`. If it is known to be callable nothing is asked
            before it is called, and only then is a missing name told.
        """
        key = (owner, path[-1])
        if key in self._known:
            return Proxy(self, path, self._known[key])
        value = self.ask("get", path=path)
        if isinstance(value, Proxy) and _stands_for_all(value, owner):
            self._known[key] = value.type_name
        return value

    def ask(self, operation: str, **details: Any) -> Any:
        """
        Send one request and return the value of its answer.

        Parameters
        ----------
        operation : str
            See `autograder.sandbox.worker.dispatcher.Dispatcher`.
        **details
            What the operation needs.

        Returns
        -------
        object
            Data, with a `Proxy` for each object that is not data.

        Raises
        ------
        StudentMissing
            If a name is not defined.
        StudentError
            If the code raised an exception.
        LimitReached
            If a limit stopped the code.
        """
        return self.ask_all(operation, **details)["value"]

    def ask_all(self, operation: str, **details: Any) -> dict[str, Any]:
        """Like `ask`, but return the whole answer."""
        request = encode({"op": operation, **details}, describe=_handle_of)
        payload = self._send(request)
        self.exchanges.append(Exchange(request, payload))
        answer = decode(payload, resolve=lambda handle: Proxy(self, (handle,), handle.type_name))
        if not isinstance(answer, dict):
            msg = "an answer that is no dict"
            raise WireError(msg)
        match answer:
            case {"missing": str(name)}:
                # Any other text would be the student's, and could tell what the check asked with.
                asked = [part for part in details.get("path", ()) if isinstance(part, str)]
                raise StudentMissing(name if name in asked else "".join(asked[-1:]))
            case {"raised": str(class_name)}:
                raise StudentError(_class_name(class_name))
            case {"limit": "wall_time_s" as limit}:
                raise LimitReached(limit)
            case {"value": _}:
                return answer
        msg = "an answer without a value"
        raise WireError(msg)


class Proxy:
    """
    A function, class or instance that stays in the student's process.

    Calling it calls there; arguments travel as copies. Attributes are read
    and set there. ``type_name`` is the name of its class.
    """

    __slots__ = ("_path", "_student", "type_name")

    def __init__(self, student: Student, path: tuple[Any, ...], type_name: str) -> None:
        object.__setattr__(self, "_student", student)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "type_name", type_name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the student's process and return its result."""
        return self._student.ask("call", path=self._path, args=args, kwargs=kwargs, record=False)

    def record(self, *args: Any, **kwargs: Any) -> Recorded:
        """
        Call it, and keep what is needed to see side effects.

        Parameters
        ----------
        *args, **kwargs
            The arguments.

        Returns
        -------
        Recorded
            The result, and the arguments as they are after the call.
        """
        details = {"path": self._path, "args": args, "kwargs": kwargs, "record": True}
        answer = self._student.ask_all("call", **details)
        kept = answer.get("kept")
        after, keywords = answer.get("args"), answer.get("kwargs")
        if not (isinstance(kept, Proxy) and isinstance(after, tuple) and isinstance(keywords, dict)):
            msg = "an answer without the arguments"
            raise WireError(msg)
        return Recorded(answer["value"], after, keywords, kept)

    def map(self, calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """
        Call it once for each tuple of arguments, in one exchange.

        Parameters
        ----------
        calls : iterable of tuple
            The arguments of each call.

        Returns
        -------
        list
            Each call's result, or a `StudentError` where it raised.
        """
        calls = list(calls)
        answers = self._student.ask("map", path=self._path, calls=calls)
        if not isinstance(answers, list) or len(answers) != len(calls):
            msg = "an answer with the wrong number of results"
            raise WireError(msg)
        return [_one_of_many(answer) for answer in answers]

    def __getattr__(self, name: str) -> Any:
        """
        Return an attribute's value.

        Raises
        ------
        StudentMissing
            If the object has no such attribute.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        return self._student.look_up(self.type_name, (*self._path, name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute in the student's process."""
        self._student.ask("set", path=self._path, name=name, value=value)

    def __repr__(self) -> str:
        """Return a text that says where the object is."""
        return f"<{self.type_name} in the student's process>"


@dataclass(frozen=True, slots=True)
class Recorded:
    """
    One call with its traces.

    Parameters
    ----------
    result : object
        What it returned, as it was then.
    args : tuple
        The positional arguments as they were after the call.
    kwargs : dict
        The keyword arguments as they were after the call.
    kept : Proxy
        The result where it is.
    """

    result: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kept: Proxy

    def reread(self) -> Any:
        """Return the result as it is now; a later call may have changed it."""
        return self.kept._student.ask("reread", object=self.kept)  # noqa: SLF001 - one module, one idea


def _stands_for_all(proxy: Proxy, owner: str) -> bool:
    """Tell whether what was found can be called, and stands under this name on every such object."""
    (handle,) = proxy._path  # noqa: SLF001 - one module, one idea
    return bool(handle.callable) and (not owner or handle.type_name == "method")


def _handle_of(value: object) -> Handle:
    if isinstance(value, Proxy):
        path = value._path  # noqa: SLF001 - one module, one idea
        if len(path) == 1 and isinstance(path[0], Handle):
            return path[0]
        found = value._student.ask("get", path=path)  # noqa: SLF001 - one module, one idea
        if not isinstance(found, Proxy):
            msg = "an answer that is data where an object was"
            raise WireError(msg)
        return _handle_of(found)
    if isinstance(value, Handle):
        return value
    msg = f"an argument of class {type(value).__name__} is not data"
    raise TypeError(msg)


def _one_of_many(answer: object) -> Any:
    match answer:
        case {"value": value}:
            return value
        case {"raised": str(class_name)}:
            return StudentError(_class_name(class_name))
    msg = "an answer without a value"
    raise WireError(msg)


def _class_name(name: str) -> str:
    # The name is the student's to choose, is shown to people, and could tell what the check asked with.
    known = getattr(builtins, name, None)
    is_known = isinstance(known, type) and issubclass(known, BaseException)
    return name if is_known or name in _NUMPY_ERRORS else "Exception"
