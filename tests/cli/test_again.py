"""stepgrid redo, results, retract and images, against a store whose results are put there by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host.files import write_json
from stepgrid.host.locks import locked
from stepgrid.model.plan import Plan
from stepgrid.store import paths, stage_requests
from stepgrid.store.store import Store
from tests.cli.test_plan import built, kept, measured
from tests.golden import Golden

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("folder", "account")
TIME = "20260101T000000.000000Z"


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests: a longer name breaks lines elsewhere."""
    monkeypatch.setenv("LOGNAME", "me")


@pytest.fixture
def plan() -> Plan:
    """All of it is measured."""
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    return plan


def out(capsys: Capture, *words: str, status: int = 0) -> str:
    assert main(list(words)) == status
    said = capsys.readouterr()
    text = said.err if status else said.out
    return re.sub(r"s-[0-9a-f]{20}", "s-ID", re.sub(r"by me, \d{4}-\d\d-\d\d \d\d:\d\d UTC", "by me, TIME", text))


def test_redo_of_a_cell_is_recorded_and_planned(plan: Plan, capsys: Capture, golden: Golden) -> None:
    words = ("redo", "a.yaml", "build=rocksdb-7.8.3,threads=2", "--why", "a noisy neighbour")
    assert out(capsys, *words) == (
        "the next run measures 1 stage again, beside the results that are there:\n"
        "  s-ID  rocksdb-7.8.3 threads=2, load 1: readww\n"
    )
    golden(out(capsys, "plan", "a.yaml"))
    assert out(capsys, *words, "--undo") == "1 stage no longer asked for\n"
    assert out(capsys, *words, "--undo") == "nothing was asked for\n"
    assert "to do    nothing" in out(capsys, "plan", "a.yaml")


def test_undo_takes_back_loads_too(plan: Plan, capsys: Capture) -> None:
    out(capsys, "redo", "a.yaml", "--load")
    assert out(capsys, "redo", "a.yaml", "--undo") == "6 stages no longer asked for\n"


def test_cells_may_stand_after_an_option(plan: Plan, capsys: Capture) -> None:
    words = ("redo", "--why", "noise", "a.yaml", "--step", "readww", "build=rocksdb-7.8.3,threads=2")
    assert out(capsys, *words).startswith("the next run measures 1 stage again, ")


def disturbed(plan: Plan, *titles: str) -> None:
    for stage in plan.stages:
        if stage.title in titles:
            path = Store().result(stage.id) / "attempt.json"  # type: ignore[operator]
            path.write_text(json.dumps({"plan": plan.digest, "noise": {"warning": "others used 45 % of a core"}}))


def test_redo_beside_a_result_of_the_last_time_there_is(plan: Plan, capsys: Capture) -> None:
    stage = next(stage.id for stage in plan.stages if stage.parent)
    (old,) = Store().results(stage)
    old.rename(old.with_name(paths.LAST_TIME))
    said = out(capsys, "redo", "a.yaml")
    assert said.startswith("the next run measures 3 stages again")
    assert stage_requests.read_redo_request(Store(), stage) is None
    assert said.endswith(
        "s-ID/99991231T235959.999999Z would stay the newest result, as no time is later: "
        "`stepgrid retract s-ID/99991231T235959.999999Z --why TEXT`\n"
    )
    assert out(capsys, "retract", f"{stage}/{paths.LAST_TIME}", "--why", "forged")
    assert Store().new_attempt(stage).name < paths.LAST_TIME


def test_redo_of_loads_that_were_disturbed(plan: Plan, capsys: Capture) -> None:
    Path("twice.yaml").write_text(Path("a.yaml").read_text() + "repeat: 2\n")
    words = ("redo", "twice.yaml", "--disturbed")
    assert (
        out(capsys, "redo", "a.yaml", "--disturbed")
        == "the host was quiet before each of these stages that has a result\n"
    )
    plan = kept("twice.yaml")
    measured(plan, [stage for stage in plan.stages if stage.load == 1])
    disturbed(plan, "rocksdb-9.10.0 threads=2, load 2: readww")
    said = out(capsys, *words)
    assert sorted(line.rpartition("  ")[2] for line in said.splitlines()[1:]) == [
        "rocksdb-7.8.3 threads=1, load 2: readww",
        "rocksdb-7.8.3 threads=2, load 2: readww",
        "rocksdb-7.8.3, load 2: fillseq",
        "rocksdb-9.10.0 threads=1, load 2: readww",
        "rocksdb-9.10.0 threads=2, load 2: readww",
        "rocksdb-9.10.0, load 2: fillseq",
    ]
    assert "asked for by me, TIME: the host was not quiet" in out(capsys, "plan", "twice.yaml")
    assert out(capsys, *words, "--undo") == "6 stages no longer asked for\n"


