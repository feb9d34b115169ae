"""What the main process does around a run: the checkout's lock, signals, and the last word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn

from stepgrid.host import cluster_job, files, locks, tuning
from stepgrid.host.locks import LockBusy
from stepgrid.host.processes import signals
from stepgrid.host.processes.signals import die_with_parent, ignore_signal
from stepgrid.language.site import VARIABLE, current_site
from stepgrid.model.units import counted
from stepgrid.run.progress import head
from stepgrid.run.run_end_time import in_force
from stepgrid.store import active_run
from stepgrid.store.active_run import RunRecord, active_run_record, hold_run_lock
from stepgrid.store.paths import RUN_LOCK
from stepgrid.store.status.integrity import set_aside
from stepgrid.store.status.reader import job_status
from stepgrid.workflow import host_plan, next_round, run_end
from stepgrid.workflow.cluster.job_screen import JobScreen
from stepgrid.workflow.doctor import collector_tools
from stepgrid.workflow.remaining_work import RemainingWork, ask_for_again, work
from stepgrid.workflow.run_end import unstarted
from stepgrid.workflow.run_request import refused

PATIENCE = 1.0  # seconds that jobs have to end after they were told to
CANCELLING = 8.0  # seconds that it may take to cancel those of a cluster; one that is left measures, and is found


@dataclass(slots=True, repr=False)
class Hooks:
    """Without a repr: asyncio looks at the handler of Ctrl-C in each round of Snakemake's scheduler, and Python's
    signal module puts its repr into an error that nobody sees. That of a plan takes a tenth of a second."""

    work: RemainingWork
    config: Mapping[str, Any] = field(default_factory=dict)  # the request
    lock: ExitStack = field(default_factory=ExitStack)
    stopped: str | None = None  # the signal that ended the run
    screen: JobScreen | None = None  # of a run on a cluster

    def start(self, notes: Iterable[str] = ()) -> None:
        """Before the first job."""
        store = self.work.store
        fresh = not store.lock(RUN_LOCK).exists() and not any(store.results_of("_").parent.glob("*"))
        self._take_lock()
        try:
            self._begin(fresh, notes)
        except BaseException:
            self.lock.close()  # else when Python has forgotten how
            raise

    def _begin(self, fresh: bool, notes: Iterable[str]) -> None:
        store = self.work.store
        active_run.keep_reserve(self.work.store)
        files.sweep_store(self.work.store.root)
        active_run.forget_skipped_stages(self.work.store)
        self.listen()
        if fresh:
            home = host_plan.project(Path(self.work.plan.spec).resolve().parent)
            uncounted = f"; those in {home / host_plan.OUTPUTS} do not count" if home not in (None, Path.cwd()) else ""
            say(f"results go to {self.work.store.root.absolute()}: a new folder{uncounted}")
        self._sweep()
        for broken in self.work.broken:
            say(set_aside(self.work.store, broken) or "")
        self.work.restore_marks()
        ask_for_again(self.work)
        for why, stages in Counter(self.work.again.values()).items():
            say(f"{counted(stages, 'stage')} again, beside the old result: {why}")
        if site := os.environ.get(VARIABLE):
            say(f"site file: {host_plan.named(site)}")
        for sentence in (*self._unfit(), *notes):
            say(sentence)
        say(f"{head(job_status(self.work.store, self.work.plan.digest))}{self._builds()}")
        self.screen = JobScreen(store, self.work.plan.digest, say)
        self.screen.start()

    def _unfit(self) -> Iterator[str]:
        """What this host cannot do for the stages that it is to measure."""
        if cluster_job.active():
            return
        site = current_site()
        if sentence := tuning.tuning_refusal(site):
            yield sentence
        asked = [stage for node, stage in self.work.stages.items() if node in self.work.lacking]
        yield from collector_tools.sentences(asked, site)

    def listen(self) -> None:
        for number in signals.ENDING_SIGNALS:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # nobody who looks is no reason to stop
        sys.excepthook = self._uncaught

    def success(self) -> None:
        signals.exit_on_signals()
        self._last_look()
        now = work(self.work.plan, self.work.store)
        if now.is_over:
            if now.elsewhere:
                say(f"measured here: {counted(len(now.results), 'stage')}{now.others}")
            self._go_on()
            print(now.products.summary, flush=True)
        else:  # only a part of the plan was asked for: --until
            say(head(now.status))
        self.lock.close()

    def error(self) -> None:
        """A job failed, or the run was stopped: what is there is summarized, unless someone waits for us to go."""
        try:
            self._last_look()
            if not self.stopped:
                self._incomplete()
        except KeyboardInterrupt:
            self.stopped = self.stopped or signal.SIGINT.name
        if self.stopped:
            self._leave()

    def _last_look(self) -> None:
        if self.screen is not None:
            self.screen.stop()

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Snakemake does not listen everywhere: not while it starts a job."""
        if self.stopped is None or not issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _end_jobs()
        self._leave()

    def _leave(self) -> NoReturn:
        say(f"stopped by {self.stopped}: nothing that was measured is lost, the same command goes on from here")
        signals.exit_now()

    def _incomplete(self) -> None:
        for sentence in run_end.close(self.work):
            say(sentence)
        locks.clear_up_host()
        self._sweep()
        done = all(self._command(verb) for verb in ("collect", "summarize"))
        late = unstarted(self.work)
        if late:
            say(late.sentence)
        if not (late and late.in_order):
            say(self._failed())
        if done and not late:
            self._go_on()
        if done:
            say(f"summary of what there is: {self.work.text}, {self.work.page}")
        self.lock.close()
        if late and late.in_order:
            signals.exit_now(0)

    def _go_on(self) -> None:
        """With the loads that the report just made asks for: the same command, in this process."""
        if more := next_round.sentence(self.work, self.config):
            say(more)
            if next_round.is_possible():
                self.lock.close()
                next_round.start()

    def _sweep(self) -> None:
        if any(self.work.store.leftovers()):  # seldom: of a runner that was killed
            from stepgrid.run.images import live_databases

            live_databases.clear_up(self.work.store)

    def _failed(self) -> str:
        far = head(job_status(self.work.store, self.work.plan.digest))
        kept = f"failed attempts are kept in {self.work.store.root / 'attempts'}; the same command tries them again"
        return f"the run is not complete: {far}\n{kept}"

    def _builds(self) -> str:
        names = [build.name for build in self.work.plan.builds if build.id in self.work.lacking]
        return f" | {counted(len(names), 'build')} to make first: {', '.join(names)}" if names else ""

    def _command(self, verb: str) -> bool:
        argv = [sys.executable, "-m", f"stepgrid.{verb}", self.work.plan.digest, "--partial"]
        quiet = subprocess.DEVNULL  # a group of its own: Ctrl-C reaches us, and we kill it
        done = subprocess.run(argv, check=False, stdout=quiet, process_group=0, preexec_fn=die_with_parent())
        return done.returncode == 0

    def _take_lock(self) -> None:
        try:
            until = in_force()
            text, at = (until.text, until.at) if until else ("", None)
            plan = self.work.plan
            self.lock.enter_context(hold_run_lock(self.work.store, plan.spec, text, at, plan.digest))
        except LockBusy as busy:
            say(refusal(active_run_record(self.work.store, busy.holders), busy.holders))
            sys.exit(1)
        except OSError as error:
            say(refused(self.work.store, error))
            sys.exit(1)

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Jobs are told to end, whether or not the signal reached them too; Snakemake takes it as Ctrl-C."""
        for again in signals.ENDING_SIGNALS:
            signal.signal(again, ignore_signal)
        self.stopped = signal.Signals(number).name
        if cluster_job.active():  # its jobs are cancelled by a child of ours
            threading.Thread(target=self._leave_later, daemon=True).start()
            raise KeyboardInterrupt
        tell(signal.SIGTERM)
        threading.Thread(target=_end_jobs, daemon=True).start()
        raise KeyboardInterrupt

    def _leave_later(self) -> None:
        """Once its jobs are cancelled Snakemake waits until it would have looked after them again: up to minutes."""
        time.sleep(CANCELLING)
        self._leave()


def _end_jobs() -> None:
    """Tells them again and again: a job that Snakemake was about to start begins after the first word."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        time.sleep(PATIENCE / 10)
        tell(signal.SIGTERM)
    tell(signal.SIGKILL)


def refusal(record: RunRecord | None, holders: Sequence[int]) -> str:
    """Why a second run in one checkout does not start."""
    pid = record.pid if record else next(iter(holders), None)
    who = "" if pid is None else f": pid {pid}"
    if record:
        who += f", started {record.started.astimezone():%H:%M:%S} ({record.spec})"
    stop = "" if pid is None else f", or stop it with: kill {pid}"
    return f"another run is active in this checkout{who}. It goes on; start again when it has ended{stop}"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# The jobs of this process: its direct children, whichever thread started them.


def pids() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that just ended
            found += [int(pid) for pid in (task / "children").read_text().split()]
    return [pid for pid in found if pid not in signals.GUARDS]


def tell(number: int) -> None:
    """Sends a signal to each."""
    for pid in pids():
        with suppress(ProcessLookupError):
            os.kill(pid, number)
