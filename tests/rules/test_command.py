"""stepgrid run: what it says, and its exit status."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs

pytestmark = pytest.mark.integration
TOLD = """\
from snakemake.scheduling.job_scheduler import JobScheduler

JobScheduler._schedule_reevalutation = lambda self, delay: print("looks again", flush=True)
"""
PLAIN = 'import sys\nfrom snakemake.cli import main\nmain(["--config", "spec=spec.json"])\n'


def test_nothing_to_do_is_answered_without_snakemake(finished):
    os.utime(finished.folder / "spec.json", (1, 1))
    assert finished.stepgrid_run("spec.json").returncode == 0  # its plan is remembered from here on
    (finished.folder / "snakemake.py").write_text("raise AssertionError('imported')")
    ended = finished.stepgrid_run("spec.json")
    assert ended.returncode == 0
    assert ended.stdout.startswith("nothing to do: 4 cells, 12 stages measured\n\nthe summary\noutputs/summary/")
    assert (ended.stderr, finished.log) == ("", [])


def test_a_dry_run_of_snakemake_writes_nothing(checkout):
    ended = checkout.snakemake("-n")
    assert ended.returncode == 0, ended.stderr
    assert "run             12" in ended.stdout + ended.stderr
    assert not (checkout.folder / "outputs").exists()


def test_a_dry_run_lists_the_jobs_without_snakemake_and_writes_nothing(checkout):
    (checkout.folder / "snakemake.py").write_text("raise AssertionError('imported')")
    ended = checkout.stepgrid_run("spec.json", "-n")
    assert ended.returncode == 0, ended.stderr
    *jobs, end = ended.stdout.splitlines()
    assert jobs[:2] == ["build p", "build q"]
    assert sum(job.startswith("measure ") for job in jobs) == 12
    assert jobs[-1] == "collect the tables and summarize"
    assert end == "a dry run: 2 builds, 12 stages; nothing was started"
    assert not (checkout.folder / "outputs").exists()


def test_a_dry_run_of_what_is_measured_prints_no_report(finished):
    before = {path: path.lstat().st_mtime_ns for path in (finished.folder / "outputs").rglob("*")}
    ended = finished.stepgrid_run("spec.json", "-n")
    assert (ended.returncode, ended.stdout) == (0, "nothing to do: 4 cells, 12 stages measured\n")
    assert before == {path: path.lstat().st_mtime_ns for path in (finished.folder / "outputs").rglob("*")}


def test_more_arguments_are_for_snakemake(finished):
    assert finished.stepgrid_run("spec.json", "-F").returncode == 0
    assert finished.log == ["collect", "summarize"]


@pytest.mark.parametrize(
    "way",
    [
        pytest.param('exec(open("stepgrid_run.py").read())\n', id="stepgrid run"),
        pytest.param(PLAIN, id="snakemake", marks=pytest.mark.nightly),
    ],
)
def test_the_scheduler_does_not_look_again_by_timers(checkout, way):
    """It would take a core from what is measured, while other jobs wait."""
    (checkout.folder / "told.py").write_text(TOLD + way)
    ended = checkout.execute([sys.executable, "told.py", "spec.json"])
    assert ended.returncode == 0, ended.stderr
    assert "looks again" not in ended.stdout + ended.stderr


def test_a_usage_error_of_snakemake_is_shown(finished):
    ended = finished.stepgrid_run("spec.json", "--cores", "two", "-F")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "Error parsing number of cores" in ended.stderr


def test_snakemake_without_a_spec_says_how(checkout):
    ended = checkout.execute([*checkout.argv()[:-2]])
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        "which spec? snakemake --config spec=specs/quickstart.yaml, or stepgrid run specs/quickstart.yaml"
    )


MODULE = """
module bench:
    snakefile: "stepgrid.smk"
    config: {"spec": "spec.json"}
