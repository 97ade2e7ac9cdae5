"""Answers requests about the student's names: look up, call, set, read again."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

from autograder.wire.codec import Handle, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_NAME = 200


class Dispatcher:
    """
    One notebook's names, open to requests.

    A request and its answer are dicts, encoded by `autograder.wire.codec`.
    A request has ``op`` and what that needs: ``get`` (``path``), ``call``
    (``path``, ``args``, ``kwargs``, ``record``), ``map`` (``path``,
    ``calls``), ``set`` (``path``, ``name``, ``value``), ``reread``
    (``object``). A path is a tuple: a name of the notebook or the `Handle` of
    an object, then attributes. An answer has one of ``value``, ``missing`` (a
    name that is not there) and ``raised`` (the class of an exception).

    The class runs where student code runs. In an instructor's kernel the same
    class answers for the kernel's own namespace.

    Parameters
    ----------
    namespace : mapping
        The notebook's names and what they stand for.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self._objects: list[object] = []

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
        """
        message = decode(request, resolve=self._object)
        operation: Callable[[dict[str, Any]], dict[str, Any]] = getattr(self, f"_{message['op']}")
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                answer = operation(message)
                return encode(answer, describe=self._describe)
        except _MissingName as missing:
            return encode({"missing": str(missing)})
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - student code raises what it likes
            return encode({"raised": type(error).__name__[:_MAX_NAME]})

    def _get(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"value": self._look_up(message["path"])}

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        function = self._look_up(message["path"])
        args, kwargs = message["args"], message["kwargs"]
        value = function(*args, **kwargs)
        if not message["record"]:
            return {"value": value}
        return {"value": value, "args": args, "kwargs": kwargs, "kept": self._describe(value)}

    def _map(self, message: dict[str, Any]) -> dict[str, Any]:
        function = self._look_up(message["path"])
        answers = []
        for args in message["calls"]:
            try:
                answers.append({"value": function(*args)})
            except Exception as error:  # noqa: BLE001 - one call's error is that call's answer
                answers.append({"raised": type(error).__name__[:_MAX_NAME]})
        return {"value": answers}

    def _set(self, message: dict[str, Any]) -> dict[str, Any]:
        setattr(self._look_up(message["path"]), message["name"], message["value"])
        return {"value": None}

    def _reread(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"value": message["object"]}

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
        if isinstance(value, Handle):
            return value
        self._objects.append(value)
        return Handle(len(self._objects) - 1, type(value).__name__[:_MAX_NAME], callable(value))

    def _object(self, handle: Handle) -> object:
        return self._objects[handle.number]


class _MissingName(Exception):  # noqa: N818 - an answer, not an error
    """A name that the notebook, or an object in it, does not have."""
