"""What a cell shows, recorded as nbformat outputs in the order it appears."""

from __future__ import annotations

import io
from typing import Any

# More are not kept anyway; there is room left for the errors that end a cell.
_MAX_OUTPUTS = 990
_TRUNCATED = "\n[output cut: the limit of {limit_kib} KiB is reached]\n"


class Recorder:
    """
    The outputs of one cell after another, each bounded in size.

    Parameters
    ----------
    limit_bytes : int
        What one cell may show, in bytes of text and of encoded pictures; the
        rest is dropped and said to be.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.outputs: list[dict[str, Any]] = []
        self.muted = False
        self._used = 0
        self._clear_pending = False

    def start(self) -> None:
        """Forget everything; a new cell begins."""
        self.outputs = []
        self._used = 0
        self._clear_pending = False

    def write(self, stream: str, text: str) -> None:
        """Record text printed to "stdout" or "stderr"."""
        text = self._take(text)
        if not text:
            return
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last.get("name") == stream:
            last["text"] += text
        else:
            self._append({"output_type": "stream", "name": stream, "text": text})

    def display(self, data: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        """Record a rich display, such as a picture."""
        self._show({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    def result(self, data: dict[str, Any], metadata: dict[str, Any] | None, execution_count: int) -> None:
        """Record the value of a cell's last expression."""
        record = {"output_type": "execute_result", "data": data, "metadata": metadata or {}}
        self._show(record | {"execution_count": execution_count})

    def error(self, ename: str, evalue: str, traceback: list[str]) -> None:
        """Record an exception that ended the cell."""
        record = {"output_type": "error", "ename": ename, "evalue": self._take(evalue)}
        self._append(record | {"traceback": [self._take(line) for line in traceback]})

    def clear(self, *, wait: bool = False) -> None:
        """Forget what the cell has shown, at once or when it next shows something."""
        if wait:
            self._clear_pending = True
        else:
            self.outputs = []

    def _show(self, record: dict[str, Any]) -> None:
        size = sum(len(value) for value in record["data"].values() if isinstance(value, str))
        if self._used + size > self.limit_bytes:
            self.write("stderr", " " * (self.limit_bytes - self._used + 1))
            return
        self._used += size
        self._append(record)

    def _append(self, record: dict[str, Any]) -> None:
        if self.muted:
            return
        if self._clear_pending:
            self._clear_pending = False
            self.outputs = []
        if len(self.outputs) < _MAX_OUTPUTS or record["output_type"] == "error":
            self.outputs.append(record)

    def _take(self, text: str) -> str:
        if self.muted:
            return ""
        left = self.limit_bytes - self._used
        if left < 0:
            return ""
        self._used += len(text)
        if len(text) <= left:
            return text
        self._used = self.limit_bytes + 1
        return text[:left] + _TRUNCATED.format(limit_kib=self.limit_bytes // 1024)


class Stream(io.TextIOBase):
    """
    What student code finds as `sys.stdout` or `sys.stderr`.

    Parameters
    ----------
    recorder : Recorder
        Where written text goes.
    name : str
        "stdout" or "stderr".
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, recorder: Recorder, name: str) -> None:
        super().__init__()
        self._recorder = recorder
        self.name = name

    def writable(self) -> bool:
        """Return True: text can be written."""
        return True

    def write(self, text: Any, /) -> int:
        """Record the text and return its length."""
        if not isinstance(text, str):
            msg = f"write() argument must be str, not {type(text).__name__}"
            raise TypeError(msg)
        self._recorder.write(self.name, text)
        return len(text)

    def isatty(self) -> bool:
        """Return False: nobody watches."""
        return False
