"""
What the notes of a worker look like to a teacher: an accident, a doubt or an attack.

Most of what a wall refuses is an accident: a package to install, a data set to
download, a file that lies on the student's own computer. It is told in plain
words and accuses nobody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.findings import EvidenceKind, Severity
from autograder.sandbox.modules import of_imported, of_made
from autograder.sandbox.notes import NO_NOTES
from autograder.sandbox.places import SECRETS, of_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.sandbox.notes import Note

_NOTICE, _DOUBT, _ATTACK = Severity.NOTICE, Severity.DOUBT, Severity.ATTACK
_REFUSED, _PATCHED, _FAKE = EvidenceKind.REFUSED_CALL, EvidenceKind.PATCHED, EvidenceKind.FAKE_MODULE

INSTALL, SHELL, PROGRAM = (
    "tried to install a package",
    "tried to run a shell command",
    "tried to start a program",
)
NETWORK, PROCESS = "tried to use the network", "tried to start a process"
FOR_TESTS = "replaced a function that tests call"
SLIP = "overwrote a function with a value, as by a slip"

OFTEN: dict[str, tuple[int, int, Severity]] = {
    NETWORK: (20, 5, _DOUBT),
    PROCESS: (10, 0, _ATTACK),
}
"""What is worse if it is done so many times, to so many different targets."""

_INSTALLS = re.compile(
    r"\b(?:pip3?|conda|mamba|apt|apt-get|brew|npm|uv|poetry|easy_install)\b.*\b(?:install|add)\b"
)
# How a magic calls a module of Python's, wherever that lies.
_PYTHON = re.compile(r"^\S*python\S* -m ")
_PATHS_IN_COMMANDS = re.compile(r"[^\s'\"=;|<>&]*[/.][^\s'\"=;|<>&]*")
# Functions of the C library that reach the system past Python.
_SYSTEM = {
    *("syscall", "ptrace", "process_vm_readv", "process_vm_writev", "fork", "vfork", "clone", "execve"),
    *(
        "execv",
        "execvp",
        "system",
        "popen",
        "socket",
        "connect",
        "kill",
        "prctl",
        "mprotect",
        "open",
        "openat",
    ),
    *("unshare", "setns", "mount", "dlopen", "personality"),
}
_OWN_MACHINE = ("127.", "localhost", "::1", "0.0.0.0")  # noqa: S104 - to be recognised, not bound
_VITAL = {
    f"builtins.{name}"
    for name in ("AssertionError", "__import__", "__build_class__", "compile", "exec", "eval")
}
_OWNERS = {
    "autograder": (_ATTACK, "replaced a function of the process that runs the notebook"),
    "unittest": (_ATTACK, FOR_TESTS),
    "builtins": (_DOUBT, "replaced a function of Python for everybody"),
    "__main__": (_DOUBT, "put an object of its own in the place of an imported module"),
    "sys": (_DOUBT, "left a function behind that Python calls at every step"),
}
_UNIMPORTANT = {"input", "print", "help", "display", "exit", "quit", "copyright", "credits", "license"}


@dataclass(frozen=True, slots=True)
class Suspicion:
    """
    What one note looks like.

    Parameters
    ----------
    kind : EvidenceKind
        What.
    severity : Severity
        How likely it was meant.
    what : str
        What was done, in words without a target.
    target : str
        To what, as the student's code named it; may be empty.
    """

    kind: EvidenceKind
    severity: Severity
    what: str
    target: str = ""


def suspicion(note: Note) -> Suspicion | None:
    """
    Return what a note looks like, or None if it says nothing.

    Parameters
    ----------
    note : Note
        What a worker noted.
    """
    match note.kind:
        case "call":
            found = _CALLS.get(note.what, of_path)(note)
            return found and Suspicion(_PATCHED if note.what in _PATCHING else _REFUSED, *found)
        case "replaced":
            found = _replaced(note)
            return found and Suspicion(_PATCHED, *found)
        case "module":
            found = _module(note)
            return found and Suspicion(_FAKE, *found)
        case kind if kind == NO_NOTES:
            what = "the process that runs the notebook sent something that it does not send by itself"
            return Suspicion(EvidenceKind.FORGED_FRAME, _ATTACK, what)
    return None


Found = tuple[Severity, str, str] | None


def _command(note: Note) -> Found:
    command = _PYTHON.sub("", note.target)
    if _INSTALLS.search(command):
        return _NOTICE, INSTALL, command
    # A command may ask for what the notebook's own code may not.
    for path in _PATHS_IN_COMMANDS.findall(command):
        found = of_path(note, path)
        if found is not None and found[0] is not _NOTICE:
            return found[0], found[1], command
    if note.by:
        # A package that asks for the machine's name, or sets a formula.
        return None
    severity = _NOTICE if note.what in _USUAL else _DOUBT
    return severity, SHELL if note.what == "autograder.shell" else PROGRAM, command


def _process(note: Note) -> Found:
    return (_NOTICE if note.by else _DOUBT), PROCESS, note.by


def _signal(_: Note) -> Found:
    return _ATTACK, "sent a signal to another process", ""


def _asked_network(note: Note) -> Found:
    return _NOTICE, NETWORK, note.target


def _new_socket(note: Note) -> Found:
    if not note.target:
        return _NOTICE, NETWORK, ""
    if note.target == "descriptor":
        return None if note.by else (_DOUBT, "made a socket of an open file", "")
    severity = _DOUBT if note.target == "unix" else _ATTACK
    return severity, "opened a socket to the machine itself", note.target


def _connected(note: Note) -> Found:
    if note.target.startswith("unix "):
        return _DOUBT, "connected to another program of the machine", note.target.removeprefix("unix ")
    if note.target.startswith(_OWN_MACHINE) and not note.by:
        return _DOUBT, "connected to another program of the machine", note.target
    return _NOTICE, NETWORK, note.target


def _bound(note: Note) -> Found:
    return (_NOTICE if note.by else _DOUBT), "tried to offer a service in the network", note.target


def _library(note: Note) -> Found:
    return None if note.by else (_DOUBT, "called a C library past Python (ctypes)", note.target)


def _symbol(note: Note) -> Found:
    if note.by:
        return None
    if note.target in _SYSTEM:
        return _ATTACK, "called the system past Python (ctypes)", note.target
    return _library(note)


def _memory(note: Note) -> Found:
    return None if note.by else (_DOUBT, "reached into the memory of its process (ctypes)", "")


def _hook(note: Note) -> Found:
    return None if note.by else (_ATTACK, "listens to every call that Python makes", "")


def _new_code(note: Note) -> Found:
    if note.by or note.target.startswith(("__main__", "None.")):
        return None
    return _blamed(note.target, "function")


def _hidden(note: Note) -> Found:
    return _DOUBT, SECRETS, f"import {note.target}"


def _changed_library(note: Note) -> Found:
    return None if note.by else (_ATTACK, "tried to change Python or an installed package", note.target)


_USUAL = {"autograder.shell", "os.system", "subprocess.Popen"}
_COMMANDS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "subprocess.Popen")
_CALLS: dict[str, Callable[[Note], Found]] = {
    **dict.fromkeys(("autograder.shell", *_COMMANDS), _command),
    **dict.fromkeys(("os.fork", "os.forkpty"), _process),
    **dict.fromkeys(("os.kill", "os.killpg", "fcntl.fcntl"), _signal),
    "import": _hidden,
    "autograder.library": _changed_library,
    **dict.fromkeys(("urllib.Request", "socket.getaddrinfo", "socket.gethostbyname"), _asked_network),
    **dict.fromkeys(("socket.connect", "socket.sendto"), _connected),
    "socket.__new__": _new_socket,
    "socket.bind": _bound,
    "ctypes.dlopen": _library,
    "ctypes.dlsym": _symbol,
    **dict.fromkeys(("ctypes.cdata", "ctypes.string_at"), _memory),
    "sys.addaudithook": _hook,
    "object.__setattr__": _new_code,
}
_PATCHING = {"sys.addaudithook", "object.__setattr__"}


def _replaced(note: Note) -> Found:
    return _blamed(note.what, note.target)


def _blamed(name: str, now: str) -> Found:
    """Return what it looks like that a function now is something else."""
    package, _, rest = name.partition(".")
    if package == "IPython":
        return _shell(rest)
    if package == "builtins" and rest in _UNIMPORTANT:
        return None
    if package in _OWNERS:
        severity, what = _OWNERS[package]
        return (_ATTACK if name in _VITAL else severity), what, name.removeprefix("__main__.")
    if name.startswith("numpy.testing."):
        return _ATTACK, FOR_TESTS, name
    if now not in {"function", "nothing"}:
        return _NOTICE, SLIP, f"{name} is now of type {now}"
    return _DOUBT, "replaced a function of a library", name


def _shell(name: str) -> Found:
    match name:
        case "events":
            return _DOUBT, "has IPython call a function of its own around every cell", ""
        case "CustomTB":
            return _DOUBT, "has IPython show exceptions in a way of its own", ""
        case "ast_transformers" | "input_transformers":
            return _ATTACK, "has IPython rewrite every cell before it is run", ""
    return _ATTACK, "replaced a function of IPython", f"IPython.{name}"


def _module(note: Note) -> Found:
    match note.target:
        case "replaced" | "made":
            return of_made(note.what, is_replaced=note.target == "replaced")
        case "file":
            return of_imported(note.what)
        case "finder":
            return _DOUBT, "changed how Python finds modules", note.what
        case "path":
            return _NOTICE, "put a folder of its own before the installed packages (sys.path)", note.what
    return None
