"""What vmstat printed every second, by the names of its columns.

Its first line is the mean since the host's start, and its two lines of heads come again and again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid_importers.shared import text_files
from stepgrid_published.importer import Faults

Sample = Mapping[str, float]
NEEDED = ("cs", "us", "sy", "id", "wa")

_BANNER = re.compile(r"^-*procs\b")


class Vmstat(Struct, frozen=True):
    samples: Sequence[Sample]  # with the first, which is of no second of the run
    banners: int  # lines that begin with `procs`

    @property
    def clean(self) -> Sequence[Sample]:
        return self.samples[1:]


class VmstatMeans(Struct, frozen=True):
    """Context switches in a second, and per cent of the host's time that was user or system time."""

    samples: int
    switches: float
    busy: float


def parse(content: str, path: Path, faults: Faults) -> Vmstat:
    names: list[str] = []
    samples: list[Sample] = []
    banners = 0
    faults.cut += [path] if text_files.unfinished(content) else []
    for number, line in enumerate(text_files.lines(content), 1):
        words = line.split()
        if _BANNER.match(line):
            banners += 1
        elif words[:2] == ["r", "b"]:
            names = words
        elif words and names and (sample := _sample(words, names)) is not None:
            samples.append(sample)
        elif words and names:
            faults.add(path, number, "figures were expected here, as the head above names them", line)
        elif words:
            faults.add_unknown(path, number, "the heads of vmstat were expected", line)
    if len(samples) < 2 or not all(set(NEEDED) <= sample.keys() for sample in samples):
        faults.add(path, None, f"vmstat was expected: at least two lines of figures below {', '.join(NEEDED)}")
    return Vmstat(samples, banners)


def _sample(words: Sequence[str], names: Sequence[str]) -> Sample | None:
    """A time (-t), whose head is the name of its zone, is of two words."""
    if len(words) == len(names) + 1:
        words, names = words[:-2], names[:-1]
    try:
        return dict(zip(names, map(float, words), strict=True))
    except ValueError:
        return None


def published(found: Vmstat) -> VmstatMeans:
    """As the scripts have it: of each pair of heads the first counts as a second in which nothing happened, except
    at the file's start; and the mean since the host's start counts as a second of the run."""
    return _means(found.samples, len(found.samples) + max(found.banners - 1, 0))


def clean(found: Vmstat) -> VmstatMeans:
    return _means(found.clean, len(found.clean))


def figures(found: Vmstat) -> dict[str, float]:
    """By the names of our metrics."""
    names = {"host_cpu_user_pct": "us", "host_cpu_system_pct": "sy", "host_cpu_idle_pct": "id"}
    names |= {"host_cpu_iowait_pct": "wa", "host_cpu_steal_pct": "st", "context_switches_per_s": "cs"}
    there = {metric: name for metric, name in names.items() if all(name in sample for sample in found.clean)}
    return {metric: sum(sample[name] for sample in found.clean) / len(found.clean) for metric, name in there.items()}


def _means(samples: Sequence[Sample], count: int) -> VmstatMeans:
    switches = sum(sample["cs"] for sample in samples)
    return VmstatMeans(count, switches / count, sum(sample["us"] + sample["sy"] for sample in samples) / count)
