"""The first lines about a plan: who runs it, how far it is, and when it will be over."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from stepgrid.cli.status.colours import Paint
from stepgrid.model import status as model
from stepgrid.model.status import Run, State, Status
from stepgrid.model.units import duration

_ALSO: Mapping[State, str] = {model.BLOCKED: "blocked (what they start from failed)"}


def cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"


def title(status: Status) -> str:
    plan = status.plan
    return f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"


def run(status: Status) -> str:
    found = status.run
    if found is None:
        return "none is active" if not status.is_active else "none is active; a job is at work all the same"
    since = "" if found.started is None else f", {_since(found.started, status.now)}"
    pid = "" if found.pid is None else f"pid {found.pid}"
    if found.spec and found.spec != status.plan.spec:
        return f"{pid}{since}: of another spec, {found.spec}; this one waits for it"
    if found.spec and not found.own:
        return f"{pid}{since}: other --scale, --only or --set; the rest waits"
    return f"{pid}{since}{_makes(status)}"


def stages(status: Status, paint: Paint) -> str:
    return _counted(status, "stage", "done", _ALSO, paint)


def builds(status: Status, paint: Paint) -> str:
    return _counted(status, "build", "made", {model.RUNNING: "being made"}, paint)


def eta(status: Status) -> str:
    """`~`: some of it by declared durations alone."""
    if status.left is None:
        return "?"
    about = "~" if status.about and status.left > 0 else ""
    when = f" ({clock(status.now + status.left, status.now, seconds=False)})" if status.left >= 1 else ""
    return f"{about}{duration(status.left)}{when}"


def done(status: Status) -> str:
    """12/45 done."""
    return _counted(status, "stage", "done", {}, Paint()).partition(",")[0]


def lines(status: Status, width: int, paint: Paint) -> Iterator[str]:
    yield paint(cut(title(status), width), "bold")
    yield cut(f"  run      {run(status)}", width)
    if status.run and status.run.stops is not None:
        yield cut(f"  until    {_stops(status.run, status.run.stops, status.now)}", width)
    yield f"  stages   {stages(status, paint)}"
    yield f"  builds   {builds(status, paint)}"
    if not status.is_complete:
        its = status.run is not None and status.run.exact
        yield f"  {'ETA' if its else 'left':8} {eta(status) if its else eta(status).partition(' ')[0]}"
    yield from _replays(status, width)


def _replays(status: Status, width: int) -> Iterator[str]:
    """Those with a damaged image by name: it does not come about by itself."""
    again = [node for node in status.nodes if node.replayed]
    lost = [node for node in again if not node.because]
    if lost:
        yield f"  replays  {len(lost)} done before, run again for what follows: no image of their end state"
    for node in again:
        if node.because:
            yield from textwrap.wrap(
                f"replays  {node.title}: {node.because}", width, initial_indent="  ", subsequent_indent=" " * 11
            )


def _counted(status: Status, kind: str, done: str, names: Mapping[State, str], paint: Paint) -> str:
    counts = Counter(node.state for node in status.nodes if node.kind == kind)
    total = counts.total() - counts[model.ELSEWHERE]
    found = [(model.DONE, f"{counts[model.DONE]}/{total} {done}")]
    found += [(state, f"{counts[state]} {names.get(state, state)}") for state in model.STATES[1:] if counts[state]]
    return ", ".join(paint.state(text, state) for state, text in found)


def _since(when: float, now: float) -> str:
    return f"since {clock(when, now)} ({duration(now - when)})"


def _stops(run: Run, stops: float, now: float) -> str:
    given = "" if ":" in run.until else f" ({run.until})"
    return f"{clock(stops, now, seconds=False)}{given}: starts nothing that would end later"


def _makes(status: Status) -> str:
    """Between the last stage and the end."""
    idle = status.is_complete and not any(node.work for node in status.nodes)
    return "; makes the tables and the report" if idle else ""


# Points in time as a person reads them: the time of day, with the day where it is another one.


def clock(when: float, now: float, seconds: bool = True) -> str:
    then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    time = f"{then:%H:%M:%S}" if seconds else f"{then:%H:%M}"
    return time if then.date() == today.date() else f"{then:%Y-%m-%d} {time}"
