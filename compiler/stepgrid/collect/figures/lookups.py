"""What a lookup of a benchmark that mixes operations cost the device: mixgraph's table has such figures."""

from __future__ import annotations

from collections.abc import Mapping

QPS = "qps"
_LOOKUPS = ("gets_per_s", "seeks_per_s")
_PUTS = ("puts_per_s",)
_RATIOS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # figure -> of an operation, of which operations
    "reads_per_lookup": ("reads_per_op", _LOOKUPS),
    "read_kb_per_lookup": ("read_kb_per_op", _LOOKUPS),
    "write_kb_per_put": ("write_kb_per_op", _PUTS),
}


def figures(metrics: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, (each, kinds) in _RATIOS.items():
        if {QPS, each, *kinds} <= metrics.keys() and (share := sum(metrics[kind] for kind in kinds)):
            found[name] = metrics[each] * metrics[QPS] / share
    return found
