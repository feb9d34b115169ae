"""All rules over one spec: counting of cells, `allow`, what it costs."""

import subprocess
import sys
import time
from pathlib import Path

from stepgrid.expand.cells import expand
from stepgrid.language.problems import Problems
from stepgrid.language.spec_file import read_spec
from stepgrid.lint.spec_rules import all_rules, applicable_rules, check
from tests.lint.pages import HOST, SPEC, problems_of

GRID = """\
title: t
builds: {b: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
steps:
  - {name: load, kind: db_bench, benchmarks: [fillseq, waitforcompaction], fresh: true, duration: null, threads: 1}
  - {checkpoint: loaded}
  - {name: first, kind: db_bench, benchmarks: [overwrite]}
  - {name: second, kind: db_bench, benchmarks: [overwrite]}
params: {keys: 1M, duration: 10s}
sweep:
  threads: {param: threads, values: [1, 4, 16, 32], from: loaded}
  bits: {option: bloom_bits, values: [8, 10], from: loaded}
repeat: 3
"""


def found(text, tmp_path, monkeypatch, scale=None):
    monkeypatch.chdir(tmp_path)
    Path(SPEC).write_text(text, encoding="utf-8")
    return [(f"{p.where.line}:{p.where.column}", p.code, p.message) for p in problems_of(SPEC, scale)]


def test_a_reason_silences(tmp_path, monkeypatch):
    text = GRID + "allow: {step-short: a try, clients-over-cores: that is the question}\n"
    assert found(text, tmp_path, monkeypatch) == []


def test_what_silences_nothing_or_is_unknown_is_said(tmp_path, monkeypatch):
    text = (
        GRID.replace("10s", "10m").replace(", 16, 32", "")
        + "allow: {step-short: a try, step-shrt: a try, mixed-quality: products}\n"
    )
    assert found(text, tmp_path, monkeypatch) == [
        ("13:9", "allow-unused", "`allow` names `step-short`, which finds nothing"),
        ("13:28", "allow-unknown", "there is no lint `step-shrt`"),
    ]


def test_ten_thousand_cells_cost_little(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    axes = "".join(
        f"  {name}: {{option: {name}, from: loaded, values: [{', '.join(str(n) for n in range(1, 11))}]}}\n"
        for name in ("max_background_jobs", "bloom_bits", "level0_file_num_compaction_trigger")
    )
    text = GRID.replace("  bits: {option: bloom_bits, values: [8, 10], from: loaded}\n", axes)
    text = text.replace("[1, 4, 16, 32]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]")
    Path(SPEC).write_text(text, encoding="utf-8")
    problems = Problems()
    document = read_spec(SPEC, None, problems)
    assert document is not None
    expansion = expand(document, HOST, problems)
    assert len(expansion.cells) == 10_000
    check(document, expansion, problems)  # imports the rules
    spent = []
    for _ in range(3):  # other processes on the same core and a search for garbage cost time, too
        before = time.process_time()
        check(document, expansion, problems)
        spent.append(time.process_time() - before)
    assert min(spent) < 0.4  # about 0.08 on an idle machine; the plan has 1.0 for all


OF_ANY_SPEC = {
    "base-without-cell", "checkpoint-missing", "clients-over-cores", "links-repeated", "loads-repeated",
    "mixed-durability", "mixed-quality", "no-repeats", "option-renamed", "ref-open", "relinks-without-link", "rows-few",
    "shared-programs", "step-short",
}  # fmt: skip


def codes(engines, kinds):
    return {rule.code for rule in applicable_rules(engines, kinds)}


def test_a_spec_of_servers_has_the_rules_of_its_engine_alone():
    assert codes(["program"], ["command"]) == OF_ANY_SPEC
    assert codes(["postgres"], ["sysbench", "sql"]) == {*OF_ANY_SPEC, "cache-over-memory"}
    assert codes(["mysql"], ["sysbench"]) == {*OF_ANY_SPEC, "cache-over-memory", "sequential-deletes"}


def test_each_code_stands_once_in_the_list_of_all():
    listed = [rule.code for rule in all_rules()]
    assert len(listed) == len(set(listed))
    assert {*codes(["rocksdb", "mysql", "postgres"], ["db_bench", "vector_search"]), "log-untold"} == set(listed)


def test_rules_of_other_kinds_are_not_even_imported():
    code = "import sys; from stepgrid.lint import spec_rules; spec_rules.applicable_rules(['mysql'], ['sysbench'])"
    shown = "print([name for name in sys.modules if 'db_bench' in name or 'rocksdb' in name])"
    done = subprocess.run([sys.executable, "-c", f"{code}; {shown}"], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
