"""Where the time of a stage of `true` goes, from the start of its process to the start of the next one.

`python bench/stage_cost.py [--stages 20]`: a run of so many stages, whose jobs write down when each part of
theirs ends; medians, in milliseconds. Apart: those that found the host quiet, and those that looked at it again."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

# a job pays for what is imported here, and so each function has its own imports
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "compiler")]
LOOK = 0.2  # seconds of a look in which nothing else is done
VARIABLE = "STEPGRID_STAGE_COST"
# each from the end of the one before it
PARTS = (
    ("start", "Python starts, the first look at the host"),
    ("imported", "modules are imported"),
    ("told", "the lock, the attempt"),
    ("quiet", "the host is described, the parser imported; the rest of the look at the host"),
    ("ready", "build and database are described; the command is made"),
    ("ran", "`true` runs, in a control group, with a sampler"),
    ("published", "its output is parsed; the result is written and synced"),
    ("over", "Python ends"),
    ("next", "Snakemake starts the next one"),
)


def main() -> int:
    if VARIABLE in os.environ and sys.argv[1:2] == ["job"]:
        return _job(sys.argv[2:])
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", type=int, default=20)
    stages = parser.parse_args().stages
    with tempfile.TemporaryDirectory(prefix="stepgrid-cost-") as folder:
        work = Path(folder)
        return _told(_measured(work, stages))


def _measured(work: Path, stages: int) -> list[dict[str, float]]:
    """Of each job, in the order in which they ran."""
    import subprocess

    from bench.soak import SPEC

    (work / "a.yaml").write_text(SPEC.format(values=", ".join(map(str, range(stages)))))
    (work / "bin").mkdir()
    python = work / "bin" / "python"  # what the rules start: the job is the same but for the marks
    job = f'[ "$4" = run-stage ] && shift 4 && exec {sys.executable} {Path(__file__).resolve()} job "$@"'
    python.write_text(f'#!/bin/sh\n{job}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    own = {"STEPGRID_HOST_LOCK": str(work / "lock"), "STEPGRID_SITE": "", VARIABLE: str(work / "marks")}
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **own}
    code = f"import sys; sys.executable = {str(python)!r}; from stepgrid.cli import main; main(['run', 'a.yaml'])"
    subprocess.run([sys.executable, "-c", code], cwd=work, env=env, check=True, capture_output=True)
    return [json.loads(line) for line in (work / "marks").read_text().splitlines()]


def _told(jobs: list[dict[str, float]]) -> int:
    from itertools import pairwise

    ends = [{**job, "next": after["began"]} for job, after in pairwise(jobs)]
    quiet = [job for job in ends if job["quiet"] - job["told"] < LOOK]
    noisy = [job for job in ends if job not in quiet]
    for group, said in ((quiet, "found the host quiet"), (noisy, "looked at it again, as something was at work")):
        if group:
            print(f"{len(group)} of {len(ends)} stages {said}; load {os.getloadavg()[0]:.1f}")
            _table(group)
    return 0


def _table(ends: list[dict[str, float]]) -> None:
    from itertools import pairwise
    from statistics import median

    names = ["began", *(name for name, _ in PARTS)]
    for (_, said), (first, last) in zip(PARTS, pairwise(names), strict=True):
        print(f"{1000 * median(job[last] - job[first] for job in ends):6.0f}  {said}")
    whole = [job["next"] - job["began"] for job in ends]
    print(f"{1000 * median(whole):6.0f}  in all ({1000 * min(whole):.0f} to {1000 * max(whole):.0f})")


def _job(arguments: list[str]) -> int:
    """As `python -m stepgrid.pipeline run-stage`, with marks."""
    marks = {"began": _began()}
    from stepgrid import pipeline
    from stepgrid.host import activity

    _mark(marks, "start", activity, "first_reading_of_job")
    enable = gc.enable
    gc.enable = lambda: (enable(), marks.update(imported=_now()), _marks_of_stage(marks))[0]  # all is imported then
    status = pipeline.main(["run-stage", *arguments])
    marks["over"] = _now()
    with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(marks) + "\n")
    return status


def _marks_of_stage(marks: dict[str, float]) -> None:
    from stepgrid.host import noise
    from stepgrid.run import step
    from stepgrid.run.attempt import Attempt

    _mark(marks, "told", Attempt, "note")
    _mark(marks, "quiet", noise, "look")
    _mark(marks, "ready", step.StepRun, "_keep_statistics")
    _mark(marks, "ran", step.StepRun, "_supervise")
    _mark(marks, "published", Attempt, "publish")


def _mark(marks: dict[str, float], name: str, owner: Any, function: str) -> None:
    """Its first end."""
    real = getattr(owner, function)

    def marked(*given: Any, **named: Any) -> Any:
        try:
            return real(*given, **named)
        finally:
            marks.setdefault(name, _now())

    setattr(owner, function, marked)


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _began() -> float:
    """When this process was started, as proc(5) has it: to a hundredth of a second."""
    fields = Path("/proc/self/stat").read_text().rpartition(") ")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
