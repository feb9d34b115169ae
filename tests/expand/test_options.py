"""Options and params: which layer wins, for every pair of the documented order."""

import json
from itertools import combinations

import pytest

from stepgrid.plugins.engine import renamings_of
from stepgrid.plugins.registry import engine as load_engine
from tests.cases import rows

# lowest first: the driver's or engine's default is below all of them
OPTION_LAYERS = [
    "extended set", "set", "later set", "inline", "later inline", "abstract build", "extended build", "build", "point",
    "definition set", "definition", "item",
]  # fmt: skip
PARAM_LAYERS = [
    "spec", "abstract build", "extended build", "build", "point",
    "definition params", "definition", "item params", "item",
]  # fmt: skip


def at(given, layer, kind):
    return f"{kind}: {{{given[layer]}}}, " if layer in given else ""


def spec(kind, given):
    own = given.get("item", "") + "," if kind == "params" and "item" in given else ""
    own += at(given, "item", "options") if kind == "options" else at(given, "item params", "params")
    inline = [given.get(layer, "") if kind == "options" else "" for layer in ("inline", "later inline")]
    return f"""\
title: t
include: lib.yaml
builds: {{rocksdb: {{extends: rocksdb, {at(given, "build", kind)}}}}}
options: [base, later, {{{inline[0]}}}, {{{inline[1]}}}]
params: {{keys: 1k, {given.get("spec", "")}}}
workload: w
steps: [{{use: fillseq, {own}}}]
sweep: {{axis: {{one: {{{at(given, "point", kind)}}}}}}}
"""


def library(kind, given):
    said = {layer: given.get(layer, "") for layer in OPTION_LAYERS}
    own = given.get("definition", "") + "," if kind == "params" and "definition" in given else ""
    own += at(given, "definition params", "params")
    of_step = f"options: [ofstep, {{{said['definition']}}}]" if kind == "options" else ""
    return f"""\
define:
  options:
    first: {{options: {{{said["extended set"]}}}}}
    base: {{extends: first, options: {{{said["set"]}}}}}
    later: {{options: {{{said["later set"]}}}}}
    ofstep: {{options: {{{said["definition set"]}}}}}
  builds:
    bare: {{abstract: true, engine: rocksdb, source: {{system: db_bench}}, {at(given, "abstract build", kind)}}}
    rocksdb: {{extends: bare, {at(given, "extended build", kind)}}}
  workloads:
    w: [{{name: fillseq, kind: db_bench, benchmarks: [fillseq], {own} {of_step}}}]
"""


def the_step(compile_text, kind, given):
    return compile_text(spec(kind, given), lib=library(kind, given)).stages[0].steps[0]


@pytest.mark.parametrize(("low", "high"), list(combinations(OPTION_LAYERS, 2)))
def test_options(compile_text, low, high):
    step = the_step(compile_text, "options", {low: "bloom_bits: 1", high: "bloom_bits: 2"})
    assert step.options["bloom_bits"].value == 2


@pytest.mark.parametrize(("low", "high"), list(combinations(PARAM_LAYERS, 2)))
def test_params(compile_text, low, high):
    assert the_step(compile_text, "params", {low: "threads: 3", high: "threads: 4"}).settings["threads"] == 4


@pytest.mark.parametrize("layer", OPTION_LAYERS)
def test_each_layer_is_above_the_engines_default(compile_text, layer):
    assert the_step(compile_text, "options", {layer: "bloom_bits: 1"}).options["bloom_bits"].value == 1
    unset = the_step(compile_text, "options", {OPTION_LAYERS[0]: "bloom_bits: 1", layer: "bloom_bits: unset"})
    assert "bloom_bits" not in unset.options


@pytest.mark.parametrize("layer", PARAM_LAYERS)
def test_each_layer_is_above_the_drivers_default(compile_text, layer):
    assert the_step(compile_text, "params", {}).settings["threads"] == 1
    assert the_step(compile_text, "params", {layer: "threads: 3"}).settings["threads"] == 3


