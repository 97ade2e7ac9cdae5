"""
A strict reader of OneRoster's CSV sets, 1.1 and 1.2: those rules of the standard that a program can check.

Column lists, vocabularies and the form of ids are those of the standard; a reader that
takes less would prove nothing.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

START = "sourcedId,status,dateLastModified,"
COLUMNS = {
    "1.1": {
        "academicSessions": "title,type,startDate,endDate,parentSourcedId,schoolYear",
        "orgs": "name,type,identifier,parentSourcedId",
        "courses": "schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes",
        "classes": "title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,"
        "subjects,subjectCodes,periods",
        "users": "enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,"
        "email,sms,phone,agentSourcedIds,grades,password",
        "enrollments": "classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate",
        "categories": "title",
        "lineItems": "title,description,assignDate,dueDate,classSourcedId,categorySourcedId,"
        "gradingPeriodSourcedId,resultValueMin,resultValueMax",
        "results": "lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment",
    },
    "1.2": {
        "users": "enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,"
        "agentSourcedIds,grades,password,userMasterIdentifier,preferredGivenName,preferredMiddleName,"
        "preferredFamilyName,primaryOrgSourcedId,pronouns",
        "roles": "userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId",
        "categories": "title,weight",
        "lineItems": "title,description,assignDate,dueDate,classSourcedId,categorySourcedId,"
        "academicSessionSourcedId,resultValueMin,resultValueMax,schoolSourcedId",
        "results": "lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment,textScore,"
        "classSourcedId,inProgress,incomplete,late,missing",
    },
}
COLUMNS["1.2"] = COLUMNS["1.1"] | COLUMNS["1.2"]
ABSENT = {
    "1.1": "classResources courseResources demographics resources",
    "1.2": "classResources courseResources demographics resources lineItemLearningObjectiveIds "
    "lineItemScoreScales resultLearningObjectiveIds resultScoreScales scoreScales userProfiles userResources",
}
REQUIRED = {
    "academicSessions": "title type startDate endDate schoolYear",
    "orgs": "name type",
    "courses": "title orgSourcedId",
    "classes": "title courseSourcedId classType schoolSourcedId termSourcedIds",
    "users": "enabledUser orgSourcedIds role username givenName familyName",
    "roles": "userSourcedId roleType role orgSourcedId",
    "enrollments": "classSourcedId schoolSourcedId userSourcedId role",
    "categories": "title",
    "lineItems": "title assignDate dueDate classSourcedId categorySourcedId gradingPeriodSourcedId "
    "academicSessionSourcedId schoolSourcedId resultValueMin resultValueMax",
    "results": "lineItemSourcedId studentSourcedId scoreStatus scoreDate",
}
REFERS = {
    "parentSourcedId": "",
    "schoolYearSourcedId": "academicSessions",
    "termSourcedIds": "academicSessions",
    "gradingPeriodSourcedId": "academicSessions",
    "academicSessionSourcedId": "academicSessions",
    "orgSourcedId": "orgs",
    "orgSourcedIds": "orgs",
    "schoolSourcedId": "orgs",
    "primaryOrgSourcedId": "orgs",
    "courseSourcedId": "courses",
    "classSourcedId": "classes",
    "userSourcedId": "users",
    "studentSourcedId": "users",
    "categorySourcedId": "categories",
    "lineItemSourcedId": "lineItems",
}
WORDS = {
    ("academicSessions", "type"): "gradingPeriod semester schoolYear term",
    ("orgs", "type"): "department school district local state national",
    ("classes", "classType"): "homeroom scheduled",
    ("users", "role"): "administrator aide guardian parent proctor relative student teacher",
    ("users", "enabledUser"): "true false",
    ("roles", "roleType"): "primary secondary",
    ("roles", "role"): "student teacher",
    ("enrollments", "role"): "administrator proctor student teacher",
    ("enrollments", "primary"): "true false",
    ("results", "late"): "true false",
    ("results", "missing"): "true false",
}
STATUSES = {"exempt", "fully graded", "not submitted", "partially graded", "submitted"}

Rows = list[dict[str, str]]


@dataclass
class Gradebook:
    """What was read: errors, and by title and user name the status and score of each result."""

    errors: list[str] = field(default_factory=list)
    results: dict[tuple[str, str], tuple[str, Decimal | None]] = field(default_factory=dict)
    tables: dict[str, Rows] = field(default_factory=dict)


def read_set(data: bytes) -> Gradebook:
    """Read a zip; one error and nothing of it counts."""
    book = Gradebook()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    if any("/" in name for name in files) or "manifest.csv" not in files:
        book.errors.append("folders, or no manifest")
        return book
    version, modes = _manifest(files.pop("manifest.csv"), book)
    present = {f"{name}.csv" for name, mode in modes.items() if mode != "absent"}
    if present != set(files):
        book.errors.append(f"the manifest does not name {sorted(present ^ set(files))} as it is")
    for name, mode in modes.items():
        if mode != "absent" and f"{name}.csv" in files:
            book.tables[name] = _table(files[f"{name}.csv"], (version, name, mode), book)
    _references(book)
    if not book.errors:
        _results(book)
    return book


def _parsed(data: bytes, book: Gradebook) -> list[list[str]]:
    if data.startswith(b"\xef\xbb\xbf"):
        book.errors.append("a mark of byte order")
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))


def _manifest(data: bytes, book: Gradebook) -> tuple[str, dict[str, str]]:
    header, *rows = _parsed(data, book)
    known = {row[0]: row[1] for row in rows if len(row) == 2}
    if header != ["propertyName", "value"] or len(known) != len(rows):
        book.errors.append("the manifest is no list of properties")
    version = known.pop("oneroster.version", "")
    if known.pop("manifest.version", "") != "1.0" or version not in COLUMNS:
        book.errors.append("versions")
        return "1.1", {}
    modes = {name.removeprefix("file."): known.pop(name) for name in list(known) if name.startswith("file.")}
    if set(modes) != {*COLUMNS[version], *ABSENT[version].split()}:
        book.errors.append("the manifest does not name each file")
    if set(known) - {"source.systemName", "source.systemCode"}:
        book.errors.append(f"properties {sorted(known)}")
    if set(modes.values()) - {"absent", "bulk", "delta"}:
        book.errors.append("modes")
    return version, modes


def _table(data: bytes, what: tuple[str, str, str], book: Gradebook) -> Rows:
    version, name, mode = what
    header, *rows = _parsed(data, book)
    if header != (START + COLUMNS[version].get(name, "")).split(","):
        book.errors.append(f"{name}: the header is {header}")
        return []
    table = []
    for row in rows:
        if len(row) != len(header):
            book.errors.append(f"{name}: {row} has {len(row)} cells")
            continue
        cells = dict(zip(header, row, strict=True))
        table.append(cells)
        book.errors += [f"{name} {cells['sourcedId']}: {problem}" for problem in _problems(name, mode, cells)]
    ids = [cells["sourcedId"] for cells in table]
    book.errors += [f"{name}: {one} is there twice" for one in ids if ids.count(one) > 1]
    return table


def _problems(name: str, mode: str, cells: dict[str, str]) -> list[str]:
    problems = []
    for column, cell in cells.items():
        required = column == "sourcedId" or column in REQUIRED[name].split()
        if not cell:
            problems += [f"no {column}"] if required else []
            continue
        parts = cell.split(",") if column.endswith("Ids") else [cell]
        if (column == "sourcedId" or column in REFERS) and not all(
            re.fullmatch(r"[0-9A-Za-z._/@-]{1,255}", part) for part in parts
        ):
            problems.append(f"{column} {cell!r} is no id")
        if column.endswith("Date") and str(date.fromisoformat(cell)) != cell:
            problems.append(f"{column} {cell!r} is no day")
        if (name, column) in WORDS and cell not in WORDS[name, column].split():
            problems.append(f"{column} {cell!r} is no word of the standard")
    return problems + _state(mode, cells)


def _state(mode: str, cells: dict[str, str]) -> list[str]:
    if mode == "bulk":
        return ["status in bulk mode"] if cells["status"] or cells["dateLastModified"] else []
    if cells["status"] not in {"active", "tobedeleted"}:
        return ["no status in delta mode"]
    when = cells["dateLastModified"]
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", when):
        return [f"{when!r} is no moment"]
    return []


def _references(book: Gradebook) -> None:
    ids = {name: {row["sourcedId"] for row in rows} for name, rows in book.tables.items()}
    for name, rows in book.tables.items():
        for row in rows:
            for column, target in REFERS.items():
                known = ids.get(target or name, set())
                missing = [one for one in row.get(column, "").split(",") if one and one not in known]
                book.errors += [f"{name} {row['sourcedId']}: {column} {one} is nowhere" for one in missing]


def _results(book: Gradebook) -> None:
    items = {row["sourcedId"]: row for row in book.tables["lineItems"]}
    users = {row["sourcedId"]: row["username"] for row in book.tables["users"]}
    for row in book.tables["results"]:
        item = items[row["lineItemSourcedId"]]
        place = (item["title"], users[row["studentSourcedId"]])
        status = row["scoreStatus"]
        if status not in STATUSES or place in book.results:
            book.errors.append(f"{place}: {status!r}, or a second result")
        if (status in {"fully graded", "partially graded"}) != bool(row["score"]):
            book.errors.append(f"{place}: {status!r} with the score {row['score']!r}")
        if row["score"] and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", row["score"]):
            book.errors.append(f"{row['score']!r} is no number")
            continue
        book.results[place] = (status, Decimal(row["score"]) if row["score"] else None)
