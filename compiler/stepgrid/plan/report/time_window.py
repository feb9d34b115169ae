"""The part of its steps that a table is about: `5m`, the last five minutes of each; `[1m, 5m]`, from FROM to TO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepgrid.language.problems import Problems
from stepgrid.language.yaml import Text
from stepgrid.model import units


def check(window: Sequence[Text], lasting: Mapping[str, float], problems: Problems) -> None:
    """`lasting`: the steps that the table shows, each with the seconds that it lasts at most."""
    ends = [_seconds(said, problems) for said in window]
    last, end = window[-1], ends[-1]
    if end is None or None in ends:
        return
    if len(ends) == 2 and (ends[0] or 0) >= end:
        message = f"window: it begins at `{window[0]}` and ends at `{last}`"
        problems.add("out-of-range", last.where, message, "from the start of a step: [FROM, TO]", len(last))
    elif end == 0:
        problems.add("out-of-range", last.where, f"window: `{last}` holds nothing", width=len(last))
    elif lasting and end > max(lasting.values()):
        longest = max(lasting, key=lambda step: lasting[step])
        hint = f"`{longest}` lasts longest: {units.duration(lasting[longest])}"
        problems.add("out-of-range", last.where, f"window: no step of the table lasts `{last}`", hint, len(last))


def _seconds(said: Text, problems: Problems) -> float | None:
    try:
        seconds = units.quantity(said, "duration")
    except units.UnitError as error:
        problems.add("wrong-unit", said.where, f"window: {error}", width=len(said))
        return None
    if seconds < 0:
        hint = "one duration alone is the end of it: `1m`, the last minute"
        problems.add("out-of-range", said.where, f"window: `{said}` is before the start of a step", hint, len(said))
        return None
    return seconds
