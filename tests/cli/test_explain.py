"""`stepgrid explain`: where each setting of a step comes from."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepgrid.cli import main
from stepgrid.cli.explain import setting_lines
from stepgrid.language.problems import Problems
from stepgrid.language.yaml import load
from stepgrid.plan.difference import yaml_text
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.golden import Golden

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("folder")
SPEC = """\
title: t
define:
  workloads:
    reads:
      - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: x}, params: {writes: 7}}
options: [{block_size: 8KiB, open_files: -1}, {cache_low_pri_pool_ratio: {value: 0, when_unsupported: drop}}]
workload: reads
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}, {use: readww, as: ww, reads: 131072}]
params: {keys: 200k}
sweep: {threads: [1, 2], data: {small: {options: {bloom_bits: 10}}, large: {params: {write_rate: 2MiB}}}}
allow:
  defaults-differ: a test
  keys-not-loaded: a test
  load-capped: a test
  load-not-drained: a test
  load-slowed: a test
  no-repeats: a test
  rows-few: a test
  writer-unlimited: a test
"""


CELL = "build=rocksdb-7.8.3,threads=2,data=large"


def test_every_value_has_its_place(capsys: Capture, golden: Golden) -> None:
    assert main(["explain", "a.yaml", CELL, "--step", "ww"]) == 0
    out = capsys.readouterr().out
    plan = host_plan.compile_for_host("a.yaml", None)
    labels = {"build": "rocksdb-7.8.3", "threads": "2", "data": "large"}
    cell = next(cell for cell in plan.cells if cell.labels == labels)
    named = " ".join(f"{axis}={label}" for axis, label in cell.labels.items())
    for text, name in (
        (named, "LABELS"),
        (cell.id, "CELL"),
        (cell.build, "BUILD"),
        (cell.repeats[0].stages[0], "STAGE"),
    ):
        out = out.replace(text, name)
    golden(out)


def test_the_builds_own_defaults_and_what_it_lacks(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    plan = host_plan.compile_for_host("a.yaml", None)
    build = next(build for build in plan.builds if build.version == "7.8.3")
    Store().build(build.id).mkdir(parents=True)
    known = {"block_size": {"default": "4096"}, "open_files": {"default": ""}}
    (Store().build(build.id) / "catalogue.json").write_text(json.dumps(known))
    assert main(["explain", "a.yaml", CELL, "--step", "ww"]) == 0
    out = capsys.readouterr().out
    assert "    block_size                8192 (default 4096) " in out
    assert "    open_files                -1 (default empty) " in out
    assert "    cache_low_pri_pool_ratio  0: dropped, the build has no such option  a.yaml:8:48\n" in out
    assert main(["explain", "a.yaml", "build=rocksdb-7.8.3,threads=2,data=small", "--step", "ww"]) == 0
    assert "    bloom_bits                10: unsupported, the build has no such option" in capsys.readouterr().out


def test_a_build_whose_programs_list_no_options_is_made(capsys: Capture) -> None:
    plan = host_plan.compile_for_host("a.yaml", None)
    build = next(build for build in plan.builds if build.version == "7.8.3")
    Store().build(build.id).mkdir(parents=True)
    assert main(["explain", "a.yaml", CELL, "--step", "ww"]) == 0
    assert "not made yet" not in capsys.readouterr().out


def test_what_is_left_to_the_build(capsys: Capture) -> None:
    """What the driver sets is neither."""
    plan = host_plan.compile_for_host("a.yaml", None)
    build = next(build for build in plan.builds if build.version == "7.8.3")
    Store().build(build.id).mkdir(parents=True)
    known = {"block_size": {"default": "4096"}, "readahead": {"default": "0"}, "uri": {"default": ""}, "num": {}}
    (Store().build(build.id) / "catalogue.json").write_text(json.dumps(known))
    assert main(["explain", "a.yaml", CELL, "--step", "ww"]) == 0
    assert "left to" not in capsys.readouterr().out
    assert main(["explain", "a.yaml", CELL, "--step", "ww", "--all"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("  defaults of rocksdb-7.8.3: 2 options\n    readahead  0\n    uri        empty\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["treads=2"], "there is no axis `treads`: did you mean `threads`?"),
        (["data=smal"], "axis `data` has no cell at `smal`: did you mean `small`?"),
        (["threads=2"], "4 cells have threads=2; add build=rocksdb-7.8.3|rocksdb-9.10.0, data=large|small"),
        (["threads=1,threads=2"], "no cell has threads=2 together with the other labels; there is 1"),
        ([CELL, "--step", "fillseqs"], "the cell has no step `fillseqs`: did you mean `fillseq`?"),
    ],
)
def test_what_there_is_not(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(["explain", "a.yaml", *arguments]) == 2
    assert capsys.readouterr().err == f"{said}\n"


def test_by_id(capsys: Capture) -> None:
    cell = host_plan.compile_for_host("a.yaml", None).cells[3]
    assert main(["explain", "a.yaml", cell.id[:9]]) == 0
    assert f"\ncell {cell.id}, " in capsys.readouterr().out
    assert main(["explain", "a.yaml", "c-nothing"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("there is no cell `c-nothing`: give a cell's id, or its labels, such as build=rocksdb-")


def test_the_place_of_a_setting_is_that_of_the_word_that_counts(folder: Path, capsys: Capture) -> None:
    """Of a live grid, of what is repeated, of a value with conditions, of a null, of an abstract build's params."""
    (folder / "a.yaml").write_text("""\
title: t
builds:
  base: {abstract: true, engine: rocksdb, source: {system: db_bench}, params: {threads: 7}}
  rocksdb: {extends: base, version: 9.10.0}
steps:
  - {name: load, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - name: reads
    kind: db_bench
    benchmarks: [readrandom]
    for: {reads: [5, 6]}
    times: 2
    write_rate: [{when: "version < '8'", value: 1MiB}]
params: {keys: 1k, duration: 1s, write_rate: 2MiB}
allow: {step-short: a test}
""")
    assert main(["explain", "a.yaml", "build=rocksdb", "--step", "reads[reads=6].2"]) == 0
    told = capsys.readouterr().out
    assert places(told) == {
        "benchmarks": "a.yaml:9:17",
        "duration": "a.yaml:13:30",
        "fresh": "default of db_bench",
        "keys": "a.yaml:13:16",
        "reads": "a.yaml:10:22",
        "threads": "a.yaml:3:89",
        "write_rate": "a.yaml:13:46",
        "writes": "default of db_bench",
    }
    assert main(["explain", "a.yaml", "build=rocksdb", "--step", "load"]) == 0
    assert places(capsys.readouterr().out)["duration"] == "a.yaml:6:70"


