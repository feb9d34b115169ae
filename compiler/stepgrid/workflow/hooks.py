"""Hooks of Snakemake around a run: the checkout's lock, signals, the last word, and the next round of loads."""

from __future__ import annotations

import json
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
from http.client import HTTPException
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple, NoReturn

from stepgrid.errors import BUSY, StepgridError
from stepgrid.host import cluster_job, locks, tuning
from stepgrid.host.failure import StageError
from stepgrid.host.locks import LockBusy, locked
from stepgrid.host.processes import signals
from stepgrid.host.processes.signals import die_with_parent, ignore_signal
from stepgrid.host.terminal_output import folded, is_terminal
from stepgrid.language.site import VARIABLE, current_site
from stepgrid.model.plan import BUILD_PREFIX, PlannedStage
from stepgrid.model.records import RunRecord
from stepgrid.model.site import Site, is_webhook
from stepgrid.model.status import PlanStatus, Status
from stepgrid.model.units import counted, duration
from stepgrid.package import INTERPRETER
from stepgrid.run.end_time import end_time
from stepgrid.run.status_lines import (
    MENTIONED_WAIT,
    end_text,
    failure_text,
    head,
    queue_eta,
    queue_text,
    time_left,
    waited_text,
)
from stepgrid.store import active_run, stage_requests
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.attempts import write_failure
from stepgrid.store.paths import BUILD_LOG, FAILURE_FILE, JOURNAL, RUN_LOCK
from stepgrid.store.results import set_aside
from stepgrid.store.status import describe_ahead, job_status
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan, plan_cache
from stepgrid.workflow.remaining_work import RemainingWork, ask_for_repeats, remaining_work
from stepgrid.workflow.run_request import NO_WAIT, explain_error, plan_request
from stepgrid.workflow.screen import RunScreen

PATIENCE = 1.0  # seconds that jobs have to end after they were told to
CANCELLING = 8.0  # seconds that it may take to cancel those of a cluster; one that is left measures, and is found