@pytest.mark.parametrize(("said", "expected"), rows(__file__, "what_becomes_of_an_option_that_the_binary_lacks"))
def test_what_becomes_of_an_option_that_the_binary_lacks(compile_text, said, expected):
    """As the layer says that gives the value: neither one below it nor one that it extends."""
    found = options(compile_text, said)
    assert (found["a"].value, found["a"].unsupported) == (1, expected)


def options(compile_text, text, version="9.10.0"):
    builds = f"{{rocksdb: {{engine: rocksdb, version: {version}, source: {{system: db_bench}}}}}}"
    step = "{name: fillseq, kind: db_bench, benchmarks: [fillseq]}"
    plan = compile_text(f"title: t\nbuilds: {builds}\nsteps: [{step}]\nparams: {{keys: 1k}}\n{text}\n")
    return dict(plan.stages[0].steps[0].options)


@pytest.mark.parametrize(
    ("version", "value"), [("6.11.4", None), ("7.8.3", "hyper_clock_cache"), ("9.10.0", "auto_hyper_clock_cache")]
)
def test_the_first_value_that_holds_wins(compile_text, version, value):
    rule = """[{when: "version < '7.7'", value: unset}, {when: "version < '8.6'", value: hyper_clock_cache},
               {value: auto_hyper_clock_cache}]"""
    found = options(compile_text, f"options: [{{cache_type: lru_cache}}, {{cache_type: {rule}}}]", version)
    assert (found["cache_type"].value if "cache_type" in found else None) == value


def test_where_no_value_holds_the_layer_below_does(compile_text):
    text = "options: [{a: 1}, {a: [{when: \"version < '7'\", value: 2}]}]"
    assert options(compile_text, text)["a"].value == 1


def test_values_see_what_is_in_force_wherever_it_is_set(compile_text):
    text = 'options: [{a: "{{ options.b // 2 }}"}, {b: 8KiB}, {c: "{{ options.none | default(3) }}"}]'
    assert {name: o.value for name, o in options(compile_text, text).items()} == {"a": 4096, "b": 8192, "c": 3}


def test_sets_of_other_engines_and_those_whose_when_fails_are_left_out(compile_text):
    define = "define: {options: {new: {engine: rocksdb, when: \"version >= '9'\", options: {a: 2}}}}\n"
    text = define + "options: [{a: 1}, new, {engine: mysql, options: {innodb: 1}}]"
    assert {name: o.value for name, o in options(compile_text, text).items()} == {"a": 2}
    assert {name: o.value for name, o in options(compile_text, text, "7.8.3").items()} == {"a": 1}


def test_an_option_set_inherits_the_condition_of_what_it_extends(compile_text):
    define = """define:
  options:
    old: {engine: rocksdb, when: "version < '8'", options: {a: 1}}
    older: {extends: old, options: {b: 2}}
    small: {extends: old, when: "version < '7'", options: {a: 3}}
"""
    text = define + "options: [older, small]"
    assert options(compile_text, text, "9.10.0") == {}
    assert {name: o.value for name, o in options(compile_text, text, "7.8.3").items()} == {"a": 1, "b": 2}
    assert {name: o.value for name, o in options(compile_text, text, "6.11.4").items()} == {"a": 3, "b": 2}


# Names across versions

MYSQL, MARIADB, POSTGRES, ROCKSDB = "mysql", "mariadb", "postgres", "rocksdb"
LOG = "innodb_log_file_size: 1GiB, innodb_log_files_in_group: 4"
CAPACITY = {"innodb_redo_log_capacity": 4 << 30}


def values(compile_text, engine, version, text, more=""):
    build = f"{{{engine}: {{engine: {engine}, version: {version}, source: {{system: {engine}}}}}}}"
    steps = 'steps: [{name: do, kind: command, argv: ["true"]}]'
    plan = compile_text(f"title: t\nbuilds: {build}\n{steps}\noptions: [{{{text}}}]\n{more}\n")
    return {name: option.value for name, option in plan.stages[0].steps[0].options.items()}


