"""What the main process does around a run: the checkout's lock, signals, and the last word."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from compiler.run import children
from compiler.run.progress import head
from compiler.run.tally import count
from compiler.run.workflow import Work, counted, summary
from compiler.store.lock import Busy, locked

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 1.0  # seconds that jobs have to end after they were told to


@dataclass(slots=True)
class Hooks:
    work: Work
    lock: ExitStack = field(default_factory=ExitStack)
    stopped: str | None = None  # the signal that ended the run

    def start(self) -> None:
        """Before the first job."""
        self._take_lock()
        for number in SIGNALS:
            signal.signal(number, self._stop)
        self.work.restore_marks()
        say(f"{head(count(self.work.store, self.work.plan.digest))}{self._builds()}")

    def success(self) -> None:
        self.lock.close()
        sys.stderr.flush()
        print(summary(self.work), flush=True)

    def error(self) -> None:
        """A job failed, or the run was stopped: what is there is summarized, unless someone waits for us to go."""
        if self.stopped:
            say(f"stopped by {self.stopped}: nothing that was measured is lost, the same command goes on from here")
            return
        done = all(self._command(verb) for verb in ("collect", "summarize"))
        say(f"the run is not complete: {head(count(self.work.store, self.work.plan.digest))}")
        say(f"failed attempts are kept in {self.work.store.root / 'attempts'}; the same command tries them again")
        if done:
            say(f"summary of what there is: {self.work.text}, {self.work.page}")
        self.lock.close()

    def _builds(self) -> str:
        names = [build.name for build in self.work.plan.builds if build.id in self.work.lacking]
        return f" | {counted(len(names), 'build')} to make first: {', '.join(names)}" if names else ""

    def _command(self, verb: str) -> bool:
        argv = [sys.executable, "-m", f"compiler.{verb}", self.work.plan.digest, "--partial"]
        return subprocess.run(argv, check=False, stdout=subprocess.DEVNULL).returncode == 0

    def _take_lock(self) -> None:
        path = self.work.store.lock("run")
        try:
            self.lock.enter_context(locked(path, wait=False))
        except Busy as busy:
            say(refusal(path, busy.holders))
            sys.exit(1)
        began = datetime.now(UTC).isoformat()
        path.write_text(json.dumps({"pid": os.getpid(), "started": began, "spec": self.work.plan.spec}) + "\n")

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Jobs are told to end, whether or not the signal reached them too; Snakemake takes it as Ctrl-C."""
        for again in SIGNALS:
            signal.signal(again, signal.SIG_IGN)
        self.stopped = signal.Signals(number).name
        children.tell(signal.SIGTERM)
        killer = threading.Timer(PATIENCE, children.tell, [signal.SIGKILL])
        killer.daemon = True
        killer.start()
        raise KeyboardInterrupt


def refusal(path: Path, holders: list[int]) -> str:
    """Why a second run in one checkout does not start."""
    record = {}
    with suppress(OSError, ValueError):
        record = json.loads(path.read_text())
    pid = record.get("pid") or next(iter(holders), None)
    who = "" if pid is None else f": pid {pid}"
    with suppress(KeyError, ValueError, TypeError):
        who += f", started {datetime.fromisoformat(record['started']).astimezone():%H:%M:%S} ({record['spec']})"
    stop = "" if pid is None else f", or stop it with: kill {pid}"
    return f"another run is active in this checkout{who}. It goes on; start again when it has ended{stop}"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