@dataclass(slots=True, repr=False)
class Hooks:
    """Handlers of the start and the end of a run.

    They have no repr: asyncio looks at the handler of Ctrl-C in each round of Snakemake's scheduler, and Python's
    signal module puts its repr into an error that nobody sees. That of a plan takes a tenth of a second."""

    work: RemainingWork
    config: Mapping[str, object] = field(default_factory=dict)  # the request
    lock: ExitStack = field(default_factory=ExitStack)
    stopped: str | None = None  # the signal that ended the run
    screen: RunScreen | None = None
    began: float | None = None

    def start(self, notes: Iterable[str] = ()) -> None:
        """Take the checkout's lock, tidy the store and describe the run, before the first job."""
        store = self.work.store
        is_new_folder = not store.lock(RUN_LOCK).exists() and not any(store.results_of("_").parent.glob("*"))
        self._take_lock()
        self.began = time.monotonic()
        try:
            active_run.keep_reserve(store)
            store.sweep()
            active_run.forget_skipped_stages(store)
            self.listen()
            if is_new_folder:
                say(f"results go to {store.root.absolute()}: a new folder")
            self._sweep_databases()
            for broken in self.work.status.broken:
                say(set_aside(store, broken) or "")
            self.work.restore_marks()
            ask_for_repeats(self.work)
            for sentence in (*self._start_notes(), *notes):
                say(sentence)
            names = [build.name for build in self.work.plan.builds if build.id in self.work.lacking]
            if names and not is_terminal(sys.stderr):
                say(f"{counted(len(names), 'build')} to make first: {', '.join(names)}")
            self.screen = RunScreen(store, self.work.plan)
            self.screen.start()
        except BaseException:
            self.lock.close()  # else when Python has forgotten how
            raise

    def _take_lock(self) -> None:
        """Take it when earlier runs have ended; then begin anew, as they may have measured some of the work."""
        store, plan, until = self.work.store, self.work.plan, end_time()
        text, at = (until.text, until.at) if until else ("", None)
        while True:
            if str(self.config.get(NO_WAIT)).lower() == "true":
                refuse_to_wait(store)
            try:
                self.lock.enter_context(hold_run_lock(store, plan.spec, text, at, plan.digest))
                return
            except LockBusy:
                active_run.enter_queue(store, plan.spec, plan.digest)
                active_run.await_turn(store, self._announce_wait)
                if can_restart():
                    restart()
            except OSError as error:
                say(explain_error(store, error))
                sys.exit(1)

    def _announce_wait(self, ahead: Sequence[RunRecord]) -> None:
        now, runs, status = time.time(), describe_ahead(self.work.store, ahead), self.work.status
        end = end_text(now, queue_eta(runs), status.eta)
        afterwards = f"then {time_left(status.eta)} of measuring{end}"
        for run in ahead:
            if run.plan == self.work.plan.digest:
                afterwards = f"pid {run.pid} measures this plan, too"
        subject = "another run" if len(runs) == 1 else f"{len(runs)} runs"
        say(f"waiting for {subject} in this checkout: {queue_text(runs, now)}; {afterwards}")

    def _start_notes(self) -> Iterator[str]:
        for reason, count in Counter(self.work.again.values()).items():
            yield f"{counted(count, 'stage')} again, beside the old result: {reason}"
        if site := os.environ.get(VARIABLE):
            yield f"site file: {host_plan.spec_name(site)}"
        if not cluster_job.active():
            stages = (stage for stage in self.work.plan.stages if stage.id in self.work.lacking)
            yield from describe_shortcomings(stages, current_site())

    def listen(self) -> None:
        for number in signals.ENDING_SIGNALS:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # nobody who looks is no reason to stop
        sys.excepthook = self._handle_uncaught

    def success(self) -> None:
        signals.exit_on_signals()
        self._stop_screen()
        work = remaining_work(self.work.plan, self.work.store)
        if work.is_over:
            if work.elsewhere:
                say(f"measured here: {counted(len(work.results), 'stage')}{work.elsewhere_note}")
            self._continue()
            print(work.products.brief(sys.stdout, self._duration_note(work.status)), flush=True)
        elif is_terminal(sys.stderr):  # only a part of the plan was asked for: --until
            say(head(work.status))
        self.lock.close()
        if work.is_over and self.work.lacking:
            notify(work.products.brief_text)

    def _duration_note(self, status: PlanStatus) -> str:
        """Say how long it took, without waits for others: `12 stages in 45s; waited 9m00s for another run`."""
        if self.began is None:
            return ""
        queued = status.run.waited if status.run else 0.0
        seconds = time.monotonic() - self.began - (status.waited - queued)
        waited = f"; {waited_text(status)}" if status.waited >= MENTIONED_WAIT else ""
        count = counted(len(self.work.lacking & self.work.stages.keys()), "stage")
        return f"{count} in {duration(max(seconds, 0.0))}{waited}"

    def error(self) -> None:
        """Summarize the results after a job failed, unless the run was stopped: then someone waits for us to go."""
        try:
            self._stop_screen()
            if not self.stopped:
                self._end_incomplete()
        except KeyboardInterrupt:
            self.stopped = self.stopped or signal.SIGINT.name
        if self.stopped:
            self._leave()

    def _end_incomplete(self) -> None:
        for sentence in close_attempts(self.work):
            say(sentence)
        locks.clear_up_host()
        self._sweep_databases()
        is_summarized = self._make_report()
        unstarted = unstarted_stages(self.work)
        if unstarted:
            say(unstarted.sentence)
        if not (unstarted and unstarted.is_orderly):
            attempts = self.work.store.attempts_of("_").parent
            status = job_status(self.work.store, self.work.plan.digest)
            say(f"the run is not complete: {head(status)}")
            if failed := status.nodes_with(Status.FAILED, kind="build") or status.nodes_with(Status.FAILED):
                say(f"because {failed[0].title} failed\n  {failure_text(failed[0], status.now)}")
            say(f"failed attempts are kept in {attempts}; the same command tries them again")
        if is_summarized:
            status = job_status(self.work.store, self.work.plan.digest)
            # the next round would ask for a failed build again, and that of a tree that moves never ends
            if not unstarted and not status.nodes_with(Status.FAILED, kind="build"):
                self._continue()
            say(f"report of what was measured: {self.work.products.text}\n{self.work.products.page}")
        status = job_status(self.work.store, self.work.plan.digest)
        self.lock.close()
        if unstarted and unstarted.is_orderly:
            signals.exit_now(0)
        notify(f"{self.work.plan.title}: the run is not complete: {head(status)}")

    def _continue(self) -> None:
        """Measure the loads that the new report asks for, by the same command in this process."""
        if sentence := describe_next_round(self.work, self.config):
            say(sentence)
            if can_restart():
                active_run.enter_queue(self.work.store, self.work.plan.spec, self.work.plan.digest, as_first=True)
                self.lock.close()
                restart()

    def _stop_screen(self) -> None:
        if self.screen is not None:
            self.screen.stop()

    def _sweep_databases(self) -> None:
        if any(self.work.store.leftovers()):  # seldom: of a runner that was killed
            from stepgrid.run import images

            images.clear_up(self.work.store)

    def _make_report(self) -> bool:
        argv = [*INTERPRETER, "stepgrid.pipeline", "report", self.work.plan.digest, "--partial"]
        # a process group of its own: Ctrl-C reaches us, and we kill it
        options: dict[str, Any] = {"process_group": 0, "preexec_fn": die_with_parent()}
        return subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, **options).returncode == 0

    def _stop(self, number: int, _: FrameType | None) -> None:
        """End the jobs, whether or not the signal reached them too; Snakemake takes the exception as Ctrl-C."""
        for ending in signals.ENDING_SIGNALS:
            signal.signal(ending, ignore_signal)
        self.stopped = signal.Signals(number).name
        if cluster_job.active():  # its jobs are cancelled by a child of ours
            # once its jobs are cancelled, Snakemake waits up to minutes for its next look at them
            timer = threading.Timer(CANCELLING, self._leave)
            timer.daemon = True
            timer.start()
        else:
            signal_children(signal.SIGTERM)
            threading.Thread(target=_end_children, daemon=True).start()
        raise KeyboardInterrupt

    def _handle_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Leave where Snakemake does not listen: while it starts a job."""
        if self.stopped is None or not issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _end_children()
        self._leave()

    def _leave(self) -> NoReturn:
        self._stop_screen()
        say(f"stopped by {self.stopped}: nothing that was measured is lost, the same command goes on from here")
        signals.exit_now()


def say(text: str) -> None:
    print(folded(text, sys.stderr), file=sys.stderr, flush=True)


def refuse_to_wait(store: Store) -> None:
    """Exit where a run would have to wait for its turn or for the host."""
    if ahead := describe_ahead(store, active_run.runs_ahead(store)):
        reason = f"another run is active in this checkout: {queue_text(ahead, time.time())}"
    elif not cluster_job.active() and (wait := locks.host_wait(locks.HeldLock())):
        reason = f"the host is in use by {wait.text}"
    else:
        return
    say(f"{reason}; `--no-wait`: nothing was started")
    sys.exit(BUSY)


def describe_shortcomings(stages: Iterable[PlannedStage], site: Site) -> Iterator[str]:
    """Name what this host cannot do for the stages that it is to measure."""
    from stepgrid.workflow.missing_tools import missing_tools

    if sentence := tuning.tuning_refusal(site):
        yield sentence
    for tool in missing_tools(stages, site):
        advice = f"; install {tool.package}" if tool.package else ""
        yield (
            f"collector {tool.collector}: there is no {tool.program} here, its steps are measured without it{advice}"
        )


# Jobs


def child_pids() -> list[int]:
    """List the direct children of this process, whichever thread started them."""
    pids: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that just ended
            pids += [int(pid) for pid in (task / "children").read_text().split()]
    return [pid for pid in pids if pid not in signals.GUARDS]


def signal_children(number: int) -> None:
    for pid in child_pids():
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _end_children() -> None:
    """Signal jobs repeatedly: one that Snakemake was about to start begins after the first time."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        time.sleep(PATIENCE / 10)
        signal_children(signal.SIGTERM)
    signal_children(signal.SIGKILL)


