"""Columns of OneRoster's files in its two versions, in the order that the standard lists them."""

from __future__ import annotations

_ROW = ("sourcedId", "status", "dateLastModified")

_BOTH: dict[str, tuple[str, ...]] = {
    "academicSessions": (
        *_ROW,
        *("title", "type", "startDate", "endDate", "parentSourcedId", "schoolYear"),
    ),
    "orgs": (*_ROW, "name", "type", "identifier", "parentSourcedId"),
    "courses": (
        *_ROW,
        *("schoolYearSourcedId", "title", "courseCode", "grades", "orgSourcedId", "subjects", "subjectCodes"),
    ),
    "classes": (
        *_ROW,
        *("title", "grades", "courseSourcedId", "classCode", "classType", "location", "schoolSourcedId"),
        *("termSourcedIds", "subjects", "subjectCodes", "periods"),
    ),
    "enrollments": (
        *_ROW,
        *("classSourcedId", "schoolSourcedId", "userSourcedId", "role", "primary", "beginDate", "endDate"),
    ),
}

_PERSON = (
    *("userIds", "givenName", "familyName", "middleName", "identifier", "email", "sms", "phone"),
    *("agentSourcedIds", "grades", "password"),
)
_ITEM = ("title", "description", "assignDate", "dueDate", "classSourcedId", "categorySourcedId")
_RESULT = ("lineItemSourcedId", "studentSourcedId", "scoreStatus", "score", "scoreDate", "comment")

HEADERS: dict[str, dict[str, tuple[str, ...]]] = {
    "1.1": _BOTH
    | {
        "users": (*_ROW, "enabledUser", "orgSourcedIds", "role", "username", *_PERSON),
        "categories": (*_ROW, "title"),
        "lineItems": (*_ROW, *_ITEM, "gradingPeriodSourcedId", "resultValueMin", "resultValueMax"),
        "results": (*_ROW, *_RESULT),
    },
    "1.2": _BOTH
    | {
        "users": (
            *(*_ROW, "enabledUser", "username", *_PERSON, "userMasterIdentifier", "preferredGivenName"),
            *("preferredMiddleName", "preferredFamilyName", "primaryOrgSourcedId", "pronouns"),
        ),
        "roles": (
            *(*_ROW, "userSourcedId", "roleType", "role", "beginDate", "endDate", "orgSourcedId"),
            "userProfileSourcedId",
        ),
        "categories": (*_ROW, "title", "weight"),
        "lineItems": (
            *(*_ROW, *_ITEM, "academicSessionSourcedId", "resultValueMin", "resultValueMax"),
            "schoolSourcedId",
        ),
        "results": (
            *(*_ROW, *_RESULT, "textScore", "classSourcedId", "inProgress", "incomplete", "late", "missing"),
        ),
    },
}
"""By version and file, its columns."""

UNUSED: dict[str, tuple[str, ...]] = {
    "1.1": ("classResources", "courseResources", "demographics", "resources"),
    "1.2": (
        *("classResources", "courseResources", "demographics", "lineItemLearningObjectiveIds"),
        *("lineItemScoreScales", "resources", "resultLearningObjectiveIds", "resultScoreScales"),
        *("scoreScales", "userProfiles", "userResources"),
    ),
}
"""Files that the manifest must name, too, and that are absent."""