def test_what_an_action_does_not_use_has_its_default(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text("""\
title: t
builds: {postgres: {engine: postgres, version: 18, source: {system: postgres}}}
steps:
  - {name: load, kind: pgbench, action: init, client: postgres}
  - {name: run, kind: pgbench, scripts: tpcb-like, client: postgres}
params: {scale: 1, clients: 2, duration: 1s}
allow: {step-short: a test}
""")
    assert main(["explain", "a.yaml", "build=postgres", "--step", "load"]) == 0
    out = capsys.readouterr().out
    assert "  clients             1 " in out
    assert (places(out)["scale"], places(out)["clients"]) == ("a.yaml:6:17", "default of pgbench")
    assert main(["explain", "a.yaml", "build=postgres", "--step", "run"]) == 0
    assert places(capsys.readouterr().out)["clients"] == "a.yaml:6:29"


def places(told: str) -> dict[str, str]:
    """Of the settings."""
    lines = told.partition("  settings\n")[2].partition("  options\n")[0].splitlines()
    return {line.split()[0]: line.rpartition("  ")[2] for line in lines}


def test_a_source_within_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    text = "builds: {a: {engine: rocksdb, version: 9.9.3, source: {maven: 'x:y:1', tree: {path: z}}}}\n"
    steps = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], keys: 1k}]\n"
    Path("a.yaml").write_text(f"title: t\n{text}{steps}", encoding="utf-8")
    assert main(["explain", "a.yaml", "build=a"]) == 0
    assert "rocksdb 9.9.3 (maven: x:y:1, tree: {path: z})" in " ".join(capsys.readouterr().out.split())