def test_redo_of_a_load_takes_what_starts_from_it_along(plan: Plan, capsys: Capture) -> None:
    said = out(capsys, "redo", "a.yaml", "--only", "build == 'rocksdb-7.8.3'", "--load")
    assert [line.rpartition("  ")[2] for line in said.splitlines()[1:]] == [
        "rocksdb-7.8.3, load 1: fillseq",
        "rocksdb-7.8.3 threads=1, load 1: readww",
        "rocksdb-7.8.3 threads=2, load 1: readww",
    ]
    assert len(stage_requests.pending_redos(Store())) == 3


def test_redo_by_step_and_of_what_has_no_result(plan: Plan, capsys: Capture) -> None:
    for stage in plan.stages:
        if "readww" in stage.title and "9.10.0" in stage.title:
            (Store().results_of(stage.id) / TIME / "result.json").unlink()
    said = out(capsys, "redo", "a.yaml", "--step", "readww")
    assert said.startswith("the next run measures 2 stages again, ")
    assert said.endswith("\n2 stages without a result: measured in any case\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--step", "reedww"], "there is no step `reedww`: did you mean `readww`?\n"),
        (["threads=3"], "axis `threads` has no cell at `3`: known here: 1, 2\n"),
    ],
)
def test_redo_of_what_there_is_not(plan: Plan, words: list[str], said: str, capsys: Capture) -> None:
    assert out(capsys, "redo", "a.yaml", *words, status=2) == said
    assert stage_requests.pending_redos(Store()) == {}


def test_a_redo_that_failed_says_so_in_the_plan(plan: Plan, capsys: Capture) -> None:
    out(capsys, "redo", "a.yaml", "build=rocksdb-7.8.3,threads=2")
    (stage,) = stage_requests.pending_redos(Store())
    write_json(
        Store().new_attempt(stage) / "failure.json", {"status": "failed", "step": "readww", "message": "it died"}
    )
    assert ": asked for by me, TIME; failed: readww: it died\n" in out(capsys, "plan", "a.yaml")


def test_results_lists_what_was_interrupted(plan: Plan, capsys: Capture) -> None:
    (load,) = (stage.id for stage in plan.stages if stage.title == "rocksdb-7.8.3, load 1: fillseq")
    attempt = Store().new_attempt(load)
    write_json(attempt / "failure.json", {"status": "interrupted", "message": "stopped by SIGTERM"})
    said = out(capsys, "results", "a.yaml", "build=rocksdb-7.8.3,threads=2")
    assert said.splitlines()[2].split("  ")[1:3] == ["interrupted", attempt.name]


def test_results_lists_all_and_which_counts(plan: Plan, capsys: Capture) -> None:
    words = ("results", "a.yaml", "build=rocksdb-7.8.3,threads=2")
    stage = next(stage.id for stage in plan.stages if stage.title == "rocksdb-7.8.3 threads=2, load 1: readww")
    assert out(capsys, *words) == (
        "s-ID  done  rocksdb-7.8.3, load 1: fillseq\n"
        f"  counts  {TIME}  2026-01-01 00:00:00  30s\n"
        "s-ID  done  rocksdb-7.8.3 threads=2, load 1: readww\n"
        f"  counts  {TIME}  2026-01-01 00:00:00  30s\n"
    )
    assert out(capsys, "retract", f"{stage}/{TIME}", "--why", "a disturbance") == (
        f"outputs/results/s-ID/{TIME} counts no more: its stage has no other, so the next run measures it\n"
    )
    assert out(capsys, *words).splitlines()[3].split() == (
        f"retracted {TIME} 2026-01-01 00:00:00 30s retracted by me, TIME: a disturbance".split()
    )
    assert "measure: 1 stage, about 30s: its result was retracted by me, TIME: a disturbance" in out(
        capsys, "plan", "a.yaml"
    )
    found = json.loads(out(capsys, *words, "--format", "json"))
    assert [each["standing"] for each in found[1]["tried"]] == ["retracted"]
    assert out(capsys, "retract", f"outputs/results/{stage}/{TIME}", "--undo") == (
        f"outputs/results/s-ID/{TIME} counts again\n"
    )
    assert "to do    nothing" in out(capsys, "plan", "a.yaml")


