"""Which of iostat's devices the database was on: the outputs do not say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from stepgrid_importers.shared import iostat
from stepgrid_importers.shared.iostat import Sample
from stepgrid_importers.sysbench import sb_met
from stepgrid_importers.sysbench.runs import Run, published

_NEVER = ("loop", "ram", "zram", "sr", "fd")
_STACKED = ("md", "dm-", "bcache")  # on top of others, which list the same requests once more


def device(runs: Iterable[Run]) -> tuple[str, str | None] | None:
    """The device of all runs, and a warning where it was guessed; None where none is told of.

    A published summary that lies beside tells by its figures. Otherwise it is the busiest, of those that stand on
    others if there are any.
    """
    measured = [run for run in runs if run.io is not None and run.io.devices]
    known = set.intersection(*map(_names, measured)) if measured else set()
    agreeing = [name for name in sorted(known) if all(_agrees(run, name) for run in measured if published(run))]
    if len(agreeing) == 1 or (agreeing and any(map(published, measured)) and _alike(measured, agreeing)):
        return agreeing[0], None
    possible = _possible(agreeing or sorted(known))
    if len(possible) < 2:
        return (possible[0], None) if possible else None
    chosen = max(possible, key=_bytes(measured).__getitem__)
    return chosen, f"device {chosen}: taken for the database's as the busiest of {', '.join(possible)}"


def _names(run: Run) -> set[str]:
    return set(run.io.devices) if run.io else set()


def _samples(run: Run, name: str) -> Sequence[Sample]:
    return run.io.devices[name] if run.io else ()


def _agrees(run: Run, name: str) -> bool:
    return tuple(published(run)[:5]) == sb_met.disk(_samples(run, name))


def _alike(runs: Sequence[Run], names: Sequence[str]) -> bool:
    """Their figures are the same in all runs."""
    return all(len({sb_met.disk(_samples(run, name)) for name in names}) == 1 for run in runs)


def _possible(names: Sequence[str]) -> Sequence[str]:
    real = [name for name in names if not name.startswith(_NEVER)]
    return [name for name in real if name.startswith(_STACKED)] or real


def _bytes(runs: Iterable[Run]) -> Counter[str]:
    found: Counter[str] = Counter()
    for run in runs:
        for name in _names(run):
            samples = _samples(run, name)
            found[name] += int(iostat.mean_kib(samples, "r") + iostat.mean_kib(samples, "w"))
    return found
