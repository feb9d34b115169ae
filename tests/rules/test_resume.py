"""Nothing is measured twice, nothing measured is deleted, and what is lost is measured again."""

import json
import re
import shutil
from itertools import pairwise

import pytest

pytestmark = pytest.mark.integration
SUMMARY = ["collect", "summarize"]


def test_a_run_builds_measures_and_prints_the_summary(whole_run):
    checkout, ended = whole_run
    assert ended.returncode == 0
    assert sorted(checkout.logged("build")) == ["b-p", "b-q"]
    assert len(checkout.logged("measure")) == 12
    assert checkout.log[-2:] == SUMMARY
    title, page = ended.stdout.splitlines()
    assert title.startswith("the summary ")
    assert " 12 stages in " in title
    assert (checkout.folder / page).is_file()


def test_the_screen_shows_progress_and_none_of_snakemakes_own_lines(whole_run):
    lines = whole_run[1].stderr.splitlines()
    assert lines[0].startswith("Using workflow specific profile ")  # printed before any of our code runs
    assert lines[1] == f"results go to {whole_run[0].folder}/outputs: a new folder"
    assert lines[2] == "2 builds to make first: p, q"
    assert lines[3].startswith("[0/12 done] ETA ")
    assert all(line.startswith("[") for line in lines[3:])
    assert len(lines) <= 15
    assert lines[-1] == "[12/12 done]"


def test_jobs_start_in_the_order_of_their_ranks(whole_run):
    from stepgrid.plan.plan_file import read

    checkout, _ = whole_run
    [plan] = (checkout.folder / "outputs/plans").glob("[!.]*")
    ranked = sorted(read(plan).stages, key=lambda stage: stage.rank)
    assert checkout.logged("measure") == [stage.id for stage in ranked]
    assert checkout.log[0].startswith("build ")
    assert checkout.log[1].startswith("build ")


def test_again_there_is_nothing_to_do(finished):
    ended = finished.snakemake()
    assert (ended.returncode, finished.log, ended.stdout) == (0, [], "")
    assert "nothing to do: 4 cells, 12 stages measured\n\nthe summary\n" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "log"),
    [
        (["-F"], SUMMARY),
        pytest.param(["-R", "run"], [], marks=pytest.mark.nightly),
        pytest.param(["--touch"], [], marks=pytest.mark.nightly),
        (["--delete-all-output"], []),
        (["--rerun-triggers", "code", "input", "mtime", "params", "software-env"], SUMMARY),
    ],
)
def test_no_flag_measures_again_or_deletes_a_result(finished, arguments, log):
    before = finished.results()
    assert finished.snakemake(*arguments).returncode == 0
    assert finished.log == log
    assert finished.snakemake().returncode == 0
    assert finished.logged("measure") == finished.logged("build") == []
    assert finished.results() == before


def test_delete_all_output_in_the_middle_deletes_links_only(finished):
    (finished.folder / "outputs/marks/s-p-0").unlink()
    shutil.rmtree(finished.folder / "outputs/results/s-q-1-a")
    before = finished.results()
    assert finished.snakemake("--delete-all-output").returncode == 0
    assert finished.results() == before
    assert finished.snakemake().returncode == 0
    assert finished.log == ["measure s-q-1-a", *SUMMARY]
    assert before.items() <= finished.results().items()


@pytest.mark.parametrize(
    "lost",
    [
        ".snakemake",
        "outputs/marks",
        *(pytest.param(f"outputs/{name}", marks=pytest.mark.nightly) for name in ("plans", "locks")),
    ],
)
def test_lost_bookkeeping_is_made_again(finished, lost):
    shutil.rmtree(finished.folder / lost)
    assert finished.snakemake().returncode == 0
    assert finished.snakemake("-F").returncode == 0
    assert finished.log == SUMMARY
    assert len(list((finished.folder / "outputs/marks").glob("[bs]-*"))) == 14


def test_a_changed_rule_changes_nothing(finished):
    rules = finished.folder / "Snakefile"
    rules.write_text(rules.read_text().replace("exec ", "exec env "))
    finished.snakemake()
    assert finished.log == []


