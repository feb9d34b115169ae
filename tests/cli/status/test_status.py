"""stepgrid status: sweeps that were not started, run, wait, failed, were killed, or are finished, by real jobs."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.cli import main
from stepgrid.cli.status import Paint, counts_text, eta_text, header_lines
from stepgrid.cli.watch import BLOCKS, FIRST_BYTES, PLAIN_BLOCKS, HostLoad, Spark, Tail, sparkline
from stepgrid.collect.samples import NAME
from stepgrid.host.locks import locked
from stepgrid.model.plan import Plan, Report
from stepgrid.model.status import ActiveRun, Eta, NodeStatus, PlanStatus, Result, Status
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.status import StatusReader
from tests.golden import Golden

Until = Callable[..., Any]


def test_before_anything_was_started(folder: Any, golden: Golden) -> None:
    code, text = folder.status()
    assert code == 0
    golden(text)
    assert not folder.store.root.exists()


def test_while_a_stage_runs(folder: Any, until: Until) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    folder.start("run", folder.stage("slow"))
    reader = StatusReader(folder.store, folder.plan)
    until(lambda: (at := reader.read().of(Status.RUNNING)) and at[0].work.step and at[0].work.step.name == "read")
    with hold_run_lock(folder.store, "a.yaml"):
        code, text = folder.status()
    assert code == 0
    assert (
        text.partition("\nmissing: ")[0]
        == """\
a.yaml: programs that sleep
  run      pid N, since HH:MM:SS
  stages   1/4 done, 1 running, 2 missing
  builds   1/1 done
  ETA      ~1m59s (HH:MM)

running: python arm=slow, load 1: warm, read
  read (2 of 2): N/30 s
  since HH:MM:SS, pid N on HOST
""".replace("1m59s", text.partition("~")[2].partition(" ")[0])
    )


def test_a_build_on_another_machine_says_where(folder: Any) -> None:
    folder.publish()
    attempt = folder.store.new_attempt(folder.plan.builds[0].id)
    (attempt / "attempt.json").write_text('{"hostname": "n9", "started": "2026-11-20T10:00:00+00:00"}')
    _, text = folder.status()
    assert "  builds   0/1 done, 1 running\n" in text
    shown = text.partition("\nrunning: ")[2].splitlines()[:2]
    assert shown[0] == "build python"
    assert shown[1].startswith("  since ")
    assert shown[1].endswith("), on HOST"), "no number of a process that this machine does not have"


def test_a_stage_waits_for_the_host_and_it_is_said_for_whom(folder: Any, until: Until) -> None:
    folder.build()
    with locked(Path(os.environ["STEPGRID_HOST_LOCK"])):
        folder.start("run", folder.stage("load"))
        until(lambda: folder.store.attempts(folder.stage("load")))
        _, text = folder.status()
    waiting = text.partition("\nwaiting: ")[2].splitlines()[:2]
    assert waiting[0] == "python, load 1: load"
    assert waiting[1].startswith("  for the host: process N (")


def test_a_failed_stage_says_why_and_where_and_the_status_is_3(folder: Any) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    for _ in range(2):
        folder.run("run", folder.stage("wrong"))
    code, text = folder.status()
    assert code == 3
    assert text.partition("\nfailed: ")[2].splitlines()[:4] == [
        "1",
        "  python arm=wrong, load 1: warm, read",
        "    read: it ended with exit status 1 (HH:MM:SS, tried 2 times)",
        "    log: outputs/attempts/s-ID/WHEN/steps/1-read/stderr",
    ]


def test_what_starts_from_a_failed_stage_is_blocked(folder: Any) -> None:
    folder.build()
    shutil.rmtree(folder.store.build(folder.plan.builds[0].id))
    folder.run("run", folder.stage("load"))
    code, text = folder.status()
    assert code == 3
    assert "  stages   0/4 done, 1 failed, 3 blocked (what they start from failed)\n" in text
    assert "  python arm=quick, load 1: warm, read\n    the build python is not there (" in text


def test_a_killed_stage_is_told_from_one_that_runs(folder: Any, until: Until) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    process = folder.start("run", folder.stage("slow"))
    until(lambda: list(folder.store.root.glob("attempts/*/*/steps/1-read")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    code, text = folder.status()
    assert code == 0
    assert (
        text.partition("\ninterrupted: ")[2].partition("\n\n")[0]
        == """\
