"""The first lines about a plan: who runs it, how far it is, and when it will be over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from stepgrid.cli.shared import adaptive_loads
from stepgrid.cli.status.colours import Paint
from stepgrid.model.plan import Plan
from stepgrid.model.status import Action, ActiveRun, PlanStatus, Status
from stepgrid.model.units import duration
from stepgrid.plan.actions import NO_IMAGE
from stepgrid.summarize.formats.text import cut, wrapped

_ALSO = {Status.BLOCKED: "blocked (what they start from failed)"}


def title(found: PlanStatus) -> str:
    plan = found.plan
    return f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"


def run(found: PlanStatus) -> str:
    run = found.run
    if run is None:
        return "none is active" if not found.is_active else "none is active; a job is at work all the same"
    since = "" if run.started is None else f", {_since(run.started, found.now)}"
    pid = "" if run.pid is None else f"pid {run.pid}"
    if run.spec and run.spec != found.plan.spec:
        return f"{pid}{since}: of another spec, {run.spec}; this one waits for it"
    if run.spec and not run.own:
        return f"{pid}{since}: other --scale, --only or --set; the rest waits"
    return f"{pid}{since}{_makes(found)}"


def stages(found: PlanStatus, paint: Paint) -> str:
    return _counted(found, "stage", "done", _ALSO, paint)


def builds(found: PlanStatus, paint: Paint) -> str:
    return _counted(found, "build", "done", {}, paint)


def eta(found: PlanStatus) -> str:
    """`~`: some of it by declared durations alone."""
    left = found.eta.seconds
    if left is None:
        return "?"
    about = "~" if found.eta.is_rough and left > 0 else ""
    when = f" ({clock(found.now + left, found.now, seconds=False)})" if left >= 1 else ""
    return f"{about}{duration(left)}{when}"


def done(found: PlanStatus) -> str:
    """12/45 done."""
    return _counted(found, "stage", "done", {}, Paint()).partition(",")[0]


def lines(found: PlanStatus, width: int, paint: Paint) -> Iterator[str]:
    yield paint(cut(title(found), width), "bold")
    yield cut(f"  run      {run(found)}", width)
    if found.run and found.run.stops is not None:
        yield cut(f"  until    {_stops(found.run, found.run.stops, found.now)}", width)
    if isinstance(found.plan, Plan) and (loads := adaptive_loads.so_far(found.plan)):
        yield f"  loads    {loads}"
    yield f"  stages   {stages(found, paint)}"
    yield f"  builds   {builds(found, paint)}"
    if not found.is_complete:
        its = found.run is not None and found.run.exact
        yield f"  {'ETA' if its else 'to do':8} {eta(found) if its else eta(found).partition(' ')[0]}"
    yield from _run_again(found, width)


def _run_again(found: PlanStatus, width: int) -> Iterator[str]:
    """Those with a damaged image by name: it does not come about by itself."""
    whys = Counter((node.action, node.why) for node in found.stages if node.action in (Action.REPLAY, Action.REDO))
    for (action, why), count in whys.items():
        titles = [node.title for node in found.stages if (node.action, node.why) == (action, why)]
        what = f"{count} done before" if why == NO_IMAGE or count > 1 else titles[0]
        yield from wrapped(f"{what}: {why}", f"  {action:8} ", " " * 11, width)


def _counted(found: PlanStatus, kind: str, done: str, names: Mapping[Status, str], paint: Paint) -> str:
    counts = Counter(node.status for node in found.nodes.values() if node.kind == kind)
    total = counts.total() - counts[Status.ELSEWHERE]
    texts = [(Status.DONE, f"{counts[Status.DONE]}/{total} {done}")]
    texts += [(each, f"{counts[each]} {names.get(each, each)}") for each in [*Status][1:] if counts[each]]
    return ", ".join(paint.status(text, status) for status, text in texts)


def _since(when: float, now: float) -> str:
    return f"since {clock(when, now)} ({duration(now - when)})"


def _stops(run: ActiveRun, stops: float, now: float) -> str:
    given = "" if ":" in run.until else f" ({run.until})"
    return f"{clock(stops, now, seconds=False)}{given}: starts nothing that would end later"


def _makes(found: PlanStatus) -> str:
    """Between the last stage and the end."""
    return "; makes the tables and the report" if found.is_complete and not found.at_work else ""


# Points in time as a person reads them: the time of day, with the day where it is another one.


def clock(when: float, now: float, seconds: bool = True) -> str:
    then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    time = f"{then:%H:%M:%S}" if seconds else f"{then:%H:%M}"
    return time if then.date() == today.date() else f"{then:%Y-%m-%d} {time}"
