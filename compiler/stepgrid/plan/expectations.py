"""Expectations of steps and checkpoints: what they may name, their check in a spec, and what violates them.

A plan has their texts and the id of no stage has them: they are judged when results are collected.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from stepgrid.expand.scope import OPTIONS, PARAMS, Label
from stepgrid.language.expressions import ExpressionError, evaluate, find_nodes
from stepgrid.language.problems import Problems, nearest
from stepgrid.language.yaml import Map, Text
from stepgrid.model import units
from stepgrid.model.figures import CACHE_BYTES, CACHED_BYTES
from stepgrid.model.plan import DerivedMetric, PlannedCell, PlannedStep
from stepgrid.model.units import as_number
from stepgrid.plugins.counters import COMMITS, FSYNCS, counted, hit_percent

if TYPE_CHECKING:
    from stepgrid.language.spec_file import Document  # pydantic, which no report needs

EXPECTS = "expects `"  # the beginning of each sentence about a violation
ROWS = "rows"
STATE = (ROWS, CACHE_BYTES, CACHED_BYTES)  # figures beside the metrics: see docs/guides/check-a-benchmark.md
MEMORY, HARDWARE, COUNTERS, INDEXES = "memory", "hardware", "counters", "indexes"
HIT_PCT = "hit_pct"
_COUNTED = (FSYNCS, COMMITS)  # by what engines count
_NAMES = (*STATE, *_COUNTED, HIT_PCT, INDEXES, PARAMS, OPTIONS, MEMORY, HARDWARE, COUNTERS)
_QUANTITY = re.compile(r""""[^"]*"|'[^']*'|(?<![\w.])\d[\d_]*(?:\.\d+)?[A-Za-z]+(?!\w)""")
_SIZES = ("bytes", "_size", MEMORY)  # how names end whose values are shown in KiB, MiB …


