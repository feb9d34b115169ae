"""A step of ours whose clients report one by one, from its report to the tables that imported results have, too."""

import json

from stepgrid.model.plan import Options, PlannedStep
from stepgrid.model.records import StepRecord
from stepgrid.model.status import Result
from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid_databases.drivers.insert_benchmark.settings import InsertBenchmarkSettings
from stepgrid_databases.layouts import arms, insert_benchmark
from tests.collect.reading import figures
from tests.layouts.made import texts

ASKED = {"action": "query", "clients": 2, "insert_rate": 100, "duration": 10.0}
SECONDS = range(1, 11)


def lines(inserts):
    """Two clients; the second asks nothing in the fourth second."""
    intervals = [
        {"report": "client", "client": client, "second": float(second), "interval": 1.0, "retries": 0,
         "inserts": inserts, "max_insert": 0.002, "max_query": 0.001,
         "queries": 0 if (client, second) == (1, 4) else 50}
        for second in SECONDS for client in range(2)
    ]  # fmt: skip
    roles = [
        {"report": "role", "client": client, "operation": operation, "count": count, "retries": 0, "began": 5.0,
         "ended": 15.0, "longest": 0.25, "resyncs": 0, "resync_seconds": 0.0, "buckets": [[160, 999], [576, 1]]}
        for operation, count in (("insert", 10 * inserts), ("query", 500)) for client in range(2)
    ]  # fmt: skip
    return [*intervals, *roles, {"report": "end", "seconds": 10.0, "started": 5.0, "failed": 0}]


def collected(folder, inserts):
    folder.mkdir()
    (folder / "report.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines(inserts)))
    settings = InsertBenchmarkSettings.model_validate(ASKED).model_dump(mode="json")
    step = PlannedStep("q100", "insert_benchmark", 1, settings, Options([]), 7)
    (found,) = figures(Result(folder.parent, steps=(StepRecord(seconds=10.0),), folders=(folder,)), [step])
    assert found.error is None
    return found


def test_rates_targets_and_stalls_are_those_of_the_report(tmp_path):
    kept, failed = collected(tmp_path / "a", 100), collected(tmp_path / "b", 94)
    assert len(kept.rates) == 2 * 2 * len(SECONDS)
    assert kept.metrics["target_inserts_per_s"] == failed.metrics["target_inserts_per_s"] == 200
    assert (kept.metrics["target_met"], failed.metrics["target_met"]) == (1.0, 0.0)
    assert (kept.metrics["query_stalled_pct"], kept.metrics["insert_stalled_pct"]) == (5.0, 0.0)


def test_the_layouts_show_it_as_they_show_what_was_published(tmp_path):
    both = [collected(tmp_path / "a", 100), collected(tmp_path / "b", 94)]
    times = {"range": (99.9, *[0.0] * 5, 0.1, *[0.0] * 3)}
    spots = {(row, 0): LayoutCell(found.metrics, times=times) for row, found in enumerate(both)}
    block = Block("t", (("a",), ("b",)), (("q100",),), spots)
    found = {table.block: table for table in insert_benchmark.tables(block)}
    assert texts(found["throughput"]) == ["a 100", "b 100*"]
    assert texts(found["insert rate against target"]) == ["target 200", "a 200", "b 188*"]
    assert [cell.kind for row in found["throughput"].rows for cell in row[1:]] == ["", "failed rate"]
    (shares,) = arms.class_tables(block)
    assert [line.split()[10] for line in texts(shares)] == ["0.250"] * 2
