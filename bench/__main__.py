"""
`make bench`: the kit and nbgrader side by side on this machine, in one run.

Every figure is measured here and now; nothing is timed as a test. Each figure
is shown as the least, the middle and the most of its repetitions. Ratios are
made of the two runs of the same repetition, which the same other load slows.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.sandbox.wall import probe
from bench import feedback, gradebooks, runs, unchanged
from bench.courses import copy_of, facts, hand_in, make_course

if TYPE_CHECKING:
    from autograder.course.course import Course

RIGHT = 18.0
"""What a right submission earns automatically."""

PAGES = 1000
"""Students whose feedback is written."""

UNCHANGED = 1000
"""Students whose submission is graded and has not changed."""


@dataclass(slots=True)
class Table:
    """Figures by what they are of, each with those of every repetition."""

    figures: dict[str, list[float]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, value: float, unit: str) -> None:
        """Add the figure of one repetition."""
        self.figures.setdefault(what, []).append(value)
        self.units[what] = unit

    def show(self) -> None:
        """Print a line for each figure."""
        width = max(map(len, self.figures))
        say(f"{'':{width}}  {'min':>9} {'median':>9} {'max':>9}")
        for what, values in self.figures.items():
            spread = (min(values), statistics.median(values), max(values))
            numbers = " ".join(f"{value:9.3g}" if value < 100 else f"{value:9.0f}" for value in spread)  # noqa: PLR2004
            say(f"{what:{width}}  {numbers} {self.units[what]}")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many submissions each run has."""

    kit: int
    nbgrader: int
    large: int
    slot: int


def say(text: str = "") -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(prog="bench", description="The kit and nbgrader side by side.")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions (default 3)")
    parser.add_argument("--full", action="store_true", help="also 2,000 submissions against 100")
    parser.add_argument("--only", choices=("plain", "lesson"), help="one of the two kinds of submissions")
    options = parser.parse_args()
    start_s = time.monotonic()
    machine()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        if options.only != "lesson":
            large = 2000 if options.full else 0
            kind(Path(scratch) / "plain", options.repeat, Sizes(100, 3, large, 20), pictures=False)
        if options.only != "plain":
            kind(Path(scratch) / "lesson", options.repeat, Sizes(16, 1, 0, 4), pictures=True)
    say(f"\nmeasured in {time.monotonic() - start_s:.0f} s; load at the end {load()}")


def machine() -> None:
    """Print what the figures are of."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    say(f"{platform.platform()}, {cores} cores ({processor()}), Python {platform.python_version()}")
    say(", ".join(f"{name} {version(name)}" for name in ("autograder", "nbgrader", "numpy", "ipython")))
    say(f"sandbox: tier {probe().tier}; load before {load()}")


def processor() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")


def load() -> str:
    """Return what else the machine did in the last minute, in busy cores."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def kind(root: Path, repeat: int, sizes: Sizes, *, pictures: bool) -> None:
    """Measure one kind of submissions and print its table."""
    base = make_course(root / "base", pictures=pictures)
    seed = root / "seed.db"
    seed.write_bytes(base.gradebook.read_bytes())
    few, one = (_with(base, root / name, count) for name, count in (("few", sizes.nbgrader + 1), ("one", 1)))
    stocks = [copy_of(course, root / f"stock-{course.root.name}", stock=True) for course in (one, few)]
    kit = _with(base, root / "kit", max(sizes.kit, sizes.slot + 1))
    say(f"\n{'the lesson as it is' if pictures else 'the lesson without pictures'}: {facts(base)}")
    table = Table()
    for number in range(1, repeat + 1):
        say(f"repetition {number} of {repeat}; load {load()}")
        theirs_cpu_s = side_by_side(table, kit, stocks, seed)
        walls(table, kit, sizes.slot, theirs_cpu_s)
    if pictures:
        pages(table, base, root / "pages", repeat)
    else:
        books(table, kit, seed, repeat)
    if sizes.large:
        large_class(table, _with(base, root / "large", sizes.large), kit, seed)
    if not pictures:
        # The last, for it makes the class a large one.
        nothing_new(table, kit, repeat)
    say()
    table.show()


def _with(base: Course, root: Path, count: int) -> Course:
    course = copy_of(base, root)
    hand_in(course, count)
    return course