1
  python arm=slow, load 1: warm, read
    the process that ran it was killed, and could not say so (HH:MM:SS)
    log: outputs/attempts/s-ID/WHEN"""
    )


def test_what_was_stopped_is_interrupted(folder: Any, until: Until) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    process = folder.start("run", folder.stage("slow"))
    until(lambda: list(folder.store.root.glob("attempts/*/*/steps/1-read")))
    process.terminate()
    process.wait()
    code, text = folder.status("--all")
    assert code == 0
    assert "interrupted: 1\n  python arm=slow, load 1: warm, read\n    stopped by SIGTERM (HH:MM:SS)\n" in text


def test_another_specs_run_is_named(folder: Any) -> None:
    folder.build()
    with hold_run_lock(folder.store, "b.yaml"):
        _, text = folder.status()
    assert "  run      pid N, since HH:MM:SS: of another spec, b.yaml; this one waits for it\n" in text


def test_a_run_of_the_same_spec_with_other_values(folder: Any) -> None:
    folder.build()
    with hold_run_lock(folder.store, "a.yaml", plan=folder.plan.digest):
        part = folder.status("--only", "arm == 'quick'")[1]
        other = folder.status("--set", "params.code=1")[1]
    assert "  run      pid N, since HH:MM:SS\n  stages   0/2 done, 2 missing\n" in part
    assert "  to do    ~50s\n" in part
    said = "  run      pid N, since HH:MM:SS: other --scale, --only or --set; the rest waits\n"
    assert said in other
    assert "ETA" not in other


def test_a_failure_of_an_earlier_run_is_tried_again_by_the_one_that_is_active(folder: Any) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    folder.run("run", folder.stage("wrong"))
    with hold_run_lock(folder.store, "a.yaml", "07:30", 2e9):
        code, text = folder.status("--all")
    assert code == 0
    assert "  until    " in text
    assert text.count(": starts nothing that would end later\n") == 1
    assert "python arm=wrong, load 1: warm, read\n    tried before: read: it ended with exit status 1\n" in text


def test_when_all_is_done_and_a_load_that_lost_its_image(folder: Any) -> None:
    folder.build()
    for name in ("load", "quick"):
        folder.run("run", folder.stage(name))
    assert folder.status("--only", "arm == 'quick'") == (
        0,
        """\
a.yaml: programs that sleep
  run      none is active
  stages   2/2 done
  builds   1/1 done