@pytest.mark.parametrize("keep_mark", [True, False])
def test_a_lost_result_is_measured_again_and_only_that(finished, keep_mark):
    shutil.rmtree(finished.folder / "outputs/results/s-p-1")
    if not keep_mark:
        (finished.folder / "outputs/marks/s-p-1").unlink()
    assert finished.snakemake().returncode == 0
    assert finished.log == ["measure s-p-1", *SUMMARY]


DAMAGE = {
    "truncated": lambda result: (result / "result.json").write_text('{"stage": "s-p-1", "st'),
    "of another stage": lambda result: (result / "result.json").write_text('{"stage": "s-q-1", "status": "done"}'),
    "a step is gone": lambda result: next((result / "steps").iterdir()).rmdir(),
    "all steps are gone": lambda result: shutil.rmtree(result / "steps"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_broken_result_is_kept_aside_and_measured_again_also_when_a_report_was_made_since(finished, damage):
    finished.stepgrid_run("spec.json")
    [result] = (finished.folder / "outputs/results/s-p-1").iterdir()
    DAMAGE[damage](result)
    ended = finished.stepgrid_run("spec.json")
    assert (ended.returncode, finished.log) == (0, ["measure s-p-1", *SUMMARY]), ended.stderr
    assert f"outputs/results/s-p-1/{result.name} is broken: " in ended.stderr
    assert f"kept in outputs/attempts/s-p-1/{result.name}, and made again\n" in ended.stderr
    note = json.loads((finished.folder / "outputs/attempts/s-p-1" / result.name / "failure.json").read_text())
    assert note["status"] == "broken"
    assert "failed" not in ended.stderr
    assert finished.stepgrid_run("spec.json").stdout.startswith("nothing to do: ")


def test_a_dry_run_sees_what_is_broken_and_moves_nothing(finished):
    [result] = (finished.folder / "outputs/results/s-p-1").iterdir()
    DAMAGE["truncated"](result)
    ended = finished.snakemake("-n")
    assert (ended.returncode, re.findall(r"^Job \d+: measure (.*)$", ended.stdout, re.MULTILINE)) == (
        0, ["p, load 2: fill"],
    )  # fmt: skip
    assert result.is_dir()


def test_a_damaged_build_is_made_again_and_nothing_is_measured(finished):
    (finished.folder / "outputs/builds/b-p/build.json").write_text('{"id"')
    ended = finished.snakemake()
    assert ended.returncode == 0, ended.stderr
    assert finished.log == ["build b-p", *SUMMARY]
    assert "outputs/builds/b-p is broken: build.json cannot be read (" in ended.stderr


def test_a_lost_summary_is_made_again(finished):
    shutil.rmtree(finished.folder / "outputs/summary")
    assert finished.snakemake().returncode == 0
    assert finished.log == SUMMARY


def test_a_fix_of_a_parser_or_of_the_report_collects_again_and_measures_nothing(finished):
    (finished.folder / "compiler" / "stepgrid" / "summarize" / "fix.py").write_text("MENDED = True\n")
    ended = finished.stepgrid_run("spec.json")
    assert (ended.returncode, finished.log) == (0, SUMMARY)
    again = finished.stepgrid_run("spec.json")
    assert again.stdout.startswith("nothing to do: ")
    assert len(list((finished.folder / "outputs" / "summary").rglob("made-by-*"))) == 2


def test_a_summary_that_was_interrupted_after_its_tables_is_made_again(finished):
    (stamp,) = (finished.folder / "outputs" / "summary").glob("*/made-by-*")
    stamp.unlink()
    assert finished.stepgrid_run("spec.json").returncode == 0
    assert finished.log == SUMMARY


def test_a_part_of_a_plan_ends_without_a_summary(checkout):
    ended = checkout.snakemake("--until", "build")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr.splitlines()[-1].startswith("[0/12 done] ETA ")
    assert sorted(checkout.log) == ["build b-p", "build b-q"]


def test_a_result_of_another_spec_is_taken_over(finished):
    finished.write_spec("other.json", loads=3)
    assert finished.snakemake(spec="other.json").returncode == 0
    assert len(finished.logged("measure")) == 6
    assert all("-2" in stage for stage in finished.logged("measure"))


WRITTEN = [f"s-{build}-{load}{arm}" for build in "pq" for load in range(2) for arm in ("", "-a", "-b")]


def _intervals(results):
    """(start, end, stage) of each result."""
    records = [json.loads(path.read_text()) for path in results.glob("*/*/result.json")]
    return sorted((record["started"], record["ended"], record["stage"]) for record in records)


def _blocks(stages):
    """Each in the order given: what comes after the same load number."""
    return [[stage for stage in stages if stage.split("-")[2] == load] for load in "01"]


@pytest.mark.parametrize("order", ["randomized", "interleaved", "as_written"])
def test_attempts_follow_the_order(checkout, order):
    checkout.write_spec(order=order, seconds=0.02)
    ended = checkout.snakemake("--cores", "2")
    assert ended.returncode == 0, ended.stderr
    measured = _intervals(checkout.folder / "outputs" / "results")
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(measured)), "one at a time"
    stages = [stage for _, _, stage in measured]
    if order == "as_written":
        assert stages == WRITTEN
        return
    first, second = _blocks(stages)
    assert stages == [*first, *second], "a block is over before the next begins"
    assert [len(stage) for stage in stages] == [5, 5, 7, 7, 7, 7] * 2, "loads first"
    if order == "interleaved":
        assert stages == [
            *("s-p-0", "s-q-0", "s-p-0-a", "s-p-0-b", "s-q-0-a", "s-q-0-b"),
            *("s-p-1", "s-q-1", "s-p-1-a", "s-p-1-b", "s-q-1-a", "s-q-1-b"),
        ]
    else:
        assert {*first, *second} == {*WRITTEN}
        assert _blocks(WRITTEN) != [first, second], "shuffled"


@pytest.mark.parametrize("way", ["snakemake", "stepgrid"])
def test_stages_that_would_not_end_in_time_are_left_and_the_next_run_goes_on(checkout, way):
    """One of two loads is too long for the time: it is left, and so is all that waits for it."""
    checkout.write_spec(builds=["p"], loads=2, seconds=0.05, long={"s-p-1": 3600.0})
    ended = checkout.snakemake("until=6m") if way == "snakemake" else checkout.stepgrid_run("spec.json", "--until=6m")
    lines = ended.stderr.splitlines()
    assert ended.returncode == 0, ended.stderr
    assert sorted(checkout.logged("measure")) == ["s-p-0", "s-p-0-a", "s-p-0-b"]
    assert re.fullmatch(r"stopped at 6m: 3 of 6 stages left, the next needs about \dh\d\dm", lines[-3])
    assert lines[-1].startswith("outputs/summary/")
    assert "Error" not in ended.stderr
    assert checkout.log[-2:] == ["collect --partial", "summarize --partial"]
    checkout.forget_log()
    checkout.write_spec(builds=["p"], loads=2, seconds=0.05)
    assert checkout.snakemake().returncode == 0


def test_a_failure_stays_a_failure(checkout):
    checkout.write_spec(builds=["p"], loads=2, seconds=0.05, long={"s-p-1": 3600.0})
    (checkout.folder / "fail-s-p-0-a").touch()
    ended = checkout.stepgrid_run("spec.json", "--until=6m")
    assert ended.returncode == 3
    stopped, far, because, _, kept = ended.stderr.splitlines()[-7:-2]
    assert re.fullmatch(r"stopped at 6m: 3 of 6 stages left, the next needs about \dh\d\dm", stopped)
    assert far.startswith("the run is not complete: [2/6 done] 1 failed, ETA ")
    assert because.startswith("because ")
    assert kept == "failed attempts are kept in outputs/attempts; the same command tries them again"


def test_a_rule_is_left_to_snakemake(checkout):
    ended = checkout.stepgrid_run("spec.json", "--until", "build")
    assert ended.returncode == 0
    assert [line.split()[0] for line in checkout.log] == ["build", "build"]


def test_what_is_neither_is_said_before_anything_starts(checkout):
    wrong = "until=soon: expected a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30"
    ended = checkout.snakemake("until=soon")
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (2, wrong)
    before = checkout.stepgrid_run("--until", "soon", "spec.json")
    assert (before.returncode, before.stderr.splitlines()[-1]) == (
        2,
        "--until: expected a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30; "
        "or a rule: build, run, summarize, all; found `soon`",
    )
    assert checkout.log == []
