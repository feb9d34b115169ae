"""Builds that fail, or are killed while they fetch, patch, compile and install: with real Snakemake, git and cc."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.build.repository import Repository
from tests.integration.conftest import Lab
from tests.integration.test_interrupted import wait_for

MAIN = '#include <stdio.h>\nint main(void) { puts("speed 41"); return 0; }\n'
PATCH = """\
--- a/main.c
+++ b/main.c
@@ -1,2 +1,2 @@
 #include <stdio.h>
-int main(void) { puts("speed 41"); return 0; }
+int main(void) { puts("speed 42"); return 0; }
"""
# a phase that is to be slow goes on writing, from a process that left its group, until the file `slow` is gone
SLOW = """\
if [ -e "$LAB/slow" ] && grep -qx "$1" "$LAB/slow"; then
  setsid sh -c 'while :; do echo . >> grows; echo . >> "$LAB/grows"; sleep 0.02; done' &
  sleep 300
fi
"""
BUILD = f"""\
#!/bin/sh
set -e
{SLOW.replace('"$1"', "compile")}
cc -o speed main.c
mkdir -p bin
{SLOW.replace('"$1"', "install")}
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
def bench(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path / "lab")
    lab.folder.mkdir()
    repository = Repository(tmp_path / "origin")
    (repository.folder / "build.sh").write_text(BUILD)
    (repository.folder / "build.sh").chmod(0o755)
    repository.commit("v1.0.0", main_c=MAIN)
    (lab.folder / "faster.patch").write_text(PATCH)
    git = lab.folder / "git"
    git.write_text(f'#!/bin/sh\nshift 2\n{SLOW}exec git "$@"\n')
    git.chmod(0o755)
    (lab.folder / "site.yaml").write_text(f"tools: {{git: {git}}}\n")
    lab.write(SPEC.replace("URL", repository.url))
    yield lab
    left = lab.processes()
    for process in left:
        process.kill()
    assert not left, f"processes were left behind: {left}"


def at_work(lab: Lab) -> list[psutil.Process]:
    return [process for process in lab.processes() if "compiler.build" in process.cmdline()]


def figures(lab: Lab) -> list[Any]:
    found = (lab.folder / "outputs" / "results").glob("*/*/steps/*/stdout")
    return [path.read_text() for path in found]


@pytest.mark.parametrize("phase", ["fetch", "apply", "compile", "install"])
def test_a_killed_build_starts_clean(phase: str, bench: Lab) -> None:
    """Of the job alone, which can say nothing any more: the next run completes, and nobody goes on writing."""
    (bench.folder / "slow").write_text(f"{phase}\n")
    run = bench.start(bench.argv("run", "spec.yaml"), LAB=str(bench.folder))
    wait_for((bench.folder / "grows").exists)
    for process in at_work(bench):
        process.send_signal(signal.SIGKILL)
    assert run.wait(60) == 3
    wait_for(lambda: not bench.processes())
    (bench.folder / "slow").unlink()
    again = bench.run(LAB=str(bench.folder))
    assert again.returncode == 0, again.stderr
    assert figures(bench) == ["speed 42\n"]
    (build,) = (bench.folder / "outputs" / "builds").iterdir()
    assert sorted(path.name for path in build.iterdir()) == ["build.json", "build.log", "tree"]
    assert not (build / "tree" / "grows").exists()
    (attempt,) = (bench.folder / "outputs" / "attempts").glob("b-*/*")
    assert sorted(path.name for path in attempt.iterdir()) == ["build.log", "failure.json"]
    assert json.loads((attempt / "failure.json").read_text())["message"] == "the build was killed"


def test_a_build_whose_keeper_was_killed_as_well(bench: Lab) -> None:
    """kill -9 of everything but the compile itself, all at once: the next run ends what is left of it."""
    (bench.folder / "slow").write_text("compile\n")
    run = bench.start(bench.argv("run", "spec.yaml"), LAB=str(bench.folder))
    wait_for((bench.folder / "grows").exists)
    ours = [p for p in bench.processes() if p.name().startswith(("python", "stepgrid", "snakemake"))]
    for process in ours:
        process.send_signal(signal.SIGSTOP)  # else one would see another die
    for process in ours:
        process.send_signal(signal.SIGKILL)
    run.wait(60)
    assert bench.processes(), "the compile goes on"
    (bench.folder / "slow").unlink()
    assert bench.run(LAB=str(bench.folder)).returncode == 0
    assert figures(bench) == ["speed 42\n"]


def test_a_failed_build_fails_only_its_own_cells(bench: Lab) -> None:
    text = (bench.folder / "spec.yaml").read_text()
    broken = "  broken:\n    extends: patched\n    flags: {command: cc -o bin/speed none.c}\nsteps:"
    bench.write(text.replace("steps:", broken, 1))
    run = bench.run()
    assert run.returncode == 3
    assert figures(bench) == ["speed 42\n"]
    (log,) = (bench.folder / "outputs" / "attempts").glob("b-*/*/build.log")
    said = run.stderr
    assert "failed: build broken\n  the build's command cc ended with exit status 1\n  | " in said
    assert "  | cc1: fatal error: none.c: No such file or directory\n" in said
    assert f"  log: {log.relative_to(bench.folder)}\n" in said
    assert "Traceback" not in said


def test_a_refused_patch(bench: Lab) -> None:
    (bench.folder / "faster.patch").write_text(PATCH.replace("include", "exclude"))
    run = bench.run()
    assert run.returncode == 3
    assert (
        "failed: build patched\n  the patch faster.patch is refused: its hunk at main.c:1 does not fit\n" in run.stderr
    )
