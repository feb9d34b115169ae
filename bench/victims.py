"""Who is alive in a checkout while a run goes on, and how each may be struck."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

MAIN, RUNNER, CLIENT, BUILD, TOOL = "snakemake", "runner and sampler", "client", "build", "build's program"
REPORT = "collect and summarize"
JOBS = {"run-stage": RUNNER, "build": BUILD, "report": REPORT}
ABOVE = {RUNNER: CLIENT, BUILD: TOOL}  # what the descendants of a job are
PAUSE = 0.3

Victims = Mapping[str, Sequence[psutil.Process]]


def alive(main: int) -> Victims:
    """Kind -> processes below the main one, and itself."""
    found: dict[str, list[psutil.Process]] = defaultdict(list)
    with suppress(psutil.Error):
        top = psutil.Process(main)
        if top.status() != psutil.STATUS_ZOMBIE:
            found[MAIN].append(top)
        for job in top.children():
            if kind := _kind(job):
                found[kind].append(job)
                found[ABOVE.get(kind, kind)] += _below(job)
    return {kind: processes for kind, processes in found.items() if processes}


def working_in(folder: Path) -> list[psutil.Process]:
    """Everybody, wherever their parents are, whose folder, command or open file is below it."""
    return [process for process in psutil.process_iter() if process.pid != os.getpid() and _works_in(process, folder)]


def kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)


def pause(process: psutil.Process) -> None:
    with suppress(psutil.Error):
        process.suspend()
        time.sleep(PAUSE)
        process.resume()


def told(main: int, number: signal.Signals) -> None:
    """As a terminal tells it: the main process and whoever is in its group."""
    with suppress(ProcessLookupError):
        os.killpg(main, number)


def _kind(process: psutil.Process) -> str | None:
    with suppress(psutil.Error):
        words = process.cmdline()
        return next((JOBS[word] for word in words if word in JOBS), None)
    return None


def _below(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return process.children(recursive=True)
    return []


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        names = [process.cwd(), *process.cmdline(), *(file.path for file in process.open_files())]
        return any(str(folder) in name for name in names)
    except psutil.Error:
        return False
