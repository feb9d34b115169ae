"""perf record: where the engine's time goes, as a flame graph; and the samples of `perf script`, counted by stack."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.host.files import read_json, write_json
from stepgrid.host.sampling import RUNNING, ProcessGroup, ThreadTimes
from stepgrid.package import INTERPRETER
from stepgrid.plugins.collector import CLIENT, COMMAND, EVENT, RECORDED, WAIT, Recording, Target, pid_list
from stepgrid_databases.collectors.flame import Stack, draw_difference, draw_graph
from stepgrid_databases.collectors.perf_stat import is_attached, read_events

_FREQUENCY = 99  # not a round number: nothing that runs by the clock is always, or never, met
_LENGTH = "for"
# seconds of a window, between two starts, before the first
_USUAL = {"frequency": _FREQUENCY, "call_graph": "fp", _LENGTH: 15, "every": 60, "after": 0}
_HELPER = (*INTERPRETER, "stepgrid_databases.collectors.perf_record")
_PERIOD = 0.005  # seconds between two looks whether perf is attached
_TRIES = 20
_DATA, _FOLDED, _GRAPH, _WINDOWS = "perf.data", "stacks.txt", "flamegraph.svg", "windows.json"
_EVENTS = "events.json"
_EVERY_ID = ["0", "0", "4294967295"]  # proc/self/uid_map where root is the host's


class PerfRecord:
    """All of a step; of a profile pass, windows after the ramp-up, each with the processes that the engine has then."""

    tool = "perf"
    package = "linux-perf"
    settings: tuple[str, ...] = ("frequency", "call_graph")

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        if _LENGTH not in settings:
            return _perf_words(tool, settings, target.pids, target.folder / _DATA)
        words = [str(settings.get(name, usual)) for name, usual in _USUAL.items()]
        leaders = [os.getpgid(target.pids[0])]
        if target.client is not None and _may_sample_processors():
            leaders.append(target.client)
        groups = map(str, settings.get("groups", ()))
        return [*_HELPER, tool, *words, pid_list(leaders), str(target.folder), *groups]

    def attached(self, pid: int) -> bool:
        """Wait for nothing where windows are recorded: each finds the threads of its time."""
        return " ".join(_HELPER) in (sysfs.text(f"proc/{pid}/cmdline") or "").replace("\0", " ") or is_attached(pid)

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def counted(self, folder: Path, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Sum microseconds of CPU of each function itself, without those that it calls.

        The CPU of the windows, by which their samples stand for the whole step, is among them."""
        windows = read_json(folder / _WINDOWS).get("windows", [])
        times = {RECORDED: math.fsum(float(window["cpu"]) for window in windows) * 1e6} if windows else {}
        for stack, microseconds in _stack_times(folder, settings).items():
            times[stack[-1]] = times.get(stack[-1], 0.0) + microseconds
        return times | _event_rates(folder, windows) | _wait_rates(windows)

    def compared(self, arm: Sequence[Recording], base: Sequence[Recording], title: str) -> str:
        return draw_difference(_times_per_operation(arm), _times_per_operation(base), title)

    def script(self, tool: str, folder: Path) -> Sequence[str]:
        """Leave out inlined functions: to find them takes minutes in a large binary."""
        files = map(str, sorted(folder.glob(f"{_DATA}*")))
        fields = "comm,pid,tid,time,event,ip,sym,dso"
        command = f'for file; do "$0" script -i "$file" --no-inline --show-task-events -F {fields} || exit; done'
        return ["sh", "-c", command, tool, *files]

    def draw(self, output: Path, folder: Path) -> str | None:
        command, windows = read_json(folder / COMMAND), read_json(folder / _WINDOWS)
        is_client = dict.fromkeys([*command.get("pids", ()), *windows.get("pids", ())], False)
        with output.open(encoding="utf-8", errors="replace") as lines:
            counts = count_stacks(lines, is_client | {command.get("client"): True}, windows.get("windows", ()))
        if not counts:
            return "perf took no sample: the step was too short, or waited all the time"
        (folder / _FOLDED).write_text(write_stacks(counts), encoding="utf-8")
        (folder / _GRAPH).write_text(draw_graph(counts, folder.name), encoding="utf-8")
        return None


