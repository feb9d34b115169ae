"""Doubts of a report: which are told, and in which words; and coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import SAME_QUALITY, Report
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import ComparedMetric, Comparison
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.judgement import mark_perhaps
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.notes import Doubt, coverage, doubts, quiet_times
from stepgrid.summarize.setup import Defaults
from stepgrid.summarize.statistics.confidence_intervals import holm_limit
from tests.summarize import made


def told(sections: Iterable[Section] = (), comparisons: Sequence[Comparison] = (), **known: Any) -> list[Doubt]:
    header = SimpleNamespace(warnings=known.get("planned", ()), report=known.get("report", Report()))
    setup: Any = SimpleNamespace(
        scale=known.get("scale"),
        builds=known.get("builds", {}),
        effect=0.02,
        defaults=known.get("defaults"),
        hardware=known.get("hardware", {}),
        loads=(5, 5),
        spec="a.yaml",
        request=None,
        metric=ComparedMetric(),
    )
    tables = replace(made.tables(known.get("runs", ())), facts=known.get("facts", {}))
    return list(doubts(header, setup, tables, list(sections), mark_perhaps(comparisons, 0.02)))  # type: ignore[arg-type]


# Builds


def build(name: str, quality: Mapping[str, Any] | None = None, **fields: Any) -> Build:
    return Build(name, name, quality={"route": "debian"} if quality is None else quality, **fields)


def differing(*builds: Build, **report: Any) -> list[tuple[str, str]]:
    found = told(builds={each.id: each for each in builds}, report=Report(**report))
    return [(doubt.brief, doubt.text) for doubt in found]


def test_builds_that_were_made_differently() -> None:
    suites = [build(suite, {"route": "debian", "suite": suite}) for suite in ("bullseye", "bookworm", "trixie")]
    names = "suite bullseye / bookworm / trixie"
    brief = "packages of 3 suites"
    assert differing(suites[0]) == []
    assert differing(*suites) == [(brief, f"builds are compared as shipped, though made differently: {names}")]
    text = f"builds that were made differently get no verdict against each other: {names}"
    assert differing(*suites, strict=SAME_QUALITY) == [(brief, text)]
    text = f"builds are compared as shipped (products), though made differently: {names}"
    assert differing(*suites, as_shipped="products", strict=SAME_QUALITY) == [(brief, text)]


def test_builds_without_a_verdict() -> None:
    known = {"route": "debian", "suite": "trixie", "assertions": True}
    fast = build("b", {**known, "suite": "sid", "assertions": False})
    assert differing(build("a", known), fast) == [
        ("assertions differ", "builds that differ in this get no verdict against each other: assertions yes / no"),
        ("packages of 2 suites", "builds are compared as shipped, though made differently: suite trixie / sid"),
    ]
    lost = replace(build("c"), quality=None)
    ((_, text),) = differing(build("a"), lost)
    assert text.endswith("get no verdict against each other: it is not recorded how some of them were made")
    servers = [build(name, {"route": "server", "server": name}, client=True) for name in ("prod", "test")]
    ((_, text),) = differing(*servers)
    assert text == "clients that were made differently get no verdict against each other: server prod / test"


def test_changed_defaults_are_counted() -> None:
    rows = (("format_version", ("5", "6", "7")), ("wal", ("1", "1", "2")))
    (doubt,) = told(defaults=Defaults("old", ("mid", "new"), rows))
    assert doubt.text == (
        "1 option default changed by mid, 2 by new against old (listed below); ratios between builds include them"
    )


# Runs and results


# Steps


# Many comparisons


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.002]), min_size=1))
def test_the_limit_is_that_of_holms_procedure(chances: list[float]) -> None:
    """A chance holds if it does after each is multiplied by how many are no smaller."""
    ranked = sorted(chances)
    adjusted = [max((len(ranked) - at) * ranked[at] for at in range(rank + 1)) for rank in range(len(ranked))]
    holding = [value for value, after in zip(ranked, adjusted, strict=True) if after <= 0.05]
    assert holm_limit(chances, 0.05) == max(holding, default=0.0)


# Coverage and waits


def test_coverage_counts_shared_runs_once_and_groups_reasons() -> None:
    failed = [replace(made.run("x", load, 1.0), status="failed", reason="killed", log=f"{load}.log") for load in (1, 2)]
    found = coverage(
        [made.run("x", 0, 1.0), made.run("x", 0, 1.0), *failed, replace(made.run("y", 0, 1.0), measured=False)]
    )
    assert (found.total, found.incomplete, found.counts["done"]) == (3, 2, 1)
    (trouble,) = found.troubles
    assert (trouble.status, trouble.reason, trouble.runs, trouble.logs) == ("failed", "killed", 2, ("1.log", "2.log"))


def test_times_until_builds_were_quiet() -> None:
    def run(build: str, seconds: float | None, **fields: Any) -> Run:
        metrics = {} if seconds is None else {"quiesce_seconds": seconds}
        fields = {"step": "settle", "kind": "quiesce", **fields}
        return replace(made.run("a", 0, 1.0), build=build, metrics=metrics, **fields)

    runs = [run("innodb", 2.0), run("innodb", 3.0), run("innodb", 9.0), run("mysql", None), run("mysql", 0.25)]
    others = [run("innodb", 1.0, same_as="c-1"), run("mysql", None, attempt=None), run("mysql", 1.0, kind="sql")]
    assert list(quiet_times([*runs, *others, run("postgres", None, step="settle.post")])) == [
        "settle: innodb 3.00 s, mysql 0.250 s; not in time: mysql",
        "settle.post: not in time: postgres",
    ]
