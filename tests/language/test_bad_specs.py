"""Specs that are large, deep, damaged or wrong everywhere; single faults are in tests/language/problems."""

from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from stepgrid.language.problems import (
    MOST_NAMES,
    MOST_SHOWN,
    Location,
    Problems,
    SpecError,
    close_names,
    format_problems,
    nearest,
)
from stepgrid.language.yaml import load
from stepgrid.plan.assembly import check_scales
from tests.conftest import HOST
from tests.language.bases import BASE

# what lint says of BASE
LINTS = {"no-repeats", "defaults-differ", "load-not-drained", "rows-few", "step-short", "writer-unlimited"}


def _problems(compile_text, text, scale):
    """Of the spec and of its scales, as `check` has them."""
    problems = Problems()
    with suppress(SpecError):
        compile_text(text, scale, problems=problems)
    if scale is None:
        check_scales("a.yaml", HOST, problems)
    return [problem for problem in problems.items if problem.code not in LINTS]


def test_a_fault_in_the_spec_and_in_all_scales_is_one_problem(compile_text):
    scales = "scales: {a: {params: {keys: x}}, b: {params: {keys: x}}, c: {params: {keyz: 3}}}\n"
    found = _problems(compile_text, BASE + "seed: many\n" + scales, None)
    assert [(p.where.line, p.code, p.message[:20]) for p in found] == [
        (9, "wrong-type", "`seed`: expected a w"),
        (10, "wrong-unit", "scale `a`: keys: exp"),
        (10, "wrong-unit", "scale `b`: keys: exp"),
        (10, "unknown-param", "scale `c`: no step t"),
    ]


def test_a_long_line_is_cut_around_the_fault(complaints):
    said = complaints(BASE + f"report: {{{' ' * 300}bas: {{}}{' ' * 300}}}\n")
    line, caret = said.splitlines()[1:3]
    assert len(line) < 112
    assert line[caret.index("^") :].startswith("bas: {}")


def test_a_byte_that_is_not_utf8_has_a_place(tmp_path, monkeypatch):
    from stepgrid.language.yaml import load

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes("title: é\nid: ".encode() + b"caf\xe9\n")
    problems = Problems()
    assert load("a.yaml", problems) is None
    assert [(p.where, p.message) for p in problems.items] == [
        (("a.yaml", 2, 8), "`a.yaml` is not UTF-8 text: byte 0xe9")
    ]


def test_how_a_problem_is_shown(complaints, golden):
    golden(complaints(BASE + "repeats: 3\nseed: many\n"))