def _perf_words(tool: str, settings: Mapping[str, Any], pids: Sequence[int], output: Path) -> list[str]:
    rate, unwinding = str(settings.get("frequency", _FREQUENCY)), str(settings.get("call_graph", "fp"))
    words = ["-F", rate, "--call-graph", unwinding, "--no-buildid-cache", "-o", str(output)]
    # the clock of a task stands still while the kernel switches to it; that of a processor does not
    target = ["-a", "-e", "cpu-clock:I"] if _may_sample_processors() else ["-p", pid_list(pids)]
    return [tool, "record", *words, *target]


def _may_sample_processors() -> bool:
    is_root = os.geteuid() == 0 and (sysfs.text("proc/self/uid_map") or "").split() == _EVERY_ID
    return is_root or (sysfs.number("proc/sys/kernel/perf_event_paranoid") or 0) <= 0


def record_windows(argv: Sequence[str]) -> None:
    """Record one window after the other until SIGINT, and how much CPU the processes took meanwhile."""
    tool, rate, unwinding, length, period, after, leaders, folder, *groups = argv
    settings, windows = {"frequency": rate, "call_graph": unwinding}, list[dict[str, Any]]()
    processes, members = [ProcessGroup(int(leader)) for leader in leaders.split(",")], set[int]()
    early = Path(folder) / f"{_DATA}.early"
    with suppress(KeyboardInterrupt):
        if float(after):  # the step may end before its first window: what it began with is kept until there is one
            began = time.monotonic()
            pids = processes[0].members()
            words = [*_perf_words(tool, settings, pids, early), "-k", "CLOCK_MONOTONIC"]
            if window := _record_window(words, processes, min(float(length), float(after))):
                write_json(Path(folder) / _WINDOWS, {"windows": [window], "pids": sorted(pids)}, durable=False)
                if window["is_last"]:
                    return
            time.sleep(max(0.0, began + float(after) - time.monotonic()))
        while True:
            output = Path(folder) / f"{_DATA}.{len(windows)}"
            pids = processes[0].members()
            members.update(pids)
            words = [*_perf_words(tool, settings, pids, output), "-k", "CLOCK_MONOTONIC"]
            events = groups[len(windows) % len(groups)] if groups else ""
            counting = [tool, "stat", "-j", "-o", f"{folder}/{_EVENTS}.{len(windows)}", "-e", events]
            counter = subprocess.Popen([*counting, "-p", pid_list(pids)]) if groups else None
            window = _record_window(words, processes, float(length))
            if counter is not None:
                _interrupt(counter)
            if window is None:  # the step ended while perf was starting
                output.unlink(missing_ok=True)
                return
            windows.append(window)
            write_json(Path(folder) / _WINDOWS, {"windows": windows, "pids": sorted(members)}, durable=False)
            early.unlink(missing_ok=True)
            if window["is_last"]:
                return
            time.sleep(max(0.0, window["began"] + float(period) - time.monotonic()))


def _record_window(words: Sequence[str], processes: Sequence[ProcessGroup], length: float) -> dict[str, Any] | None:
    """Count CPU only while perf looks on: to attach takes a while. SIGINT at the end of the step reaches perf, too."""
    process, threads = subprocess.Popen(words), ThreadTimes(processes[0])
    began, before, is_ending = math.inf, 0.0, False
    try:
        while process.poll() is None and not is_attached(process.pid):
            time.sleep(_PERIOD)
        began, before = _clock_and_cpu(processes)
        while process.poll() is None and time.monotonic() < began + length:
            time.sleep(threads.look())
    except KeyboardInterrupt:
        is_ending = True
    ended, after = _clock_and_cpu(processes)
    if not is_ending:
        process.send_signal(signal.SIGINT)
    try:
        status = process.wait()
    except KeyboardInterrupt:
        status, is_ending = process.wait(), True
    if status not in (0, -signal.SIGINT):
        sys.exit(status)
    if began >= ended:
        return None
    return {"began": began, "ended": ended, "cpu": after - before, "is_last": is_ending, "waits": threads.seconds()}


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise


