"""What `stepgrid watch` shows at a terminal: how far the plan is, what runs and how fast, what ended last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stepgrid.cli.status import header, status_text
from stepgrid.cli.status.colours import Paint
from stepgrid.cli.status.header import clock
from stepgrid.cli.status.host_load import Load
from stepgrid.cli.status.sparkline import BLOCKS, spark
from stepgrid.model.number_format import percent, short_rate, size
from stepgrid.model.status import NodeStatus, PlanStatus, Status, Step
from stepgrid.model.units import duration
from stepgrid.run.live_throughput import readings
from stepgrid.summarize.formats.text import cut

LAST = 5  # stages that ended
NARROWEST = 20  # columns of a line that says anything


@dataclass(frozen=True, slots=True)
class Page:
    paint: Paint = field(default_factory=Paint)
    blocks: str = BLOCKS
    load: Load = field(default_factory=Load)

    def lines(self, found: PlanStatus, width: int, height: int) -> list[str]:
        """As many as fit; what runs stands above what ended."""
        shown = list(self._lines(found, max(width, NARROWEST)))
        return shown[: max(height, 1)]

    def _lines(self, found: PlanStatus, width: int) -> Iterator[str]:
        yield from header.lines(found, width, self.paint)
        for node in found.at_work:
            yield ""
            yield from status_text.at_work(node, found.now, width, self.paint)
            if node.work and node.work.step:
                yield from self._step(node.work.step, width, found.now)
        if not found.is_active:
            yield ""
            yield cut("no run is active: waits for one (Ctrl-C leaves)", width)
        yield from self._ended(found, width)

    def _step(self, step: Step, width: int, now: float) -> Iterator[str]:
        if step.declared:
            yield f"  {bar(max(now - step.since, 0.0) / step.declared, width - 4)}"
        yield from self._speed(step, width)
        for used in usage(self.load.of(step.folder)):
            yield cut(f"  {used}", width)

    def _speed(self, step: Step, width: int) -> Iterator[str]:
        series = readings(step.kind, step.folder) if step.kind else ()
        drawn = spark([value for _, value in series], width - 2, self.blocks)
        if drawn is None:
            return
        before = series[-drawn.used - 1][0] if drawn.used < len(series) else 0.0
        span = f"in {duration(series[-1][0] - before)}"
        yield f"  {self.paint(drawn.text, 'green')}"
        far = f"now {short_rate(series[-1][1])}, least {short_rate(drawn.least)}, most {short_rate(drawn.most)} {span}"
        yield cut(f"  ops/s   {far}", width)

    def _ended(self, found: PlanStatus, width: int) -> Iterator[str]:
        times = sorted((when, node.id) for node in found.nodes.values() if (when := _when(node)) is not None)
        if times:
            yield ""
            yield "ended last:"
        for when, name in reversed(times[-LAST:]):
            node = found.nodes[name]
            line = f"  {clock(when, found.now)}  {outcome(node)}  {node.title}"
            yield self.paint(cut(line, width), "red" if node.end else None)


def bar(share: float, width: int) -> str:
    full = round(min(max(share, 0.0), 1.0) * width)
    return f"[{'#' * full}{'.' * (width - full)}]"


def usage(load: Mapping[str, float]) -> Iterator[str]:
    """Of the device and of all processors; what cannot be told is left out."""
    read, write = load.get("device_read_mb_per_s"), load.get("device_write_mb_per_s")
    if read is not None and write is not None:
        yield f"device  reads {size(read * 2**20)}/s, writes {size(write * 2**20)}/s"
    user, system = load.get("host_cpu_user_pct"), load.get("host_cpu_system_pct")
    waits = load.get("host_cpu_iowait_pct")
    if user is not None and system is not None:
        waiting = "" if waits is None else f", {percent(waits / 100)} waiting for disks"
        yield f"cpu     {percent((user + system) / 100)}{waiting}"


def outcome(node: NodeStatus) -> str:
    return f"{node.status}{node.time_taken}"


def _when(node: NodeStatus) -> float | None:
    if node.result:
        return node.result.ended
    return node.end.when if node.end and node.status in (Status.FAILED, Status.INTERRUPTED) else None