""",
    )
    record = folder.store.records() / folder.plan.builds[0].id
    record.parent.mkdir()
    folder.store.build(record.name).rename(record)  # as where results were imported
    assert "  stages   2/2 done\n  builds   1/1 done\n" in folder.status("--only", "arm == 'quick'")[1]
    assert "  builds   0/1 done, 1 missing\n" in folder.status()[1]
    (folder.store.image(folder.stage("load")) / "data" / "t").write_text("y")
    assert (
        "  replay   python, load 1: load: the image is damaged: t is not what was saved: its checksum differs\n"
    ) in folder.status()[1]
    shutil.rmtree(folder.store.image(folder.stage("load")))
    assert "  replay   1 done before: there is no image of its end state\n" in folder.status()[1]


def test_json_has_it_all(folder: Any) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    folder.run("run", folder.stage("wrong"))
    folder.capture.readouterr()
    assert main(["status", "a.yaml", "--format", "json"]) == 3
    found = json.loads(folder.capture.readouterr().out)
    assert found["totals"]["stage"] == {
        **dict.fromkeys(("running", "waiting", "interrupted", "blocked", "unsupported", "elsewhere"), 0),
        "done": 1,
        "failed": 1,
        "missing": 2,
    }
    failed = next(node for node in found["nodes"] if node["state"] == "failed")
    assert (failed["end"]["step"], failed["end"]["tries"]) == ("read", 1)
    assert failed["end"]["message"] == "it ended with exit status 1"
    assert found["run"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_somebody_else_who_may_only_read_sees_the_same(folder: Any) -> None:
    folder.build()
    folder.run("run", folder.stage("load"))
    (before, _), there = folder.status(), sorted(folder.store.root.rglob("*"))
    for parent in (folder.path, *folder.path.parents[:-2]):
        parent.chmod(0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        os._exit(main(["status", "a.yaml"]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == before == 0
    assert sorted(folder.store.root.rglob("*")) == there


NOW = 1_800_000_000.0
NOTHING = Eta(0.0)
PLAN = Plan("p", "what is measured", "a.yaml", "smoke", (), (), (), (), {}, Report())


def status(*words: Status, run: ActiveRun | None = None, eta: Eta = NOTHING) -> PlanStatus:
    nodes = {f"s-{number}": NodeStatus(f"s-{number}", "t", word) for number, word in enumerate(words)}
    return PlanStatus(PLAN, NOW, run, nodes, eta)


def lines(found: PlanStatus) -> list[str]:
    return list(header_lines(found, 100, Paint()))


@pytest.mark.parametrize(("given", "named"), [("6h", " (6h)"), ("07:30", "")])
def test_until_when_a_run_begins_stages(given: str, named: str) -> None:
    run = ActiveRun(7, None, "a.yaml", given, NOW + 60, covers_plan=True, is_exact=True)
    (said,) = (line for line in lines(status(Status.MISSING, run=run)) if line.startswith("  until"))
    assert said.endswith(f"{named}: starts nothing that would end later")
    assert said.count("(") == len(named[:1])


def test_what_is_for_another_machine_is_not_counted_as_to_do() -> None:
    found = status(Status.DONE, Status.MISSING, Status.ELSEWHERE)
    assert lines(found)[0] == "a.yaml (smoke): what is measured"
    assert counts_text(found, "stage", Paint()) == "1/2 done, 1 missing, 1 elsewhere"


@pytest.mark.parametrize(
    ("left", "about", "said"), [(None, False, "?"), (0.0, True, "0s"), (0.4, False, "0s"), (90.0, True, "~1m30s")]
)
def test_how_long_it_takes(left: float | None, about: bool, said: str) -> None:
    assert eta_text(status(eta=Eta(left, about))).partition(" (")[0] == said


@pytest.mark.parametrize(
    ("state", "seconds", "waited", "said"),
    [
        (Status.DONE, 90.0, 0.4, "done in 1m30s"),
        (Status.DONE, 31.0, 58.2, "done in 31s, after waiting 58s"),
        (Status.DONE, None, 0.0, "done"),
        (Status.FAILED, 90.0, 0.0, "failed"),
    ],
)
def test_what_became_of_a_stage(state: Status, seconds: float | None, waited: float, said: str) -> None:
    result = Result(Path("r"), seconds=seconds, waited=waited)
    node = NodeStatus("s-1", "t", state, seconds=seconds, result=result)
    assert f"{node.status}{node.time_taken}" == said


def sample(second: float, **more: Any) -> str:
    cpu = {"user": second / 2, "system": second / 4, "idle": second / 4}
    return json.dumps({"monotonic": second, "cpu": cpu, **more}) + "\n"


def disk(sectors: int) -> dict[str, Any]:
    return {"device": "vda", "devices": {"vda": {"read_sectors": sectors}}}


def test_rates_of_the_newest_second_and_only_those_that_can_be_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("".join([sample(1.0), sample(2.0, **disk(0)), sample(3.0, **disk(4096))]))
    assert HostLoad().rates(tmp_path) == {
        "device_read_mb_per_s": 2.0,
        "host_cpu_user_pct": 50.0,
        "host_cpu_system_pct": 25.0,
    }


def test_one_sample_tells_nothing_yet(tmp_path: Path) -> None:
    load = HostLoad()
    assert load.rates(tmp_path) == {}
    (tmp_path / NAME).write_text(sample(1.0))
    assert load.rates(tmp_path) == {}


def test_whole_lines_and_what_comes_later(tmp_path: Path) -> None:
    path = tmp_path / "a"
    tail = Tail(path)
    assert tail.lines() == []
    path.write_text("one\ntw")
    assert tail.lines() == ["one"]
    with path.open("a") as file:
        file.write("o\nthree\n")
    assert tail.lines() == ["two", "three"]
    assert tail.lines() == []


def test_of_a_long_file_the_end_without_the_line_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("".join(f"{number:07}\n" for number in range(10_000)))
    found = Tail(path).lines()
    assert found[-1] == "0009999"
    assert len(found) == FIRST_BYTES // 8 - 1


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a long line\n")
    tail = Tail(path)
    tail.lines()
    path.write_text("new\n")
    assert tail.lines() == ["new"]


@pytest.mark.parametrize(
    ("values", "width", "expected"),
    [
        ([1, 2, 4, 8], 10, Spark("▂▃▅█", 1, 8, 4)),
        ([8, 0, 8], 10, Spark("█ █", 0, 8, 3)),  # a stall is a gap
        ([0, 0], 10, Spark("▁▁", 0, 0, 2)),
        ([9, 1, 3, 5, 7], 3, Spark("▃█", 1, 7, 4)),  # two in a column; the oldest has no partner
    ],
)
def test_from_zero_to_the_largest(values: list[float], width: int, expected: Spark) -> None:
    found = sparkline(values, width)
    assert found == expected


def test_nothing_of_nothing() -> None:
    assert sparkline([], 10) is None
    assert sparkline([1.0], 0) is None


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=400), st.integers(1, 200))
def test_it_fits_and_its_largest_is_the_highest_block(values: list[float], width: int) -> None:
    found = sparkline(values, width, PLAIN_BLOCKS)
    assert found is not None
    assert 1 <= len(found.text) <= width
    assert found.used <= len(values)
    assert found.most == max(values[len(values) - found.used :])
    assert set(found.text) <= {*PLAIN_BLOCKS, " "}
    assert max(values) == 0 or found.most == 0 or PLAIN_BLOCKS[-1] in found.text
    assert len(BLOCKS) == len(PLAIN_BLOCKS)
