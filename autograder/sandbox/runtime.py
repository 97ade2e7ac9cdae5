"""The folder that the untrusted side is started from: its own modules and nothing else of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Self

from autograder.errors import SandboxError

_PACKAGE = Path(__file__).resolve().parents[1]
# Everything the worker imports of the kit; checks, solutions and course stay outside.
_MODULES = ("__init__.py", "wire", "sandbox/__init__.py", "sandbox/worker")
_FONT_CACHE_TIMEOUT_S = 120
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
        Where the folder is made. By default the system's folder for
        temporary files.

    Attributes
    ----------
    folder : Path
        The folder, removed at the end.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="autograder-", dir=parent))
        self._fonts: Path | None = None
        for name in _MODULES:
            source, target = _PACKAGE / name, self.folder / "lib" / "autograder" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(source, target)

    def __enter__(self) -> Self:
        """Return the runtime."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        self.close()

    def close(self) -> None:
        """Remove the folder with everything that was run in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_folder(self) -> Path:
        """Return a new empty folder for one worker."""
        return Path(tempfile.mkdtemp(prefix="notebook-", dir=self.folder))

    def command(self, descriptor: int) -> list[str]:
        """Return the command that starts a worker on an inherited socket."""
        paths = [str(self.folder / "lib"), *_site_packages()]
        start = (
            f"import sys; sys.path[:0] = {paths!r}; "
            f"from autograder.sandbox.worker.main import main; main({descriptor})"
        )
        # -I: no environment, no user site; -S: no path files; -B: write no bytecode.
        return [sys.executable, "-I", "-S", "-B", "-c", start]

    def environment(self, home: Path) -> dict[str, str]:
        """
        Return the whole environment of a worker.

        Parameters
        ----------
        home : Path
            The worker's own folder.

        Returns
        -------
        dict of str
            Nothing of the caller's environment but what numpy needs to compute right.
        """
        private = home.parent / f"{home.name}-home"
        private.mkdir(exist_ok=True)
        fixed = {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "HOME": str(private),
            "TMPDIR": str(private),
            "IPYTHONDIR": str(private / "ipython"),
            "MPLCONFIGDIR": str(private / "matplotlib"),
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            # One thread: sums repeat to the last bit, and memory stays small.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
        }
        return fixed | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}

    def add_fonts(self, home: Path) -> None:
        """
        Give a worker matplotlib's list of fonts, which takes a second to make.

        Parameters
        ----------
        home : Path
            The worker's own folder.
        """
        if self._fonts is None:
            self._fonts = self.folder / "matplotlib"
            self._list_fonts()
        if self._fonts.is_dir():
            shutil.copytree(self._fonts, home.parent / f"{home.name}-home" / "matplotlib", dirs_exist_ok=True)

    def _list_fonts(self) -> None:
        environment = self.environment(self.folder / "fonts") | {"MPLCONFIGDIR": str(self._fonts)}
        start = f"import sys; sys.path[:0] = {_site_packages()!r}; import matplotlib.font_manager"
        command = [sys.executable, "-I", "-S", "-B", "-c", start]
        try:
            # Without matplotlib this fails, and nothing is lost.
            subprocess.run(
                command, env=environment, capture_output=True, check=False, timeout=_FONT_CACHE_TIMEOUT_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SandboxError(
                sys.executable, f"could not be started ({error})", "Check the installation."
            ) from None


def _site_packages() -> list[str]:
    paths = sysconfig.get_paths()
    return list(dict.fromkeys([paths["purelib"], paths["platlib"]]))
