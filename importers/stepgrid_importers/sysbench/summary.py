"""o.met: the per-operation figures of each test, a row per build, and the same relative to the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid_importers.sysbench.sb_met import Met

NAME = "o.met"
_FIGURES = ("cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s")
_HEAD = "cpu/o\t\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms"


def summary(tests: Mapping[str, Mapping[str, Met]]) -> str:
    """File name -> directory -> figures; each in the order that it is to have."""
    return "".join(f"{line}\n" for name, found in tests.items() for line in _block(name, found))


def _block(name: str, found: Mapping[str, Met]) -> Iterator[str]:
    yield from (name, "--- absolute", _HEAD)
    yield from (_absolute(figures, directory) for directory, figures in found.items())
    yield "--- relative to first result"
    first, *others = found.items()
    yield from (relative(values(figures), values(first[1]), directory) for directory, figures in others)
    yield ""


def values(figures: Met) -> list[float]:
    return [float(figures[name]) for name in _FIGURES]


def relative(of: Sequence[float], base: Sequence[float], name: str) -> str:
    cpu, *others = (ratio(*pair) for pair in zip(of, base, strict=True))
    return "\t".join((cpu, "", *others, name))


def ratio(value: float, base: float) -> str:
    """What was nothing and still is stands as 1."""
    if base == 0:
        return "1" if value == 0 else "inf"
    return f"{value / base:.2f}"


def _absolute(figures: Met, directory: str) -> str:
    cpu, switches = figures["cpu/o"], figures["cs/o"]
    disk = [f"{float(figures[name]):.6g}" for name in ("r/o", "rKB/o", "wKB/o")]
    return "\t".join((cpu, switches, *disk, f"{float(figures['o/s']):.0f}", directory))
