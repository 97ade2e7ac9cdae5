"""The reason why a file gives no notebook."""

from __future__ import annotations

RESTORE = (
    "Restore the last checkpoint (in Jupyter: File > Revert Notebook to Checkpoint), "
    "or hand in another copy that opens in Jupyter."
)
"""What to do about a file that was written only in part."""

CLEAR = "Clear its outputs (in Jupyter: Edit > Clear Outputs of All Cells), save it and hand it in again."
"""What to do about a notebook that is too large."""


class Unreadable(Exception):  # noqa: N818 - it is a reason, and becomes an error once the file's name is known
    """
    Why a file gives no notebook; becomes an error with the file's name.

    Parameters
    ----------
    what : str
        What is wrong with it, as in `AutograderError`: a phrase that follows the file's name.
    remedy : str
        What to do about it, one sentence.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy


class OtherLanguage(Unreadable):
    """It is a notebook, but not in Python: of an instructor's, nothing is wrong with it."""