def _event_rates(folder: Path, windows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Divide how often each event was counted by the CPU of the windows that counted it; others are missing."""
    counts: dict[str, float] = {}
    microseconds: dict[str, float] = {}
    for number, window in enumerate(windows):
        for event, count in read_events(folder / f"{_EVENTS}.{number}").items():
            counts[event] = counts.get(event, 0.0) + count
            microseconds[event] = microseconds.get(event, 0.0) + window["cpu"] * 1e6
    return {f"{EVENT}{event}": count / microseconds[event] for event, count in counts.items() if microseconds[event]}


def _wait_rates(windows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Divide the seconds of threads by those in which they ran."""
    seconds = Counter[str]()
    for window in windows:
        seconds.update(window.get("waits", {}))
    return {f"{WAIT}{name}": value / seconds[RUNNING] for name, value in seconds.items()} if seconds[RUNNING] else {}


def _clock_and_cpu(processes: Sequence[ProcessGroup]) -> tuple[float, float]:
    """Read both at one moment: on a busy host a process may wait in between."""
    for _ in range(_TRIES):
        began, samples = time.monotonic(), [group.sample() for group in processes]
        if time.monotonic() - began < _PERIOD:
            break
    return began, math.fsum(sample.get(kind, 0.0) for sample in samples for kind in ("user", "system"))


def _stack_times(folder: Path, settings: Mapping[str, Any]) -> Mapping[Stack, float]:
    """Convert samples, each of one period, to microseconds; a recording that was not drawn has none."""
    path = folder / _FOLDED
    if not path.is_file():
        return {}
    period = 1e6 / float(settings.get("frequency") or _FREQUENCY)
    counts = read_stacks(path.read_text(encoding="utf-8"))
    return {stack: count * period for stack, count in counts.items()}


def _times_per_operation(recordings: Sequence[Recording]) -> Mapping[Stack, float]:
    """Average over several loads."""
    times: dict[Stack, float] = {}
    for recording in recordings:
        for stack, microseconds in _stack_times(recording.folder, recording.settings).items():
            share = microseconds / recording.operations / len(recordings)
            times[stack] = times.get(stack, 0.0) + share
    return times


_UNKNOWN = "[unknown]"
_FRAME = re.compile(r"\s++(?=.*\)$)[0-9a-f]++ (?P<symbol>.*?)(?:\+0x[0-9a-f]+)? \((?P<object>.*)\)$")
_FORK = re.compile(r"PERF_RECORD_FORK\((?P<child>\d+):\d+\):\((?P<parent>\d+):\d+\)")
_HEAD = re.compile(r"(?P<program>\S.*?)(?<!\s)\s++(?P<process>\d++)/\d++\s++(?P<second>[\d.]++):(?! PERF_RECORD_)")


def count_stacks(
    lines: Iterable[str], is_client: Mapping[int, bool], windows: Sequence[Mapping[str, float]] = ()
) -> Counter[Stack]:
    """Count samples of processes, by pid, and of their descendants: all, or those of windows."""
    return Counter(
        stack
        for second, stack in _samples(lines, dict(is_client))
        if not windows or any(window["began"] <= second <= window["ended"] for window in windows)
    )


def write_stacks(counts: Mapping[Stack, int]) -> str:
    """Write a line per stack, as other drawing programs read it."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(counts.items()))


def read_stacks(text: str) -> Counter[Stack]:
    """Read such lines; one without a count is skipped."""
    counts: Counter[Stack] = Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        if count.isdecimal():
            counts[tuple(stack.split(";"))] += int(count)
    return counts


def _samples(lines: Iterable[str], is_client: dict[int, bool]) -> Iterator[tuple[float, Stack]]:
    """Split at empty lines; frames stand innermost first. A function without a name is known by its file."""
    second, program, process, frames = 0.0, "", 0, list[str]()
    for line in chain(lines, [""]):
        line = line.rstrip("\n")
        if frame := _FRAME.match(line):
            name = frame["symbol"]
            if name == _UNKNOWN:
                name = f"[{frame['object'].rpartition('/')[2].strip('[]')}]"
            name = name.replace(";", ":")
            if name != _UNKNOWN or frames[-1:] != [_UNKNOWN]:  # a chain that was lost goes on like that for long
                frames.append(name)
        elif (fork := _FORK.search(line)) and int(fork["parent"]) in is_client:
            is_client.setdefault(int(fork["child"]), is_client[int(fork["parent"])])
        elif (head := _HEAD.match(line)) and int(head["process"]) in is_client:
            second, process = float(head["second"]), int(head["process"])
            program = head["program"].replace(";", ":")
        elif not line.strip():
            if program:
                yield second, (program, *([CLIENT] if is_client[process] else reversed(frames)))
            program, frames = "", []


COLLECTOR = PerfRecord()

if __name__ == "__main__":
    record_windows(sys.argv[1:])
