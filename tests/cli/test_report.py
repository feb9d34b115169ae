"""stepgrid report: from results that are there, without Snakemake, and without measuring anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.model.plan import Plan
from stepgrid.store.plans import Request
from stepgrid.store.store import Store
from stepgrid.workflow.plan_cache import load_or_compile
from tests.cli.samples import SPEC
from tests.cli.test_plan import kept
from tests.summarize.synthetic import BENCHMARK, report, stdout

Capture = pytest.CaptureFixture[str]
RATES = {"1": 1000.0, "2": 4000.0}
REPORT = """\
report:
  base: {threads: 1}
  tables: [{title: threads, rows: build, columns: threads, where: {step: readww}, metrics: [qps, p50]}, iostat]
claims:
  - {claim: two threads do more, expect: "qps(threads=2) >= 1.5 * qps(threads=1)", where: {step: readww}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "a.yaml").write_text(SPEC + REPORT)
    return tmp_path


def put(rates: dict[str, float], plan: Plan | None = None) -> None:
    """A result for every stage."""
    plan, store = plan or kept(), Store(Path("outputs"))
    threads = {repeat.stages[-1]: cell.labels["threads"] for cell in plan.cells for repeat in cell.repeats}
    for stage in plan.stages:
        attempt = store.new_attempt(stage.id)
        rate = rates.get(threads.get(stage.id, ""), 500.0)
        steps = [_step(attempt, index, step.name, rate) for index, step in enumerate(stage.steps)]
        record = {"stage": stage.id, "attempt": attempt.name, "status": "done", "steps": steps}
        (attempt / "result.json").write_text(json.dumps(record))
        store.publish_result(stage.id, attempt)


def _step(attempt: Path, index: int, name: str, rate: float) -> dict[str, object]:
    folder = attempt / f"steps/{index}-{name}"
    folder.mkdir(parents=True)
    (folder / "stdout").write_text(stdout(BENCHMARK[name], [rate] * 4))
    (folder / "stderr").write_text("RocksDB:    version 7.8.3\n")
    (folder / "report.csv").write_text(report([rate] * 4))
    return {"name": name, "kind": "db_bench", "status": "done", "seconds": 4.0, "started": "2026-11-20T10:00:00Z"}


def out(capsys: Capture, *words: str, status: int = 0) -> str:
    assert main(["report", "a.yaml", *words]) == status
    return capsys.readouterr().out


def test_a_table_alone(capsys: Capture) -> None:
    put(RATES)
    assert out(capsys, "--table", "threads: readww, qps, operations/s", "--format", "csv") == (
        "# threads: readww, qps, operations/s\nbuild,threads=1,threads=2\n"
        "rocksdb-7.8.3,1000,4000\nrocksdb-9.10.0,1000,4000\n"
    )
    assert out(capsys, "--table", "threads", "--format", "tsv").count("#") == 2  # qps and p50


def test_all_points_of_the_claims_are_a_table(capsys: Capture) -> None:
    put(RATES)
    assert out(capsys, "--table", "claims", "--format", "csv").splitlines()[1:] == [
        "result,claim,expect,where,numbers",
        *(
            f"undecided,two threads do more,qps(threads=2) >= 1.5 * qps(threads=1),{build},"
            "4.00× (claimed ≥ 1.5×); one load decides nothing"
            for build in ("rocksdb-7.8.3", "rocksdb-9.10.0")
        ),
    ]


def test_the_brief_is_what_a_run_ends_with(capsys: Capture) -> None:
    put(RATES)
    text = out(capsys)
    lines = text.splitlines()
    assert lines[:4] == [
        "t",
        "  A try: one load, no verdicts and no causes; claims stay undecided",
        "  readww QPS   threads=1   2",
        "  7.8.3        1.00k       4.00k 4.00×",
    ]
    assert "  claims       1: ? 1 undecided" in lines
    assert lines[-1] == "  next         stepgrid run a.yaml --set repeat=3"
    assert len(lines) <= 18
    assert out(capsys, "--brief") == text


