"""Steps: live grids, times, warm-ups, searches, and stages without steps."""

import pytest

from stepgrid.expand.cells import expand
from stepgrid.expand.search import AxisSearch
from stepgrid.language.problems import Problems, SpecError, format_problems
from stepgrid.language.spec_file import read_spec
from stepgrid.model.plan import PlannedSearch
from stepgrid.plan import plan_file
from stepgrid.plan.assembly import CompileContext, compile_spec
from stepgrid_inspect.preview import search_text
from tests.conftest import HOST
from tests.expand.samples import BASE, SWEEP, ids


def test_a_live_grid_runs_on_one_database(compile_text):
    text = BASE.replace(
        "benchmarks: [readwhilewriting]",
        "benchmarks: [readwhilewriting], for: {threads: [1, 2], keys: [1k, 2k]}, "
        'options: {subcompactions: "{{ threads }}"}',
    )
    plan = compile_text(text)
    steps = [step for step in plan.cells[0].steps if step.stage == 1]
    assert [step.name for step in steps] == [
        "readww[threads=1,keys=1k]", "readww[threads=1,keys=2k]",
        "readww[threads=2,keys=1k]", "readww[threads=2,keys=2k]",
    ]  # fmt: skip
    assert {step.step for step in steps} == {"readww"}
    assert steps[2].variables == {"threads": "2", "keys": "1k"}
    (stage,) = (stage for stage in plan.stages if stage.id == plan.cells[0].repeats[0].stages[1])
    assert [(step.settings["threads"], step.settings["keys"]) for step in stage.steps] == [
        (1, 1000), (1, 2000), (2, 1000), (2, 2000),
    ]  # fmt: skip
    assert [step.options["subcompactions"].value for step in stage.steps] == ["1", "1", "2", "2"]
    assert len({step.seed for step in stage.steps}) == 4


def test_a_warm_up_runs_before_each_run_and_is_not_measured(compile_text):
    more = "benchmarks: [readwhilewriting], times: 2, warmup: 5s"
    probes = "probes: [{name: p, before: [readww], command: [ls]}]\n"
    plan = compile_text(BASE.replace("benchmarks: [readwhilewriting]", more) + probes)
    steps = [step for stage in plan.stages for step in stage.steps if step.name.startswith("readww")][:4]
    assert [step.name for step in steps] == ["readww.1.warmup", "readww.1", "readww.2.warmup", "readww.2"]
    assert [(step.measured, step.settings["duration"]) for step in steps] == [(False, 5), (True, 1)] * 2
    assert [bool(step.setup.before) for step in steps] == [False, True] * 2


def test_a_step_that_is_to_become_steady_asks_its_server_for_debts(compile_text):
    spec = """\
title: t
builds:
  maria: {engine: mariadb, version: 11.8, source: {debian: mariadb-server, suite: trixie}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}}}
steps:
  - {name: load, kind: sysbench, lua: load, threads: 1, measured: false}
  - {name: update, kind: sysbench, lua: update_index, duration: 2h, warmup: 5s, until: steady}
params: {tables: 1, rows: 1k}
"""
    plan = compile_text(spec)
    load, warmup, update = plan.stages[0].steps
    assert (load.setup.until, warmup.setup.until, update.setup.until) == (None, None, "steady")
    assert [item["collector"] for item in update.setup.collectors] == ["engine_state"]
    assert [*load.setup.collectors, *warmup.setup.collectors] == []
    assert plan.report.declared == ("steady_qps",)
    asked = compile_text(spec + "collectors: [{collector: engine_state, every: 5s}]\n").stages[0].steps[2]
    assert [item.get("every") for item in asked.setup.collectors] == [5], "the spec's own is the only one"


# Searches on live grids: the steps that they stand for, and what is wrong with them


BENCHMARKS = "benchmarks: [readwhilewriting]"


def search_spec(grid):
    return BASE.replace(BENCHMARKS, f"{BENCHMARKS}, for: {{{grid}}}")


