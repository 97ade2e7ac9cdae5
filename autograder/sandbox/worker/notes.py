"""What the worker notes while student code runs, told beside its answers and bounded in size."""

from __future__ import annotations

from autograder.wire.codec import encode

MAX_NOTES = 50
"""Different notes that one answer carries; of more there is only a count."""
_MAX_TEXT = 200


class Notes:
    """Notes since they were last taken, alike ones counted."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], int] = {}

    def add(self, kind: str, what: str, target: str = "", by: str = "") -> None:
        """
        Note something.

        Parameters
        ----------
        kind : str
            "call", "replaced" or "module".
        what : str
            The audit event of Python's, or what was replaced.
        target : str
            What was asked for, or what stands there now.
        by : str
            The package that asked; empty if it was the notebook's own code.
        """
        key = (kind, what[:_MAX_TEXT], target[:_MAX_TEXT], by[:_MAX_TEXT])
        if key not in self._found and len(self._found) >= MAX_NOTES:
            key = (kind, what, "", "") if (kind, what, "", "") in self._found else ("more", "", "", "")
        self._found[key] = self._found.get(key, 0) + 1

    def take(self) -> bytes:
        """Return the notes, encoded, and forget them; nothing if there are none."""
        if not self._found:
            return b""
        found, self._found = self._found, {}
        return encode([[*key, count] for key, count in found.items()])
