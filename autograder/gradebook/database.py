"""The connection to nbgrader's gradebook: its tables by reflection, its failures told."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import MetaData, Table, create_engine, event, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from autograder.errors import GradebookError, GradebookLockedError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Column, Connection, Engine, Select
    from sqlalchemy.engine import Row

SCHEMA = "e43177bfe90b"
"""The revision of nbgrader 0.9's gradebook."""

VERSIONS = "alembic_version"
TABLES = (
    "assignment",
    "notebook",
    "base_cell",
    "grade_cells",
    "task_cells",
    "student",
    "submitted_assignment",
    "submitted_notebook",
    "grade",
    "comment",
)
INDEXED = (
    ("grade", "notebook_id"),
    ("comment", "notebook_id"),
    ("submitted_notebook", "assignment_id"),
    ("base_cell", "notebook_id"),
)
BUSY_S = 30
"""Seconds to wait for another program that writes."""
WRITERS = 7_261_042
"""The lock of PostgreSQL that the kit's writers take in turn: any number, always the same."""
BUSY = ("locked", "deadlock", "lock timeout", "could not serialize")
# Databases limit the values in one statement.
_AT_A_TIME = 500


class Database:
    """
    An open gradebook.

    Parameters
    ----------
    db_url : str
        Its SQLAlchemy address.

    Raises
    ------
    GradebookError
        If it does not exist, cannot be reached, or is of another version of
        nbgrader.
    """

    def __init__(self, db_url: str) -> None:
        self._engine = _connect(db_url)
        self.where = self._engine.url.render_as_string()
        self._meta = MetaData()
        self._indexed = False
        try:
            with self._told():
                self._meta.reflect(self._engine, only=lambda name, _: name in {*TABLES, VERSIONS})
            self._check_schema()
        except GradebookError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._engine.dispose()

    def table(self, name: str) -> Table:
        """Return a table by its name."""
        return self._meta.tables[name]

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        with self._told(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes all or nothing; other writers wait."""
        self._add_indexes()
        with self._told(), self._engine.connect() as connection:
            writer = connection.execution_options(autograder_write=True)
            with writer.begin():
                self._wait_for_others(writer)
                yield writer

    def _wait_for_others(self, writer: Connection) -> None:
        if self._engine.dialect.name == "postgresql":
            # Reads decide what is written, so that two graders must not read at once.
            writer.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": WRITERS})

    def _add_indexes(self) -> None:
        # nbgrader looks rows up by these columns and has no index for them, so
        # that every submission would cost more the more there are.
        if self._indexed:
            return
        with self._told(), self._engine.connect() as connection:
            writer = connection.execution_options(autograder_write=True)
            with writer.begin():
                # "If not exists" alone lets two that ask at once both make it.
                self._wait_for_others(writer)
                for table, column in INDEXED:
                    name = f"ix_autograder_{table}_{column}"
                    writer.execute(text(f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})"))
        self._indexed = True

    def assignment(self, connection: Connection, name: str) -> Row[Any]:
        """
        Return the row of an assignment.

        Raises
        ------
        GradebookError
            If there is none; it offers the nearest name.
        """
        rows = self.rows(connection, "assignment", name=name)
        if rows:
            return rows[0]
        known = [row.name for row in self.rows(connection, "assignment")]
        what = f"the gradebook has no assignment {name!r}"
        raise GradebookError(self.where, what, f"{nearest(name, known)} Or release it first.")

    def rows(self, connection: Connection, name: str, /, **where: object) -> list[Row[Any]]:
        """Return the rows of a table that have these values."""
        return list(connection.execute(select(self.table(name)).filter_by(**where)))

    def rows_in(
        self, connection: Connection, query: Select[Any], column: Column[Any], values: Iterable[str]
    ) -> list[Row[Any]]:
        """Return the rows of a query that have any of these values in a column."""
        wanted = list(values)
        parts = (wanted[start : start + _AT_A_TIME] for start in range(0, len(wanted), _AT_A_TIME))
        return [row for part in parts for row in connection.execute(query.where(column.in_(part)))]

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as problem:
            cause = problem.orig if isinstance(problem, DBAPIError) else problem
            if isinstance(problem, IntegrityError) or any(word in str(cause) for word in BUSY):
                # Rows that somebody else has put there meanwhile are found at the next try.
                what = f"is locked by another program for {BUSY_S} s"
                remedy = "Close what else grades or shows this course."
                raise GradebookLockedError(self.where, what, remedy) from problem
            what = f"cannot be used ({cause})"
            raise GradebookError(self.where, what, "Check its address and file.") from problem

    def _check_schema(self) -> None:
        missing = [name for name in TABLES if name not in self._meta.tables]
        if missing:
            what = f"is no gradebook of nbgrader: it has no table {missing[0]}"
            raise GradebookError(self.where, what, "Run `autograder release` to make one.")
        if VERSIONS not in self._meta.tables:
            return
        with self._told(), self._engine.connect() as connection:
            versions = connection.execute(select(self.table(VERSIONS))).scalars().all()
        if versions and versions != [SCHEMA]:
            what = f"is of another version of nbgrader ({', '.join(versions)}, not {SCHEMA})"
            raise GradebookError(self.where, what, "Back it up and run `nbgrader db upgrade`.")


def _connect(db_url: str) -> Engine:
    try:
        engine = create_engine(db_url)
    except (SQLAlchemyError, ImportError) as problem:
        # The address may hold a password, so it is not repeated.
        what = f"is no usable address ({type(problem).__name__})"
        raise GradebookError("CourseDirectory.db_url", what, "Correct it in nbgrader_config.py.") from None
    if engine.dialect.name != "sqlite":
        return engine
    file = Path(engine.url.database or "")
    if not file.is_file():
        raise GradebookError(file, "there is no gradebook", "Run `autograder release` to make one.")
    engine = create_engine(db_url, connect_args={"timeout": BUSY_S})

    # Left alone, sqlite3 opens a transaction at the first write, after the
    # reads that decide what is written: two graders could then undo each other.
    @event.listens_for(engine, "connect")
    def _no_implicit_begin(connection: Any, _record: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("autograder_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine
