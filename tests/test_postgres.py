"""The gradebook on a PostgreSQL server of its own: built, written and read as on SQLite."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from graded_submissions import ASSIGNMENT, DUE, LATE, Submission
from sqlalchemy import create_engine, text

from autograder.course.late import all_points
from autograder.errors import GradebookError
from autograder.gradebook import Entry, Gradebook, Record
from autograder.lms.model import IdKind, Lms, Person
from autograder.release import build_release, check_release
from autograder.scores import StudentScore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.course import Course

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.slow,
    # nbgrader's models warn under this version of SQLAlchemy.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("initdb") is None, reason="there is no PostgreSQL server program"),
    pytest.mark.skipif(find_spec("psycopg") is None, reason="there is no driver for PostgreSQL (psycopg)"),
]
START_S = 30


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Return the address of a server that listens on a file only, up to the name of a database."""
    # The server refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if user is not None:
        shutil.chown(folder, user)
    data = str(folder / "data")
    initdb = ["initdb", "-D", data, "-U", "grader", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]
    subprocess.run(initdb, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)
    process = subprocess.Popen(
        ["postgres", "-D", data, "-k", str(folder), "-c", "listen_addresses=", "-F"],
        user=user,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"postgresql+psycopg://grader@/{{}}?host={folder}"
    try:
        wait_for(address.format("postgres"))
        yield address
    finally:
        # This one ends connections too, where a test has left some.
        process.send_signal(signal.SIGINT)
        process.wait(START_S)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def built(cluster: str, shared_course: Course) -> str:
    """Return the name of a database with the release in it; building it takes nbgrader seconds."""
    url = new_database(cluster, "built")
    with pytest.raises(GradebookError, match="no table assignment"):
        Gradebook(url)
    use(shared_course, url)
    build_release(shared_course, ASSIGNMENT)
    return "built"


@pytest.fixture
def server(cluster: str, built: str, course: Course) -> str:
    """Return the address of a database of this test's own, as it is after a release of the course."""
    url = new_database(cluster, f"test_{uuid4().hex}", f"TEMPLATE {built}")
    use(course, url)
    return url


def new_database(cluster: str, name: str, how: str = "") -> str:
    """Return the address of a new database."""
    engine = create_engine(cluster.format("postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        # A template must have no connections.
        connection.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'built'")
        )
        connection.execute(text(f"CREATE DATABASE {name} {how}"))
    engine.dispose()
    return cluster.format(name)


def use(course: Course, url: str) -> None:
    """Let a course keep its grades there."""
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


def wait_for(url: str) -> None:
    """Wait until the server answers."""
    deadline_s = time.monotonic() + START_S
    engine = create_engine(url)
    while True:
        try:
            engine.connect().close()
        except Exception:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.1)
        else:
            engine.dispose()
            return


def execute(url: str, statement: str, **values: object) -> None:
    """Change the gradebook as another program would."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement), values)
    engine.dispose()


def without_id(score: StudentScore) -> StudentScore:
    """Return a score as if it were anybody's."""
    fields = {name: getattr(score, name) for name in StudentScore.__dataclass_fields__}
    return StudentScore(**(fields | {"student": ""}))


def test_the_whole_way(course: Course, server: str) -> None:
    """Large classes keep their grades on a server."""
    check_release(course, ASSIGNMENT)
    execute(server, "UPDATE assignment SET duedate = :due", due=DUE)
    for _ in range(2):
        Submission("ana", "0.5").store(server, LATE, "zero")
        Submission("ben", "0.5").store_with_nbgrader(server, LATE, "zero")
        Submission("cem", "1", answered=False, missing="exercise3_forward").store(server)

    with Gradebook(server) as gradebook:
        gradebook.enroll("dana", last_name="O'Neil")
        ana, ben, cem, dana = gradebook.scores(ASSIGNMENT)

    assert without_id(ana) == without_id(ben)
    assert [ana.raw_score, ana.penalty, ana.score] == [Decimal(9), Decimal(9), Decimal(0)]
    assert ana.seconds_late == 5400
    assert (cem.score, cem.needs_manual_grade) == (Decimal(10), False)
    assert (dana.submitted, dana.last_name) == (False, "O'Neil")

    execute(server, "UPDATE submitted_assignment SET extension = :more", more=timedelta(hours=1))
    with Gradebook(server) as gradebook:
        assert gradebook.scores(ASSIGNMENT)[0].seconds_late == 1800
        book = gradebook.extensions(ASSIGNMENT)
        book.grant(["ana", "eve"], timedelta(hours=1, minutes=15), lambda: all_points)
    Submission("eve", "0.5").store(server, LATE, "zero")
    with Gradebook(server) as gradebook:
        assert [one.penalty for one in gradebook.scores(ASSIGNMENT)] == [9, 9, 0, 0, 9]
        book = gradebook.extensions(ASSIGNMENT)
        book.grant(["ana", "eve"], timedelta(hours=1, minutes=30), lambda: all_points)
        assert [one.penalty for one in gradebook.scores(ASSIGNMENT)] == [0, 9, 0, 0, 0]
        assert {one.more for one in book.all().values()} == {timedelta(hours=1), timedelta(minutes=90)}


def test_people_of_an_lms(server: str) -> None:
    """Ids, sections and numbers of one assignment come back; the same once more writes nothing."""
    ana = Person(
        lms=Lms.MOODLE,
        student="aruiz",
        name="Ana Ruiz",
        ids={IdKind.SIS: "007", IdKind.PARTICIPANT: "5501"},
        sections=("Red", "Blue"),
    )
    with Gradebook(server) as gradebook:
        for _ in range(2):
            gradebook.enroll_people([ana], ASSIGNMENT)
        known = [one for one in gradebook.people(ASSIGNMENT) if one.student == "aruiz"]
        elsewhere = [one for one in gradebook.people() if one.lms == Lms.MOODLE]

    assert [one.lms for one in known] == [Lms.PLAIN, Lms.MOODLE]
    assert known[1] == ana
    assert [dict(one.ids) for one in elsewhere] == [{IdKind.SIS: "007"}]


def test_several_graders_at_one_time(server: str) -> None:
    """They store the same students again and again; none fails, and nothing is there twice."""
    entries = [Entry(Submission(f"s{number}").result, fingerprint="f") for number in range(12)]

    def store(seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311 - a repeatable order
        with Gradebook(server) as gradebook:
            for _ in range(5):
                gradebook.store_many(rng.sample(entries, 8))
                gradebook.store_failures(
                    ASSIGNMENT, {f"s{rng.randrange(12)}": Record("g", "why", graded=False)}
                )
            gradebook.store_many(rng.sample(entries, 12))

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(store, range(4)))

    with Gradebook(server) as gradebook:
        scores = gradebook.scores(ASSIGNMENT)
        records = gradebook.records(ASSIGNMENT)
    assert {score.raw_score for score in scores} == {Decimal(9)}
    assert len(scores) == len(records) == 12
