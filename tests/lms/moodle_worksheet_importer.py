"""
A Moodle assignment with its offline grading worksheet: what an upload does, and what a download is.

The rules are those of the project's notes on formats, and nothing of Moodle's code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from php_csv import php_float, php_line, php_rows, php_strtotime

HANDED_IN = 1_803_895_500
"""Unix time of every submission."""


class RefusedError(Exception):
    """Moodle takes nothing of the file."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """How Moodle speaks to the user who downloads and uploads."""

    participant: str
    identifier: str
    name: str
    email: str
    status: str
    grade: str
    maximum: str
    scale: str
    changeable: str
    submitted: str
    text: str
    modified: str
    comments: str
    yes: str
    no: str
    mark: str
    date: str
    """A format of times; one without English names is nothing that Moodle reads again."""


ENGLISH = Language(
    participant="Participant ",
    identifier="Identifier",
    name="Full name",
    email="Email address",
    status="Status",
    grade="Grade",
    maximum="Maximum Grade",
    scale="Scale",
    changeable="Grade can be changed",
    submitted="Last modified (submission)",
    text="Online text",
    modified="Last modified (grade)",
    comments="Feedback comments",
    yes="Yes",
    no="No",
    mark=".",
    date="%A, %-d %B %Y, %-I:%M %p",
)
GERMAN = Language(
    participant="Teilnehmer/in",
    identifier="ID",
    name="Vollständiger Name",
    email="E-Mail-Adresse",
    status="Status",
    grade="Bewertung",
    maximum="Bestwertung",
    scale="Skala",
    changeable="Bewertung kann geändert werden",
    submitted="Zuletzt geändert (Abgabe)",
    text="Texteingabe online",
    modified="Zuletzt geändert (Bewertung)",
    comments="Feedback als Kommentar",
    yes="Ja",
    no="Nein",
    mark=",",
    date="Montag, %-d. März %Y, %H:%M",
)
FRENCH = Language(
    participant="Participant",
    identifier="Identifiant",
    name="Nom complet",
    email="Adresse de courriel",
    status="Statut",
    grade="Note",
    maximum="Note maximale",
    scale="Barème",
    changeable="La note peut être modifiée",
    submitted="Dernière modification (travail remis)",
    text="Texte en ligne",
    modified="Dernière modification (note)",
    comments="Feedback par commentaires",
    yes="Oui",
    no="Non",
    mark=",",
    date="lundi %-d mars %Y, %H:%M",
)
INVENTED = Language(
    participant="Partolo ",
    identifier="Nomo de partolo",
    name="Plena nomo",
    email="Retadreso",
    status="Stato",
    grade="Noto",
    maximum="Plej alta noto",
    scale="Skalo",
    changeable="Ŝanĝebla",
    submitted="Laste ŝanĝita (laboro)",
    text="Teksto",
    modified="Laste ŝanĝita (noto)",
    comments="Komentoj",
    yes="Jes",
    no="Tute ne",
    mark=",",
    date="lundo, %-d-a de marto %Y",
)


@dataclass(kw_only=True)
class Participant:
    """Somebody who has to hand in."""

    number: int
    name: str
    email: str = ""
    sis: str = ""
    grade: Decimal | None = None
    modified: int | None = None
    """Unix time of the grade."""
    locked: bool = False
    comment: str = ""
    text: str = ""


@dataclass(kw_only=True)
class Upload:
    """What an upload did: Moodle only says how many of each."""

    grades: dict[int, Decimal] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Assignment:
    """An assignment in a site with one language."""

    participants: list[Participant]
    maximum: Decimal = Decimal(10)
    scale: tuple[str, ...] = ()
    language: Language = ENGLISH
    blind: bool = False
    with_text: bool = False
    with_comments: bool = True

    def accepts(self, data: bytes, *, even_newer: bool = False) -> Upload:
        """
        Return what an upload would change, or raise `RefusedError`.

        ``even_newer`` is the box that lets it update what was modified after the download.
        """
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        header, *rows = [[cell or "" for cell in row] for row in php_rows(text) if row != [None]]
        words = self.language
        places = {cell: at for at, cell in enumerate(header)}
        if not {words.identifier, words.grade, words.modified} <= places.keys():
            raise RefusedError("could not read the uploaded worksheet")
        upload = Upload()
        for row in rows:
            if len(row) != len(header):
                raise RefusedError("invalid number of columns")
            cells = dict(zip(header, row, strict=True))
            who = self._participant(cells[words.identifier])
            reason = self._left_out(who, cells[words.modified], even_newer=even_newer)
            if who is None or reason:
                upload.skipped[cells[words.identifier]] = reason
                continue
            grade = self._grade(cells[words.grade])
            if grade is not None and not 0 <= grade <= self.maximum:
                upload.skipped[cells[words.identifier]] = "out of range"
            elif grade is not None and grade != who.grade:
                upload.grades[who.number] = grade
            if self.with_comments and places.get(words.comments) and cells[words.comments] != who.comment:
                upload.comments[who.number] = cells[words.comments]
        return upload

    def apply(self, upload: Upload, time: int = 1_900_000_000) -> None:
        """Do it."""
        for who in self.participants:
            if who.number in upload.grades or who.number in upload.comments:
                who.modified = time
            who.grade = upload.grades.get(who.number, who.grade)
            who.comment = upload.comments.get(who.number, who.comment)

    def _participant(self, cell: str) -> Participant | None:
        number = cell[len(self.language.participant) :]
        return next((who for who in self.participants if str(who.number) == number), None)

    def _left_out(self, who: Participant | None, modified: str, *, even_newer: bool) -> str:
        if who is None:
            return "unknown"
        if who.locked:
            return "locked"
        if not even_newer and (who.modified or 0) > (php_strtotime(modified) or 0):
            return "stale"
        return ""

    def _grade(self, cell: str) -> Decimal | None:
        """Return what a cell means: anything that is no number is one all the same."""
        text = cell.strip()
        if not text:
            return None
        if self.scale:
            return Decimal(self.scale.index(text) + 1) if text in self.scale else None
        return Decimal(repr(php_float(text.replace(self.language.mark, "."))))

    def worksheet(self) -> bytes:
        """Return what is downloaded."""
        words = self.language
        header = [
            words.identifier,
            *([] if self.blind else [words.name, "ID number", words.email]),
            *(words.status, words.grade, words.scale if self.scale else words.maximum, words.changeable),
            *(words.submitted, *([words.text] if self.with_text else []), words.modified),
            *([words.comments] if self.with_comments else []),
        ]
        rows = [php_line(header)]
        for who in self.participants:
            grade = "" if who.grade is None else self._shown(who.grade)
            most = ",".join(self.scale) or self._shown(self.maximum)
            cells = [
                f"{words.participant}{who.number}",
                *([] if self.blind else [who.name, who.sis, who.email]),
                *("Submitted for grading - ", grade, most, words.no if who.locked else words.yes),
                *(
                    self._time(1_803_895_500),
                    *([who.text] if self.with_text else []),
                    self._time(who.modified),
                ),
                *([who.comment] if self.with_comments else []),
            ]
            rows.append(php_line(cells))
        return "".join(rows).encode()

    def _shown(self, number: Decimal) -> str:
        return f"{number:.2f}".replace(".", self.language.mark)

    def _time(self, time: int | None) -> str:
        return "-" if time is None else datetime.fromtimestamp(time, UTC).strftime(self.language.date)
