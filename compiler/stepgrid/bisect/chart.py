"""The chart of a bisection: figures of the candidates, and how probable each is to be the first bad one."""

from __future__ import annotations

from stepgrid.bisect.findings import Findings
from stepgrid.summarize.charts import forms


def picture(findings: Findings) -> str:
    figures: dict[str, list[float]] = {candidate.name: [] for candidate in findings.candidates}
    for row in findings.rows:
        figures[row.candidate.name] += row.reading.figures
    shares = [0.0] * len(figures)
    if findings.change is not None:
        shares[1:] = findings.change.probability.tolist()
    return forms.candidates(
        "Figures of each load, and the probability of each candidate",
        [*figures],
        [*figures.values()],
        shares,
        "claim" if findings.request.claim else findings.request.metric,
    )
