"""How databases came to be where they were measured: a line of facts, and where a comparison mixes ways."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from stepgrid.model import units
from stepgrid.model.plan import stage_label
from stepgrid.summarize.data.tables_reader import Run

Facts = Mapping[str, Mapping[str, str]]  # stage/attempt -> name -> value
_WAYS = {
    "empty": "made by the steps",
    "there": "of a server that ran before, as it was",
    "replay": "made by running the load again",
    "copy": "copied",
    "mixed": "in part copied",
}


def rows(images: Facts) -> Iterator[tuple[str, str]]:
    """Nothing where no database was restored."""
    ways = Counter(facts["method"] for facts in images.values() if "method" in facts)
    if set(ways) - {"empty"}:
        seconds = sum(_number(facts, "seconds") for facts in images.values())
        copied = sum(_number(facts, "copied") for facts in images.values())
        said = ", ".join(f"{_said(way)} ({count})" for way, count in ways.most_common())
        yield "databases", f"{said}; {units.seconds(seconds)} and {units.size(copied)} of copies in all"


def mixed(runs: Sequence[Run], images: Facts) -> Iterator[str]:
    """A sentence for the steps whose databases did not all come about alike."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for step in dict.fromkeys(run.step for run in runs if run.measured):
        of_step = {(run.place[0], run.attempt) for run in runs if run.step == step and run.attempt}
        ways = Counter(_way(images, *each) for each in of_step)
        ways.pop("", None)
        if len(ways) > 1:
            told = tuple(f"{_said(way)} ({count})" for way, count in sorted(ways.items(), key=lambda w: (-w[1], w[0])))
            found.setdefault(told, {})[step] = None
    for ways_of, steps in found.items():
        yield f"{stage_label([*steps])}: the databases did not all come about alike: {', '.join(ways_of)}"


def _way(images: Facts, stage: str, attempt: str | None) -> str:
    return images.get(f"{stage}/{attempt}", {}).get("method", "")


def _said(way: str) -> str:
    return _WAYS.get(way, f"restored by {way}")


def _number(facts: Mapping[str, str], name: str) -> float:
    try:
        return float(json.loads(facts.get(name, "0")))
    except (ValueError, TypeError):
        return 0.0
