"""What mixgraph says of its operations behind its rate: of the first client, where there are several."""

from __future__ import annotations

import math
import re

_MIX = re.compile(
    r"\( Gets:(?P<gets>\d+) Puts:(?P<puts>\d+) Seek:(?P<seeks>\d+)"
    r"(?: of (?P<found>\d+) in (?P<looked>\d+) found"  # before 7.1
    r"|, reads (?P<found_since>\d+) in (?P<looked_since>\d+) found, avg size: (?P<value>\S+) value, (?P<scan>\S+) scan)"
)


def figures(rest: str, qps: float | None) -> dict[str, float]:
    """`rest`: of the result line."""
    match = _MIX.search(rest)
    if match is None:
        return {}
    found, looked = match["found"] or match["found_since"], match["looked"] or match["looked_since"]
    return {
        **_rates({name: int(match[name]) for name in ("gets", "puts", "seeks")}, qps),
        **({"found_pct": 100 * int(found) / int(looked)} if int(looked) else {}),
        **_mean("put_value_bytes", match["value"]),
        **_mean("scan_keys", match["scan"]),
    }


def _rates(counts: dict[str, int], qps: float | None) -> dict[str, float]:
    total = sum(counts.values())
    return {f"{name}_per_s": qps * count / total for name, count in counts.items()} if qps and total else {}


def _mean(name: str, text: str | None) -> dict[str, float]:
    """Of no puts, or no seeks, it prints nan."""
    try:
        value = float(text or "nan")
    except ValueError:
        return {}
    return {name: value} if math.isfinite(value) else {}
