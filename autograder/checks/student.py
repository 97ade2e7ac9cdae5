"""
The student's names, as hidden checks see them.

A check calls ``student.split_heads(x, 2)`` as if the function were its own;
the call happens in the student's process, and only data comes back. Nothing
of the check itself goes there but the arguments.

Each call is an exchange with that process. Calls that do not wait for each
other's results are put off and travel together::

    calls = [student.split_heads.later(x, 2) for x in inputs]
    heads = [call.result() for call in calls]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.checks.conversation import Conversation, Exchange, StudentError, StudentMissing
from autograder.wire.codec import Handle
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.checks.conversation import Path, Step

__all__ = ["Exchange", "Later", "Proxy", "Recorded", "Student", "StudentError", "StudentMissing"]


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
    """

    __slots__ = ("_known", "_talk")

    def __init__(
        self, send: Callable[[bytes], bytes], known: dict[tuple[str, str], str] | None = None
    ) -> None:
        self._known = {} if known is None else known
        self._talk = Conversation(send, _path_of, lambda handle: Proxy(self, (handle,), handle.type_name))

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
        return _looked_up(self, "", (name,))

    @property
    def exchanges(self) -> list[Exchange]:
        """Everything that was asked and answered, in order."""
        return self._talk.exchanges

    def settle(self) -> None:
        """
        Ask what was put off and not yet asked; what runs a check calls this at its end.

        Raises
        ------
        StudentMissing, StudentError
            If something was put off that failed, and the check was not told.
        LimitReached
            If a limit stopped the code.
        """
        self._talk.settle()


class Proxy:
    """
    A function, class or instance that stays in the student's process.

    Calling it calls there; arguments travel as copies. Attributes are read
    and set there. ``type_name`` is the name of its class.
    """

    __slots__ = ("_path", "_student", "type_name")
    _path: Path
    _student: Student
    type_name: str

    def __init__(self, student: Student, path: Path, type_name: str) -> None:
        object.__setattr__(self, "_student", student)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "type_name", type_name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the student's process and return its result."""
        return _talk(self).answer(_call(self, args, kwargs))["value"]

    def later(self, *args: Any, **kwargs: Any) -> Later:
        """
        Call it together with the next call that is not put off.

        Calls happen in the order in which they were written, and each result
        is kept as it was when it was returned. They share one time limit.

        Parameters
        ----------
        *args, **kwargs
            The arguments, as they are now.

        Returns
        -------
        Later
            What the call will have returned.
        """
        return Later(self._student, _call(self, args, kwargs, keep=True))

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
        step = _call(self, args, kwargs, keep=True, record=True)
        answer = _talk(self).answer(step)
        after, keywords = answer.get("args"), answer.get("kwargs")
        if not (isinstance(after, tuple) and isinstance(keywords, dict)):
            msg = "an answer without the arguments"
            raise WireError(msg)
        return Recorded(answer["value"], after, keywords, Later(self._student, step))

    def read(self, *names: str) -> list[Any]:
        """
        Return the values of attributes, asked for together.

        Parameters
        ----------
        *names : str
            Names of attributes.

        Returns
        -------
        list
            Their values.

        Raises
        ------
        StudentMissing
            If the object lacks one of them.
        """
        talk = _talk(self)
        steps = [talk.put_off("get", path=(*self._path, name)) for name in names]
        return [talk.answer(step)["value"] for step in steps]

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
        return _looked_up(self._student, self.type_name, (*self._path, name))

    def __setattr__(self, name: str, value: Any) -> None:
        """
        Set an attribute in the student's process.

        On an object it is put off as a call with `later` is; if it fails, the
        next use of the object raises.
        """
        talk, root = _talk(self), self._path[0]
        if isinstance(root, Handle):
            talk.put_off("set", path=self._path, name=name, value=value, keep=root.number)
        else:
            talk.answer(talk.put_off("set", path=self._path, name=name, value=value))

    def __repr__(self) -> str:
        """Return a text that says where the object is."""
        return f"<{self.type_name} in the student's process>"


class Later(Proxy):
    """
    What a call that was put off returns.

    If that is an object, it can be used like any `Proxy` before the call is
    made. Its attributes can be called and set; for their values use `read`.
    If the call raises, so does everything that needs its result.
    """

    __slots__ = ("_step",)
    _step: Step

    def __init__(self, student: Student, step: Step) -> None:
        assert step.number is not None  # noqa: S101 - a call that is put off is kept
        super().__init__(student, (Handle(step.number),), "object")
        object.__setattr__(self, "_step", step)

    def result(self) -> Any:
        """
        Return what the call returned, as it was then.

        Raises
        ------
        StudentMissing
            If a name is not defined.
        StudentError
            If the code raised an exception.
        LimitReached
            If a limit stopped the code.
        """
        return _talk(self).answer(self._step)["value"]

    def __getattr__(self, name: str) -> Proxy:
        """Return what stands for an attribute; nothing is asked."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Proxy(self._student, (*self._path, name), "attribute")


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
    kept : Later
        The result where it is.
    """

    result: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kept: Later

    def reread(self) -> Any:
        """Return the result as it is now; a later call may have changed it."""
        talk = _talk(self.kept)
        return talk.answer(talk.put_off("get", path=_path_of(self.kept)))["value"]


def _talk(proxy: Proxy) -> Conversation:
    return proxy._student._talk  # noqa: SLF001 - one module, one idea


def _path_of(value: object) -> Path:
    if not isinstance(value, Proxy):
        msg = f"an argument of class {type(value).__name__} is not data"
        raise TypeError(msg)
    return value._path  # noqa: SLF001 - one module, one idea


def _call(proxy: Proxy, args: tuple[Any, ...], kwargs: dict[str, Any], **details: Any) -> Step:
    if kwargs:
        details["kwargs"] = kwargs
    return _talk(proxy).put_off("call", path=_path_of(proxy), args=args, **details)


def _looked_up(student: Student, owner: str, path: Path) -> Any:
    """
    Return what stands at the end of a path, data or a `Proxy`.

    ``owner`` is the class of the object that has it, empty for the notebook.
    If it is known to be callable nothing is asked before it is called, and
    only then is a missing name told.
    """
    key, known = (owner, str(path[-1])), student._known  # noqa: SLF001 - one module, one idea
    if key in known:
        return Proxy(student, path, known[key])
    talk = student._talk  # noqa: SLF001 - one module, one idea
    value = talk.answer(talk.put_off("get", path=path))["value"]
    if isinstance(value, Proxy) and _stands_for_all(value, owner):
        known[key] = value.type_name
    return value


def _stands_for_all(proxy: Proxy, owner: str) -> bool:
    """Tell whether what was found can be called, and stands under this name on every such object."""
    (handle,) = _path_of(proxy)
    return isinstance(handle, Handle) and handle.callable and (not owner or handle.type_name == "method")
