"""perf record: where the engine's time goes, as a flame graph; and the samples of `perf script`, counted by stack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.collectors.flame import Stack, draw_difference, draw_graph
from stepgrid.collectors.perf_stat import is_attached
from stepgrid.plugins.collector import Recording, Target, pid_list

_FREQUENCY = 99  # not a round number: nothing that runs by the clock is always, or never, met
_DATA, _FOLDED, _GRAPH = "perf.data", "stacks.txt", "flamegraph.svg"


class PerfRecord:
    tool = "perf"
    package = "linux-perf"
    settings: tuple[str, ...] = ("frequency", "call_graph")

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        rate, unwinding = str(settings.get("frequency", _FREQUENCY)), str(settings.get("call_graph", "fp"))
        words = ["-F", rate, "--call-graph", unwinding, "--no-buildid-cache", "-o", str(target.folder / _DATA)]
        return [tool, "record", *words, "-p", pid_list(target.pids)]

    def attached(self, pid: int) -> bool:
        return is_attached(pid)

    def parse(self, folder: Path) -> Mapping[str, float]:
        return {}

    def counted(self, folder: Path, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """Sum microseconds of CPU of each function itself, without those that it calls."""
        times: dict[str, float] = {}
        for stack, microseconds in _stack_times(folder, settings).items():
            times[stack[-1]] = times.get(stack[-1], 0.0) + microseconds
        return times

    def compared(self, arm: Sequence[Recording], base: Sequence[Recording], title: str) -> str:
        return draw_difference(_times_per_operation(arm), _times_per_operation(base), title)

    def script(self, tool: str, folder: Path) -> Sequence[str]:
        """Leave out inlined functions: to find them takes minutes in a large binary."""
        return [tool, "script", "-i", str(folder / _DATA), "--no-inline", "-F", "comm,pid,tid,time,event,ip,sym,dso"]

    def draw(self, output: Path, folder: Path) -> str | None:
        with output.open(encoding="utf-8", errors="replace") as lines:
            counts = count_stacks(lines)
        if not counts:
            return "perf took no sample: the step was too short, or waited all the time"
        (folder / _FOLDED).write_text(write_stacks(counts), encoding="utf-8")
        (folder / _GRAPH).write_text(draw_graph(counts, folder.name), encoding="utf-8")
        return None


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
_FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*?)(?:\+0x[0-9a-f]+)? \((?P<object>.*)\)$")
_HEAD = re.compile(r"(?P<program>\S.*?)\s+\d+/\d+\s+[\d.]+:")


def count_stacks(lines: Iterable[str]) -> Counter[Stack]:
    return Counter(_samples(lines))


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


def _samples(lines: Iterable[str]) -> Iterator[Stack]:
    """Split at empty lines; frames stand innermost first. A function without a name is known by its file."""
    program, frames = "", list[str]()
    for line in lines:
        line = line.rstrip("\n")
        if frame := _FRAME.match(line):
            name = frame["symbol"]
            if name == _UNKNOWN:
                name = f"[{frame['object'].rpartition('/')[2].strip('[]')}]"
            name = name.replace(";", ":")
            if name != _UNKNOWN or frames[-1:] != [_UNKNOWN]:  # a chain that was lost goes on like that for long
                frames.append(name)
        elif head := _HEAD.match(line):
            program = head["program"].replace(";", ":")
        elif not line.strip() and program:
            yield (program, *reversed(frames))
            program, frames = "", []
    if program:
        yield (program, *reversed(frames))


COLLECTOR = PerfRecord()