use rule * from bench
"""


def test_a_module_of_another_workflow_is_refused(checkout):
    (checkout.folder / "Snakefile").rename(checkout.folder / "stepgrid.smk")
    (checkout.folder / "Snakefile").write_text(MODULE)
    ended = checkout.snakemake("-n")
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        "this Snakefile cannot be a module: use `workflow/Snakefile`, which `stepgrid snakefile --module` prints"
    )


def test_the_linter_of_snakemake_finds_nothing(checkout):
    ended = checkout.snakemake("--lint")
    assert (ended.returncode, ended.stdout) == (0, "")


def test_a_section_of_a_shared_config_starts_what_it_names(checkout):
    (checkout.folder / "shared.yaml").write_text("samples: a.tsv\nstepgrid: {spec: spec.json, scal: smoke}\n")
    ended = checkout.forked([sys.executable, "-m", "snakemake", "-n", "--configfile", "shared.yaml"])
    assert ended.returncode == 2
    assert "Snakemake's config: there is no key `scal`: did you mean `scale`?" in ended.stderr


@pytest.mark.parametrize("words", [["-R", "run"], ["-F", "--until", "run"]])
def test_who_forces_what_is_measured_is_told_of_redo(finished, words):
    option = " ".join(words[: words.index("run") + 1]) if "-R" in words else "-F"
    told = f"`{option}` measures nothing that has a result: ask for it by `stepgrid redo spec.json`, then run again"
    for ended in (finished.snakemake(*words), finished.stepgrid_run("spec.json", *words)):
        assert told in ended.stderr.splitlines()
    assert finished.logged("measure") == []
    assert "redo" not in finished.snakemake().stderr


def test_a_place_that_cannot_be_written_is_a_sentence(checkout):
    (checkout.folder / "outputs").write_text("not a folder")
    ended = checkout.stepgrid_run("spec.json")
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"{checkout.folder}/outputs cannot be written: ")
    assert ended.stderr.endswith("; make it writable, or start in another folder\n")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("way", ["snakemake", "stepgrid"])
def test_problems_of_the_spec_are_rendered_and_nothing_runs(checkout, way):
    checkout.write_spec(broken=True)
    ended = checkout.snakemake() if way == "snakemake" else checkout.stepgrid_run("spec.json")
    assert ended.returncode == 1
    first = int(way == "snakemake")  # its line about the profile
    said = ended.stderr.splitlines()[first:]
    assert said[0] == "spec.json:1:1: error[toy]: the spec is broken"
    assert said[-3:] == ["   = mend it", "", "spec.json: 1 error"]
    assert ended.stdout == ""
    assert checkout.log == []


@pytest.mark.parametrize(
    ("way", "name"), [("snakemake", "HOME"), pytest.param("stepgrid run", "XDG_CACHE_HOME", marks=pytest.mark.nightly)]
)
def test_a_folder_that_cannot_be_made(checkout, tmp_path, name, way):
    (tmp_path / "file").write_text("")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    run = [checkout.argv()[0], "stepgrid_run.py", "spec.json"]
    argv = checkout.argv() if way == "snakemake" else run
    env = {"XDG_CACHE_HOME": "", name: str(tmp_path / "file" / "below"), "TMPDIR": str(temporary)}
    done = checkout.execute(argv, **env)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert [*temporary.iterdir()] == []


def test_the_home_stays_as_it_is(checkout, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    done = checkout.execute(checkout.argv(), HOME=str(home), XDG_CACHE_HOME="")
    assert done.returncode == 0, done.stderr
    assert [*home.iterdir()] == []


def test_the_graph_of_the_jobs_has_labels(checkout):
    checkout.write_spec(loads=1)
    ended = checkout.snakemake("--dag")
    assert ended.returncode == 0, ended.stderr
    assert re.findall(r'label = "(.+?)"', ended.stdout) == [
        *("all", r"build\nbuild: p", r"build\nbuild: q"),
        *(
            rf"run\nstage: {build}{arm}, load 1: {step}"
            for build in "pq"
            for arm, step in (("", "fill"), (" arm=a", "read"), (" arm=b", "read"))
        ),
        "summarize",
    ]


def test_a_failed_stage_has_its_log_under_its_label(checkout):
    (checkout.folder / "fail-s-p-0-a").touch()
    ended = checkout.snakemake()
    assert ended.returncode == 1
    (folder,) = (checkout.folder / "outputs" / "marks").glob("*/log")
    logs = {log.name: log.resolve().relative_to(checkout.folder / "outputs") for log in folder.iterdir()}
    assert logs["p arm=a, load 1: read"].match("attempts/s-p-0-a/*/journal.jsonl")
    assert logs["p, load 1: fill"].match("results/s-p-0/*/journal.jsonl")
    assert logs["p"] == Path("builds/b-p/build.log")
    dry = checkout.snakemake("-n", "--quiet", "progress").stdout
    assert "measure p arm=a, load 1: read" in dry
    assert "s-p-0-a" not in dry


def test_the_results_are_in_the_report(finished):
    ended = finished.snakemake("--report", "report.html")
    assert ended.returncode == 0, ended.stderr
    page = (finished.folder / "report.html").read_text()
    for label in ("summary", "page with charts"):
        assert f'"labels": {{"results": "{label}"}}' in page
    assert "Missing metadata" not in ended.stderr


@needs("chromium")
def test_a_browser_shows_the_report(finished, tmp_path):
    assert finished.snakemake("--report", "report.html").returncode == 0
    page = finished.folder / "report.html"
    argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}"]
    shown = subprocess.run(
        [*argv, "--virtual-time-budget=5000", "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120
    )
    assert ">Results<" not in page.read_text()
    assert ">Results<" in shown.stdout, "the menu of results, which its scripts have made"