def side_by_side(table: Table, kit: Course, stocks: list[Course], seed: Path) -> float:
    """Run both commands on right submissions; return nbgrader's processor time for one, in seconds."""
    stock_runs = []
    for course in stocks:
        runs.forget(course, seed)
        stock_runs.append(runs.nbgrader(course))
    one, few = stock_runs
    more = len(list((stocks[1].root / "submitted").iterdir())) - 1
    # Without its start, which takes seconds: in nbgrader's favour.
    theirs = more / (few.elapsed_s - one.elapsed_s)
    rates = {}
    for jobs in (2, 1):
        runs.forget(kit, seed)
        run = runs.autograder(kit, jobs=jobs)
        if run.scores != {RIGHT} or few.scores != {RIGHT}:
            raise SystemExit(f"scores differ: {run.scores} and {few.scores}, not {RIGHT}")
        count = len(list((kit.root / "submitted").iterdir()))
        rates[jobs] = count / run.elapsed_s
        warm = (count - 1) / (run.elapsed_s - run.first_s)
        table.add(f"autograder grade, {jobs} slots, its start included", rates[jobs], "submissions/s")
        table.add(f"autograder grade, {jobs} slots, from the first result on", warm, "submissions/s")
        if jobs == 2:  # noqa: PLR2004 - as many as cores
            table.add("RATIO the same, our start left out too", warm / theirs, "times")
        table.add(f"autograder grade, {jobs} slots: start to first stored result", run.first_s, "s")
        for role in ("command", "grader"):
            peak = max((mib for name, mib in run.peak_mib.items() if name.startswith(role)), default=0.0)
            table.add(f"peak memory of the {role}, {count} submissions, {jobs} slots", peak, "MiB")
    table.add("nbgrader autograde, its start left out", theirs, "submissions/s")
    table.add("nbgrader autograde: start to the end of one submission", one.elapsed_s, "s")
    table.add("RATIO autograder with 2 slots to nbgrader", rates[2] / theirs, "times")
    table.add("RATIO two slots to one", rates[2] / rates[1], "times")
    theirs_cpu_s = (few.cpu_s - one.cpu_s) / more
    table.add("nbgrader autograde: processor time", theirs_cpu_s * 1000, "ms a submission")
    return theirs_cpu_s


def walls(table: Table, course: Course, count: int, theirs_cpu_s: float) -> None:
    """Grade behind the wall and without one; processor time does not depend on what else runs."""
    best = str(probe().tier)
    cost_s, cpu_s = {}, {}
    for tier in (best, "C"):
        cost_s[tier], cpu_s[tier] = runs.in_one_process(course, tier=tier, count=count)
        name = f"tier {tier}" + (" (no wall)" if tier == "C" else "")
        table.add(f"one slot, warm, {name}", cost_s[tier] * 1000, "ms a submission")
        table.add(f"one slot, warm, {name}: processor time", cpu_s[tier] * 1000, "ms a submission")
    table.add("RATIO with the wall to without", cost_s[best] / cost_s["C"], "times")
    table.add("RATIO with the wall to without, processor time", cpu_s[best] / cpu_s["C"], "times")
    table.add("RATIO nbgrader to autograder, processor time", theirs_cpu_s / cpu_s[best], "times")


def books(table: Table, course: Course, seed: Path, repeat: int) -> None:
    """Write into the gradebook what was graded."""
    for _ in range(repeat):
        ours_s = gradebooks.by_the_kit(course, seed, count=500, group=50)
        alone_s = gradebooks.by_the_kit(course, seed, count=50, group=1)
        theirs_s = gradebooks.by_nbgrader(course, seed, count=10)
        table.add("gradebook, the kit, in groups of 50", ours_s * 1000, "ms a submission")
        table.add("gradebook, the kit, one by one", alone_s * 1000, "ms a submission")
        table.add("gradebook, nbgrader's interface", theirs_s * 1000, "ms a submission")
        table.add("RATIO nbgrader's interface to the kit in groups", theirs_s / ours_s, "times")


def nothing_new(table: Table, course: Course, repeat: int) -> None:
    """Grade a large class again in which nothing has changed."""
    unchanged.grow(course, UNCHANGED)
    for _ in range(repeat):
        ours_s, theirs_s = unchanged.again(course)
        table.add(f"autograder grade, {UNCHANGED} submissions that have not changed", ours_s, "s")
        table.add(f"nbgrader autograde, {UNCHANGED} submissions that have not changed", theirs_s, "s")
        table.add("RATIO nbgrader to autograder where nothing has changed", theirs_s / ours_s, "times")


def pages(table: Table, base: Course, root: Path, repeat: int) -> None:
    """Write feedback with pictures for a large class."""
    for number in range(repeat):
        elapsed_s, cpu_s, mib = feedback.write_class(base, root / str(number), PAGES)
        table.add(f"autograder feedback, {PAGES} students, 2 processes", elapsed_s, "s")
        table.add(f"autograder feedback, {PAGES} students: processor time", cpu_s, "s")
        table.add(f"autograder feedback, {PAGES} students: written", mib, "MiB")
        shutil.rmtree(root / str(number))


def large_class(table: Table, large: Course, small: Course, seed: Path) -> None:
    """Grade a large class and a small one."""
    costs = {}
    for course in (small, large):
        count = len(list((course.root / "submitted").iterdir()))
        runs.forget(course, seed)
        run = runs.autograder(course, jobs=2)
        costs[count] = (run.elapsed_s - run.first_s) / (count - 1)
        table.add(f"{count} submissions, from the first result on", costs[count] * 1000, "ms a submission")
        for name, mib in run.peak_mib.items():
            table.add(f"peak memory of the {name.split()[0]}s, {count} submissions", mib, "MiB")
    table.add(f"RATIO cost at {max(costs)} to {min(costs)}", costs[max(costs)] / costs[min(costs)], "times")


if __name__ == "__main__":
    main()
