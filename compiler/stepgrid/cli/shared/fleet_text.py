"""What several machines would make of a plan: sentences, and a chart of who does what when, as text or SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from stepgrid.model.units import counted, duration
from stepgrid.plan.fleet.fleet_plan import Fleet
from stepgrid.plan.fleet.schedule import Placed, Schedule

WIDTH = 72  # of the chart, in letters
BUILD, AGAIN, STAGE, IDLE = "░", "▒", "█", "·"
MANY = 64  # machines that are drawn
LEFT, HIGH, WIDE = 90, 22, 900  # of the SVG, in pixels
FILLS = {BUILD: "#b9c6d3", AGAIN: "#e0a458", STAGE: "#3b6ea5"}


def told(found: Fleet) -> Iterator[str]:
    here = found.schedule
    if not here.placed:
        yield "nothing to do"
        return
    takes, alone = duration(here.seconds), duration(found.alone.seconds)
    yield f"{counted(here.machines, 'machine')}: {takes}; one alone: {alone} ({found.faster:.1f} times as long)"
    yield _more(found)
    if here.again:
        seconds = sum(each.job.seconds for each in here.again)
        yield f"made again, as what is compared stays on one machine: {_again(here)} ({duration(seconds)})"
    if found.unknown:
        yield f"{counted(found.unknown, 'build or stage')} of unknown length, taken for nothing"
    yield from chart(here)


def _more(found: Fleet) -> str:
    here, saved = found.schedule, found.schedule.seconds - found.more.seconds
    groups = f"{counted(found.groups, 'group')} of what is compared within a load; the shortest possible: "
    gain = f"one more saves {duration(saved)}" if saved >= 1 else "one more saves nothing"
    return f"{groups}{duration(here.bound)}; {gain}"


def _again(here: Schedule) -> str:
    return counted(len(here.again), "stage")


def chart(here: Schedule) -> Iterator[str]:
    """A line for each machine; a letter stands for a part of the whole time, and shows what takes most of it."""
    for machine, placed in _machines(here)[:MANY]:
        yield f"{machine + 1:4} {''.join(_letter(placed, at, here.seconds / WIDTH) for at in range(WIDTH))}"
    if here.machines > MANY:
        yield f"     and {here.machines - MANY} more"
    yield f"     0{duration(here.seconds):>{WIDTH - 1}}"
    yield f"     {BUILD} builds  {STAGE} stages  {AGAIN} stages that are made on another machine, too  {IDLE} idle"


def _machines(here: Schedule) -> list[tuple[int, list[Placed]]]:
    return [(at, [each for each in here.placed if each.machine == at]) for at in range(here.machines)]


def _letter(placed: Sequence[Placed], at: int, each: float) -> str:
    parts = dict.fromkeys((IDLE, BUILD, AGAIN, STAGE), 0.0)
    for job in placed:
        parts[_kind(job)] += max(0.0, min(job.end, (at + 1) * each) - max(job.start, at * each))
    parts[IDLE] = max(0.0, each - sum(parts.values()))
    return max(parts, key=parts.__getitem__)


def _kind(job: Placed) -> str:
    return BUILD if job.job.is_build else AGAIN if job.again else STAGE


def svg(found: Fleet) -> str:
    """Each bar says what it is when pointed at."""
    here = found.schedule
    height, scale = HIGH * here.machines + 2 * HIGH, WIDE / (here.seconds or 1.0)
    bars = "\n".join(_bar(each, scale) for each in here.placed)
    names = "\n".join(f'<text x="4" y="{HIGH * at + HIGH + 15}">machine {at + 1}</text>' for at in range(here.machines))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 10} {height + 10}" font-family="sans-serif" \
font-size="12" role="img">
<title>{escape(f"{counted(here.machines, 'machine')}: {duration(here.seconds)}")}</title>
{names}
{bars}
<text x="{LEFT}" y="{height}">0</text>
<text x="{LEFT + WIDE}" y="{height}" text-anchor="end">{duration(here.seconds)}</text>
</svg>
"""


def _bar(each: Placed, scale: float) -> str:
    left, wide = LEFT + each.start * scale, max(each.job.seconds * scale, 0.5)
    said = escape(f"{each.job.title}: {duration(each.job.seconds)}, from {duration(each.start)} on")
    place = f'x="{left:.1f}" y="{HIGH * each.machine + HIGH}" width="{wide:.1f}" height="{HIGH - 4}"'
    return f'<rect {place} fill="{FILLS[_kind(each)]}" stroke="white" stroke-width="0.5"><title>{said}</title></rect>'
