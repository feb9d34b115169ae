"""The rows of the tables, as the report takes them."""

from __future__ import annotations

from pathlib import Path

from stepgrid.collect.job import collect
from stepgrid.summarize.data import parquet_reader
from tests.summarize import scenario


def test_a_step_has_labels_of_the_axes_that_change_it(tmp_path: Path) -> None:
    found = scenario.experiment(tmp_path)
    collect(found.store, found.plan)
    loaded = parquet_reader.load(found.store.summary("p-synthetic") / "tables", ["build", "cache", "threads"])
    axes = {step: {tuple(run.labels) for run in loaded.runs if run.step == step} for step in ("fillseq", "readww")}
    assert axes == {"fillseq": {("build",)}, "readww": {("build", "cache", "threads")}}
    failed = [run for run in loaded.runs if run.status not in ("done", "unsupported")]
    assert failed
    assert not any(run.metrics for run in failed)
