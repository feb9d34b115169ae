"""Stalls: intervals in which a client did next to nothing of what it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from statistics import median

from stepgrid.model.figures import ClientRate

TENTH = 0.1
OPERATIONS = ("insert", "delete", "query")


def stalled(rates: Sequence[float]) -> list[bool]:
    """Of a client's operation, in order: nothing done, or less than a tenth of its own median.

    What comes after its last operation is no stall: the client was through. One that did nothing at all stood still.
    """
    last = next((at for at in range(len(rates), 0, -1) if rates[at - 1]), len(rates))
    least = TENTH * median(rates[:last]) if last else 0.0
    return [at < last and (not rate or rate < least) for at, rate in enumerate(rates)]


def figures(rates: Iterable[ClientRate]) -> dict[str, float]:
    """The share of the clients' intervals that are stalls, by operation."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in sorted(rates, key=attrgetter("second")):
        found[each.operation][each.client].append(each.per_second)
    return {f"{name}_stalled_pct": _share(found[name].values()) for name in OPERATIONS if name in found}


def _share(clients: Iterable[Sequence[float]]) -> float:
    marks = list(chain.from_iterable(map(stalled, clients)))
    return 100 * sum(marks) / len(marks)
