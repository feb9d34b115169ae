"""sb.met: what iostat and vmstat counted, divided by the rate of operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stepgrid_importers.shared import iostat
from stepgrid_importers.shared.iostat import KIB, Sample
from stepgrid_importers.shared.vmstat import VmstatMeans

TITLE = "iostat, vmstat normalized by operation rate"
DISK = ("samp", "r/s", "rMB/s", "w/s", "wMB/s", "r/o", "rKB/o", "wKB/o", "o/s")
HOST = ("samp", "cs/s", "cpu/s", "cs/o", "cpu/o")


@dataclass(frozen=True, slots=True)
class Met:
    disk: Sequence[str]
    host: Sequence[str]

    @property
    def text(self) -> str:
        lines = [TITLE, *map("\t".join, (DISK, self.disk)), "", *map("\t".join, (HOST, self.host))]
        return "\n".join(lines) + "\n"

    def __getitem__(self, name: str) -> str:
        """A figure as it stands."""
        return dict(zip((*DISK, *HOST[1:]), (*self.disk, *self.host[1:]), strict=True))[name]


def of_cells(cells: Mapping[str, str]) -> Met | None:
    """A published one, without the numbers of samples: the two have one head."""
    if not {*DISK[1:], *HOST[1:]} <= cells.keys():
        return None
    return Met(["", *(cells[name] for name in DISK[1:])], ["", *(cells[name] for name in HOST[1:])])


def met(rate: str, samples: Sequence[Sample], means: VmstatMeans) -> Met:
    """`rate`: operations per second, as it is printed."""
    return Met((*disk(samples), *_per_operation(samples, float(rate)), rate), host(means, float(rate)))


def disk(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The columns that do not depend on the rate."""
    reads, read = iostat.mean(samples, "r/s"), iostat.mean_kib(samples, "r")
    writes, written = iostat.mean(samples, "w/s"), iostat.mean_kib(samples, "w")
    return (str(len(samples)), f"{reads:.1f}", f"{read / KIB:.1f}", f"{writes:.1f}", f"{written / KIB:.1f}")


def _per_operation(samples: Sequence[Sample], rate: float) -> tuple[str, ...]:
    means = (iostat.mean(samples, "r/s"), iostat.mean_kib(samples, "r"), iostat.mean_kib(samples, "w"))
    return tuple(f"{mean / rate:.3f}" for mean in means)


def host(means: VmstatMeans, rate: float) -> tuple[str, ...]:
    return (
        str(means.samples),
        f"{means.switches:.0f}",
        f"{means.busy:.1f}",
        f"{means.switches / rate:.3f}",
        f"{means.busy / rate:.6f}",
    )
