"""stepgrid plan --budget: the choices as text, and the best of them written into the spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stepgrid.language import spec_file
from stepgrid.model.number_format import percent, size
from stepgrid.model.table import Cell, Column, Table
from stepgrid.model.units import UnitError, counted, duration, quantity
from stepgrid.summarize.budget.choices import Choice
from stepgrid.summarize.budget.width_forecast import WidthForecast
from stepgrid.summarize.formats.text import table

DURATION = ("params", "duration")
HEADS = ("loads", "runs", "duration", "to measure", "images", "± typical", "± noisiest", "found")


def own_duration(spec: Path) -> float | None:
    """Seconds of `params: {duration: …}`, where it is a plain value."""
    text = spec_file.get_value(spec.read_text(encoding="utf-8"), DURATION)
    try:
        return None if text is None else float(quantity(text, "duration"))
    except UnitError:
        return None


def told(found: Sequence[Choice], now: Choice, known: Sequence[WidthForecast], length: float | None) -> Iterator[str]:
    widths = f"± {percent(now.typical)}, ± {percent(now.noisiest)} at the noisiest step"
    yield f"  now      {counted(now.loads, 'load')}, {counted(now.runs, 'run')} of each: {widths}"
    yield f"  noise    {_noise(known, now.runs)}"
    columns = tuple(Column(head) for head in HEADS)
    rows = tuple(tuple(map(Cell, _row(each, length))) for each in found)
    notes = (
        "±: how far the 95 % interval of a ratio would reach",
        "found: the difference at the noisiest step that would have a verdict 4 times in 5",
    )
    yield ""
    yield from table(Table("what fits, the narrowest first", columns, rows, notes=notes)).splitlines()


def _noise(known: Sequence[WidthForecast], runs: int) -> str:
    """Shares of the variance of a load's ratio."""
    whole = sum(each.parts.of(runs, 1.0) for each in known)
    parts = {
        "between loads": sum(each.parts.loads for each in known),
        "between runs": sum(each.parts.runs for each in known) / runs,
        "within a run": sum(each.parts.series for each in known) / runs,
    }
    shares = ", ".join(f"{part / whole:.0%} {name}".replace("%", " %") for name, part in parts.items())
    return f"of the variance {shares}"


def _row(each: Choice, length: float | None) -> tuple[str, ...]:
    longer = "-" if length is None else duration(length * each.longer)
    images = "-" if each.bytes is None else size(each.bytes) if each.bytes else "0"
    widths = (percent(share) for share in (each.typical, each.noisiest, each.difference))
    return (str(each.loads), str(each.runs), longer, duration(each.seconds), images, *widths)


def applied(spec: Path, chosen: Choice, length: float | None) -> str:
    """The spec's text with it."""
    text = spec_file.set_key(spec.read_text(encoding="utf-8"), "repeat", _repeat(chosen))
    if length is not None and chosen.longer != 1:
        text = spec_file.replace_value(text, DURATION, _duration(length * chosen.longer)) or text
    return text


def change(chosen: Choice, length: float | None) -> str:
    longer = "" if length is None or chosen.longer == 1 else f", `duration: {_duration(length * chosen.longer)}`"
    return f"wrote `repeat: {_repeat(chosen)}`{longer}"


def _repeat(chosen: Choice) -> str:
    return str(chosen.loads) if chosen.runs == 1 else f"{{loads: {chosen.loads}, runs: {chosen.runs}}}"


def _duration(seconds: float) -> str:
    return f"{seconds:g}s" if seconds % 60 else f"{seconds / 60:g}m"
