"""The limit of many comparisons, coverage and waits; doubts in words are in reports.yaml."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.records import replace
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.notes import coverage, quiet_times
from stepgrid.summarize.statistics.confidence_intervals import holm_limit
from tests.summarize import made


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.002]), min_size=1))
def test_the_limit_is_that_of_holms_procedure(chances: list[float]) -> None:
    """A chance holds if it does after each is multiplied by how many are no smaller."""
    ranked = sorted(chances)
    adjusted = [max((len(ranked) - at) * ranked[at] for at in range(rank + 1)) for rank in range(len(ranked))]
    holding = [value for value, after in zip(ranked, adjusted, strict=True) if after <= 0.05]
    assert holm_limit(chances, 0.05) == max(holding, default=0.0)


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
