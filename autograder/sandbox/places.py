"""What it looks like that code asks for a file that is not its own: habit, curiosity or worse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.findings import Severity

if TYPE_CHECKING:
    from autograder.sandbox.notes import Note

_NOTICE, _DOUBT, _ATTACK = Severity.NOTICE, Severity.DOUBT, Severity.ATTACK

ELSEWHERE = "asked for a file that is not part of the submission"
OTHERS = "asked for what belongs to the course or to other students"
SECRETS = "asked for the gradebook, the course's secret or hidden tests"
PROCESSES = "asked for what belongs to another process"
SYSTEM = "asked for a file of the system"
KERNEL = "asked for a device or a setting of the system"

_SECRETS = re.compile(r"/gradebook\.db|\.autograder_secret|nbgrader_config\.py|autograder/checks")
_OTHERS = re.compile(r"(?:^|/)(?:submitted|autograded)(?:/|$)|^gradebook\.db")
# What a course has beside its submissions, as it lies above a student's folder.
_COURSE = re.compile(
    r"\.\./(?:\.\./)*(?:source|release|submitted|autograded|feedback|solutions|tests)(?:/|$)"
)
_HIGH = re.compile(r"(?:\.\./){2,}\.\.")
_OWN_PROCESS = re.compile(r"^/proc/(?:self|thread-self)(?:/|$)")
_OTHER_PROCESS = re.compile(r"^/proc/(?:\d+)(?:/|$)")
_TELLING_OF_OWN = re.compile(r"/(?:environ|mem|maps|fd|cwd|root)(?:/|$)")
# What packages read to learn of the machine.
_PLAIN = re.compile(
    r"^/proc/(?:cpuinfo|meminfo|stat|loadavg|uptime|version|filesystems|mounts|net/|sys/kernel/)|^/sys/|^/etc/"
    r"|^/usr/|^/lib|^/opt/|^/bin/|^/tmp(?:/|$)|^/var/tmp|^/dev/(?:tty|pts|stdin|stdout|stderr|fd)|^/run/"
)
_TELLING = re.compile(r"^/etc/(?:passwd|group|hosts|sudoers|shadow)|^/proc/?$")
_SHADOW = re.compile(
    r"^/etc/(?:shadow|gshadow|sudoers)|^/dev/(?:mem|kmem|port|sd|nvme|dm)|^/proc/(?:kcore|sys/)"
)
_LISTED = re.compile(r"^/(?:home/?|root/?|var/?|sys/?|)$")
_LISTING = {"os.listdir", "os.scandir"}
_READING = {"open", *_LISTING, "os.chdir", "os.getxattr", "os.listxattr", "sqlite3.connect"}


def of_path(note: Note, path: str = "") -> tuple[Severity, str, str] | None:
    """
    Return what it looks like that code asks for a path outside its folder.

    Parameters
    ----------
    note : Note
        The call.
    path : str
        The path. By default the note's target.

    Returns
    -------
    tuple of (Severity, str, str) or None
        How bad, what was done, and the path; None if it says nothing.
    """
    path = path or note.target
    is_written = note.what not in _READING
    # Windows' own way to write a path.
    plain = path.replace("\\", "/")
    for severity, what in _looks(plain, is_written=is_written, is_own=not note.by, event=note.what):
        return severity, what, path
    return None


def _looks(path: str, *, is_written: bool, is_own: bool, event: str) -> list[tuple[Severity, str]]:
    """Return what applies, the worst first; of what applies the first counts."""
    is_plain = bool(_PLAIN.search(path)) and not _TELLING.search(path)
    is_system = is_own and not is_plain
    rules = (
        (_SECRETS.search(path), _ATTACK, SECRETS),
        (_OTHER_PROCESS.search(path), _ATTACK, PROCESSES),
        (_OWN_PROCESS.search(path) and is_written, _ATTACK, KERNEL),
        (_OWN_PROCESS.search(path) and is_own and _TELLING_OF_OWN.search(path), _DOUBT, PROCESSES),
        (_SHADOW.search(path) and (is_own or is_written), _ATTACK if is_written else _DOUBT, KERNEL),
        (_COURSE.search(path) or _OTHERS.search(path), _DOUBT, OTHERS),
        (_HIGH.search(path), _DOUBT, OTHERS),
        (_TELLING.search(path) and is_own, _DOUBT, SYSTEM),
        (_LISTED.search(path) and event in _LISTING and is_own, _DOUBT, SYSTEM),
        (
            is_system and path.startswith(("/proc/", "/dev/")) and not _OWN_PROCESS.search(path),
            _DOUBT,
            KERNEL,
        ),
        (
            path.startswith("/") and not is_plain and not path.startswith(("/proc/", "/dev/")),
            _NOTICE,
            ELSEWHERE,
        ),
        (re.match(r"[A-Za-z]:/", path), _NOTICE, ELSEWHERE),
    )
    return [(severity, what) for applies, severity, what in rules if applies]
