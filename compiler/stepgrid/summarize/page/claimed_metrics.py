"""What claims are about beside QPS: for each such metric a sentence with the range of its ratios, arm by arm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stepgrid.collect.step_figures import TARGET
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.summarize.claims import Claim
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import Labels
from stepgrid.summarize.comparisons.ratio_intervals import ratio

_CALL = re.compile(r"\b([a-z]\w*)\(")  # of the expression of a claim
SMALL = 0.1


def sentences(claims: Sequence[Claim], comparisons: Sequence[Comparison]) -> list[str]:
    """`min_trx` / that of `gc=base`: `gc=sd8k` 0.01× to 3.31×, `gc=sd32k` 0.01× to 1.40×"""
    metrics = dict.fromkeys(name for claim in claims for name in _CALL.findall(claim.expect))
    wanted = [name for name in metrics if name != QPS and not name.startswith(TARGET)]
    return [said for name in wanted for comparison in comparisons for said in _sentence(name, comparison)]


def _sentence(metric: str, found: Comparison) -> Iterator[str]:
    arms: dict[str, list[float]] = {}
    for labels, value in _ratios(metric, found):
        arms.setdefault(comparison_axes.words(labels, found.layout.across), []).append(value)
    if arms:
        said = ", ".join(f"`{name}` {_range(values)}" for name, values in arms.items())
        yield f"`{metric}` / that of `{found.base}`: {said}"


def _ratios(metric: str, found: Comparison) -> Iterator[tuple[Labels, float]]:
    for row in found.rows:
        base, *others = row.entries
        for labels, entry in zip(found.arms[1:], others, strict=True):
            if entry.point and base.point and (value := ratio(entry.point, base.point, metric)) is not None:
                yield labels, value


def _range(values: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(map(_times, (min(values), max(values)))))


def _times(value: float) -> str:
    """With digits also where little is left: 0.0056×."""
    return f"{value:.2g}{units.TIMES}" if 0 < value < SMALL else units.times(value)