@pytest.mark.parametrize(
    ("narrowing", "command"),
    [
        (["--set", "params.keys=2M"], "stepgrid run a.yaml --set params.keys=2M --set repeat=3"),
        (["--only", "threads == 1"], "stepgrid run a.yaml --only 'threads == 1' --set repeat=3"),
        (["--set", "params.keys=2M", "--set", "repeat=2"], "stepgrid run a.yaml --set params.keys=2M --set repeat=4"),
    ],
)
def test_offered_commands_repeat_the_words_of_the_request(capsys: Capture, narrowing: list[str], command: str) -> None:
    request = Request("a.yaml", None, *narrowed(narrowing))
    plan = load_or_compile(Store(), request)[0]
    put(RATES, plan)
    lines = out(capsys, *narrowing).splitlines()
    assert lines[-1] == f"  next         {command}"


def narrowed(words: list[str]) -> tuple[str | None, tuple[str, ...]]:
    pairs = list(zip(words[::2], words[1::2], strict=True))
    only = next((value for name, value in pairs if name == "--only"), None)
    return only, tuple(value for name, value in pairs if name == "--set")


def test_the_whole_report_is_the_summary(capsys: Capture) -> None:
    put(RATES)
    text = out(capsys, "--all")
    lines = text.splitlines()
    assert "  threads=2: 4.00× the QPS of threads=1, in readww, in both releases" in lines
    claims = lines.index("claims")
    assert lines[claims + 2 : claims + 5] == [
        "  undecided: two threads do more",
        "    qps(threads=2) >= 1.5 * qps(threads=1), at readww, undecided at 2 of 2 points",
        "    each: one load decides nothing",
    ]
    assert text == next(Path("outputs").rglob("summary.txt")).read_text()
    assert out(capsys, "-o", "report.txt") == ""
    assert Path("report.txt").read_text() == text


@pytest.mark.parametrize(("form", "begins"), [("markdown", "# t\n"), ("html", "<!DOCTYPE html>"), ("csv", "# QPS")])
def test_other_formats_of_the_whole(form: str, begins: str, capsys: Capture) -> None:
    put(RATES)
    assert out(capsys, "--format", form).startswith(begins)


