"""Lines about the status of a plan, and the live figures of its running step."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.samples import NAME
from stepgrid.host.terminal_output import Paint
from stepgrid.model.plan import Plan, Report
from stepgrid.model.status import ActiveRun, ActiveWork, Eta, NodeStatus, PlanStatus, Result, RunAhead, Status
from stepgrid.run.status_lines import (
    BLOCKS,
    PLAIN_BLOCKS,
    Spark,
    clock,
    counts_lines,
    current_throughput,
    eta_text,
    header_lines,
    host_load,
    progress_line,
    queue_text,
    read_throughput,
    sparkline,
    time_left,
    title_line,
)

NOW = 1_800_000_000.0
NOTHING = Eta(0.0)
PLAN = Plan("p", "what is measured", "a.yaml", "smoke", (), (), (), (), {}, Report())


def status(*words: Status, run: ActiveRun | None = None, eta: Eta = NOTHING) -> PlanStatus:
    nodes = {f"s-{number}": NodeStatus(f"s-{number}", "t", word) for number, word in enumerate(words)}
    return PlanStatus(PLAN, NOW, run, nodes, eta)


def lines(found: PlanStatus) -> list[str]:
    return list(header_lines(found, (), 100, Paint()))


@pytest.mark.parametrize(("request_", "named"), [("6h", " (6h)"), ("07:30", "")])
def test_until_when_a_run_begins_stages(request_: str, named: str) -> None:
    run = ActiveRun(7, None, "a.yaml", request_, NOW + 60, covers_plan=True, is_exact=True)
    (said,) = (line for line in lines(status(Status.MISSING, run=run)) if line.startswith("  until"))
    assert said.endswith(f"{named}: starts nothing that would end later")
    assert said.count("(") == len(named[:1])


def test_what_is_for_another_machine_is_not_counted_as_to_do() -> None:
    found = status(Status.DONE, Status.MISSING, Status.ELSEWHERE)
    assert title_line(found, 100, Paint()) == "a.yaml (smoke): what is measured"
    assert lines(found)[0] == "  stages   1/2 done, 1 missing, 1 elsewhere"


def test_counts_are_broken_between_words_and_coloured() -> None:
    found = status(*[Status.DONE, Status.FAILED, Status.BLOCKED, Status.MISSING] * 3)
    assert list(counts_lines(found, "stage", 40, Paint())) == [
        "  stages   3/12 done, 3 failed,",
        "           3 blocked (they need what failed),",
        "           3 missing",
    ]
    (line,) = counts_lines(found, "stage", 100, Paint(True))
    assert "\x1b[31m3 failed,\x1b[0m" in line


@pytest.mark.parametrize(
    ("left", "about", "said"), [(None, False, "?"), (0.0, True, "0s"), (0.4, False, "0s"), (90.0, True, "~1m30s")]
)
def test_how_long_it_takes(left: float | None, about: bool, said: str) -> None:
    assert time_left(Eta(left, about)) == said


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


def working(waits: str = "") -> PlanStatus:
    work = ActiveWork((7,), waits=waits, since=NOW - 130, doing="starts")
    node = NodeStatus("s-1", "a title: read", Status.WAITING if waits else Status.RUNNING, work=work)
    return PlanStatus(PLAN, NOW, None, {"s-1": node}, Eta(70.0))


def test_waiting_for_another_run_is_told_from_measuring() -> None:
    waiting, measuring = working("the host: process 9"), working()
    assert eta_text(waiting) == "waiting for another run, 2m10s so far; then 1m10s of measuring"
    assert eta_text(measuring) == "1m10s"
    assert eta_text(replace(measuring, waited=9.9)) == "1m10s"
    waited = replace(measuring, waited=540.0)
    assert eta_text(waited) == "1m10s of measuring; waited 9m00s for the host"
    assert progress_line(waiting) == "[0/1 done] waiting for another run, 2m10s so far; then 1m10s of measuring"
    assert progress_line(measuring, 3) == "[0/1 done] 3 disturbed, ETA 1m10s | a title: read: starts"


def test_the_queue_of_a_checkout_counts() -> None:
    node = NodeStatus("s-1", "a title: read", Status.MISSING, seconds=70.0, times=1)
    first = RunAhead(12, "a.yaml", NOW - 320, Eta(98.0))
    second = RunAhead(15, "b.yaml", NOW - 60, Eta(60.0, True))
    run = ActiveRun(16, NOW - 130, "c.yaml", covers_plan=True, is_exact=True, ahead=(first, second))
    queued = PlanStatus(PLAN, NOW, run, {"s-1": node}, Eta(70.0))
    text = "waiting for another run, 2m10s so far, about 2m38s more; then 1m10s of measuring"
    assert eta_text(queued) == text
    assert eta_text(queued, with_end=True) == f"{text} ({clock(NOW + 98 + 60 + 70, NOW, False)})"
    assert progress_line(queued) == f"[0/1 done] {text}"
    unknown = replace(run, ahead=(replace(first, eta=Eta(None)), second))
    assert eta_text(replace(queued, run=unknown), with_end=True) == text.replace(", about 2m38s more", "")
    assert queue_text((first, second), NOW) == (
        f"pid 12, a.yaml, since {clock(NOW - 320, NOW)} (5m20s), ETA 1m38s ({clock(NOW + 98, NOW, False)}); "
        f"then pid 15, b.yaml, since {clock(NOW - 60, NOW)} (1m00s), ETA ~1m00s ({clock(NOW + 60, NOW, False)})"
    )
    assert queue_text((RunAhead(0, "", NOW, Eta(None)),), NOW) == "a process that cannot be seen from here"


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


def test_a_series_of_nothing() -> None:
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


def sample(second: float, **more: Any) -> str:
    cpu = {"user": second / 2, "system": second / 4, "idle": second / 4}
    return json.dumps({"monotonic": second, "cpu": cpu, **more}) + "\n"


def disk(sectors: int) -> dict[str, Any]:
    return {"device": "vda", "devices": {"vda": {"read_sectors": sectors}}}


def test_rates_of_the_newest_second_and_only_those_that_can_be_told(tmp_path: Path) -> None:
    expected = {"device_read_mb_per_s": 2.0, "host_cpu_user_pct": 50.0, "host_cpu_system_pct": 25.0}
    lines = [sample(1.0), sample(2.0, **disk(0)), sample(3.0, **disk(4096))]
    (tmp_path / NAME).write_text("".join(lines))
    assert host_load(tmp_path) == expected
    (tmp_path / NAME).write_text("".join([sample(0.0) * 1000, *lines, sample(4.0)[:-9]]))
    assert host_load(tmp_path) == expected, "of a long file, whose last line is still being written"


def test_one_sample_tells_nothing_yet(tmp_path: Path) -> None:
    assert host_load(tmp_path) == {}
    (tmp_path / NAME).write_text(sample(1.0))
    assert host_load(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("secs_elapsed,interval_qps\n1,100\n2,54321\n", [(1.0, 100.0), (2.0, 54321.0)]),
        ("secs_elapsed,interval_qps\n1,100\n2,543", [(1.0, 100.0)]),  # the last line is still being written
        ("interval_qps,secs_elapsed\n7,1\n", [(1.0, 7.0)]),
        ("secs_elapsed,interval_qps\n", []),
        ("", []),
        ("a,b\n1,2\n", []),
        ("secs_elapsed,interval_qps\n1,nothing\n2,5\n", [(2.0, 2.5)]),  # five since the last line that can be read
    ],
)
def test_whole_lines_of_the_report_by_name(tmp_path: Path, text: str, expected: list[tuple[float, float]]) -> None:
    (tmp_path / "report.csv").write_text(text)
    assert list(read_throughput("db_bench", tmp_path)) == expected
    assert current_throughput("db_bench", tmp_path) == (expected[-1][1] if expected else None)


def test_of_a_long_report_the_end_is_read(tmp_path: Path) -> None:
    lines = (f"{second},{second * 10}" for second in range(1, 20_000))
    (tmp_path / "report.csv").write_text("\n".join(["secs_elapsed,interval_qps", *lines]) + "\n")
    found = read_throughput("db_bench", tmp_path)
    assert current_throughput("db_bench", tmp_path) == 199_990.0
    assert 300 < len(found) < 1000
    assert [second for second, _ in found] == list(range(20_000 - len(found), 20_000))


@pytest.mark.parametrize("kind", ["db_bench", "command", "of another version"])
def test_nothing_is_said_before_there_is_a_report_and_by_kinds_that_cannot_tell(tmp_path: Path, kind: str) -> None:
    assert current_throughput(kind, tmp_path) is None
