"""
People whose names and ids break programs, all of them allowed by some LMS, and strategies for more.

Everybody is invented. Laws are stated over these and over what hypothesis makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from autograder.lms.model import IdKind, Lms, Person

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Nasty:
    """
    Somebody whom every LMS can have.

    Parameters
    ----------
    first, last : str
        Their names; the first may be empty.
    login, sis, user : str
        Their ids: what they log in with, the registrar's, and the LMS's number.
    why : str
        What breaks on them.
    groups : tuple of str
        Teams and sections that they are in.
    """

    first: str
    last: str
    login: str
    sis: str
    user: str
    why: str = ""
    groups: tuple[str, ...] = ()

    @property
    def email(self) -> str:
        """Their address."""
        return f"{self.login}@example.edu" if "@" not in self.login else self.login

    @property
    def full(self) -> str:
        """First name first."""
        return f"{self.first} {self.last}".strip()

    @property
    def sortable(self) -> str:
        """Family name first."""
        return f"{self.last}, {self.first}" if self.first else self.last

    def person(self, lms: Lms, **details: object) -> Person:
        """Return them as a roster of an LMS that knows all ids and both names has them."""
        ids = {IdKind.LOGIN: self.login, IdKind.SIS: self.sis, IdKind.USER: self.user}
        known = Person(
            lms=lms,
            first_name=self.first,
            last_name=self.last,
            email=self.email,
            ids={kind: value for kind, value in ids.items() if value},
            sections=self.groups,
        )
        return replace(known, **details)  # type: ignore[arg-type]  # the caller knows the fields


ANA = Nasty("Ana", "Ruiz", "aruiz", "S0001", "501", "nothing at all")
NASTY: tuple[Nasty, ...] = (
    ANA,
    Nasty("Ana María", "O'Hara", "aohara", "00042", "502", "an apostrophe and leading zeros"),
    Nasty("Siobhán", "O’Hara", "sohara", "00043", "503", "a curly apostrophe"),
    Nasty("Jean-Luc", "Müller", "jl_muller", "2024.001.17", "504", "hyphen, umlaut, dots, an underscore"),
    Nasty("Luc", "Müller", "muller", "2024-001", "505", "is the end of the one above, in name and login"),
    Nasty("Bo", "Lindqvist-Tan", "bo.tan", "+1", "506", "a double name, an id that looks like a formula"),
    Nasty("", "Sukarno", "sukarno", "-7", "507", "one name only"),
    Nasty("Mei", "Tan, PhD", "mtan", "9007199254740993", "508", "a comma, an id beyond 2^53"),
    Nasty("Mei", "Tan_7", "tan_7", "7", "509", "a name that ends in a number"),
    Nasty("Bo", "x_99_y", "bo_99_1", "99", "510", "numbers between underscores"),
    Nasty("小龙", "李", "lixiaolong", "1e5", "511", "no letters with case; an exponent"),
    Nasty("Thị Ánh", "Nguyễn", "nguyenta", "007", "512", "two marks on one letter"),
    Nasty("محمد", "الأحمد\u200f", "alahmad", "0x1F", "513", "right to left, with a mark"),
    Nasty("=cmd|' /C calc'!A0", "Smith", "csmith", "=1+1", "514", "a formula"),
    Nasty("Ana\u00a0Lu", "Sol\u3000Mar", "asol", "S 1", "515", "spaces that are no space"),
    Nasty('Jo "Joe"', "Back\\slash", "jback", '"q"', "516", "quotes and a backslash"),
    Nasty("A&B", "<script>", "ascript", "a;b", "517", "what HTML reads"),
    Nasty("LATE", "anon", "late", "LATE", "518", "words that an LMS uses itself"),
    Nasty("Points", "Possible-Lee", "ppl", "s,1", "519", "words that an LMS uses itself"),
    Nasty("Zoë (she/her)", "Attempt (x)", "a_attempt_1", "(1)", "520", "brackets and a slash"),
    Nasty("Ana - Bel", "Le - Roy", "aleroy", "20067930", "521", "hyphens with spaces around"),
    Nasty("I" * 140, "Ivanova" * 12, "long", "0" * 40, "522", "very long"),
)
"""People who can all be told apart, by every id and by name."""

TWINS: tuple[Nasty, ...] = (
    Nasty("Kim", "Park", "kpark1", "K1", "601", "somebody else is called the same"),
    Nasty("Kim", "Park", "kpark2", "K2", "602", "somebody else is called the same"),
    Nasty("José", "Núñez", "jnunez", "J1", "603", "composed"),
    Nasty("Jose\u0301", "Nu\u0301n\u0303ez", "jnunez2", "J2", "604", "decomposed"),
    Nasty("Rob", "OHara", "rohara", "R1", "605", "Rob O'Hara, without what Moodle drops"),
    Nasty("Rob", "O'Hara", "rohara2", "R2", "606", "Rob OHara, with it"),
)
"""Pairs whom names alone do not tell apart, exactly or after an LMS has folded them."""

_LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"], max_codepoint=0x2FFFF)
_ODD = st.sampled_from(
    [one.first for one in NASTY] + [one.last for one in NASTY] + ["'", "_", "-", ", ", "(1)", " - "]
)
NAMES = (
    st.lists(_ODD | st.text(_LETTERS, min_size=1, max_size=6), min_size=1, max_size=2)
    .map(lambda parts: " ".join(" ".join(parts).split()))
    .filter(bool)
)
"""One name of somebody, made of pieces that hurt."""

LOGINS = st.one_of(
    st.sampled_from([one.login for one in (*NASTY, *TWINS)]),
    st.from_regex(r"[a-z][a-z0-9_.]{0,7}", fullmatch=True),
    st.from_regex(r"[a-z]{1,3}(_[a-z0-9]{1,3}){1,2}", fullmatch=True),
)
"""What somebody logs in with."""


@st.composite
def classes(draw: st.DrawFn, most: int = 6) -> tuple[Nasty, ...]:
    """Return people of one class: ids are everybody's own, names need not be."""
    logins = draw(st.lists(LOGINS, min_size=1, max_size=most, unique_by=str.casefold))
    return tuple(
        Nasty(draw(NAMES | st.just("")), draw(NAMES), login, f"S{number:03}", str(700 + number))
        for number, login in enumerate(logins)
    )


def everybody(lms: Lms, nasty: Iterable[Nasty] = (*NASTY, *TWINS)) -> tuple[Person, ...]:
    """Return people as a roster of an LMS has them."""
    return tuple(one.person(lms) for one in nasty)