@pytest.mark.parametrize(("engine", "before", "since", "text", "expected"), rows(__file__, "release names"))
def test_an_option_has_the_name_and_value_of_its_release(compile_text, engine, before, since, text, expected):
    names = [part.partition(":")[0] for part in text.split(", ")]
    assert [*values(compile_text, engine, before, text)] == names
    assert values(compile_text, engine, since, text) == expected


@pytest.mark.parametrize(
    ("engine", "version", "new", "old"),
    [
        (MYSQL, "8.0.15", "log_replica_updates", "log_slave_updates"),
        (POSTGRES, "15.19", "debug_parallel_query", "force_parallel_mode"),
        (ROCKSDB, "8.5.4", "use_tiered_cache", "use_tiered_volatile_cache"),
    ],
)
def test_a_new_name_serves_releases_before_it(compile_text, engine, version, new, old):
    assert values(compile_text, engine, version, f"{new}: 1") == {old: 1}
    assert [*values(compile_text, MYSQL, "5.7.22", "innodb_rollback_segments: 64")] == ["innodb_rollback_segments"]


@pytest.mark.parametrize("engine", [MYSQL, MARIADB, POSTGRES, ROCKSDB])
def test_each_new_name_is_one_of_a_real_binary(engine):
    """Checked-in catalogues are of binaries of these releases."""
    plugin = load_engine(engine)
    known = json.loads(plugin.known_options.read_text())["options"]
    new = {row.new for row in plugin.renamings if row.new}
    assert new <= known.keys()
    assert len(renamings_of(plugin, "99")) >= 9


def test_layers_are_those_of_the_new_name(compile_text):
    sweep = "sweep: {log: {point: {options: {innodb_log_file_size: 3GiB}}}}"
    lower = f"{LOG}, innodb_redo_log_capacity: 1GiB"
    assert values(compile_text, MYSQL, "8.0.31", lower) == {"innodb_redo_log_capacity": 1 << 30}, "as it stands there"
    assert values(compile_text, MYSQL, "8.0.31", lower, sweep) == {"innodb_redo_log_capacity": 12 << 30}
    assert values(compile_text, MYSQL, "8.0.31", LOG, sweep.replace("file_size: 3GiB", "files_in_group: 2")) == {
        "innodb_redo_log_capacity": 2 << 30
    }
    guarded = "innodb_log_file_size: [{when: \"version < '8.0.30'\", value: 1GiB}], innodb_redo_log_capacity: 7GiB"
    assert values(compile_text, MYSQL, "8.0.31", guarded) == {"innodb_redo_log_capacity": 7 << 30}
    looked_at = f"{LOG}, innodb_buffer_pool_size: '{{{{ options.innodb_log_file_size * 2 }}}}'"
    assert values(compile_text, MYSQL, "8.0.31", looked_at) == {**CAPACITY, "innodb_buffer_pool_size": 2 << 30}


def test_what_is_not_left_out_and_what_cannot_be_translated(compile_text, complaints):
    assert values(compile_text, MYSQL, "8.0.31", "expire_logs_days: 0") == {"binlog_expire_logs_seconds": 0}
    sweep = "sweep: {cache: {option: query_cache_type, values: [0, 1]}}"
    assert set(values(compile_text, MYSQL, "8.0.31", "", sweep)) == {"query_cache_type"}, "its cells are unsupported"
    spec = "title: t\nbuilds: {m: {engine: mysql, version: 8.0.31, source: {system: mysqld}}}\n"
    spec += 'steps: [{name: do, kind: command, argv: ["true"]}]\noptions: [{log_warnings: some}]\n'
    assert "4:26: error[wrong-type]: `some` cannot be translated: `log_warnings=0|1|2`" in complaints(spec)
