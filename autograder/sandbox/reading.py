"""
What student code may read: Python, its packages and the system's libraries.

Not whole trees: a course may lie below /usr or in the folder of its virtual
environment, and the kit may be installed among the packages. Its checks and
solutions are left out wherever they are.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from functools import cache
from pathlib import Path

_SYSTEM = (
    *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/bin", "/usr/sbin", "/usr/share"),
    *("/usr/local/lib", "/usr/local/lib64", "/usr/local/bin", "/usr/local/share/fonts"),
    *("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"),
    *("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime", "/etc/alternatives"),
)
_OF_A_PREFIX = ("lib", "lib32", "lib64", "bin", "pyvenv.cfg", "etc/fonts", "share/fonts")
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_PACKAGES = ("numpy", "IPython", "matplotlib", "traitlets")
_KIT = ("autograder", "solutions")

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that student code may use."""


@cache
def site_packages() -> tuple[str, ...]:
    """Return the folders in which this Python finds the packages that student code uses."""
    paths = sysconfig.get_paths()
    folders = [paths["purelib"], paths["platlib"]]
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        places = [Path(place).parent for place in (spec and spec.submodule_search_locations) or ()]
        # Debian and `pip install --user` have folders that sysconfig does not name.
        folders += [str(place) for place in places if place.name in _PACKAGE_FOLDERS]
    return tuple(dict.fromkeys(folders))


@cache
def mounts() -> tuple[tuple[Path, Path | None], ...]:
    """
    Return what bubblewrap shows, in order.

    Returns
    -------
    tuple of (Path, Path or None)
        A path to bind, or a path that is a link and where it leads.
    """
    shown: dict[Path, Path | None] = {}
    for path in (*map(Path, _SYSTEM), *_python()):
        if not path.exists() or any(shown.get(parent, path) is None for parent in path.parents):
            continue
        # /lib is a link into /usr on most systems; a link elsewhere is bound as what it leads to.
        is_system_link = path.is_symlink() and len(path.parts) == len(("/", "lib"))
        shown[path] = path.readlink() if is_system_link else None
    return tuple(shown.items())


@cache
def hidden_paths() -> tuple[Path, ...]:
    """Return the folders of the kit that lie within what is shown."""
    shown = [path.resolve() for path, _ in mounts()]
    return tuple(path for path in _kit() if any(path.is_relative_to(one) for one in shown))


@cache
def readable_paths() -> tuple[list[str], list[str]]:
    """
    Return what Landlock lets student code read.

    Returns
    -------
    tuple of (list of str, list of str)
        Paths to read with all that is below them, and folders of which only
        names may be listed, because something below them is hidden.
    """
    read: dict[str, None] = {}
    listed: dict[str, None] = {}
    waiting = [path.resolve() for path, _ in mounts()]
    while waiting:
        path = waiting.pop()
        if path in _kit() or str(path) in listed:
            continue
        if any(hidden.is_relative_to(path) for hidden in _kit()):
            listed[str(path)] = None
            waiting += [child.resolve() for child in path.iterdir()]
        else:
            read[str(path)] = None
    return [*read, *DEVICES], [*listed]


@cache
def _kit() -> tuple[Path, ...]:
    here = Path(__file__).resolve().parents[2]
    places = [here, *map(Path, site_packages())]
    folders = (place / name for place in places for name in _KIT)
    return tuple(dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir()))


def _python() -> list[Path]:
    paths = sysconfig.get_paths()
    # A Python of the system's lies in what every system has.
    prefixes = [Path(name) for name in (sys.base_prefix, sys.prefix) if name not in {"/usr", "/usr/local"}]
    prefixes += [prefix.resolve() for prefix in prefixes]
    inner = [prefix / name for prefix in dict.fromkeys(prefixes) for name in _OF_A_PREFIX]
    folders = map(Path, (paths["stdlib"], paths["platstdlib"], *site_packages()))
    return list(dict.fromkeys([*inner, *folders]))