def test_each_point_is_a_step(compile_text, tmp_path):
    plan = compile_text(search_spec("threads: {search: [1, 64], for: max qps, points: 4}, keys: [1k, 2k]"))
    steps = [step for stage in plan.stages for step in stage.steps if step.name.startswith("readww")][:8]
    assert [step.name for step in steps[:3]] == [
        "readww[threads=#1,keys=1k]", "readww[threads=#1,keys=2k]", "readww[threads=#2,keys=1k]",
    ]  # fmt: skip
    assert {step.settings["threads"] for step in steps} == {1}
    assert AxisSearch.from_setup(steps[2].setup) == AxisSearch("threads", "threads", 1, 64, "max qps", 4, 2)
    assert plan.searches == (PlannedSearch("readww", "threads", "threads", 1, 64, "max qps", 4),)
    (tmp_path / plan_file.PLAN_FILE).write_text(plan_file.text(plan))
    assert plan_file.read(tmp_path).searches == plan.searches
    assert search_text(plan.searches[0]) == "readww: threads from 1 to 64, 4 points of each load, for `max qps`"


def test_under_a_name_of_its_own(compile_text):
    grid = 'rate: {param: write_rate, search: [1MiB, 512MiB], for: "max rate where stall_pct < 1 and p99_us < 99"}'
    plan = compile_text(search_spec(grid))
    (search,) = plan.searches
    assert (search.least, search.most, search.points) == (2**20, 2**29, 10)
    assert search_text(search) == (
        "readww: rate from 1 MiB to 512 MiB, 10 points of each load, for `max rate where stall_pct < 1 and p99_us < 99`"
    )
    step = next(step for stage in plan.stages for step in stage.steps if step.name == "readww[rate=#10]")
    assert step.settings["write_rate"] == 2**20


def test_a_command_has_a_placeholder_for_it(compile_text, complaints):
    text = """\
title: a command
builds: {sh: {engine: program, version: 1, source: {system: sh}}}
steps:
  - name: run
    kind: command
    argv: ["{program:sh}", "-c", "echo qps: {clients}"]
    metrics: {qps: {pattern: 'qps: (\\d+)'}}
    for: {clients: {search: [1, 8], for: max qps, points: 4}}
"""
    assert len(compile_text(text).stages[0].steps) == 4
    wrong = complaints(text.replace("{clients}", "1"))
    assert "step `run` has neither a setting `clients` nor `{clients}`" in wrong


# Checkpoints that no step stands between


def test_a_stage_whose_steps_all_drop_out_is_none(compile_text):
    between = "  - {name: mid, kind: db_bench, benchmarks: [flush], when: \"version < '1'\"}\n  - checkpoint: second\n"
    last = "  - {name: readww"
    plan = compile_text(BASE.replace(last, between + last))
    assert [len(cell.repeats[0].stages) for cell in plan.cells] == [2, 2]
    assert ids(plan) == ids(compile_text(BASE))


def narrowed(tmp_path, only=None, sets=()):
    (tmp_path / "a.yaml").write_text(BASE + SWEEP)
    return compile_spec(str(tmp_path / "a.yaml"), None, HOST, context=CompileContext(only, sets))


def test_only(tmp_path):
    whole, some = narrowed(tmp_path), narrowed(tmp_path, "cache == 'lru' and build == 'rocksdb-7.8.3'")
    assert len(some.cells) == 1
    assert ids(some) < ids(whole)
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cach == 'lru'")
    assert str(caught.value.problems[0].where) == "--only:1:1"
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cache == 'lrru'")
    said = "--only:1:1: error[empty-grid]: no cell is left\n   = `--only` holds for none of them"
    assert format_problems(caught.value.problems) == said


def test_sets_of_the_cells_that_are_left_out_are_no_fault(tmp_path):
    text = """
title: t
builds:
  my: {engine: mysql, version: 8.0.31, source: {system: mysqld}}
  pg: {engine: postgres, version: 17.11, source: {system: postgres}}
options: [small, {shared_buffers: 1GB}]
define: {options: {small: {engine: mysql, options: {innodb_buffer_pool_size: 64MiB}}}}
steps: [{name: one, kind: sql, sql: [select 1]}]
"""
    (tmp_path / "b.yaml").write_text(text)
    assert len(compile_spec(str(tmp_path / "b.yaml"), None, HOST, context=CompileContext("build == 'pg'")).cells) == 1
    (tmp_path / "b.yaml").write_text(text.replace("  my:", "  other: {extends: pg, version: 17.10}\n  #"))
    with pytest.raises(SpecError) as caught:
        compile_spec(str(tmp_path / "b.yaml"), None, HOST)
    assert [problem.message for problem in caught.value.problems] == [
        "no cell takes the option set `small`: it is for mysql"
    ]


