"""What iostat -x printed every second, by the names of its columns: they moved from release to release."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid_importers.shared import text_files
from stepgrid_published.importer import Faults

Sample = Mapping[str, float]
KIB = 1024

_TIME = re.compile(r"^\d+[-/]\d+[-/]\d+[ T]")  # of -t
_HOST = re.compile(r"^Linux (?P<kernel>\S+) .*\((?P<cores>\d+) CPU\)$")


class Iostat(Struct, frozen=True):
    devices: Mapping[str, Sequence[Sample]]
    kernel: str | None = None
    cores: int | None = None


class _Reader(Struct):
    path: Path
    faults: Faults
    devices: dict[str, list[Sample]] = {}
    names: list[str] = []
    processors: bool = False  # whether their figures come next

    def line(self, number: int, line: str) -> None:
        words = line.replace(",", ".").split()  # some locales have a decimal comma
        if not words or words[0].startswith("avg-cpu"):
            self.names, self.processors = [], bool(words)
        elif words[0].startswith("Device"):
            self.names = [word for word in words[1:] if word != ":"]
            if missing := lacking(self.names):
                self.faults.add(self.path, number, f"columns {', '.join(missing)} were expected here", line)
        elif self.names:
            self._sample(number, line, words)
        elif not (self.processors or _HOST.match(line.strip()) or _TIME.match(line)):
            self.faults.add_unknown(self.path, number, "a table of iostat -x was expected", line)

    def _sample(self, number: int, line: str, words: Sequence[str]) -> None:
        if len(words) != len(self.names) + 1:
            said = f"{len(self.names)} figures of a device were expected here, as the head above names them"
            return self.faults.add(self.path, number, said, line)
        try:
            values = [float(word) for word in words[1:]]
        except ValueError:
            return self.faults.add(self.path, number, "figures of a device were expected here", line)
        self.devices.setdefault(words[0], []).append(dict(zip(self.names, values, strict=True)))
        return None


def parse(content: str, path: Path, faults: Faults) -> Iostat:
    reader = _Reader(path, faults)
    lines = text_files.lines(content)
    faults.cut += [path] if text_files.unfinished(content) else []
    host = _HOST.match(lines[0].strip()) if lines else None
    for number, line in enumerate(lines, 1):
        reader.line(number, line)
    if not reader.devices:
        faults.add(path, None, "iostat -x was expected: there is no line `Device …` with figures below it")
    return Iostat(reader.devices, host["kernel"] if host else None, int(host["cores"]) if host else None)


def kib(sample: Sample, name: str) -> float:
    """rkB/s or rMB/s, whichever there is; `name` is r or w."""
    kilobytes = sample.get(f"{name}kB/s")
    return sample[f"{name}MB/s"] * KIB if kilobytes is None else kilobytes


def lacking(names: Sequence[str]) -> list[str]:
    """Of the columns that averages are made of."""
    rates = [name for name in ("r/s", "w/s") if name not in names]
    sizes = [f"{name}kB/s" for name in "rw" if f"{name}kB/s" not in names and f"{name}MB/s" not in names]
    return rates + sizes


def mean(samples: Sequence[Sample], name: str) -> float:
    return sum(sample[name] for sample in samples) / len(samples)


def mean_kib(samples: Sequence[Sample], name: str) -> float:
    return sum(kib(sample, name) for sample in samples) / len(samples)


def figures(samples: Sequence[Sample]) -> dict[str, float]:
    """Averages by the names of our metrics; a ratio is averaged over the seconds that had requests."""
    found = {
        "device_reads_per_s": mean(samples, "r/s"),
        "device_read_mb_per_s": mean_kib(samples, "r") / KIB,
        "device_writes_per_s": mean(samples, "w/s"),
        "device_write_mb_per_s": mean_kib(samples, "w") / KIB,
    }
    for metric, ratio, requests in _RATIOS:
        if counted := [sample for sample in samples if ratio in sample and sample[requests]]:
            found[metric] = mean(counted, ratio)
    for metric, name in (("device_queue", "aqu-sz"), ("device_busy_pct", "%util")):
        if all(name in sample for sample in samples):
            found[metric] = mean(samples, name)
    return found


_RATIOS = (
    ("device_read_await_ms", "r_await", "r/s"),
    ("device_read_request_kb", "rareq-sz", "r/s"),
    ("device_write_await_ms", "w_await", "w/s"),
    ("device_write_request_kb", "wareq-sz", "w/s"),
)
