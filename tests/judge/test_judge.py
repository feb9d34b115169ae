"""stepgrid judge: files of other tools are read, compared and doubted; damaged ones end in a sentence."""

import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.cli import main
from stepgrid_judge.readers import Columns, ForeignFileError, read
from tests.cases import cases, rows

FORMATS = cases(Path(__file__).with_name("formats.yaml"))


@pytest.fixture
def judge(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = main(["judge", *words])
        streams = capsys.readouterr()
        return status, streams.out + streams.err

    return run


def hyperfine(path, seconds, repeats=3):
    results = [{"command": path.partition("-")[0], "times": [seconds * (1 + 0.001 * n) for n in range(repeats)]}]
    Path(path).write_text(json.dumps({"results": results}))


def loads(factor, count=5):
    """Write loads of two arms by turns; `new` takes `factor` times as long."""
    source = random.Random(5)
    for index in range(1, count + 1):
        hyperfine(f"old-{index}.json", source.gauss(1.0, 0.01))
        hyperfine(f"new-{index}.json", source.gauss(1.0, 0.01) * factor)


@pytest.mark.parametrize("case", FORMATS, ids=lambda case: case["tool"])
def test_the_figures_of_a_tool(case, tmp_path):
    path = tmp_path / case["file"]
    path.write_text(case["text"])
    figures = read(path, Columns())
    assert figures.tool == case["tool"]
    samples = [
        [sample.step, sample.metric, sample.unit, sample.better, list(sample.values), sample.process, sample.arm,
         dict(sample.labels)]
        for sample in figures.samples
    ]  # fmt: skip
    assert samples == [[*wanted, "", "", {}][:8] if len(wanted) == 5 else _filled(wanted) for wanted in case["samples"]]


def _filled(wanted):
    return [*wanted, *["", "", {}][len(wanted) - 5 :]]


def test_criterion_has_an_arm_for_each_baseline(tmp_path):
    for baseline, factor in (("base", 1), ("new", 2), ("change", 9)):
        folder = tmp_path / "g" / "put" / baseline
        folder.mkdir(parents=True)
        (folder / "sample.json").write_text(json.dumps({"iters": [1.0, 2.0], "times": [10.0 * factor, 20.0 * factor]}))
        (folder / "benchmark.json").write_text(json.dumps({"full_id": "g/put"}))
    (tmp_path / "g" / "put" / "saved").mkdir()  # `--save-baseline saved` writes the same to `new`
    for name in ("sample.json", "benchmark.json"):
        (tmp_path / "g" / "put" / "saved" / name).write_bytes((tmp_path / "g" / "put" / "new" / name).read_bytes())
    samples = read(tmp_path, Columns()).samples
    assert [(sample.arm, sample.step, sample.values) for sample in samples] == [
        ("base", "g/put", (10.0, 10.0)),
        ("saved", "g/put", (20.0, 20.0)),
    ]


def test_a_planted_difference_is_named_and_fails_the_gate(judge):
    loads(1.1)
    status, text = judge("old=old-*.json", "new=new-*.json", "--fail-on", "slower")
    assert status == 4
    assert "▼1.0" in text or "▼1.1" in text
    assert re.search(r"^--fail-on: all, arm=new: 1\.0\d× \[1\.0\d, 1\.1\d\] slower$", text, re.MULTILINE)
    status, text = judge("old=old-*.json", "new=new-*.json", "--fail-on", "undecided", "--format", "markdown")
    assert status == 0
    assert "`--metric NAME`" in text
    assert "`operations`" not in text, "no setting of a user who has no spec"
    assert judge("new=new-*.json", "old=old-*.json", "--fail-on", "slower")[0] == 0


def table(better, factors):
    """Write steps of two arms, of a metric without a unit; in the arm `b` a step's figure is FACTOR times as high."""
    source = random.Random(3)
    rows = [
        f"{arm},{step},{load},{source.gauss(100, 0.5) * (factor if arm == 'b' else 1)}"
        for load in range(1, 7)
        for step, factor in factors.items()
        for arm in "ab"
    ]
    Path(f"{better}.csv").write_text("\n".join(["arm,step,load,value", *rows]))


@pytest.mark.parametrize(("better", "status"), [("lower", 4), ("higher", 0)])
def test_a_metric_of_no_known_unit_has_a_slower_direction(judge, better, status):
    table(better, {"get": 1.1, "put": 1.0})
    words = (f"{better}.csv", "--better", better)
    assert judge(*words, "--fail-on", "slower")[0] == status
    assert judge(*words, "--fail-on", "slower,put")[0] == 0
    assert judge(*words, "--fail-on", "different,put,get")[0] == 4
    assert judge(*words, "--fail-on", "different", "--smallest-effect", "20%,get")[0] == 0
    assert judge(*words, "--fail-on", "different", "--smallest-effect", "20%,put")[0] == 4
    assert judge(*words, "--smallest-effect", "1%")[0] == 0
    status, text = judge(*words, "--fail-on", "different", "--smallest-effect", "1%,put")
    assert (status, "--smallest-effect 1 %,put: smaller than that of the report, 2 %" in text) == (2, True)
    assert "no measured step is called `gett`: did you mean `get`?" in judge(*words, "--fail-on", "slower,gett")[1]


def test_junit_has_a_test_case_for_each_comparison(judge):
    table("lower", {"get": 1.1, "put": 1.0})
    text = judge("lower.csv", "--better", "lower", "--fail-on", "slower", "--format", "junit", "-o", "r.xml")[1]
    assert text.startswith("--fail-on: get, arm=b: 1.1")
    suite = next(suite for suite in ElementTree.parse("r.xml").iter("testsuite") if suite.get("name") == "comparisons")
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["2", "1", "0", "0"]
    cases = {case.get("name"): case[0].tag for case in suite}
    assert cases == {"get, arm=b": "failure", "put, arm=b": "system-out"}


def test_the_first_answer_imports_no_compiler_and_no_runner(judge):
    loads(1.1)
    program = "import sys; from stepgrid.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    words = [sys.executable, "-c", program, "judge", "old=old-*.json", "new=new-*.json"]
    modules = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()
    assert "stepgrid_judge.figures" in modules
    assert {"snakemake", "pydantic", "duckdb", "jinja2", "psycopg", "ruamel.yaml"} & {*modules} == set()


def test_equal_arms_are_no_difference(judge):
    loads(1.0)
    status, text = judge("old=old-*.json", "new=new-*.json", "--fail-on", "different")
    assert status == 0
    assert "slower" not in text


def test_repeats_of_one_process_are_one_load_and_give_no_verdict(judge):
    hyperfine("old.json", 1.0, 30)
    hyperfine("new.json", 1.5, 30)
    _, text = judge("old.json", "new.json", "--all")
    assert "up to 30 values of one process count as one load" in text
    assert "no verdict" in text or "gives no verdict" in text
    assert judge("old.json", "new.json", "--fail-on", "slower")[0] == 0


def test_files_with_numbers_are_loads_of_one_arm(judge):
    loads(1.2, 4)
    names = [f"{arm}-{index}.json" for arm in ("old", "new") for index in range(1, 5)]
    assert "▼1." in judge(*names)[1]


def test_two_commands_of_one_file_are_two_arms(judge):
    Path("a.json").write_text(
        json.dumps({"results": [{"command": "./a", "times": [1.0]}, {"command": "./b", "times": [2.0]}]})
    )
    assert "arm=./a" in judge("a.json")[1]


def test_arms_that_were_not_measured_by_turns_are_doubted(judge):
    for day in range(1, 7):
        arm = "before" if day < 4 else "after"
        document = {"system": "X", "date": f"2026-08-0{day}", "result": [[1, 0.5 + 0.01 * (day % 3), 0.6]]}
        Path(f"{arm}-{day}.json").write_text(json.dumps(document))
    _, text = judge("before=before-*.json", "after=after-*.json", "--all")
    assert "the arms were not measured by turns (`before` until 2026-08-03, `after` from 2026-08-04)" in " ".join(
        text.split()
    )


def test_a_coarse_clock_is_doubted(judge):
    rows = [f"{arm},{load},{0.001 * (1 + load % 2)}" for arm in "ab" for load in range(1, 13)]
    Path("a.csv").write_text("\n".join(["arm,load,seconds", *rows]))
    _, text = judge("a.csv", "--better", "lower", "--all")
    assert "the clock is coarse: 24 values are on 2 steps" in text


def test_a_table_of_our_own_is_judged_by_its_axes(judge):
    rows = [
        f"{cache},{threads},{load},{qps * load_factor}"
        for cache, qps in (("lru", 100.0), ("clock", 150.0))
        for threads in (1, 2)
        for load, load_factor in ((1, 1.0), (2, 1.02), (3, 0.99))
    ]
    Path("steps.csv").write_text("\n".join(["axis_cache,axis_threads,load,qps", *rows]))
    _, text = judge("steps.csv", "--arm", "cache", "--all")
    assert text.count("1.50 [") >= 2
    assert "arm=clock" in text


def test_loads_of_one_name_are_pairs_though_an_arm_lacks_one(judge):
    drift = (100.0, 200.0, 300.0, 400.0)
    rows = [f"{arm},{load},{qps * (1.1 if arm == 'b' else 1)}" for arm in "ab" for load, qps in enumerate(drift, 1)]
    Path("a.csv").write_text("\n".join(["arm,load,qps", *(row for row in rows if not row.startswith("a,2"))]))
    text = judge("a.csv", "--format", "json")[1]
    assert json.loads(text)["comparisons"][0]["ratio"] == pytest.approx(1.1)


def test_the_null_says_how_often_equal_loads_would_be_called_different(judge):
    loads(1.0, 12)
    status, text = judge("old=old-*.json", "--null")
    assert status == 0
    assert "old: 12 loads, neighbours split at random 200 times" in text
    assert "a rule of 5 %" in text
    assert "not by turns  the first 6 loads against the last 6: 0 of 1 comparison" in text


def test_a_host_that_drifts_is_no_false_alarm_of_loads_by_turns(judge):
    """Noise of 1 % lies upon a walk; the halves differ, neighbours do not."""
    source, level = random.Random(2), 1.0
    for index in range(1, 41):
        level *= math.exp(0.02 * abs(source.gauss(0, 1)))
        hyperfine(f"old-{index:02}.json", level * source.gauss(1, 0.01))
    text = judge("old=old-*.json", "--null")[1]
    reports = re.search(r"this program +(\d+) of 200", text)
    assert int(reports[1]) <= 10
    assert "the first 20 loads against the last 20: 1 of 1 comparison" in text


@pytest.mark.parametrize(("words", "message"), rows(__file__, "a_wrong_word_or_file_ends_in_a_sentence"))
def test_a_wrong_word_or_file_ends_in_a_sentence(words, message, judge):
    Path("text.txt").write_text("nothing\n")
    Path("broken.json").write_text('{"results": [')
    Path("deep.json").write_text("[" * 100_000)
    Path("failed.json").write_text('{"results": [{"command": "./a", "times": [1], "exit_codes": [0, 1]}]}')
    Path("lone.csv").write_text("load,qps\n1,1\n2,2\n")
    Path("a.csv").write_text("version,value\nx,1\ny,2\n")
    status, text = judge(*words)
    assert status in (1, 2)
    assert message in text
    assert "Traceback" not in text


def test_a_strangers_names_reach_no_terminal_and_his_pattern_ends(judge):
    Path("a.json").write_text(
        json.dumps({"results": [{"command": "\x1b[31ma", "times": [1.0]}, {"command": "b", "times": [2.0]}]})
    )
    text = judge("a.json")[1]
    assert "arm=?[31ma" in text
    assert "\x1b" not in text
    Path("long.csv").write_text(f"arm,qps\nx,{'y' * 200_000}\n")
    assert judge("long.csv")[1].startswith("long.csv: cannot be read (field larger than")
    Path("a.txt").write_text("a" * 5_000 + "b")
    assert judge("a=a.txt", "--pattern", "(a+)+$", "--better", "higher")[1] == "a.txt: no figures in it\n"


def test_the_loop_of_a_tool_is_printed(judge):
    _, text = judge("--how", "hyperfine")
    assert text.startswith("for i in $(seq 5); do for arm in")
    assert "stepgrid judge old=old-*.json new=new-*.json" in text


def test_a_pattern_reads_any_text(judge):
    for arm, rate in (("a", 100), ("b", 200)):
        for load in (1, 2, 3):
            Path(f"{arm}-{load}.log").write_text(f"noise\nrate of get: {rate + load} ops\nrate of put: {rate} ops\n")
    words = ("--pattern", r"rate of (?P<step>\w+): (?P<value>\d+)", "--better", "higher", "--format", "json")
    report = json.loads(judge("a=a-*.log", "b=b-*.log", *words)[1])
    assert {"get", "put"} <= {row["step"] for row in report["comparisons"]}


TREES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["results", "benchmarks", "context", "machine_info", "result", "system", "times", "command",
                         "env_name", "value", "stats", "primaryMetric", "rawData", "x"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(TREES)
def test_no_document_ends_in_anything_but_figures_or_a_sentence(tmp_path_factory, tree):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(tree))
    try:
        figures = read(path, Columns())
    except ForeignFileError:
        return
    assert all(math.isfinite(value) for sample in figures.samples for value in sample.values)
