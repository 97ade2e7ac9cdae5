"""
Open edX's own importers of grades, run by themselves: a line of JSON in, a line of JSON out.

It runs in a virtual environment of its own (`make openedx`), never in the kit's, and knows
nothing of the kit. What edx-platform itself would bring is put in by name here: its grades,
cohorts and tables of scores, as far as the importers ask for them.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import sys
import tempfile
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

COURSE = "course-v1:TestX+T1+2026"
BLOCK = "block-v1:TestX+T1+2026+type@staffgradedxblock+block@hw1"

GRADES: dict[tuple[int, str], Any] = {}
"""By user and block of a subsection: what was earned, and the override if there is one."""


def put_in(name: str, **attributes: Any) -> ModuleType:
    """Make a module, and the packages on the way to it, to be found by import."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        path = ".".join(parts[:depth])
        if path not in sys.modules:
            module = ModuleType(path)
            module.__path__ = [tempfile.gettempdir()]
            sys.modules[path] = module
            if depth > 1:
                setattr(sys.modules[".".join(parts[: depth - 1])], parts[depth - 1], module)
    for attribute, value in attributes.items():
        setattr(sys.modules[name], attribute, value)
    return sys.modules[name]


def location(key: str) -> Any:
    """Return the key of a subsection's block."""
    keys = import_module("opaque_keys.edx.keys")
    return keys.UsageKey.from_string(f"block-v1:TestX+T1+2026+type@sequential+block@{key}")


def override(user: str, _course: str, block: str, *, earned_graded: float, **_: Any) -> None:
    """Keep an override, as the grades of the platform do."""
    GRADES.setdefault((int(user), block), SimpleNamespace(earned_graded=0.0)).override = SimpleNamespace(
        earned_graded_override=earned_graded
    )


def grades_of(user: int, _course: Any) -> dict[Any, Any]:
    """Return the grades of a user by the key of the subsection."""
    keys = import_module("opaque_keys.edx.keys")
    return {keys.UsageKey.from_string(block): grade for (one, block), grade in GRADES.items() if one == user}


def set_up() -> Any:
    """Start Django with what the importers need, and return their module."""
    conf = import_module("django.conf")
    conf.settings.configure(
        SECRET_KEY="of a test",  # noqa: S106 - nothing is signed
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=[
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "courseware",
            "super_csv",
            "bulk_grades",
        ],
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
    )
    task = SimpleNamespace(apply_async=lambda **_: None)
    factory = SimpleNamespace(read=lambda *_, **__: SimpleNamespace(percent=0.5))
    put_in(
        "lms.djangoapps.grades.api",
        task_compute_all_grades_for_course=task,
        override_subsection_grade=override,
        get_subsection_grades=grades_of,
        prefetch_course_and_subsection_grades=lambda *_: None,
        CourseGradeFactory=lambda: factory,
    )
    cohort = {"get_cohort": lambda *_, **__: None}
    put_in("openedx.core.djangoapps.course_groups.cohorts", **cohort)
    put_in("courseware")
    import_module("django").setup()
    make_tables()
    return import_module("bulk_grades.api")


def make_tables() -> None:
    """Make the table of scores that edx-platform would have, and those of the importers."""
    models = import_module("django.db.models")
    stamped = import_module("model_utils.models").TimeStampedModel
    meta = type("Meta", (), {"app_label": "courseware"})
    module = type(
        "StudentModule",
        (stamped,),
        {
            "__module__": "courseware",
            "Meta": meta,
            "student_id": models.IntegerField(),
            "course_id": models.TextField(),
            "module_state_key": models.TextField(),
            "module_type": models.TextField(default="problem"),
            "grade": models.FloatField(null=True),
            "max_grade": models.FloatField(null=True),
            "state": models.TextField(null=True),
        },
    )
    overrider = import_module("bulk_grades.models").ScoreOverrider
    content_type = import_module("django.contrib.contenttypes.models").ContentType
    auth = import_module("django.contrib.auth.models")
    with import_module("django.db").connection.schema_editor() as editor:
        for model in (content_type, auth.Permission, auth.Group, auth.User, module, overrider):
            editor.create_model(model)


