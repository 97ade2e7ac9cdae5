"""
How far a known misconception's answers are those of a student, in one check.

Three answers stand side by side for each request of the check: the student's,
that of the solved notebook and that of the misconception. An answer is taken
apart, so that the output and the weights of a layer are compared each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.results import Outcome
from autograder.sandbox.worker.dispatcher import Dispatcher
from autograder.wire.codec import Handle, ListEncoder, decode
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from autograder.checks.plugin import CheckRun
    from autograder.checks.student import Exchange

    Array = NDArray[Any]
    Parts = Mapping[str, object]
    Step = dict[str, Any]

_RTOL, _ATOL = 1e-6, 1e-8
# float32 carries seven digits; a chain of products keeps about four.
_RTOL_SINGLE, _ATOL_SINGLE = 1e-3, 1e-4
_LONGER, _LONGER_BYTES = 4, 4096
# Heads, tokens, and features or tokens again.
_AXES = 3
_REAL, _INEXACT = "iuf", "fc"
_YES_OR_NO = "b"
_SCALARS = {
    _YES_OR_NO: (bool, np.bool_),
    "i": (int, np.integer),
    "f": (float, np.floating),
    "c": (complex, np.complexfloating),
}
# Fewer equal numbers may be chance where the rest of an answer is not explained.
_MANY = 4


class _Absent:
    """Stands for a part that an answer does not have."""


@dataclass(slots=True)
class Likeness:
    """
    What the answers of one check say about one misconception.

    Parameters
    ----------
    is_refuted : bool
        It gets something wrong that the student got right, or is wrong in
        another way from the first wrong answer on.
    is_whole : bool
        It explains everything that the student got wrong.
    is_part : bool
        It explains many numbers that the student got wrong.
    is_telling : bool
        There are numbers among what it explains, not only yes, no or None.
    yes_or_no, wrong_yes_or_no : int
        How many of its answers of yes or no are the student's, and how many of those are wrong.
    agreeing : int
        How many of its answers are the student's.
    """

    is_refuted: bool = False
    is_whole: bool = False
    is_part: bool = False
    is_telling: bool = False
    yes_or_no: int = 0
    wrong_yes_or_no: int = 0
    agreeing: int = 0


def steps_of(exchanges: Sequence[Exchange]) -> list[bytes | Step]:
    """
    Read once what a check asked, so that it can be asked again often.

    Parameters
    ----------
    exchanges : sequence of Exchange
        What was asked, one step each.

    Returns
    -------
    list
        Each step read, or as it is, if reading it each time is the only way
        to have its arrays as they lie in memory.
    """
    steps: list[bytes | Step] = []
    for exchange in exchanges:
        asked = decode(exchange.request)
        is_plain = len(asked) == 1 and _is_plain(asked[0])
        steps.append(asked[0] if is_plain else exchange.request)
    return steps


def replayed(namespace: Mapping[str, Any], steps: Iterable[bytes | Step]) -> Iterator[bytes]:
    """
    Ask again what a check asked, of other names.

    Parameters
    ----------
    namespace : mapping
        The names; for code of the course's own only.
    steps : iterable
        What `steps_of` returned.

    Yields
    ------
    bytes
        The answer to each step; empty if it speaks of an object that was
        never made here.
    """
    replay = _Replay(namespace)
    for step in steps:
        try:
            answer = replay.answer(step) if isinstance(step, bytes) else replay.do(step)
        except (WireError, LookupError):
            answer = b""
        yield answer


class _Replay(Dispatcher):
    """Does steps that were read already: reading them costs more than doing them."""

    def do(self, step: Step) -> bytes:
        answers = ListEncoder(self._describe)
        self._do(self._own(step), answers)
        return answers.payload()

    def _own(self, value: Any) -> Any:
        """Return a copy, since what is called may change it, with the objects that handles stand for."""
        if isinstance(value, np.ndarray):
            array = value.copy(order="K")
            array.flags.writeable = value.flags.writeable
            return array
        if isinstance(value, (tuple, list)):
            return type(value)(map(self._own, value))
        if isinstance(value, dict):
            return {key: self._own(item) for key, item in value.items()}
        return self._object(value) if isinstance(value, Handle) else value


def _is_plain(value: object) -> bool:
    """Tell whether a copy lies in memory as the original does."""
    if isinstance(value, np.ndarray):
        return value.flags.forc
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, (tuple, list)) else True


class Answers:
    """
    A check's answers from the student and from the solved notebook.

    Parameters
    ----------
    run : CheckRun
        The check as it went.
    right : iterable of bytes
        What the solved notebook answers to its requests.
    """

    def __init__(self, run: CheckRun, right: Iterable[bytes]) -> None:
        self._theirs = [exchange.answer for exchange in run.exchanges]
        self._right = list(right)
        self._failed = run.result.outcome is Outcome.FAILED
        self._read: dict[int, tuple[Parts, Parts]] = {}
        self._verdicts: dict[tuple[int, bytes], _Verdict] = {}
        self._exact = False
        # What is right but for rounding can only fail where rounding counts.
        is_right = (self._judged(index, answer).is_same for index, answer in enumerate(self._right))
        self._exact = self._failed and all(is_right)

    def compare(self, answers: Iterable[bytes], *, is_likely: bool = False) -> Likeness:
        """
        Compare the answers of a misconception with the student's.

        Parameters
        ----------
        answers : iterable of bytes
            To the same requests; not read further than is needed.
        is_likely : bool
            True if it explains something elsewhere, so that it is worth
            reading on after an answer that it does not explain.

        Returns
        -------
        Likeness
            What they say.
        """
        like = Likeness()
        explained, is_same = False, True
        for index, answer in enumerate(answers):
            verdict = self._verdict(index, answer)
            explained |= bool(verdict.explained)
            is_same &= verdict.is_same
            like.agreeing += verdict.is_same
            like.is_part |= any(map(_is_long, verdict.explained))
            like.is_telling |= any(map(_has_numbers, verdict.explained))
            like.yes_or_no += verdict.yes_or_no
            like.wrong_yes_or_no += sum(_kind(part) == _YES_OR_NO for part in verdict.explained)
            other = self._failed and verdict.is_mistaken and not explained
            like.is_refuted = verdict.is_refuted or (other and not verdict.is_same)
            if like.is_refuted or not (verdict.is_same or verdict.explained or is_likely):
                is_same = False
                break
        like.is_whole = explained and is_same
        return like

    def by_heads(self) -> list[tuple[int, bool]]:
        """
        Return the number of heads of each answer that has heads, and whether it is right.

        Heads are the first axis of an array with three, in the right answer.
        """
        found = []
        for index, answer in enumerate(self._right):
            arrays = [
                one for one in _parts(answer).values() if isinstance(one, np.ndarray) and one.ndim == _AXES
            ]
            if arrays:
                found.append((len(arrays[0]), self._judged(index, answer).is_same))
        return found

    def _verdict(self, index: int, answer: bytes) -> _Verdict:
        # Most misconceptions give most answers right, and so the very same bytes.
        key = (index, answer)
        if key not in self._verdicts:
            self._verdicts[key] = self._judged(index, answer)
        return self._verdicts[key]

    def _judged(self, index: int, answer: bytes) -> _Verdict:
        longest = _LONGER * max(len(answer), len(self._right[index])) + _LONGER_BYTES
        if len(self._theirs[index]) > longest:
            # Too long to be alike, and perhaps made to take long to read.
            return _Verdict(is_same=False, is_mistaken=answer != self._right[index])
        if index not in self._read:
            self._read[index] = _parts(self._theirs[index]), _parts(self._right[index])
        return _judge(*self._read[index], _parts(answer), exact=self._exact)


@dataclass(slots=True)
class _Verdict:
    """What one answer of a misconception says: the wrong parts it explains, and what speaks against it."""

    explained: list[object] = field(default_factory=list)
    yes_or_no: int = 0
    is_same: bool = True
    is_refuted: bool = False
    is_mistaken: bool = False


def _judge(theirs: Parts, right: Parts, ours: Parts, *, exact: bool) -> _Verdict:
    verdict = _Verdict()
    for name in {**theirs, **right, **ours}:
        their, its, our = (parts.get(name, _Absent) for parts in (theirs, right, ours))
        if name == "raised" and its is not _Absent:
            # Any exception will do where one is due.
            their, our = (_Absent if part is _Absent else its for part in (their, our))
        is_wrong, is_mistaken = not _alike(their, its, exact=exact), not _alike(our, its, exact=exact)
        is_same = _alike(their, our, exact=exact)
        verdict.is_mistaken |= is_mistaken
        verdict.is_refuted |= is_mistaken and not is_wrong
        verdict.is_same &= is_same
        verdict.yes_or_no += is_same and _kind(their) == _YES_OR_NO
        if is_wrong and is_mistaken and is_same:
            verdict.explained.append(their)
    return verdict


def _parts(payload: bytes) -> Parts:
    """Return an answer's parts by name: a tuple's items, the arguments after the call, an exception."""
    try:
        answer = decode(payload) if payload else None
    except WireError:
        answer = None
    if isinstance(answer, list) and len(answer) == 1:
        (answer,) = answer
    if not isinstance(answer, dict):
        return {"unreadable": payload}
    parts = {str(name): part for name, part in answer.items() if name != "kept"}
    if isinstance(parts.get("value"), tuple):
        items = answer["value"]
        del parts["value"]
        parts |= {f"item {index}": item for index, item in enumerate(items)} | {"length": len(items)}
    return parts


def _alike(theirs: object, ours: object, *, exact: bool) -> bool:
    if isinstance(ours, np.ndarray):
        return isinstance(theirs, np.ndarray) and _close(theirs, ours, exact=exact)
    if isinstance(ours, (tuple, list)):
        return (
            isinstance(theirs, (tuple, list))
            and len(theirs) == len(ours)
            and all(_alike(*pair, exact=exact) for pair in zip(theirs, ours, strict=True))
        )
    if isinstance(ours, dict):
        return (
            isinstance(theirs, dict)
            and theirs.keys() == ours.keys()
            and all(_alike(theirs[key], ours[key], exact=exact) for key in ours)
        )
    kind = _kind(ours)
    if kind != _kind(theirs):
        return False
    if isinstance(ours, (float, np.floating)) and isinstance(theirs, (float, np.floating)):
        return _equal(float(theirs), float(ours), exact=exact)
    return isinstance(ours, Handle) or bool(theirs == ours)


def _kind(value: object) -> str:
    """Return what sort of thing a value is: numbers of Python and of numpy are of one sort."""
    for kind, types in _SCALARS.items():
        if isinstance(value, types):
            return kind
    return type(value).__name__


def _close(theirs: Array, ours: Array, *, exact: bool) -> bool:
    if theirs.shape != ours.shape or (theirs.dtype.kind in _REAL) != (ours.dtype.kind in _REAL):
        return False
    if exact or theirs.dtype.kind not in _INEXACT:
        return np.array_equal(theirs, ours, equal_nan=theirs.dtype.kind in _INEXACT)
    # Rounding hides behind a loose tolerance, so it is for those who compute in float32.
    single = theirs.dtype.type is np.float32 and ours.dtype.kind == "f"
    rtol, atol = (_RTOL_SINGLE, _ATOL_SINGLE) if single else (_RTOL, _ATOL)
    if ours.dtype.kind == "f" and np.isfinite(ours).all():
        # The same as allclose, in a fifth of its time.
        return bool((np.abs(theirs - ours) <= atol + rtol * np.abs(ours)).all())
    return bool(np.allclose(theirs, ours, rtol=rtol, atol=atol, equal_nan=True))


def _equal(theirs: float, ours: float, *, exact: bool) -> bool:
    if math.isnan(theirs) or math.isnan(ours):
        return math.isnan(theirs) and math.isnan(ours)
    return theirs == ours if exact else math.isclose(theirs, ours, rel_tol=_RTOL, abs_tol=_ATOL)


def _is_long(part: object) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind in _REAL and part.size >= _MANY


def _has_numbers(part: object) -> bool:
    if isinstance(part, np.ndarray):
        return part.size > 0 and part.dtype.kind in _REAL
    if isinstance(part, dict):
        return any(map(_has_numbers, part.values()))
    if isinstance(part, (tuple, list)):
        return any(map(_has_numbers, part))
    return _kind(part) in _REAL
