"""Builds that fail, or are killed while they fetch, patch, compile and install, with Snakemake, git and Python."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.plan.assembly import compile_spec
from stepgrid.store import plans
from tests.build.repository import Repository
from tests.conftest import HOST
from tests.integration.conftest import Lab, words
from tests.waiting import LONG, until

MAIN = 'def main():\n    print("speed 41")\n'
PATCH = """\
--- a/app/main.py
+++ b/app/main.py
@@ -1,2 +1,2 @@
 def main():
-    print("speed 41")
+    print("speed 42")
"""
# a phase that is to be slow goes on writing, from a process that left its group, until the file `slow` is gone
SLOW = """\
if [ -e "$LAB/slow" ] && grep -qx "PHASE" "$LAB/slow"; then
  setsid sh -c 'while :; do echo . >> grows; echo . >> "$LAB/grows"; sleep 0.02; done' &
  sleep 300
fi
"""
BUILD = f"""\
#!/bin/sh
set -e
{SLOW.replace("PHASE", "compile")}
"{sys.executable}" -m zipapp app -m main:main -p "{sys.executable}" -o speed
mkdir -p bin
{SLOW.replace("PHASE", "install")}
cp speed bin/speed
"""
SPEC = """\
title: "an unknown engine"
builds:
  patched:
    engine: program
    source: {git: "URL", ref: v1.0.0}
    patches: [faster.patch]
    flags: {command: ./build.sh, programs: bin/speed}
steps:
  - {name: run, kind: command, argv: ["{program:speed}"], metrics: {speed: {pattern: 'speed (\\d+)', required: true}}}
"""


@pytest.fixture
def bench(tmp_path, monkeypatch):
    lab = Lab(tmp_path / "lab")
    lab.folder.mkdir()
    monkeypatch.setenv("LAB", str(lab.folder))
    monkeypatch.setenv("STEPGRID_SITE", str(lab.folder / "site.yaml"))
    repository = Repository(tmp_path / "origin")
    (repository.folder / "build.sh").write_text(BUILD)
    (repository.folder / "build.sh").chmod(0o755)
    repository.commit("v1.0.0", app__main_py=MAIN)
    (lab.folder / "faster.patch").write_text(PATCH)
    git = lab.folder / "git"
    git.write_text(f'#!/bin/sh\n{SLOW.replace("PHASE", "$3")}exec git "$@"\n')  # behind -c and a setting
    git.chmod(0o755)
    (lab.folder / "site.yaml").write_text(f"tools: {{git: {git}}}\n")
    lab.write(SPEC.replace("URL", repository.url))
    yield lab
    left = lab.processes()
    for process in left:
        process.kill()
    assert not left, f"processes were left behind: {left}"


def job(lab, monkeypatch):
    """What Snakemake would start for the one build."""
    monkeypatch.chdir(lab.folder)
    plan = compile_spec("spec.yaml", None, HOST)
    plans.publish(lab.store, plan)
    return [sys.executable, "-m", "stepgrid.pipeline", "build", plan.digest, plan.builds[0].id]


@pytest.mark.parametrize(
    "phase", ["compile", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("fetch", "apply", "install"))]
)
def test_a_killed_build_starts_clean(phase, bench, monkeypatch):
    """The job can say nothing any more: nobody goes on writing, and the next one completes."""
    argv = job(bench, monkeypatch)
    (bench.folder / "slow").write_text(f"{phase}\n")
    first = bench.start(argv)
    until((bench.folder / "grows").exists)
    first.kill()
    first.wait()
    until(lambda: not bench.processes())
    (bench.folder / "slow").unlink()
    again = bench.execute(argv)
    assert again.returncode == 0, again.stderr
    (build,) = (bench.folder / "outputs" / "builds").iterdir()
    assert sorted(path.name for path in build.iterdir()) == ["build.json", "build.log", "tree"]
    assert not (build / "tree" / "grows").exists()
    assert subprocess.check_output([build / "tree" / "bin" / "speed"], text=True) == "speed 42\n"
    (attempt,) = (bench.folder / "outputs" / "attempts").glob("b-*/*")
    assert sorted(path.name for path in attempt.iterdir()) == ["build.log", "failure.json"]
    assert json.loads((attempt / "failure.json").read_text())["message"] == "the build was killed"


def test_a_build_that_is_killed_alone_leaves_no_tree(bench):
    """The run goes on and says so; whether anybody tries it again or not."""
    (bench.folder / "slow").write_text("compile\n")
    run = bench.start(bench.argv("run", "spec.yaml"))
    until((bench.folder / "grows").exists)
    (made,) = bench.processes("build")
    made.kill()
    assert run.wait(LONG) == 3
    (attempt,) = (bench.folder / "outputs" / "attempts").glob("b-*/*")
    assert sorted(path.name for path in attempt.iterdir()) == ["build.log", "failure.json"]
    assert "the process that ran it was killed" in bench.screen
    assert f"  log: {attempt.relative_to(bench.folder)}/build.log\n" in bench.screen


def test_a_run_that_is_killed_with_all_that_watches_over_its_builds(bench):
    """kill -9 of everything but the compile itself, all at once: the next run ends what is left of it."""
    (bench.folder / "slow").write_text("compile\n")
    run = bench.start(bench.argv("run", "spec.yaml"))
    until((bench.folder / "grows").exists)
    ours = [process for process in bench.processes() if Path((words(process) or [""])[0]).name.startswith("python")]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first: else one would see another die
        for process in ours:
            process.send_signal(number)
    run.wait(LONG)
    assert bench.processes(), "the compile goes on"
    (bench.folder / "slow").unlink()
    again = bench.run()
    assert again.returncode == 0, again.stderr
    assert figures(bench) == ["speed 42\n"]


def test_a_failed_build_fails_only_its_own_cells(bench):
    (bench.folder / "other.patch").write_text(PATCH.replace("def main", "def other"))
    more = "  broken: {extends: patched, flags: {command: python3 none.py}}\n"
    more += "  refused: {extends: patched, patches: [other.patch]}\n"
    text = (bench.folder / "spec.yaml").read_text()
    bench.write(text.replace("steps:", more + "steps:", 1))
    run = bench.run()
    assert run.returncode == 3
    assert figures(bench) == ["speed 42\n"]
    said = run.stderr
    assert "failed: build broken\n  the build's command python3 ended with exit status 2\n  | " in said
    assert re.search(r"  \| .*can't open file '.*none\.py': \[Errno 2\] No such file or directory\n", said)
    for log in (bench.folder / "outputs" / "attempts").glob("b-*/*/build.log"):
        assert f"  log: {log.relative_to(bench.folder)}\n" in said
    refused = "failed: build refused\n  the patch other.patch is refused: its hunk at app/main.py:1 does not fit\n"
    assert refused in said
    assert "Traceback" not in said


def figures(lab):
    found = (lab.folder / "outputs" / "results").glob("*/*/steps/*/stdout")
    return [path.read_text() for path in found]