KILLED = "the process that ran it was killed (by the kernel when memory runs out, or by someone)"


def close_attempts(work: RemainingWork) -> Iterator[str]:
    """Record a failure for each attempt that was killed, and describe it; one whose lock is held is running."""
    for node in sorted(work.lacking):
        with suppress(LockBusy, OSError), locked(work.store.lock(node), wait=False):
            for attempt in work.store.attempts(node)[-1:]:
                if not (attempt / FAILURE_FILE).exists():
                    yield _close_attempt(work, node, attempt).block(work.title(node))


def _close_attempt(work: RemainingWork, node: str, attempt: Path) -> StageError:
    if node.startswith(BUILD_PREFIX):
        from stepgrid.build import job  # nearly every run gets here, and few were killed in a build

        tail = job.fail(attempt, node, Status.FAILED, KILLED)  # its tree goes at once: it may never be tried again
        return StageError(KILLED, log=attempt / BUILD_LOG, tail=tail)
    signals.kill_attempt(attempt / JOURNAL, (work.store.root, work.store.data))
    failure = StageError(KILLED)
    write_failure(attempt, node, failure, Status.FAILED)
    return failure


class UnstartedStages(NamedTuple):
    sentence: str
    is_orderly: bool  # nothing failed: the run did what it was asked for


