"""Cuts the power before and after each fsync of a small sweep: what was not synced is gone; the plain command goes on.

`python bench/power_cut.py [--every 1] [--first 1] [--seconds S]`; needs cc. The sweep runs once, and everything that it
does to names and files is written down (power_cut.c). Of each moment two states of the disk are made
(power_cut_disk.py), and in each that is new the plain command must end with 0, measure what is missing, keep each
result that was published, and leave nothing half-made."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "compiler")]

from bench.failing_writes import SPEC, wrong_after  # noqa: E402
from bench.forked_runs import ForkedRuns  # noqa: E402
from bench.power_cut_disk import EMPTY, LOST, Disk, Event, State, key, write  # noqa: E402

COMMAND = (sys.executable, "-m", "stepgrid.cli", "run", "a.yaml")
Cut = tuple[int, str, State]  # after how many calls, on which kind of file system, and what it holds


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="stepgrid-cut-") as folder:
        work = Path(folder)
        found = _recorded(work)
        syncs = sum(event.what == "sync" for event in found)
        print(f"{syncs:,} syncs among {len(found):,} calls of a sweep", flush=True)
        return _tried(work, found, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="try each of so many new states")
    parser.add_argument("--first", type=int, default=1, help="the first state that is tried")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop at the latest")
    return parser.parse_args()


def shim(work: Path) -> Path:
    made = work / "power_cut.so"
    source = str(Path(__file__).with_suffix(".c"))
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-w", "-o", str(made), source, "-ldl"], check=True)
    return made


def recorded(work: Path, made: Path) -> dict[str, str]:
    """The environment of what is written down, which happens below `run`."""
    (work / "copies").mkdir(exist_ok=True)
    names = {"CUT_BELOW": "run", "CUT_LOG": "log", "CUT_COPIES": "copies"}
    return {"LD_PRELOAD": str(made), **{name: str(work / path) for name, path in names.items()}}


def _recorded(work: Path) -> list[Event]:
    (work / "run").mkdir()
    (work / "run" / "a.yaml").write_text(SPEC)
    done = subprocess.run(COMMAND, cwd=work / "run", env=_env(work) | recorded(work, shim(work)), capture_output=True)
    if done.returncode:
        sys.exit("the sweep that is written down ended with a fault")
    return list(events(work / "log"))


def events(log: Path) -> Iterator[Event]:
    for line in log.read_text().splitlines():
        yield Event(*line.split("\t"))


def _env(work: Path) -> dict[str, str]:
    own = {"STEPGRID_HOST_LOCK": str(work / "lock"), "STEPGRID_LOOK": "0", "STEPGRID_SITE": ""}
    return {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **own}


def _tried(work: Path, found: Sequence[Event], options: argparse.Namespace) -> int:
    end, survived, tried, runs = time.monotonic() + options.seconds, 0, Counter[str](), ForkedRuns(work)
    for number, (at, kind, state) in enumerate(_states(found, str(work / "run")), 1):
        if number < options.first or (number - options.first) % options.every:
            continue
        if time.monotonic() > end:
            break
        tried[kind] += 1
        folder = work / "cut"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write(state, work / "copies", folder)
        (folder / "a.yaml").write_text(SPEC)
        promise = promised(found[:at], str(work / "run"))
        wrong = _after(runs, folder, promise)
        survived += not wrong
        for each in wrong:
            print(f"state {number}, {kind}, after call {at}: {each}", flush=True)
    kinds = ", ".join(f"{count} where {kind}" for kind, count in tried.items())
    print(f"{tried.total():,} states tried ({kinds}), {survived:,} survived")
    return 0 if survived == tried.total() else 1


def _states(found: Sequence[Event], root: str) -> Iterator[Cut]:
    """Each state once."""
    disk, seen = Disk(root), set()
    for at, event in enumerate(found, 1):
        if event.what == "sync":
            yield from _new(disk, EMPTY, at - 1, seen)
        disk.apply(event)
        if event.what == "sync":
            yield from _new(disk, LOST, at, seen)


def _new(disk: Disk, kind: str, at: int, seen: set[object]) -> Iterator[Cut]:
    state = disk.state(kind)
    if (known := key(state)) not in seen:
        seen.add(known)
        yield at, kind, state


def promised(found: Sequence[Event], root: str) -> set[str]:
    """STAGE/TIME of the results that were published."""
    renamed = {event.more for event in found if event.what == "rename" and "/outputs/results/" in event.more}
    synced = {at: event.path for at, event in enumerate(found) if event.what == "sync"}
    when = {event.more: at for at, event in enumerate(found) if event.more in renamed}
    return {
        str(Path(path).relative_to(f"{root}/outputs/results"))
        for path in renamed
        if any(at > when[path] and folder == str(Path(path).parent) for at, folder in synced.items())
    }


def _after(runs: ForkedRuns, folder: Path, promise: set[str]) -> list[str]:
    done = runs.run(folder)
    lost = [each for each in promise if not (folder / "outputs" / "results" / each / "result.json").is_file()]
    return [*(f"the published result {each} is lost" for each in lost), *wrong_after(done, folder)]


if __name__ == "__main__":
    sys.exit(main())
