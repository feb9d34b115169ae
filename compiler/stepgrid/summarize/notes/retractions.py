"""Results that were retracted: how many, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.model.counted import counted
from stepgrid.summarize.data.parquet_reader import Run


def sentences(retracted: Mapping[str, Mapping[str, str]], runs: Sequence[Run]) -> Iterator[str]:
    """`retracted`: stage/time -> why, who, when. One for each reason, with the steps that the results were of."""
    steps: dict[str, dict[str, None]] = {}
    for run in runs:
        steps.setdefault(run.place[0], {})[f"{run.step} of {run.build}"] = None
    reasons: dict[str, list[str]] = {}
    for subject, note in retracted.items():
        reasons.setdefault(note.get("why", "no reason given"), []).append(subject.partition("/")[0])
    for why, stages in reasons.items():
        of = list(dict.fromkeys(step for stage in stages for step in steps.get(stage, ())))
        named = f"{', '.join(of[:3])}{' and others' if len(of) > 3 else ''}"
        yield f"{counted(len(stages), 'result')} retracted ({named}): {why}"
