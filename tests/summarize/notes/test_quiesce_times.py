from __future__ import annotations

from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.notes.quiesce_times import waits


def run(build: str, seconds: float | None, **more: object) -> Run:
    fields = dict.fromkeys(Run.__dataclass_fields__)
    metrics = {} if seconds is None else {"quiesce_seconds": seconds}
    told = {"step": "settle", "kind": "quiesce", "build": build, "attempt": "a", "metrics": metrics, **more}
    return Run(**{**fields, **told})


def test_a_row_for_each_step_that_waits() -> None:
    runs = [run("innodb", 2.0), run("innodb", 3.0), run("innodb", 9.0), run("mysql", None), run("mysql", 0.25)]
    others = [run("innodb", 1.0, same_as="c-1"), run("mysql", None, attempt=None), run("mysql", 1.0, kind="sql")]
    last = run("postgres", None, step="settle.post")
    assert list(waits([*runs, *others, last])) == [
        "settle: innodb 3.00 s, mysql 0.250 s; not in time: mysql",
        "settle.post: not in time: postgres",
    ]
    assert list(waits([])) == []
