"""
Calls of the system that student code tries, also where the wall refuses them and nobody sees it.

Python tells each of them to an audit hook before it is made. The hook is in
the way of every such call, so it does next to nothing for those that do not
matter. Students can keep it from telling: it is no part of the wall.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from autograder.sandbox.worker.notes import Notes

SHELL = "autograder.shell"
"""The event of a shell command (`!cmd`), which is refused before there is any."""
LIBRARY = "autograder.library"
"""Stands for any event that would change what Python is made of."""

# Modules of the standard library that do for others what those ask of them.
_GO_BETWEENS = {
    *("os", "io", "socket", "subprocess", "ctypes", "pathlib", "shutil", "tempfile", "codecs", "glob"),
    *("posixpath", "genericpath", "contextlib", "importlib", "_pyio", "fnmatch", "sqlite3", "signal"),
    # A magic is a call of IPython's, and what it does the notebook's.
    *("IPython", "autograder", "traitlets", "asyncio", "threading"),
}
# Names that matter wherever they lie.
_TELLING = ("gradebook.db", ".autograder_secret", "nbgrader_config.py", "autograder/checks")
# A class derived from these may do anything when it is asked for its text.
_PATHS = (type(Path()), type(PurePath()))
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MAX_WORDS = 20


class Calls:
    """
    Notes calls that reach beyond the notebook's folder.

    Parameters
    ----------
    notes : Notes
        Where they are noted.
    library : tuple of str
        Where Python and its packages lie: beginnings of paths.
    own : tuple of str
        The student's folder, and others where it is no matter what is done.
    """

    def __init__(self, notes: Notes, library: tuple[str, ...], own: tuple[str, ...]) -> None:
        self._notes = notes
        self._library = library
        self._writable = tuple(f"{place}/" for place in (*_HARMLESS, *own))
        self._readable = (*library, *self._writable)

    def listen(self) -> None:
        """Begin; there is no end to it."""
        heeded = {
            **dict.fromkeys(("open",), self._open),
            **dict.fromkeys(_READING, self._read),
            **dict.fromkeys(_WRITING, self._write),
            **dict.fromkeys(_MOVING, self._move),
            **dict.fromkeys(_TOLD, self._tell),
        }
        get = heeded.get

        def hook(event: str, args: tuple[Any, ...]) -> None:
            heed = get(event)
            if heed is not None:
                # What is asked for may be anything; it is for the call itself to fail.
                with contextlib.suppress(Exception):
                    heed(event, args)

        sys.addaudithook(hook)

    def _open(self, event: str, args: tuple[Any, ...]) -> None:
        path, _, flags = args
        is_written = bool(flags & _WRITE_FLAGS)
        self._path("write" if is_written else event, path, is_written=is_written)

    def _read(self, event: str, args: tuple[Any, ...]) -> None:
        self._path(event, args[0] if args and args[0] is not None else ".", is_written=False)

    def _write(self, event: str, args: tuple[Any, ...]) -> None:
        self._path(event, args[0], is_written=True)

    def _move(self, event: str, args: tuple[Any, ...]) -> None:
        for path in args[:2]:
            self._path(event, path, is_written=True)

    def _path(self, event: str, path: object, *, is_written: bool) -> None:
        text = _text(path)
        if text is None:
            return
        # What lies above its folder is not its folder's.
        whole = f"{os.path.normpath(text) if '..' in text else text}/"
        is_near = not whole.startswith(("/", "..")) and whole[1:2] != ":"
        if is_near or whole.startswith(self._writable if is_written else self._readable):
            if not any(name in text for name in _TELLING):
                return
            if is_written or os.path.exists(text):  # noqa: PTH110 - quicker
                # One of its own, whatever it is called.
                return
        elif is_written and whole.startswith(self._library):
            event = LIBRARY
        self._note(event, text)

    def _tell(self, event: str, args: tuple[Any, ...]) -> None:
        target = _TOLD[event](args)
        if target is not None:
            self._note(event, target)

    def _note(self, event: str, target: str) -> None:
        self._notes.add("call", event, target, _caller(self._library))


def _caller(library: tuple[str, ...]) -> str:
    """Return the package whose code makes the call that is heeded; empty if it is the notebook's."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - who calls
    while frame is not None and frame.f_code.co_filename.startswith(("<frozen ", *library)):
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if not frame.f_code.co_filename.startswith("<frozen ") and package not in _GO_BETWEENS:
            return package
        frame = frame.f_back
    # Or it is at the root of a thread, and whose that is, nobody knows: the notebook's.
    return ""


