"""A sweep of a real engine: the same thing twice makes no difference, something slow does."""

import json

import duckdb

from tests.integration.conftest import SPEC

ALIKE = ("same", "undecided")


def test_no_verdict_of_a_difference_for_the_same_and_one_for_a_slow_arm(lab):
    slow = "\n      slow: {options: {use_direct_reads: true, cache_size: 1KiB}}\nrepeat: 3"
    text = SPEC.replace("\nrepeat: 2", slow).replace(", cache_size: 32MiB", "").replace("keys: 20k", "keys: 50k")
    lab.write(text)
    said = _said(lab)
    if said["slow"] != "slower" or said["large"] not in ALIKE:  # one interval in twenty misses, or the host is busy
        assert lab.execute(lab.argv("redo", "spec.yaml")).returncode == 0
        again = _said(lab)
        assert again["slow"] == "slower"
        assert again["large"] in ALIKE, f"measured twice: {said['large']}, {again['large']}"

    (table,) = (lab.folder / "outputs" / "summary").glob("*/tables/steps.parquet")
    rows = duckdb.sql(f"select step, count(*), count(qps) from '{table}' group by step order by step").fetchall()
    assert rows == [("fillseq", 9, 9), ("readrandom", 9, 9)]


def _said(lab):
    run = lab.run()
    assert run.returncode == 0, run.stderr
    document = lab.execute(lab.argv("report", "spec.yaml", "--format", "json"))
    assert document.returncode == 0, document.stderr
    found = {each["arm"]["bits"]: each["verdict"] for each in json.loads(document.stdout)["comparisons"]}
    assert found.keys() == {"large", "slow"}, run.stdout
    return found