def test_multiplying_aliases_are_refused(complaints):
    lines = ["title: x", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "error[yaml-alias]: this alias holds itself, or far too much" in complaints("\n".join(lines) + "\n")


@pytest.mark.parametrize("text", ["[" * 500_000, "{a: " * 125_000, "- " * 250_000, "? " * 250_000])
def test_a_text_that_is_nested_without_end_does_not_end_the_process(text, complaints):
    assert "error[too-deep]: maps and lists are nested more than 40 deep" in complaints(text)


def test_a_file_with_more_faults_than_anybody_reads(complaints):
    text = "title: t\n" + "".join(f"key{number}: 1\n" for number in range(20_000))
    said = complaints(text)
    assert "a.yaml:1:1: error[too-large]: 20,001 faults of form: only the first 200 are shown\n" in said
    assert said.count("error[") == 200
    assert said.endswith("\n\n… and 1 more problem: `stepgrid check SPEC --format json` has all")


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("#" * (512 << 10) + "\n")
    problems = Problems()
    assert load("a.yaml", problems) is None
    assert [problem.message for problem in problems.items] == ["the file `a.yaml` is larger than 512 KiB"]


def test_an_excerpt_is_of_a_spec_alone(tmp_path, monkeypatch):
    """Of a file that an include names it would tell the content to whoever sees the log."""
    monkeypatch.chdir(tmp_path)
    Path("secret").write_text("password\n")
    problems = Problems()
    assert load("secret", problems) is None
    assert "password" not in format_problems(problems.items)


EVERYWHERE = """\
title: t
include: [library/rocksdb.yaml, library/db_bench.yaml]
builds: {rocksdb: {engine: rocksdb, versions: [9.10.0], source: {debian: rocksdb-tools, suite: trixie}}}
options: [levelled, {block_size: 64KiB}]
workload: db_bench.sequence
steps: [fillseq, {checkpoint: loaded}, {use: readrandomm}, {name: r, kind: db_bench, benchmarks: [readseq], threds: 3}]
params: {keys: 200x, duration: 3s, threads: 1, write_rate: 2MiB, reed: 3}
sweep:
  cache:
    from: loadedd
    points: {all: {options: {cache_size: "{{ optoins.x }}"}}, half: {options: {cache_size: 40MiB}}}
  t: {steps: [fillsek], points: {a: {params: {threads: 1}}, b: {params: {threads: 2}}}}
exclude: ["cash == 'all'"]
also: [{cache: al}]
hardware: hree
repeat: {loads: 0}
seed: many
launch: {numa: interleaved}
probes: [{name: p, before: [fillsek], command: [x]}]
collectors: [iostatt]
allow: {step-shrt: x}
report: {base: {cache: al}, tables: [{title: x, rows: [stp]}]}
claims: [{claim: c, expect: "qsp(cache='all') > 1"}]
scales: {smoke: {params: {keyz: 1}}}
"""


def test_faults_in_every_section_come_at_once(compile_text):
    """None hides another: what is misspelt stands for the nearest name, and its cells are looked at all the same."""
    found = _problems(compile_text, EVERYWHERE, None)
    assert [f"{p.where.line}: {p.message.partition(' (step')[0]}" for p in found if p.code != "checkpoint-missing"] == [
        "4: there is no option set `levelled`",
        "6: the workload has no step `readrandomm`",
        "6: `threds` is no setting of db_bench",
        "7: keys: expected a count such as 1000, 200k, 100M or 2B, found `200x`",
        "7: no step takes the param `reed`",
        "10: there is no checkpoint `loadedd`",
        "11: `optoins` is not defined",
        "12: there is no step `fillsek`",
        "13: `cash` is not defined",
        "14: axis `cache` has no point `al`",
        "15: there is no hardware `hree`",
        "16: `loads`: expected at least 1, found `0`",
        "17: `seed`: expected a whole number, found `many`",
        "18: `numa`: expected `interleave`, found `interleaved`",
        "19: probe `p`: there is no step `fillsek`",
        "20: there is no collector `iostatt`",
        "21: there is no lint `step-shrt`",
        "22: report.base: axis `cache` has no cell at `al`",
        "22: a table has no axis `stp` to show",
        "23: there is no metric `qsp`",
        "24: scale `smoke`: no step takes the param `keyz`",
    ]


@pytest.mark.parametrize("claim", ["{claim: c, foo: 1}", "{foo: 1, bar: 2}", "{claim: c, expect: [1]}"])
def test_a_claim_that_lacks_a_key_hides_no_other_fault(compile_text, claim):
    text = EVERYWHERE.replace("claims: [", f"claims: [{claim}, ")
    found = [(p.where.line, p.message) for p in _problems(compile_text, text, None) if p.where.line != 23]
    assert found == [(p.where.line, p.message) for p in _problems(compile_text, EVERYWHERE, None) if p.where.line != 23]


def test_of_very_many_names_none_is_meant():
    names = [f"name{number}" for number in range(MOST_NAMES)]
    assert close_names("nam1", names) == ["name1"]
    assert close_names("nam1", [*names, "another"]) == []
    assert nearest("nam1", [*names, "another"]).startswith("known here: another, name0, name1, name10, ")


def test_what_is_not_shown_has_no_suggestion():
    problems = Problems()
    for number in range(MOST_SHOWN + 5):
        problems.undefined("build", f"nam{number}", Location("a.yaml", number + 1, 1), ["name"])
    assert Counter(each.hint for each in problems.items) == {"did you mean `name`?": MOST_SHOWN + 1, "": 4}