def test_retract_wants_a_result_and_a_reason(plan: Plan, capsys: Capture) -> None:
    stage = plan.stages[0].id
    assert out(capsys, "retract", f"{stage}/{TIME}", status=2) == (
        "say why: the report does, beside the figures that are left\n"
    )
    assert out(capsys, "retract", "s-0/x", "--why", "y", status=2) == (
        "there is no result s-0/x: `stepgrid results SPEC` lists them, as STAGE/TIME\n"
    )
    assert out(capsys, "retract", f"{stage}/{TIME}", "--undo", status=2) == (
        f"outputs/results/s-ID/{TIME} was not retracted\n"
    )
    with locked(Store().lock("run")):
        said = out(capsys, "retract", f"{stage}/{TIME}", "--why", "y", status=3)
    assert re.sub(r"\d+", "N", said) == (
        "a run is active in this checkout (pid N): nothing was changed; try again later\n"
    )
    assert Store().result(stage)


def image(stage: str, content: bytes = b"x" * 5000, **more: object) -> Path:
    staged = Store().new_image(stage)
    (staged / "data").mkdir()
    (staged / "data" / "a").write_bytes(content)
    write_json(staged / "image.json", {"folders": [], "files": {"a": 5000}, "links": {}, **more})
    Store().publish_image(stage, staged)
    return Store().image(stage)


def test_images_are_listed_verified_and_removed(plan: Plan, capsys: Capture) -> None:
    from stepgrid.host.files import scan
    from stepgrid.store.images import file_checksums

    assert out(capsys, "images") == "there is no image\n"
    load = next(stage for stage in plan.stages if stage.parent is None)
    folder = image(load.id, title=load.title)
    image("s-0", title="of another spec")
    write_json(
        folder / "image.json",
        {
            **json.loads((folder / "image.json").read_text()),
            "checksums": file_checksums(folder / "data", scan(folder / "data")),
        },
    )
    said = re.sub(r"used \d+s ago +|[\d.]+ .iB free", "N", out(capsys, "images", "a.yaml"))
    assert said == f"s-ID  12 KiB  N{load.title}\n1 image, 12 KiB; N\n"
    assert out(capsys, "images", "--verify") == (
        "s-0  sound: files and sizes, no checksums were recorded  of another spec\n"
        f"s-ID  sound: files, sizes and checksums  {load.title}\n"
        "all are sound\n"
    )
    (folder / "data" / "a").write_bytes(b"y" * 5000)
    assert main(["images", "--verify"]) == 3
    assert capsys.readouterr().out.splitlines()[1] == (
        f"{load.id}  the image is damaged: a is not what was saved: its checksum differs  {load.title}"
    )
    assert folder.is_dir()
    assert out(capsys, "images", "--evict", "s-77", status=2) == (
        "there is no image s-77: `stepgrid images` lists them, by their stages\n"
    )
    with locked(Store().lock("s-0")):
        assert out(capsys, "images", "--evict", "s-0", status=3) == "left: s-0 is in use: of another spec\n"
    assert out(capsys, "images", "--evict", load.id) == f"removed s-ID, 12 KiB: {load.title}\n"
    assert out(capsys, "images", "--evict", "all") == "removed s-0, 12 KiB: of another spec\n"
    assert out(capsys, "images") == "there is no image\n"


def test_a_damaged_image_is_planned_with_why(plan: Plan, capsys: Capture) -> None:
    from stepgrid.run.images import SavingRules, save

    load = next(stage for stage in plan.stages if stage.parent is None and "7.8.3" in stage.title)
    assert main(["redo", "a.yaml", "build=rocksdb-7.8.3,threads=2"]) == 0
    live = Path("live")
    live.mkdir()
    (live / "a").write_text("xx")
    save(Store(), load.id, load.id, live, SavingRules())
    capsys.readouterr()
    assert "replay" not in out(capsys, "plan", "a.yaml")
    (Store().image(load.id) / "data" / "a").write_text("yy")
    assert (
        "replay (done): 1 stage, about 30s\n    the image is damaged: a is not what was saved: its checksum differs\n"
    ) in out(capsys, "plan", "a.yaml")