def _text(value: object) -> str | None:
    """Return a path as text, whatever is taken for one; None for a descriptor, or what is none."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return os.fsdecode(bytes.__getitem__(value, slice(None)))
    return str(value) if type(value) in _PATHS else None


def _words(value: object) -> str:
    """Return a command as one line."""
    if isinstance(value, (list, tuple)):
        return " ".join(_text(word) or "" for word in value[:_MAX_WORDS])
    return _text(value) or ""


def _address(args: tuple[Any, ...]) -> str | None:
    family, address = args[0].family, args[-1]
    if family == socket.AF_UNIX:
        return f"unix {_text(address) or ''}"
    host, port, *_ = address
    return f"{_text(host) or ''}:{int(port)}"


def _new_socket(args: tuple[Any, ...]) -> str | None:
    _, family, kind, _ = args
    if family == -1:
        return "descriptor"
    if family == socket.AF_UNIX:
        return None if _makes_pair() else "unix"
    if family in {socket.AF_INET, socket.AF_INET6}:
        return "raw" if kind & 0xF == socket.SOCK_RAW else ""
    return f"family {int(family)}"


def _makes_pair() -> bool:
    """Tell whether a socket is one of a pair, as event loops make them."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - who calls
    while frame is not None and frame.f_code is not socket.socketpair.__code__:
        frame = frame.f_back
    return frame is not None


def _imported(args: tuple[Any, ...]) -> str | None:
    name = args[0]
    return name if name.startswith(("autograder.", "solutions.reference")) else None


def _set_to_signal(args: tuple[Any, ...]) -> str | None:
    # Who is told by which signal when a file is ready: another process, if one likes.
    return "fcntl" if args[1] in {8, 10} else None


def _signalled(args: tuple[Any, ...]) -> str | None:
    pid, number = args
    return None if pid == os.getpid() else f"{int(pid)} {int(number)}"


def _code(args: tuple[Any, ...]) -> str | None:
    function, name, *_ = args
    module = getattr(function, "__module__", "")
    is_code = isinstance(module, str) and str(name) in {"__code__", "__defaults__", "__kwdefaults__"}
    return f"{module}.{function.__qualname__}" if is_code else None


def _first(args: tuple[Any, ...]) -> str:
    return _words(args[0])


def _second(args: tuple[Any, ...]) -> str:
    return _words(args[1])


def _nothing(_: tuple[Any, ...]) -> str:
    return ""


_READING = ("os.listdir", "os.scandir", "os.chdir", "os.getxattr", "os.listxattr", "sqlite3.connect")
_WRITING = (
    *("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.utime"),
    *("os.setxattr", "os.removexattr"),
)
_MOVING = ("os.rename", "os.link", "os.symlink")
_TOLD: dict[str, Callable[[tuple[Any, ...]], str | None]] = {
    SHELL: _first,
    "os.system": _first,
    "os.exec": _second,
    "os.posix_spawn": _second,
    "os.spawn": lambda args: _words(args[2]),
    "pty.spawn": _first,
    "subprocess.Popen": lambda args: _words(args[1]) or _words(args[0]),
    "os.fork": _nothing,
    "os.forkpty": _nothing,
    "os.kill": _signalled,
    "os.killpg": _signalled,
    "fcntl.fcntl": _set_to_signal,
    "import": _imported,
    "urllib.Request": _first,
    "socket.__new__": _new_socket,
    "socket.connect": _address,
    "socket.sendto": _address,
    "socket.bind": _address,
    "socket.getaddrinfo": _first,
    "socket.gethostbyname": _first,
    "ctypes.dlopen": _first,
    "ctypes.dlsym": _second,
    "ctypes.cdata": _nothing,
    "ctypes.string_at": _nothing,
    "object.__setattr__": _code,
    "sys.addaudithook": _nothing,
}
"""What to tell of the other events that matter; None for nothing."""

_HARMLESS = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "shm", "tty"))