def unstarted_stages(work: RemainingWork) -> UnstartedStages | None:
    """Describe the stages that a run left out because they would not have ended in time."""
    until, skipped = end_time(), active_run.skipped_stages(work.store)
    if until is None or not skipped:
        return None
    status = job_status(work.store, work.plan.digest)
    seconds = skipped[min(skipped, key=work.rank)]
    needs = "takes a time that is not known" if seconds is None else f"needs about {duration(seconds)}"
    total = len(status.stages) - len(status.nodes_with(Status.ELSEWHERE))
    remaining = len(status.nodes_with(Status.MISSING, Status.INTERRUPTED))
    sentence = f"stopped at {until.text}: {remaining} of {counted(total, 'stage')} left, the next {needs}"
    interrupted = {node.id for node in status.nodes_with(Status.INTERRUPTED)}
    return UnstartedStages(sentence, not status.has_failed and interrupted <= skipped.keys())


# The next round: a run of the same command line, in the same process, of the plan that has the loads which the report
# asked for. A kill at any moment, or between two rounds, loses nothing: the next command compiles the same plan.

COMMANDS = ("stepgrid", "snakemake")  # any other program, which may use either, would begin anew
DIRECTORY_OPTIONS = ("-d", "--directory")  # of Snakemake: the same command line would lead to another folder


def describe_next_round(work: RemainingWork, config: Mapping[str, object]) -> str:
    """Describe the loads that are added and why; empty where all is decided."""
    if not work.plan.adds_stages or not config:
        return ""
    plan, _ = plan_cache.load_or_compile(host_plan.store(), plan_request(config))
    added = {stage.id for stage in plan.stages} - {stage.id for stage in work.plan.stages}
    count, advice = len(added), "" if can_restart() else "; the same command measures them"
    if not count:
        return ""
    if added <= plan.profiling:
        return f"profile: the steps that differ run again under a profiler\n{counted(count, 'stage')} more{advice}"
    before = {cell.id: len(cell.repeats) for cell in work.plan.cells}
    grown = (cell for cell in plan.cells if len(cell.repeats) > before.get(cell.id, 0))
    search = stage_requests.load_request_reason(work.store, plan.tune.key) if plan.tune else ""
    reasons = (
        [search]
        if search
        else [
            *dict.fromkeys(stage_requests.load_request_reason(work.store, cell.repeats[0].stages[-1]) for cell in grown)
        ]
    )
    reason = reasons[0] if reasons else "undecided"
    further = f"; and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{reason}{further}\n{counted(count, 'stage')} more{advice}"


# Somebody who is told: one POST of the last lines to the webhook of the site file

LONGEST_POST, ANSWER_BYTES, POST_WAIT_S = 1_900, 1 << 16, 10  # characters that every chat takes, bytes, seconds


def notify(text: str) -> None:
    """Post the end of a run; what goes wrong is told without the address, which is a password."""
    faults = [f"no answer in {POST_WAIT_S} s"]
    thread = threading.Thread(target=lambda: faults.append(_post_fault(text)), daemon=True)  # a name may take minutes
    thread.start()
    thread.join(POST_WAIT_S)
    if faults[-1]:
        say(f"`notify` of the site file: nobody was told: {faults[-1]}")


def _post_fault(text: str) -> str:
    try:
        if address := current_site().webhook():
            _post(address, text)
    except OSError as error:
        return str(
            getattr(error, "code", None) or error.strerror or getattr(error, "reason", None) or type(error).__name__
        )
    except (ValueError, HTTPException, StepgridError) as error:
        return type(error).__name__
    return ""


def _post(address: str, text: str) -> None:
    """Send what Slack, Mattermost and Teams read as `text`, and Discord as `content`; a redirection is not followed."""
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    if not is_webhook(address):
        raise ValueError("no address of a webhook")
    short = text if len(text) <= LONGEST_POST else f"{text[:LONGEST_POST]}…"
    body = json.dumps({"text": f"```\n{short}\n```", "content": f"```\n{short}\n```"}).encode()
    request = Request(address, body, {"Content-Type": "application/json", "User-Agent": "stepgrid"})
    with build_opener(NoRedirect).open(request, timeout=POST_WAIT_S) as answer:
        answer.read(ANSWER_BYTES)


def can_restart() -> bool:
    main = sys.modules["__main__"]
    name = main.__spec__.name.partition(".")[0] if main.__spec__ else Path(sys.argv[0]).name
    return name in COMMANDS and not any(word.startswith(DIRECTORY_OPTIONS) for word in sys.orig_argv[1:])


def restart() -> NoReturn:
    """Start this command again in its place, with its environment: a time that ends the run stays in force."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
