"""Signals while no job runs: there is nothing to lose, so the process ends at once and without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

GUARDS: dict[int, Popen[bytes]] = {}  # processes of ours that are no jobs: they wait for this one's end

_status = 1


def at_once(status: int | None = None) -> None:
    """From now on; also when nobody reads what we print any more, as in `snakemake -n | head`."""
    global _status
    _status = _status if status is None else status
    for number in SIGNALS:
        signal.signal(number, _stopped)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def guard(folder: Path) -> int:
    """Starts a process that removes a folder after this one has ended, `kill -9` included; its id, once and for all.

    Snakemake removes its temporary folder itself, unless it is killed."""
    from subprocess import DEVNULL, PIPE, Popen

    remove = ["sh", "-c", 'read -r _; exec rm -rf -- "$1"', "sh", str(folder)]
    started = Popen(remove, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, cwd="/", start_new_session=True)
    GUARDS[started.pid] = started
    return started.pid


def leave(status: int | None = None) -> NoReturn:
    """Without waiting for Snakemake's threads and timers, or for DuckDB to be taken apart: it takes them long."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_status if status is None else status)


def _stopped(number: int, _: FrameType | None) -> NoReturn:
    with suppress(OSError):
        os.write(2, f"stopped by {signal.Signals(number).name} before anything was started\n".encode())
    leave()