class Fields:
    """A map whose keys are attributes in an expression, whatever they are called."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def get(self, name: str) -> Any:
        return self._values.get(name)


def names_of_step(step: PlannedStep, labels: Mapping[str, str], machine: Mapping[str, object]) -> dict[str, object]:
    """Collect what is known of a step before it runs."""
    memory = step.setup.launch.memory or machine.get(MEMORY)
    return {
        **{axis: Label(label) for axis, label in labels.items()},
        PARAMS: Fields({name: value for name, value in step.settings.items() if value is not None}),
        OPTIONS: Fields({name: option.value for name, option in step.options.items()}),
        HARDWARE: Fields(machine),
        **({MEMORY: memory} if memory else {}),
    }


def counted_figures(counters: Mapping[str, float]) -> dict[str, float]:
    """Compute figures from the counters of whatever engine it was."""
    figures = {**{role: counted(counters, role) for role in _COUNTED}, HIT_PCT: hit_percent(counters)}
    return {name: value for name, value in figures.items() if value is not None}


COST = "cost_per_m_ops"  # the metric


def derived_figures(definitions: Iterable[DerivedMetric], names: Mapping[str, object]) -> dict[str, float]:
    """Compute the metrics that a spec makes of others, and the cost of operations where the hardware has a price.

    One whose formula has no value, for lack of a figure or by a division by 0, is missing."""
    figures: dict[str, float] = {}
    hardware, qps = names.get(HARDWARE), names.get("qps")
    price = hardware.get("price") if isinstance(hardware, Fields) else None
    if price and (rate := as_number(qps)):
        figures[COST] = float(price) / 3600 / rate * 1e6
    for metric in definitions:
        with suppress(ExpressionError):
            value = _evaluate(metric.formula, {**names, **figures})
            if (figure := as_number(value)) is not None:
                figures[metric.name] = figure
    return figures


def violation(expectation: str, names: Mapping[str, object]) -> str:
    """Say what violates an expectation, or why it cannot be judged; empty where it holds."""
    try:
        if _evaluate(expectation, names) is True:
            return ""
    except ExpressionError as error:
        reason = f"the run has no figure `{error.name}`" if error.name else str(error)
        return f"{EXPECTS}{expectation}` cannot be judged: {reason}"
    values = "; ".join(f"{path} is {text}" for path, text in _named_values(expectation, names))
    return f"{EXPECTS}{expectation}` is violated{': ' if values else ''}{values}"


def _evaluate(expectation: str, names: Mapping[str, object]) -> Any:
    return evaluate(_QUANTITY.sub(_plain_number, expectation), names)


def _plain_number(match: re.Match[str]) -> str:
    """Write 20M as 20000000, and leave texts as they are."""
    number = units.number(match[0])
    return match[0] if number is None else repr(number)


def _named_values(expectation: str, names: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for path, name, key in _paths(expectation):
        value = names.get(name)
        if key and isinstance(value, Fields):
            value = value.get(key)
        if isinstance(value, list):
            yield path, ", ".join(value) or "empty"
        elif (number := units.as_number(value)) is not None:
            yield path, units.size(number) if path.endswith(_SIZES) else units.figure(number)


def _paths(expectation: str) -> list[tuple[str, str, str]]:
    """List the values that an expression names: as it writes them, the name, and the key where it has one."""
    from jinja2 import nodes

    words, attributes, items = find_nodes(
        _QUANTITY.sub(_plain_number, expectation), nodes.Name, nodes.Getattr, nodes.Getitem
    )
    paths = [(str(word.name), str(word.name), "") for word in words]
    keyed = [(f"{part.node.name}.{part.attr}", part.node, part.attr) for part in attributes if _is_name(part.node)]
    keyed += [
        (f"{part.node.name}['{part.arg.value}']", part.node, part.arg.value)
        for part in items
        if _is_name(part.node) and type(part.arg).__name__ == "Const"
    ]
    return list(dict.fromkeys([*paths, *((path, str(node.name), str(key)) for path, node, key in keyed)]))


def _is_name(node: Any) -> bool:
    return type(node).__name__ == "Name"


# The check in a spec


def of_cells(cells: Iterable[PlannedCell]) -> list[Text]:
    """List the expectations of all steps and checkpoints of a plan that is being compiled."""
    steps = (step for cell in cells for step in cell.steps)
    texts = (text for step in steps for text in (*step.expects, *step.checkpoint_expects))
    return [*{(text, text.where): text for text in texts if isinstance(text, Text)}.values()]


def holds(condition: str, figures: Mapping[str, object]) -> bool | None:
    """Judge a condition; None where a figure is missing."""
    try:
        return bool(_evaluate(condition, figures))
    except ExpressionError:
        return None


def check_names(
    expects: Iterable[Text], figures: Collection[str], axes: Iterable[str], problems: Problems, key: str = "expects"
) -> None:
    """Report expectations that cannot be read, and names that they cannot have."""
    names = {*_NAMES, *axes}
    for text in expects:
        try:
            paths = _paths(text)
        except ExpressionError as error:
            problems.add("expression", text.where, str(error), error.hint, len(text))
            continue
        for name in dict.fromkeys(name for _, name, _ in paths):
            if name not in names and name not in figures:
                hint = nearest(name, {*names, *figures})
                problems.add("undefined-name", text.where, f"{key}: there is no figure `{name}`", hint, len(text))


def check_formulas(document: Document, figures: Collection[str], axes: Collection[str], problems: Problems) -> None:
    """Check the formulas of metrics that a spec computes: each may name those above it."""
    from stepgrid.plugins.metrics import METRICS

    computed, nodes = [*document.spec.metrics], document.nodes.get("metrics")
    for index, (name, metric) in enumerate(document.spec.metrics.items()):
        if name in METRICS:
            where = nodes.at[name] if isinstance(nodes, Map) else metric.formula.where
            message = f"`{name}` is a metric already: a computed one needs another name"
            problems.add("reserved-name", where, message, width=len(name))
        sources = figures - {*computed[index:]} if type(figures) is set else figures
        check_names([metric.formula], sources, axes, problems, f"metric `{name}`")


def check_values(
    cells: Iterable[PlannedCell],
    steps: Mapping[str, Sequence[PlannedStep]],
    figures: Iterable[str],
    problems: Problems,
) -> None:
    """Report settings and options that a step does not have, and expectations that are neither true nor false.

    `steps` by stage; every figure is taken for 1."""
    from stepgrid.language.models import Hardware  # pydantic, which no report needs

    machine: dict[str, object] = dict.fromkeys(Hardware.model_fields, 1)
    numbers = dict.fromkeys((*figures, *STATE, *_COUNTED, HIT_PCT, MEMORY), 1.0)
    measured = {**numbers, INDEXES: [""], COUNTERS: Fields(defaultdict(lambda: 1.0))}
    checked: set[tuple[str, int]] = set()
    for cell in cells:
        for cell_step in cell.steps:
            step = steps[cell.repeats[0].stages[cell_step.stage]][cell_step.index]
            for text in (*cell_step.expects, *cell_step.checkpoint_expects):
                if isinstance(text, Text) and (text, id(step)) not in checked:
                    checked.add((text, id(step)))
                    labels = {**cell.labels, **cell_step.variables}
                    settings = {*step.settings, *step.options, *machine}
                    names = names_of_step(step, labels, machine) | measured
                    _check_value(text, step.name, settings, names, problems)


def _check_value(
    text: Text, step: str, settings: Collection[str], names: Mapping[str, object], problems: Problems
) -> None:
    try:
        value = _evaluate(text, names)
    except ExpressionError as error:
        # other faults may be of the figures, which are not known yet
        if error.name and error.name not in [name for _, name, _ in _paths(text)]:
            hint = nearest(error.name, settings)
            problems.add("undefined-name", text.where, f"expects: {error} in step `{step}`", hint, len(text))
        return
    if not isinstance(value, bool):
        message, hint = f"`{text}` is neither true nor false", "for example `found_pct > 99`"
        problems.add("expression", text.where, message, hint, len(text))