def test_forms_for_other_programs(capsys: Capture) -> None:
    put(RATES)
    found = json.loads(out(capsys, "--format", "json"))
    assert (found["schema"], found["title"], found["spec"]) == (2, "t", "a.yaml")
    assert [claim["result"] for claim in found["claims"]] == ["undecided"]
    assert out(capsys, "--format", "junit").startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="t">')
    assert out(capsys, "--format", "otava").startswith("time,plan,load,fillseq/")
    assert json.loads(out(capsys, "--format", "json", "--table", "threads"))[0]["title"] == "threads"
    assert main(["report", "a.yaml", "--format", "bencher", "--table", "threads"]) == 2
    assert capsys.readouterr().err == "--format bencher takes the whole report: leave --table out\n"
    assert main(["schema", "report"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["schema"]["const"] == 2


def test_a_newer_result_is_in_it(capsys: Capture) -> None:
    put(RATES)
    assert "4000" in out(capsys, "--table", "threads", "--format", "csv")
    put({"1": 1000.0, "2": 3000.0})
    assert "3000" in out(capsys, "--table", "threads", "--format", "csv")


def test_a_claim_of_one_load_fails_no_gate(capsys: Capture) -> None:
    put({"1": 1000.0, "2": 1.0})
    assert "  undecided: two threads do more" in out(capsys, "--all", "--strict").splitlines()


def test_a_failing_claim_fails_where_it_is_asked_for(capsys: Capture) -> None:
    spec = Path("a.yaml")
    spec.write_text(f"{spec.read_text()}repeat: 3\n")
    put({"1": 1000.0, "2": 500.0})
    assert "  fails: two threads do more" in out(capsys, "--all").splitlines()
    for words in (["a.yaml", "--strict"], ["--strict", "a.yaml"], ["a.yaml", "--strict=undecided"]):
        assert main(["report", *words]) == 4
        assert capsys.readouterr().err == "this claim fails: two threads do more\n"


def test_what_is_undecided_fails_where_that_is_asked_for(capsys: Capture) -> None:
    assert "undecided: two threads do more" in out(capsys, "--all", "--strict")
    assert main(["report", "a.yaml", "--strict=undecided"]) == 4
    assert capsys.readouterr().err == "this claim is undecided: two threads do more\n"


def test_to_a_file(capsys: Capture) -> None:
    put(RATES)
    assert out(capsys, "-o", "report.md", "--format", "markdown") == ""
    assert Path("report.md").read_text().startswith("# t\n")
    assert main(["report", "a.yaml", "-o", "no/such/folder.md"]) == 3
    assert capsys.readouterr().err == "no/such/folder.md: No such file or directory\n"


def test_a_table_that_there_is_not(capsys: Capture) -> None:
    assert main(["report", "a.yaml", "--table", "thread"]) == 2
    assert capsys.readouterr().err == "there is no table `thread`: did you mean `threads`?\n"


def test_a_chart_alone(capsys: Capture, tmp_path: Path) -> None:
    put(RATES)
    assert out(capsys, "--chart", "main", "-o", str(tmp_path / "chart.svg")) == ""
    assert (tmp_path / "chart.svg").read_text().startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert main(["report", "a.yaml", "--chart", "nope", "-o", str(tmp_path / "chart.svg")]) == 2
    assert "no chart is called nope; there are: qps" in capsys.readouterr().err
    assert main(["report", "a.yaml", "--chart", "main"]) == 2
    assert "--chart writes a file: -o x.svg or -o x.png" in capsys.readouterr().err


IN_THE_WAY = (
    ("text", "is there already, and stepgrid did not write it\n   = name another file, or add `--replace`"),
    ("link", "is a link\n   = name the file that it leads to, or another one"),
    ("folder", "is no file\n   = name another one"),
)


@pytest.mark.parametrize(("kind", "reason"), IN_THE_WAY)
@pytest.mark.parametrize(
    "words",
    [
        ["report", "a.yaml"],
        ["report", "a.yaml", "--chart", "main"],
        ["compare", "a.yaml", "a.yaml"],
        ["query", "SELECT 1"],
        ["query", "SELECT 1", "--format", "parquet"],
    ],
    ids=" ".join,
)
def test_a_file_of_somebody_else_stays(words: list[str], kind: str, reason: str, capsys: Capture) -> None:
    put(RATES)
    out(capsys)
    target, file = Path("x.svg"), Path("b.yaml")
    file.write_text("mine")
    match kind:
        case "text":
            file.rename(target)
        case "link":
            target.symlink_to(file)
        case _:
            target.mkdir()
    assert main([*words, "-o", str(target)]) == 2
    assert capsys.readouterr().err.endswith(f"x.svg {reason}\n")
    if kind != "folder":
        assert target.read_text() == "mine"
    if kind == "text":
        assert main([*words, "-o", str(target), "--replace"]) == 0
        assert target.read_bytes() != b"mine"


def test_our_own_file_is_replaced_until_somebody_changes_it(capsys: Capture, tmp_path: Path) -> None:
    put(RATES)
    words = ["--format", "markdown", "-o", "summary.md"]
    assert out(capsys, *words) == ""
    first = Path("summary.md").read_text()
    put({"1": 1000.0, "2": 3000.0})
    assert out(capsys, *words) == ""
    assert Path("summary.md").read_text() != first
    Path("summary.md").write_text(f"{first}\nmy own words\n")
    assert main(["report", "a.yaml", *words]) == 2
    assert capsys.readouterr().err == (
        "summary.md was changed since stepgrid wrote it\n   = name another file, or add `--replace`\n"
    )
    assert Path("summary.md").read_text() == f"{first}\nmy own words\n"
    Path("made-by-mktemp").touch()
    assert out(capsys, "-o", "made-by-mktemp") == ""


def test_standard_output_by_its_name(capfd: pytest.CaptureFixture[str]) -> None:
    put(RATES)
    assert main(["report", "a.yaml", "--table", "threads", "-o", "/dev/stdout"]) == 0
    assert "threads: readww" in capfd.readouterr().out
    assert main(["report", "a.yaml", "-o", "/dev/null"]) == 0
