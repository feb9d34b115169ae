"""A sweep of a real engine: the same thing twice makes no difference, something slow does."""

from __future__ import annotations

from typing import Any

import duckdb

from tests.integration.conftest import SPEC

VERDICTS = ("faster", "slower", "same", "inconclusive")


def test_no_verdict_of_a_difference_for_the_same_and_one_for_a_slow_arm(lab: Any) -> None:
    slow = "\n      slow: {options: {use_direct_reads: true, cache_size: 1KiB}}\nrepeat: 3"
    text = SPEC.replace("\nrepeat: 2", slow).replace(", cache_size: 32MiB", "").replace("keys: 20k", "keys: 50k")
    lab.write(text)
    run = lab.run()
    assert run.returncode == 0, run.stderr
    said = {
        arm: verdict
        for arm in ("large", "slow")
        for verdict in VERDICTS
        if f"{arm} against bits=small: {verdict}" in run.stdout
    }
    assert said["slow"] == "slower", run.stdout
    assert said["large"] in ("same", "inconclusive"), run.stdout

    (table,) = (lab.folder / "outputs" / "summary").glob("*/tables/steps.parquet")
    rows = duckdb.sql(f"select step, count(*), count(qps) from '{table}' group by step order by step").fetchall()
    assert rows == [("fillseq", 9, 9), ("readrandom", 9, 9)]
