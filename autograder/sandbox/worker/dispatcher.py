"""Answers requests about the student's names: look up, call, set."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.wire.codec import Handle, ListEncoder, decode_each, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Answer = dict[str, Any]

_MAX_NAME = 200


class Dispatcher:
    """
    One notebook's names, open to requests.

    A request is a list of steps, its answer a list with one answer for each,
    both encoded by `autograder.wire.codec`. The steps are done one after the
    other, and each answer is encoded before the next step, so that it tells a
    result as it was when it was returned.

    A step is a dict with ``op`` and what that needs: ``get`` (``path``),
    ``call`` (``path``, ``args``; if wanted ``kwargs``, and ``record`` for the
    arguments as they are after the call), ``set`` (``path``, ``name``,
    ``value``). A path is a tuple: a name of the notebook or the `Handle` of an
    object, then attributes. ``keep`` is the number of the object that a step
    makes or changes: a `Handle` of this number stands for it from the next
    step on. Who asks takes numbers below zero; objects in answers are numbered
    from zero on.

    An answer is a dict with one of ``value``, ``missing`` (a name that is not
    there) and ``raised`` (the class of an exception). If a step fails, the
    object that it was to make or to change is broken: every step that refers
    to it is answered as that one was.

    The class runs where student code runs. In an instructor's kernel the same
    class answers for the kernel's own namespace.

    Parameters
    ----------
    namespace : mapping
        The notebook's names and what they stand for.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self._objects: dict[int, object] = {}
        self._described = 0
        self._broken: _Broken | None = None
        self._silence = _Silence()

    def answer(self, request: bytes) -> bytes:
        """
        Return the answer to a request.

        Parameters
        ----------
        request : bytes
            An encoded request.

        Returns
        -------
        bytes
            The encoded answer. Whatever student code raises is in it.

        Raises
        ------
        WireError
            If the request is malformed or speaks of an object that is not known.
        """
        answers = ListEncoder(self._describe)
        with contextlib.redirect_stdout(self._silence), contextlib.redirect_stderr(self._silence):
            for step in decode_each(request, resolve=self._object):
                self._do(step, answers)
                # Let go of before the next is read, as between two requests.
                del step
        try:
            return answers.payload()
        except MemoryError:
            return encode([{"raised": "MemoryError"}] * len(answers))

    def _do(self, step: dict[str, Any], answers: ListEncoder) -> None:
        """Do one step and add its answer."""
        broken, self._broken = self._broken, None
        if broken is None:
            try:
                operation: Callable[[dict[str, Any]], Answer] = getattr(self, f"_{step['op']}")
                answers.add(operation(step))
            except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - student code raises what it likes
                broken = _Broken(_told(error))
            else:
                return
        answers.add(broken.answer)
        if "keep" in step:
            self._objects[step["keep"]] = broken

    def _get(self, step: dict[str, Any]) -> Answer:
        return {"value": self._kept(step, self._look_up(step["path"]))}

    def _call(self, step: dict[str, Any]) -> Answer:
        function = self._look_up(step["path"])
        args, kwargs = step["args"], step.get("kwargs", {})
        value = self._kept(step, function(*args, **kwargs))
        return {"value": value, "args": args, "kwargs": kwargs} if step.get("record") else {"value": value}

    def _set(self, step: dict[str, Any]) -> Answer:
        setattr(self._look_up(step["path"]), step["name"], step["value"])
        return {"value": None}

    def _kept(self, step: dict[str, Any], value: object) -> object:
        if "keep" in step:
            self._objects[step["keep"]] = value
        return value

    def _look_up(self, path: tuple[Any, ...]) -> Any:
        root, *attributes = path
        if isinstance(root, str):
            if root not in self.namespace:
                raise _MissingName(root)
            root = self.namespace[root]
        for attribute in attributes:
            try:
                root = getattr(root, attribute)
            except AttributeError:
                raise _MissingName(attribute) from None
        return root

    def _describe(self, value: object) -> Handle:
        number = self._described
        self._described += 1
        self._objects[number] = value
        return Handle(number, type(value).__name__[:_MAX_NAME], callable(value))

    def _object(self, handle: Handle) -> object:
        found = self._objects[handle.number]
        if isinstance(found, _Broken):
            self._broken = found
        return found


@dataclass(frozen=True, slots=True)
class _Broken:
    """Stands where a step that failed left no object, with the answer to that step."""

    answer: Answer


class _MissingName(Exception):  # noqa: N818 - an answer, not an error
    """A name that the notebook, or an object in it, does not have."""


class _Silence(io.TextIOBase):
    """Takes what student code prints while it is called: it could print the hidden inputs."""

    def write(self, text: str, /) -> int:
        """Forget the text."""
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True


def _told(error: BaseException) -> Answer:
    if isinstance(error, _MissingName):
        return {"missing": str(error)}
    return {"raised": type(error).__name__[:_MAX_NAME]}
