"""A small notebook with everything in it that makes reading hard, and files made of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from autograder.errors import SubmissionError
from autograder.notebook import read_submitted

if TYPE_CHECKING:
    from pathlib import Path

CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Tïtle"},
    {
        "cell_type": "code",
        "execution_count": 3,
        "id": "b",
        "metadata": {"n": 1.5, "flag": True, "none": None},
        "outputs": [{"name": "stdout", "output_type": "stream", "text": '"outputs": [\n}]\\\n'}],
        "source": 'outputs = {"outputs": []}\ns = "\\"😀"',
    },
    {"cell_type": "raw", "id": "c", "metadata": {}, "source": ""},
]
"""Cells as they are read."""
NOTEBOOK = {"cells": CELLS, "metadata": {"kernelspec": None}, "nbformat": 4, "nbformat_minor": 5}
TEXT = json.dumps(NOTEBOOK, ensure_ascii=False, indent=1) + "\n"


def saved(path: Path, content: bytes | str) -> Path:
    """Return the path of a file with some content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, content: bytes | str | None = None) -> SubmissionError:
    """Return why a file cannot be read."""
    if content is not None:
        saved(path, content)
    with pytest.raises(SubmissionError) as caught:
        read_submitted(path)
    assert str(caught.value).startswith(f"{path}: ")
    return caught.value
