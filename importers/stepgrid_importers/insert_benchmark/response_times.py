"""o.rt.t.KIND: response times of all clients by bucket, their sum, and that as per cent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepgrid_importers.insert_benchmark.client_output import MAX
from stepgrid_importers.shared.awk import number

Times = Mapping[str, str]


def any_of(clients: Sequence[Times]) -> bool:
    """Per cent of none at all are nothing to write."""
    return any(int(count) for each in clients for name, count in each.items() if name != MAX)


def table(clients: Sequence[Times]) -> str:
    names = [name for name in clients[0] if name != MAX]
    counts = [[int(each[name]) for name in names] for each in clients]
    sums = [sum(column) for column in zip(*counts, strict=True)]
    longest = f"{max(number(each[MAX]) for each in clients):.3f}"
    pairs = enumerate(zip(counts, clients, strict=True), 1)
    each = [[*map(str, found), f"{number(times[MAX]):.3f}", f"t{at}:DBMS"] for at, (found, times) in pairs]
    rows = [[*names, MAX, "tag"], *each]
    rows += [[*map(str, sums), longest, "sum:DBMS"], [*percents(sums), longest, "pct:DBMS"]]
    return "".join("\t".join(row) + "\n" for row in rows)


def percents(sums: Sequence[int]) -> list[str]:
    total = sum(sums)
    return [_percent(count, total) for count in sums]


def _percent(count: int, total: int) -> str:
    """Few, but not none, stands as `nonzero`."""
    shown = f"{100 * (count / total):.3f}"
    return "nonzero" if count and shown == "0.000" else shown
