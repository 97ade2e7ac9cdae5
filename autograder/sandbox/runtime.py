"""The folder that the untrusted side is started from: its own modules and nothing else of ours."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

from autograder.errors import SandboxError
from autograder.sandbox.reading import site_packages
from autograder.sandbox.uid import slot_uid
from autograder.sandbox.wall import BOX, Tier
from autograder.sandbox.worker.folder import remove

if TYPE_CHECKING:
    from autograder.sandbox.wall import Wall

_PACKAGE = Path(__file__).resolve().parents[1]
# Everything the worker imports of the kit; checks, solutions and course stay outside.
_MODULES = ("__init__.py", "wire", "sandbox/__init__.py", "sandbox/worker")
_FONT_LIST_TIMEOUT_S = 120
_FONT_LISTS = "fontlist-*.json"
# Older OpenBLAS builds need to be told their kernel on some processors.
_PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class Runtime:
    """
    A temporary folder with the worker's modules; a context manager.

    The worker's Python starts without `site`, so neither a path file in
    site-packages nor the current directory leads it to the rest of the kit.

    Parameters
    ----------
    parent : Path, optional
        Where the folder is made; as root it is opened for other users to pass
        through. By default the system's folder for temporary files.

    Attributes
    ----------
    shared : Path
        What every slot may read: the modules and matplotlib's list of fonts.
    lib : Path
        The modules.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="autograder-", dir=parent))
        if parent is not None and hasattr(os, "geteuid") and os.geteuid() == 0:
            # Another user id must reach what is in it, and may list nothing.
            parent.chmod(parent.stat().st_mode | 0o011)
        self.shared = self._folder / "shared"
        self.lib = self.shared / "lib"
        self._has_fonts = False
        for name in _MODULES:
            source, target = _PACKAGE / name, self.lib / "autograder" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)
        (self.shared / "matplotlib").mkdir()
        # Another user id must reach the modules, and may list nothing else.
        for path in (self._folder, self.shared, *self.shared.rglob("*")):
            path.chmod(0o711 if path == self._folder else 0o755 if path.is_dir() else 0o644)

    def __enter__(self) -> Self:
        """Return the runtime."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        self.close()

    def close(self) -> None:
        """Remove the folder with everything that was run in it."""
        self.remove(self._folder)

    def new_folder(self, wall: Wall) -> Path:
        """
        Return a new empty folder for one slot.

        Parameters
        ----------
        wall : Wall
            What stands around the slot; it says who owns the folder.

        Returns
        -------
        Path
            The folder; inside bubblewrap it is not seen.
        """
        folder = Path(tempfile.mkdtemp(prefix="slot-", dir=self._folder))
        if wall.root and wall.tier is not Tier.A:
            os.chown(folder, slot_uid(), slot_uid())
        return folder

    def remove(self, folder: Path) -> None:
        """Remove a folder, whatever rights student code left on what is in it."""
        remove(folder)

    def command(self, descriptor: int) -> list[str]:
        """
        Return the command that starts a zygote on an inherited socket.

        Parameters
        ----------
        descriptor : int
            The socket's number.

        Returns
        -------
        list of str
            The command, before any wall is put around it.
        """
        fonts = str(self.shared / "matplotlib")
        start = (
            f"import sys; sys.path[:0] = {[str(self.lib), *site_packages()]!r}; "
            "from autograder.sandbox.worker.zygote import main; "
            f"main({descriptor}, fonts={fonts!r})"
        )
        # -I: no environment, no user site; -S: no path files; -B: write no bytecode.
        return [sys.executable, "-I", "-S", "-B", "-c", start]

    def environment(self, wall: Wall, folder: Path) -> dict[str, str]:
        """
        Return the whole environment of a zygote.

        Parameters
        ----------
        wall : Wall
            What stands around the slot.
        folder : Path
            The slot's folder.

        Returns
        -------
        dict of str
            Nothing of the caller's environment but what numpy needs to compute right.
        """
        home = str(BOX if wall.tier is Tier.A else folder)
        fixed = {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            **dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR"), home),
            "MPLCONFIGDIR": f"{home}/matplotlib",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            # One thread: sums repeat to the last bit, and memory stays small.
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        }
        return fixed | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}

    def list_fonts(self) -> None:
        """
        Put matplotlib's list of fonts where zygotes find it; without matplotlib there is none.

        It takes half a second to make, and every zygote would make it again.
        So it is made once and kept in the user's folder for caches.

        Raises
        ------
        SandboxError
            If Python cannot be started.
        """
        # Only notebooks with pictures need these.
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

        from platformdirs import user_cache_path  # noqa: PLC0415

        if self._has_fonts:
            return
        self._has_fonts = True
        folder = self.shared / "matplotlib"
        try:
            kept = user_cache_path("autograder") / f"fonts-{version('matplotlib')}"
        except PackageNotFoundError:
            return
        if lists := list(kept.glob(_FONT_LISTS)):
            for path in lists:
                shutil.copyfile(path, folder / path.name)
        else:
            _list_fonts(folder)
            _keep(list(folder.glob(_FONT_LISTS)), kept)
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def _list_fonts(folder: Path) -> None:
    environment = {"MPLCONFIGDIR": str(folder), "PATH": os.defpath}
    start = f"import sys; sys.path[:0] = {[*site_packages()]!r}; import matplotlib.font_manager"
    command = [sys.executable, "-I", "-S", "-B", "-c", start]
    try:
        # If it fails, each zygote makes its own list, and nothing else is lost.
        subprocess.run(
            command, env=environment, capture_output=True, check=False, timeout=_FONT_LIST_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        what = f"could not be started ({error})"
        raise SandboxError(sys.executable, what, "Check the installation.") from None


def _keep(paths: list[Path], folder: Path) -> None:
    # Another process may do the same; a folder that cannot be written to costs time only.
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in paths:
            new = folder / f".{path.name}-{os.getpid()}"
            shutil.copyfile(path, new)
            new.replace(folder / path.name)
