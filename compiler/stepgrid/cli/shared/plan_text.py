"""A plan's answer as text: totals first, then what runs, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepgrid.cli.shared import adaptive_loads
from stepgrid.language.site import current_site
from stepgrid.language.sources import network_sources
from stepgrid.model.number_format import percent, size
from stepgrid.model.status import Action, Status
from stepgrid.model.units import counted, duration
from stepgrid.plan.arms import BUILD
from stepgrid.plan.axis_searches import words
from stepgrid.plan.difference import input_text
from stepgrid.plan.difference.stage_difference import Input
from stepgrid.plan.preview import MADE_BY, Node, Preview
from stepgrid.summarize.formats.text import aligned, cut, wrapped

WIDTH = 100
INPUTS = 6  # of a group's reason
MANY = 100  # loads: more than anyone would run


def told(found: Preview, most: int | None) -> Iterator[str]:
    """`most` stages of each group; None = all."""
    plan = found.plan
    yield f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"
    yield from _totals(found)
    yield from _groups(found, most)


def _totals(found: Preview) -> Iterator[str]:
    plan = found.plan
    repeats = {len(cell.repeats) for cell in plan.cells}
    times = f" x {repeats.pop()} repeats" if len(repeats) == 1 and repeats != {1} else ""
    nodes = f"{counted(len(plan.builds), 'build')}, {counted(len(plan.stages), 'stage')}"
    yield _row("plan", f"{counted(len(plan.cells), 'cell')}{times}: {nodes}")
    for search in plan.searches:
        yield _row("search", words(search))
    if loads := adaptive_loads.so_far(plan):
        yield _row("loads", loads)
    yield _row("to do", _to_do(found))
    if found.to_read:
        results = "1 result is" if found.to_read == 1 else f"{found.to_read} results are"
        yield _row("read", f"{results} read again from kept output, nothing is measured for it")
    if fetched := _fetched(found):
        yield from wrapped(", ".join(fetched), _row("fetch", ""), _row("", ""), width=WIDTH)
    if found.nodes:
        yield _row("status", _statuses(found.nodes))
    if found.running:
        yield _row("disk", _disk(found))
    if found.saved >= 1:
        yield _row("sharing", f"saves {duration(found.saved)} against running every cell from scratch")
    if found.power is not None:
        yield _row("repeats", _power(found))
    if found.abandoned:
        yield _row("earlier", f"{counted(len(found.abandoned), 'result')} of this spec no longer belong to it (kept)")


def _row(name: str, text: str) -> str:
    return f"  {name:8} {text}"


def _to_do(found: Preview) -> str:
    running = found.running
    if not running:
        return "nothing"
    counts = [(sum(node.status.kind == kind for node in running), kind) for kind in ("build", "stage")]
    made = ", ".join(counted(count, kind) for count, kind in counts if count)
    if not counts[1][0]:
        return made  # how long a build takes is not known
    if found.seconds is None:
        return f"{made}, of unknown length"
    unknown = sum(node.seconds is None for node in running if not node.status.is_build)
    more = f", and {counted(unknown, 'stage')} of unknown length" if unknown else ""
    return f"{made}: about {duration(found.seconds)}{more}"


def _fetched(found: Preview) -> list[str]:
    """What the builds that are to be made take from the network, each source once."""
    missing = {node.status.id for node in found.running if node.status.is_build}
    sources = [build.source for build in found.plan.builds if build.id in missing]
    mirror = current_site().mirror
    named = dict.fromkeys(source for declared in sources for source in network_sources(declared))
    return [f"{kind} {name}{' (mirror)' if mirror(name) != name else ''}" for kind, name in named]


def _statuses(nodes: Sequence[Node]) -> str:
    counts = Counter(node.status.status for node in nodes)
    shared = sum(node.status.why.startswith(MADE_BY) for node in nodes)
    more = {Status.DONE: f" ({shared:,} by another spec)" if shared else ""}
    return ", ".join(f"{counts[status]:,} {status}{more.get(status, '')}" for status in Status if counts[status])


def _disk(found: Preview) -> str:
    sized = found.sized
    unknown = [node for node in sized if node.bytes is None]
    if not sized:
        return "no image and no build is added"
    if found.bytes is None:
        return f"unknown: nothing like {'it' if len(unknown) == 1 else 'these'} was made before"
    more = f", and {counted(len(unknown), 'image or build')} of unknown size" if unknown else ""
    return f"about {size(found.bytes)} for images and builds{more}"


def _power(found: Preview) -> str:
    power = found.power
    assert power is not None
    noise = f"loads of a cell differ by {percent(power.spread)} ({power.step}); to see 3 % between two cells:"
    if power.loads > MANY:
        return f"{noise} over {MANY} loads, or longer steps"
    takes = "" if power.seconds is None else f", {duration(power.seconds)}"
    return f"{noise} {power.loads} loads{takes}{_verdict(found.plan.report.smallest_effect, power.verdict)}"


def _verdict(effect: float, loads: int | None) -> str:
    """The smallest effect stands between a difference that is seen and one that has a verdict."""
    said = "no number" if loads is None else f"over {MANY}" if loads > MANY else str(loads)
    return f"; for a verdict beyond {percent(effect)}: {said}" if effect else ""


def _groups(found: Preview, most: int | None) -> Iterator[str]:
    groups: dict[tuple[Any, ...], list[Node]] = {}
    for node in found.nodes:
        if node.status.action is not Action.KEEP:
            groups.setdefault(_reason(node), []).append(node)
    labels: dict[str, dict[str, None]] = {}
    for cell in found.plan.cells:
        labels.setdefault(cell.build, {})[cell.labels[BUILD]] = None
    for nodes in groups.values():
        yield ""
        yield from _group(nodes, labels, most)


def _reason(node: Node) -> tuple[Any, ...]:
    inputs = tuple((each.field, repr(each.old), repr(each.new)) for each in node.inputs)
    return node.status.kind, node.status.action, node.status.status, node.status.because, inputs


def _group(nodes: Sequence[Node], labels: Mapping[str, Iterable[str]], most: int | None) -> Iterator[str]:
    """`labels`: of a build, which may have several."""
    first = nodes[0].status
    seconds = sum(node.seconds or 0.0 for node in nodes)
    takes = f", about {duration(seconds)}" if nodes[0].runs and seconds else ""
    yield from _because(f"{first.action} ({first.status}): {counted(len(nodes), first.kind)}{takes}", first.because)
    yield from _inputs(nodes[0].inputs, most)
    shown = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    rows = [
        (
            node.status.id,
            "" if node.seconds is None else duration(node.seconds),
            ", ".join(labels.get(node.status.id, (node.status.title,))),
        )
        for node in shown
    ]
    yield from (cut(line, WIDTH) for line in aligned(rows, right=[1]))
    if len(shown) < len(nodes):
        yield f"  … and {len(nodes) - len(shown):,} more (--all)"


def _because(what: str, because: str) -> Iterator[str]:
    """On lines of their own where they are long: a reason that is cut off is none."""
    line = f"{what}: {because}" if because else what
    if len(line) <= WIDTH:
        yield line
        return
    yield what
    yield from wrapped(because, "    ", width=WIDTH)


def _inputs(inputs: Iterable[Input], most: int | None) -> Iterator[str]:
    listed = list(inputs)
    shown = listed if most is None else listed[:INPUTS]
    for each in shown:
        yield f"    {input_text.line(each)}{f' ({each.where})' if each.where else ''}"
    if len(shown) < len(listed):
        yield f"    … and {len(listed) - len(shown):,} inputs more (--all)"