def test_set(tmp_path):
    plan = narrowed(tmp_path, sets=("params.keys=2k", "repeat=2", "sweep.cache.points.lru=null"))
    assert {step.settings["keys"] for stage in plan.stages for step in stage.steps} == {2000}
    assert (len(plan.cells), len(plan.cells[0].repeats)) == (2, 2)
    for wrong, said in (("params.kes=1", "no step takes the param `kes`"), ("params", "`params` is not PATH=VALUE")):
        with pytest.raises(SpecError) as caught:
            narrowed(tmp_path, sets=(wrong,))
        assert said in format_problems(caught.value.problems)


def test_set_adds_an_option_over_the_others(tmp_path):
    more = ("options=[{c: 1, b: 1}]", "options.b=2", "sweep.cache.points.lru.options.d=3")
    plan = narrowed(tmp_path, "cache == 'lru'", more)
    last = next(step.options for stage in plan.stages for step in stage.steps if step.name == "readww")
    assert {name: last[name].value for name in last} == {"a": 1, "b": 2, "c": 1, "d": 3}


LIBRARY = """\
define:
  options:
    below: {engine: rocksdb, options: {bloom_bits: [{when: "params.legacy | default(false)", value: 8}, {value: 10}]}}
    mine: {extends: below, options: {block_size: 8KiB}}
"""
LIBRARY_SPEC = """\
title: t
include: [library.yaml]
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
options: [NAMED]
steps: [{name: load, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M, legacy: true}
"""


def bloom_bits(named, folder):
    (folder / "library.yaml").write_text(LIBRARY, encoding="utf-8")
    (folder / "spec.yaml").write_text(LIBRARY_SPEC.replace("NAMED", named), encoding="utf-8")
    problems = Problems()
    document = read_spec(str(folder / "spec.yaml"), None, problems)
    assert document is not None
    (cell,) = expand(document, {}, problems).cells
    problems.stop_on_errors()
    return cell.segments[0].steps[0].options["bloom_bits"].value


@pytest.mark.parametrize("named", ["below", "mine", "{extends: mine, options: {bloom_locality: 1}}"])
def test_a_set_of_an_include_may_take_a_param(named, tmp_path):
    assert bloom_bits(named, tmp_path) == 8


# Collectors of a spec: short forms, which steps they look at, identity, and what is wrong with one


COLLECTOR_BASE = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {system: db_bench}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: warm, kind: db_bench, benchmarks: [readrandom], measured: false}
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], for: {threads: [1, 2]}}
params: {keys: 1k, duration: 1s}
"""


def _collectors(plan):
    return {step.name: [*step.setup.collectors] or None for stage in plan.stages for step in stage.steps}


def test_a_name_alone_looks_at_all_that_is_measured(compile_text):
    own = [{"name": "pidstat", "collector": "pidstat"}]
    expected = {"fillseq": own, "warm": None, "readww[threads=1]": own, "readww[threads=2]": own}
    assert _collectors(compile_text(COLLECTOR_BASE + "collectors: pidstat\n")) == expected
    assert _collectors(compile_text(COLLECTOR_BASE + "collectors: [{collector: pidstat}]\n")) == expected


def test_settings_and_steps(compile_text):
    listed = """\
collectors:
  - {name: fg, collector: perf_record, frequency: 199, call_graph: dwarf, steps: "readww[threads=1]"}
  - {name: mine, command: [bpftrace, "{pid}"], steps: [readww, warm]}
  - {collector: perf_stat, events: cycles, steps: fillseq}
  - {collector: vmstat, every: 5s, steps: fillseq}
"""
    mine = {"name": "mine", "command": ["bpftrace", "{pid}"]}
    assert _collectors(compile_text(COLLECTOR_BASE + listed)) == {
        "fillseq": [
            {"name": "perf_stat", "collector": "perf_stat", "events": ["cycles"]},
            {"name": "vmstat", "collector": "vmstat", "every": 5.0},
        ],
        "warm": [mine],
        "readww[threads=1]": [
            {"name": "fg", "collector": "perf_record", "frequency": 199, "call_graph": "dwarf"},
            mine,
        ],
        "readww[threads=2]": [mine],
    }
