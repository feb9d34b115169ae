"""Rates that are chosen when a step runs: each kind that has a rate, by a search and by a share of a maximum."""

import pytest

from stepgrid.collect.result_figures import with_shares
from stepgrid.collect.step_figures import StepFigures
from stepgrid.expand.search import RateShare, chosen_axis, rate_target, with_value
from stepgrid.plan.difference import links_of
from stepgrid.summarize.setup import step_settings

SQL = "include: [library/postgres.yaml, library/sysbench.yaml, library/pgbench.yaml]\n"
POSTGRES = f"{SQL}builds: {{postgres: {{extends: postgres.zonky, version: 17.11}}}}\noptions: [tiny.postgres]\n"
KV = "include: [library/kv_bench.yaml]\nbuilds: {lmdb: {extends: kv_bench.lmdb.paced}}\n"
TIME = "duration: 10s"
COMMAND = f'kind: command, {TIME}, argv: ["{{program:kv_bench}}", lmdb, readrandom, "--db={{data}}"'
INSERTS = "kind: insert_benchmark, mutates: true, rows_per_commit: 1"
VECTORS = "dataset: {generated: {rows: 100, dimensions: 2, queries: 10}}"
SYSBENCH = "kind: sysbench, lua: point_query, tables: 1, rows: 10, threads: 1"
# builds, the step without a rate, what the one with it adds; the setting, the metric that a value of 1 asks so much of
KINDS = {
    "tpcc": (POSTGRES, f"kind: tpcc, action: run, warehouses: 2, mutates: true, {TIME}", "", "rate", "qps", 1),
    "linkbench": (POSTGRES, f"kind: linkbench, action: request, ids: 9, mutates: true, {TIME}", "", "rate", "qps", 1),
    "insert_benchmark": (POSTGRES, f"{INSERTS}, action: query, {TIME}", "", "rate", "qps", 1),
    "inserts beside queries": (
        POSTGRES, f"{INSERTS}, action: query, clients: 2, arrivals: even, ends: clock, {TIME}", "",
        "insert_rate", "inserts_per_s", 2,
    ),
    "vector_search": (POSTGRES, f"kind: vector_search, action: search, {VECTORS}", "", "rate", "qps", 1),
    "pgbench": (
        POSTGRES, f"kind: pgbench, scripts: select-only, client: pgbench, {TIME}", "", "rate", "transactions_per_s", 1,
    ),
    "sysbench": (POSTGRES, f"{SYSBENCH}, {TIME}", "", "rate", "transactions_per_s", 1),
    "command": (KV, COMMAND, ', "--rate={rate}"', "rate", "qps", 1),
}  # fmt: skip
WHOLE = {"inserts beside queries", "sysbench", "command"}  # their clients take no fractions


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_is_searched_and_shared(compile_text, kind):
    builds, step, words, param, metric, of_one = KINDS[kind]
    end = "]" if kind == "command" else ""
    closed = step.replace("query, clients: 2, arrivals: even, ends: clock, duration: 10s", "insert, rows: 100") + end
    paced = f"{step}{words}{end}"
    text = (
        f"title: t\n{builds}steps:\n  - {{name: max, {closed}}}\n"
        f"  - {{name: paced, {paced}, for: {{{param}: {{percent: [20, 150], of: max}}}}}}\n"
        f"  - {{name: limit, {paced}, for: {{{param}: "
        f'{{search: [10, 5000], for: "max {param} where p99_us < 5000", points: 4}}}}}}\n'
    )
    plan = compile_text(text)
    (stage,) = plan.stages
    names = ["max", *(f"paced[{param}={percent}% of max]" for percent in (20, 150))]
    assert [step.name for step in stage.steps] == [*names, *(f"limit[{param}=#{number}]" for number in range(1, 5))]
    for step in stage.steps[1:]:
        assert "1234" in str(with_value(step, 1234).settings)
        fixed = {"rate": 5} if param != "rate" else {}  # another target, which stays as it is
        assert rate_target(step.kind, {**step.settings, **fixed}, param) == (metric, of_one, kind in WHOLE)
    share, target = chosen_axis(stage.steps[2].setup), rate_target(stage.steps[2].kind, stage.steps[2].settings, param)
    assert isinstance(share, RateShare)
    assert target is not None
    shown = [step.settings for step in step_settings(plan.cells, plan.axes, links_of(plan))]
    if kind != "command":
        assert f"{param} 150% of max" in shown[2]
        assert f"{param} 10 to 5000, searched" in shown[3]
    assert (share.of, share.value(target, 1000.0)) == ("max", 1500 / of_one)
    assert share.value(target, 3.3 * of_one) == (5 if kind in WHOLE else 4.95)
    assert share.value(target, 0.1) == (1 if kind in WHOLE else 0.15)
    metrics = {metric: 3.3 * of_one, "tried_value": share.value(target, 3.3 * of_one)}
    paced = [*with_shares(stage.steps, [StepFigures(metrics)] * len(stage.steps))][2]
    assert paced.metrics["tried_share_pct"] == pytest.approx(500 / 3.3 if kind in WHOLE else 150)
    text = "its rate of 5 is 152 % of what `max` reached, not 150 %: its client takes whole numbers"
    assert paced.warnings == ([text] if kind in WHOLE else [])
