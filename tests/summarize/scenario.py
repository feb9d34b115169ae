"""The scenario of the report's tests: something of every status, with figures that are easy to check by hand."""

import re

from stepgrid.collect.job import collect
from stepgrid.model.records import replace
from stepgrid.store.store import SummaryFiles
from stepgrid.summarize.report_files import read_report, write_report
from tests.summarize.synthetic import ASSERTIONS, Experiment

OLD, NEW = "rocksdb-6.11.4", "rocksdb-7.8.3"
LEVELS = (1.0, 1.01, 0.99)


def experiment(root, **said):
    """6.11.4 lacks hyper; in 7.8.3 hyper is 1.5 times as fast with 1 thread, failed or not run with 2."""
    found = Experiment(root, builds=(OLD, NEW), **said)
    found.add_build(OLD, warnings=[ASSERTIONS])
    found.add_build(NEW)
    for load, level in enumerate(LEVELS):
        for build in (OLD, NEW):
            found.add_load(build, load, 300_000 * level)
            for threads in ("1", "2"):
                rate = 10_000 * level * int(threads)
                found.add(build, "lru", threads, load, {"readww": rate, "overwrite": [2 * rate] * 9 + [rate / 10]})
        for threads in ("1", "2"):
            found.add_unsupported(OLD, "hyper", threads, load, f"{OLD} has no option cache_type")
        found.add(NEW, "hyper", "1", load, {"readww": 15_000 * level, "overwrite": 20_000 * level})
    found.add_failure(found.stage(NEW, "hyper", "2", 0), "db_bench was killed by SIGKILL")
    return found


def report(found):
    for reading in found.store.root.glob("results/*/*/figures.*"):  # results are edited by hand here
        reading.unlink()
    collect(found.store, found.plan)
    made = read_report(found.store, found.plan.digest)
    write_report(found.store, made)
    return made


def text(found):
    """The summary with attempts' times taken out."""
    text = SummaryFiles.of(found.store, "p-synthetic").text.read_text(encoding="utf-8")
    return re.sub(r"\d{8}T[\d.]+Z", "TIME", text)


def altered(report, **fields):
    """Return a report with other fields of its parts."""
    for name, value in fields.items():
        part = next(
            part for part in ("setup", "comparisons", "notes", "tables", "data") if hasattr(getattr(report, part), name)
        )
        report = replace(report, **{part: replace(getattr(report, part), **{name: value})})
    return report