class Server:
    """One course, its staff-graded problem and its gradebook."""

    def __init__(self) -> None:
        self.api = set_up()
        self.people: list[dict[str, Any]] = []
        self.titles: dict[str, str] = {}
        self.max_points = 10.0
        self.api._get_enrollments = lambda *_, **__: iter(self.enrolled())
        grades = sys.modules["lms.djangoapps.grades.api"]
        grades.graded_subsections_for_course_id = lambda _: [  # type: ignore[attr-defined]
            SimpleNamespace(location=location(key), display_name=title, format="Homework")
            for key, title in self.titles.items()
        ]

    def enrolled(self) -> list[dict[str, Any]]:
        """Return who is in the course, as the platform's tables say it."""
        return [
            {
                "user": SimpleNamespace(id=one["user_id"], username=one["username"]),
                "user_id": one["user_id"],
                "username": one["username"],
                "full_name": one["full_name"],
                "student_uid": one["student_uid"],
                "enrolled": True,
                "track": "masters",
            }
            for one in self.people
        ]

    def start(
        self,
        people: list[dict[str, Any]],
        title: str,
        max_points: float,
        points: dict[str, float],
        subsections: dict[str, str],
    ) -> None:
        """Begin with other people, and points that they have in the problem."""
        self.people, self.titles, self.max_points = people, subsections, max_points
        self.title = title
        GRADES.clear()
        self.table().objects.all().delete()
        for user, score in points.items():
            self.api.set_score(BLOCK, int(user), score, max_points)

    def grade(self, user: str, key: str, points: float) -> None:
        """Let a user earn points in a subsection."""
        GRADES[int(user), str(location(key))] = SimpleNamespace(earned_graded=points)

    def table(self) -> Any:
        """Return the model of the platform's scores."""
        return import_module("django.apps").apps.get_model("courseware", "StudentModule")

    def processor(self, kind: str) -> Any:
        """Return an importer that keeps no record of what it does: that would want a broker."""
        base = {"points": self.api.ScoreCSVProcessor, "overrides": self.api.GradeCSVProcessor}[kind]
        quiet = type(
            base.__name__, (base,), {"save": lambda *_, **__: SimpleNamespace(id=1), "size_to_defer": 10**9}
        )
        if kind == "points":
            return quiet(block_id=BLOCK, max_points=self.max_points, display_name=self.title)
        return quiet(course_id=COURSE)

    def download(self, kind: str) -> str:
        """Return the file that an instructor downloads, as base64."""
        return base64.b64encode("".join(self.processor(kind).get_iterator()).encode()).decode()

    def upload(self, kind: str, data: str) -> dict[str, Any]:
        """Take a file, and return what the importer says of it."""
        file = io.BytesIO(base64.b64decode(data))
        file.size = len(file.getvalue())  # type: ignore[attr-defined]
        processor = self.processor(kind)
        try:
            processor.process_file(file)
        except Exception as error:  # noqa: BLE001 - it is what the importer makes of the file
            return {"errors": [f"{type(error).__name__}: {error}"], "results": []}
        results = [[row.get("user_id"), row["status"], row["error"]] for row in processor.result_data]
        return {"errors": processor.status()["error_messages"], "results": results}

    def points(self) -> dict[str, float]:
        """Return everybody's points in the problem."""
        return {str(row.student_id): row.grade for row in self.table().objects.all()}

    def grades(self) -> dict[str, float]:
        """Return everybody's effective grades, by user and block."""
        return {
            f"{user} {block.rpartition('@')[2]}": grade.override.earned_graded_override
            if hasattr(grade, "override")
            else grade.earned_graded
            for (user, block), grade in GRADES.items()
        }


def main() -> None:
    """Answer until there are no more lines."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        server = Server()
        for line in sys.stdin:
            name, arguments = json.loads(line)
            out.write(json.dumps(getattr(server, name)(*arguments)) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