def test_the_client_of_a_step(folder: Path, capsys: Capture) -> None:
    text = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {debian: mariadb-server, suite: trixie}}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}}}
steps: [{name: point, kind: sysbench, lua: mine.lua, duration: 1s, rows: 10}]
allow: {no-repeats: a test, step-short: a test}
"""
    (folder / "mine.lua").write_text("-- mine\n")
    (folder / "b.yaml").write_text(text)
    assert main(["explain", "b.yaml", "build=mariadb"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^  client b-\w{20}: sysbench 1.0.20 \(debian: sysbench, suite: bookworm\)$", said, re.MULTILINE)
    assert f"\n  file mine.lua {sha256(b'-- mine' + bytes([10])).hexdigest()[:12]}…\n" in said


def test_the_words_of_a_service(capsys: Capture) -> None:
    service = 'service: {argv: [srv, "{port}", "", "{options}"], env: {A: "1"}, ready: {port: "{port}", timeout: 9s}}'
    build = f'builds: {{kv: {{engine: program, version: "1.0", source: {{system: srv}}, {service}}}}}\n'
    steps = "steps: [{name: ask, kind: command, argv: [ask]}]\noptions: [{threads: '{{ 1 + 1 }}'}]\n"
    Path("a.yaml").write_text(f"title: t\n{build}{steps}allow: {{no-repeats: a test}}\n")
    assert main(["explain", "a.yaml", "build=kv"]) == 0
    assert capsys.readouterr().out.splitlines()[5:] == [
        "  service",
        "    argv        srv '{port}' '' '{options}'  a.yaml:2:10",
        "    env.A       1                            a.yaml:2:10",
        "    ready.port  {port}                       a.yaml:2:10",
        "  settings",
        "    argv          [ask]  a.yaml:3:42",
        "    metrics       {}     default of command",
        "    series        null   default of command",
        "    files         []     default of command",
        "    duration      null   default of command",
        "    client        null   default of command",
        "    durabilities  null   default of command",
        "    durability    null   default of command",
        "  options",
        "    threads  2  a.yaml:4:12",
    ]


ROWS = [
    ("argv", yaml_text(["{program:bench.py}", "--keys=1000", "a word", "another word that is long"]), "a.yaml:8:11"),
    ("duration", "null", "default of command"),
]


def test_long_values_are_wrapped_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "76")
    assert list(setting_lines("settings", ROWS)) == [
        "  settings",
        '    argv      ["{program:bench.py}", --keys=1000, a  a.yaml:8:11',
        "              word, another word that is long]",
        "    duration  null                                   default of command",
    ]


def test_at_a_narrow_terminal_lines_of_the_spec_stand_under_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    lines = list(setting_lines("settings", ROWS))
    assert max(map(len, lines)) <= 50
    assert lines[-3:] == ["              a.yaml:8:11", "    duration  null", "              default of command"]


def test_what_fits_is_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert len(list(setting_lines("settings", ROWS))) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"qps": {"pattern": "a: (\\d+)", "json": None}}, '{qps: {pattern: "a: (\\\\d+)"}}'),
        (["fillseq", "- a", "%x", "a b", "", "a,b", "x:"], '[fillseq, "- a", "%x", a b, "", "a,b", "x:"]'),
        ([1, True, None, 0.5], "[1, true, null, 0.5]"),
    ],
)
def test_values_are_yaml(value: Any, text: str) -> None:
    assert yaml_text(value) == text


@example(["0:0", "http://x"])
@example(["NULL", "true", "0x10", "1e3", ".inf", "12", "8KiB"])
@given(st.lists(st.text(st.characters(categories=("L", "N", "P", "Zs"), max_codepoint=0x2000)), max_size=5))
def test_words_read_back_as_they_are(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_text(f"words: {yaml_text(words)}\n", encoding="utf-8")
    problems = Problems()
    found = load(str(path), problems)
    assert found is not None, problems.items
    assert [str(word) for word in found["words"]] == words  # type: ignore[union-attr]
