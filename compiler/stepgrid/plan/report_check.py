"""The report that a spec asks for, checked against its cells: bases, tables, and claims as expressions over figures."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from stepgrid.errors import StepgridError
from stepgrid.expand.scope import Label
from stepgrid.expand.search import AxisSearch
from stepgrid.language.expressions import ExpressionError, find_nodes, parse
from stepgrid.language.problems import Problem, Problems, nearest
from stepgrid.language.yaml import Text, key_location
from stepgrid.model import units
from stepgrid.model.metrics import CORE_METRICS, QPS, STEADY_QPS
from stepgrid.model.plan import (
    BUILD,
    ConfirmingLoads,
    DerivedMetric,
    Json,
    PlannedAxis,
    PlannedBest,
    PlannedCell,
    PlannedClaim,
    PlannedReport,
    PlannedStep,
    inner_map,
)
from stepgrid.model.units import as_number
from stepgrid.plan import expectations
from stepgrid.plugins.layout import STEP
from stepgrid.plugins.registry import DRIVERS, LAYOUTS, own_metrics

if TYPE_CHECKING:
    from stepgrid.language.models import SpecBest, SpecStep, SpecTable
    from stepgrid.language.spec_file import Document

COUNTERS = "counters"  # the layout that shows what servers counted
FUNCTIONS = "functions"  # likewise CPU by function: it needs no patterns for `top`
MIXED_QUALITY = "mixed-quality"  # the lint that `allow` silences, and then all builds are compared as shipped
MIXED_DURABILITY = "mixed-durability"  # likewise: arms whose writes survive unlike failures get verdicts
_NO_CELL = "has no cell at"
_COSTS = ("bytes", "seconds")  # how metrics end of which less is better if they do not say
_EXAMPLE = "for example qps(cache='best') >= 2 * qps(cache='lru')"


def compile_report(
    document: Document,
    axes: Sequence[PlannedAxis],
    cells: Sequence[PlannedCell],
    steps: Mapping[str, Sequence[PlannedStep]],
    problems: Problems,
) -> PlannedReport:
    """Check what a spec says of its report, and write it as a plan has it. `steps`: by stage."""
    spec = document.spec
    _check_labels("report.base", spec.report.base, {axis.name: set(axis.labels) for axis in axes}, problems)
    step_lists, expects, report = steps.values(), expectations.of_cells(cells), spec.report
    if spec.metrics or report.tables or spec.claims or report.metric or report.best or report.pareto or expects:
        names = _planned_names(document, axes, cells, step_lists)
        _check(document, names, problems)
        if spec.metrics:
            expectations.check_formulas(document, names.measured, names.exact, problems)
        if expects:
            expectations.check_names(expects, names.measured, names.exact, problems)
            expectations.check_values(cells, steps, names.measured, problems)
    base = {axis: str(label) for axis, label in spec.report.base.items()}
    claims = []
    for claim in spec.claims:
        loads = None if claim.confirm is None else ConfirmingLoads(spec.repeat.loads or 0, claim.confirm)
        where = {axis: _json(labels) for axis, labels in claim.where.items()}
        claims.append(PlannedClaim(claim=str(claim.claim), expect=str(claim.expect), where=where, confirm=loads))
    tables, as_shipped = tuple(map(_plain, spec.report.tables)), spec.allow.get(MIXED_QUALITY)
    effect, within = spec.report.smallest_effect, spec.compare_within
    metric, declared = spec.report.metric, tuple(_declared_metrics(step_lists))
    front = _directions("pareto", spec.report.pareto or (), step_lists, problems)
    best = _planned_best(spec.report.best)
    metrics = spec.metrics.items()
    derived = tuple(
        DerivedMetric(name, str(computed.formula), computed.unit, computed.better) for name, computed in metrics
    )
    if best is None and spec.repeat.until == "best":
        leading = _directions("until: best", [metric] if metric else [], step_lists, problems) or ((QPS, False),)
        best = PlannedBest(*leading[0])
    return PlannedReport(
        base, effect, tables, tuple(claims), within, as_shipped, spec.strict, metric and str(metric), declared,
        spec.allow.get(MIXED_DURABILITY), best, front, derived,
    )  # fmt: skip


def _planned_best(best: SpecBest | None) -> PlannedBest | None:
    if best is None:
        return None
    where, step = (text if text is None else str(text) for text in (best.where, best.step))
    return PlannedBest(str(best.metric), best.aim == "min", where, step)


def _directions(
    key: str, names: Sequence[Text], stages: Iterable[Sequence[PlannedStep]], problems: Problems
) -> tuple[tuple[str, bool], ...]:
    """List metrics of a key, each with whether less is better, as of sizes and times that do not say."""
    steps = {id(step.settings): step for steps in stages for step in steps}.values()
    metrics, directions = own_metrics(steps), []
    for name in names:
        from stepgrid.plugins.metrics import METRICS  # of all plug-ins: most specs name none here

        metric = metrics.get(name, METRICS.get(name))
        better = metric and (metric.better or ("lower" if name.endswith(_COSTS) else None))
        if metric and better is None:
            message, hint = f"{key}: neither direction of `{name}` is better", "`better:` says it where it is declared"
            problems.add("not-a-choice", name.where, message, hint, len(name))
        directions.append((str(name), better == "lower"))
    return tuple(directions)


def _check_front(document: Document, names: _Names, problems: Problems) -> None:
    """Check what the report is to say of the best cells: metrics, their direction, a condition, a step."""
    best, front = document.spec.report.best, document.spec.report.pareto or ()
    for metric in (*([best.metric] if best else []), *front):
        _check_metric(metric, metric, names, problems)
    for at, metric in enumerate(front):
        if metric in front[:at]:
            problems.add("point-twice", metric.where, f"`{metric}` is given twice", width=len(metric))
    if best and best.where is not None:
        expectations.check_names([best.where], names.measured, names.exact, problems, "where")
    tune = document.spec.tune  # whose step is that of `best`, where it has no `pareto`
    for key, step in (("best", best and best.step), ("tune", tune and tune.pareto and tune.step)):
        if step:
            _check_labels(key, {STEP: step}, names.labels, problems)


def _declared_metrics(stages: Iterable[Sequence[PlannedStep]]) -> dict[str, None]:
    """Name the metrics that steps declare, in the order of the spec; first that of those which become steady."""
    steps = {id(step.settings): step for steps in stages for step in steps}.values()
    steady = [STEADY_QPS] if any(step.setup.until for step in steps) else []
    return dict.fromkeys([*steady, *(name for step in steps for name in inner_map(step.settings, "metrics"))])


def check_declared(
    document: Document, problems: Problems, swept: Mapping[str, set[str]] = MappingProxyType({})
) -> None:
    """Check a report without its cells. A file that cannot be read may declare the rest: then nothing is checked.

    `swept`: labels of axes, where the sweep is known, and only some of its cells are there.
    """
    if not problems.unread:
        names = _declared_names(document, swept)
        _check_labels("report.base", document.spec.report.base, names.exact, problems)
        _check(document, names, problems)
        expectations.check_formulas(document, names.measured, names.exact, problems)
        expects = [text for step in _declared_steps(document) for text in step.expects or ()]
        expectations.check_names(expects, names.measured, names.exact, problems)


def _plain(entry: SpecTable) -> Mapping[str, Json]:
    return {name: _json(value) for name, value in entry.model_dump(exclude_defaults=True).items()}


def _json(value: object) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    return value if isinstance(value, bool | int | float) else str(value)


# Names that a report may use


class _Names(Struct, frozen=True):
    exact: Mapping[str, set[str]]  # labels of axes, of variables of live grids, and of steps
    labels: Mapping[str, set[str]]  # the same, but a family of builds means its versions
    figures: set[str]  # beside those of plug-ins
    seconds: Mapping[str, float]  # of measured steps: how long one lasts at most; inf where it does not say
    all: set[str]  # what a table may show, and so call something else

    @property
    def measured(self) -> set[str]:
        """Select the figures by which results have them: published columns are other names of the same."""
        from stepgrid.plugins.metrics import METRICS

        columns = {column for metric in METRICS.values() for column in metric.legacy.values()} - METRICS.keys()
        return self.figures if isinstance(self.figures, _Anything) else (self.figures | METRICS.keys()) - columns


class _Anything(set[str]):
    """Names that the cells alone tell."""

    def __contains__(self, name: object) -> bool:
        return True


def _planned_names(
    document: Document,
    axes: Sequence[PlannedAxis],
    cells: Iterable[PlannedCell],
    stages: Iterable[Sequence[PlannedStep]],
) -> _Names:
    steps = {id(step.settings): step for steps in stages for step in steps}.values()
    durations, longest = dict[str, float](), dict[str, float]()
    for step in steps:
        seconds = as_number(step.settings.get("duration"))
        durations[step.name] = max(math.inf if seconds is None else seconds, durations.get(step.name, 0.0))
    exact: dict[str, set[str]] = {**{axis.name: set(axis.labels) for axis in axes}, STEP: set()}
    for head in (head for heads in {id(cell.steps): cell.steps for cell in cells}.values() for head in heads):
        exact[STEP] |= {head.name, head.step}
        for variable, value in head.variables.items():
            exact.setdefault(variable, set()).add(value)
        for name in (head.name, head.step) if head.measured else ():
            longest[name] = max(durations[head.name], longest.get(name, 0.0))
    labels = {**exact, BUILD: exact[BUILD] | set(document.spec.builds)}
    figures = {search.limit for step in steps if (search := AxisSearch.from_setup(step.setup)) and search.limit}
    figures |= {*CORE_METRICS, *document.spec.metrics, *own_metrics(steps)}
    figures |= {str(probe.name) for probe in document.spec.probes}
    return _Names(exact, labels, figures, longest, {*exact, *figures}.union(*exact.values()))


def _declared_names(document: Document, swept: Mapping[str, set[str]]) -> _Names:
    """Collect names as the spec declares them, for a spec whose other faults leave no cells, or not all."""
    steps = _declared_steps(document)
    step_names = {str(name) for step in steps for name in (step.use, step.name, step.as_) if name is not None}
    if any(step.for_ or step.times or step.warmup for step in steps):  # names are made of theirs
        step_names = _Anything()
    figures: set[str] = {*CORE_METRICS, *(str(probe.name) for probe in document.spec.probes), *document.spec.metrics}
    for step in steps:
        figures |= {*inner_map(step.model_extra or {}, "metrics"), *(f"highest_{name}" for name in step.for_ or ())}
    if swept or any(step.use is None and step.kind is not None and step.kind not in DRIVERS.names() for step in steps):
        figures = _Anything()  # steps of other cells may name theirs; a kind that does not exist may have any
    axes: dict[str, set[str]] = {}
    for name, axis in document.spec.sweep.items():
        is_made = bool(axis.groups) or (axis.points is None and axis.values is None)  # by expressions
        labels = axis.points if axis.points is not None else axis.values or ()
        axes[name] = _Anything() if is_made else {str(label) for label in labels}
    variables = {name: _Anything() for step in steps for name in step.for_ or ()}
    exact = {**axes, **variables, BUILD: _Anything(), STEP: step_names, **swept}
    families = {**exact, BUILD: exact[BUILD] | set(document.spec.builds)} if BUILD in swept else exact
    return _Names(exact, families, figures, {}, _Anything())


def _declared_steps(document: Document) -> list[SpecStep]:
    libraries = (document.spec, *(source.library for source in document.includes))
    workloads = [workload for library in libraries for workload in library.define.workloads.values()]
    return [*(document.spec.steps or ()), *(step for workload in workloads for step in workload)]


@cache
def _plugin_figures() -> frozenset[str]:
    """Name the metrics of all plug-ins, which are imported for it, and published columns."""
    from stepgrid.plugins.metrics import METRICS

    return frozenset(name for key, metric in METRICS.items() for name in (key, *metric.legacy.values()))


# Checks of tables and claims


def _check(document: Document, names: _Names, all_problems: Problems) -> None:
    problems = Problems()
    if (metric := document.spec.report.metric) is not None:
        _check_metric(metric, metric, names, problems)
    _check_front(document, names, problems)
    for table in document.spec.report.tables:
        _check_table(table, names, problems)
    for claim in document.spec.claims:
        _check_labels("where", claim.where, names.labels, problems)
        _check_claim(claim.expect, names, problems)
        if claim.confirm is not None and document.spec.repeat.until is not None:
            message = "a claim with `confirm` needs a fixed number of loads, and `repeat` says `until`: keep one"
            problems.add("not-both", claim.expect.where, message, width=len(claim.expect))
    for problem in _merge_missing_labels(problems.items):
        all_problems.append(problem)


def _merge_missing_labels(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Report a label that no cell has once, however many claims and tables name it."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        sentence = problem.message[problem.message.find("axis `") :]
        groups.setdefault(sentence if _NO_CELL in sentence else str(problem), []).append(problem)
    for group in groups.values():
        count = f" (named {len(group)} times, through line {group[-1].where.line})" if len(group) > 1 else ""
        yield group[0]._replace(message=f"{group[0].message}{count}")


def _check_labels(
    key: str, conditions: Mapping[str, Text | tuple[Text, ...]], labels: Mapping[str, set[str]], problems: Problems
) -> None:
    for axis, value in conditions.items():
        for label in value if isinstance(value, tuple) else (value,):
            if axis not in labels:
                where, hint = key_location(label, label.where), nearest(axis, labels)
                problems.add("undefined-name", where, f"{key}: there is no axis `{axis}`", hint, len(axis))
                break
            if label not in labels[axis]:
                message = f"{key}: axis `{axis}` {_NO_CELL} `{label}`"
                problems.add("undefined-name", label.where, message, nearest(label, labels[axis]), len(label))


def _check_table(table: SpecTable, names: _Names, problems: Problems) -> None:
    _check_layout(table, problems)
    _check_distinct_axes(table, problems)
    for name in (*(table.rows or ()), *table.columns, *table.by):
        if name not in names.labels:
            hint = nearest(name, names.labels)
            problems.add("undefined-name", name.where, f"a table has no axis `{name}` to show", hint, len(name))
    _check_labels("where", table.where, names.labels, problems)
    _check_labels("base", table.base or {}, names.exact, problems)
    for metric in table.metrics:
        _check_metric(metric, metric, names, problems)
    for key, text in table.labels.items():
        if key not in names.all and key not in _plugin_figures():
            message, where = f"labels: there is nothing called `{key}`", key_location(text, text.where)
            problems.add("undefined-name", where, message, nearest(key, names.all | _plugin_figures()), len(key))
        if not text.strip():
            problems.add("out-of-range", text.where, f"labels: `{key}` is called nothing")
    if table.window:
        steps = table.where.get(STEP, names.seconds)
        step_names = (steps,) if isinstance(steps, str) else steps
        seconds = {name: names.seconds[name] for name in step_names if name in names.seconds}
        _check_window(table.window, seconds, problems)


def _check_layout(table: SpecTable, problems: Problems) -> None:
    """Check a table's layout; a table without one says itself what it shows."""
    if table.layout is None:
        for key in ("title", "rows"):
            if getattr(table, key) is None:
                hint = f"or `layout:`, one of {', '.join(LAYOUTS.names())}" if key == "rows" else ""
                problems.add("missing-key", table.location, f"`{key}` is missing", hint)
    elif table.layout not in LAYOUTS.names():
        problems.add("undefined-name", table.layout.where, *LAYOUTS.unknown(table.layout))
    if table.counters and table.layout != COUNTERS:
        hint = f"`layout: {COUNTERS}` does"
        problems.add("wrong-type", table.counters[0].where, "a table of this layout shows no `counters`", hint)
    if table.top is not None and not table.counters and table.layout != FUNCTIONS:
        problems.add("missing-key", table.location, "`counters` is missing: `top` says how many of them are shown")


def _check_distinct_axes(table: SpecTable, problems: Problems) -> None:
    keys: dict[str, str] = {}
    for key in ("rows", "columns", "by"):
        for name in getattr(table, key) or ():
            if name in keys:
                message = f"`{name}` is in `{keys[name]}`" + ("" if keys[name] == key else f" and in `{key}`")
                problems.add("defined-twice", name.where, f"{message}: a table shows an axis once", width=len(name))
            keys[name] = key


def _check_window(window: Sequence[Text], seconds: Mapping[str, float], problems: Problems) -> None:
    """Check the part of its steps that a table is about: `5m`, the last minutes of each; `[1m, 5m]`, FROM and TO.

    `seconds`: how long each step lasts at most that the table shows."""
    ends = [_window_end(text, problems) for text in window]
    last, end = window[-1], ends[-1]
    if end is None or None in ends:
        return
    if len(ends) == 2 and (ends[0] or 0) >= end:
        message = f"window: it begins at `{window[0]}` and ends at `{last}`"
        problems.add("out-of-range", last.where, message, "from the start of a step: [FROM, TO]", len(last))
    elif end == 0:
        problems.add("out-of-range", last.where, f"window: `{last}` holds nothing", width=len(last))
    elif seconds and end > max(seconds.values()):
        longest = max(seconds, key=lambda step: seconds[step])
        hint = f"`{longest}` lasts longest: {units.duration(seconds[longest])}"
        problems.add("out-of-range", last.where, f"window: no step of the table lasts `{last}`", hint, len(last))


def _window_end(text: Text, problems: Problems) -> float | None:
    try:
        seconds = units.quantity(text, "duration")
    except units.UnitError as error:
        problems.add("wrong-unit", text.where, f"window: {error}", width=len(text))
        return None
    if seconds < 0:
        hint = "one duration alone is the end of it: `1m`, the last minute"
        problems.add("out-of-range", text.where, f"window: `{text}` is before the start of a step", hint, len(text))
        return None
    return seconds


def _check_metric(name: str, text: Text, names: _Names, problems: Problems) -> None:
    if name not in names.figures and name not in _plugin_figures():
        hint = nearest(name, names.figures | _plugin_figures())
        problems.add("undefined-name", text.where, f"there is no metric `{name}`", hint, len(text))


def _check_claim(expect: Text, names: _Names, problems: Problems) -> None:
    from jinja2 import nodes

    try:
        calls, words, comparing = find_nodes(expect, nodes.Call, nodes.Name, nodes.Compare)
    except ExpressionError as error:
        problems.add("expression", expect.where, str(error), error.hint, len(expect))
        return
    before = len(problems.items)
    judging = {id(call.node) for call in calls if _word(call) in (SIMILAR, STABLE)}
    if not (comparing or judging):
        message = "a claim compares: < <= > >= == !=, similar(…, …) or stable(…, …)"
        problems.add("expression", expect.where, message, _EXAMPLE, len(expect))
    called = {id(call.node) for call in calls}
    for word in (word for word in words if id(word) not in judging):
        if id(word) in called:
            _check_metric(word.name, expect, names, problems)
        else:
            hint = "figures are written as METRIC(axis='label', …)"
            problems.add("undefined-name", expect.where, f"`{word.name}` is not a figure", hint, len(expect))
    for call in (call for call in calls if id(call.node) not in judging):
        _check_arguments(call, expect, names.labels, problems)
    if len(problems.items) == before:  # it can be read, and names what exists, and may still be no claim
        try:
            parse_claim(expect, names.labels)
        except ClaimError as error:
            problems.add("expression", expect.where, str(error), _EXAMPLE, len(expect))


def _check_arguments(call: Any, expect: Text, labels: Mapping[str, set[str]], problems: Problems) -> None:
    from jinja2 import nodes

    if call.args or call.dyn_args or call.dyn_kwargs:
        message = "the arguments of a figure have names"
        problems.add("expression", expect.where, message, "for example qps(cache='lru')", len(expect))
    for argument in call.kwargs:
        if argument.key not in labels:
            message, hint = f"there is no axis `{argument.key}`", nearest(argument.key, labels)
            problems.add("undefined-name", expect.where, message, hint, len(expect))
        elif isinstance(argument.value, nodes.Const):
            value, axis_labels = argument.value.value, labels[argument.key]
            if str(value) not in axis_labels and not any(Label(label) == value for label in axis_labels):
                message = f"axis `{argument.key}` {_NO_CELL} `{value}`"
                problems.add("undefined-name", expect.where, message, nearest(str(value), axis_labels), len(expect))


# Claims as trees: figures and numbers, arithmetic, comparisons, and, or, not

Argument: TypeAlias = "str | int | float | bool"
Value: TypeAlias = "Number | Figure | Arithmetic"
Statement: TypeAlias = "ClaimComparison | Junction | Negation"

GRAMMAR = "a claim is made of figures and numbers, + - * / **, comparisons, similar, stable, and, or, not"
SIMILAR, STABLE = "similar", "stable"
COMPARISONS = {"gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "eq": "==", "ne": "!="}
_SIGNS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Pow": "**"}
_OPERATIONS: Mapping[str, Callable[[float, float], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
}  # fmt: skip


class ClaimError(StepgridError):
    """An expression that is no claim."""


class Number(Struct, frozen=True):
    value: float


class Figure(Struct, frozen=True):
    metric: str
    labels: tuple[tuple[str, Argument], ...]  # axis -> what its label must be


class Arithmetic(Struct, frozen=True):
    sign: str
    lhs: Value
    rhs: Value


class ClaimComparison(Struct, frozen=True):
    sign: str  # or SIMILAR
    lhs: Value
    rhs: Value
    within: float | None = None  # of what is similar: 0.1 for 10 %; None: by the noise


class Junction(Struct, frozen=True):
    """All of its parts (`and`), or any of them (`or`)."""

    all: bool
    parts: tuple[Statement, ...]


class Negation(Struct, frozen=True):
    part: Statement


def parse_claim(expect: str, labels: Mapping[str, Iterable[str]] = MappingProxyType({})) -> Statement:
    """Parse an expression; ExpressionError where it cannot be read, ClaimError where it is no claim.

    `labels`: those of each axis in order, between two of which something is stable.
    """
    return _statement(parse(expect), labels)


def comparisons(statement: Statement) -> Iterator[ClaimComparison]:
    match statement:
        case ClaimComparison():
            yield statement
        case Junction(parts=parts):
            for part in parts:
                yield from comparisons(part)
        case Negation(part=part):
            yield from comparisons(part)


def figures(value: Value) -> Iterator[Figure]:
    match value:
        case Figure():
            yield value
        case Arithmetic(lhs=left, rhs=right):
            yield from figures(left)
            yield from figures(right)


def evaluate(value: Value, figure_values: Mapping[Figure, float]) -> float:
    """Calculate a value; ArithmeticError where it has none."""
    match value:
        case Number(value=number):
            return number
        case Figure():
            return figure_values[value]
        case Arithmetic(sign=sign, lhs=left, rhs=right):
            result = _OPERATIONS[sign](evaluate(left, figure_values), evaluate(right, figure_values))
            if isinstance(result, complex):
                raise ArithmeticError("a root of what is negative")
            return float(result)


def _statement(node: Any, labels: Mapping[str, Iterable[str]]) -> Statement:
    kind = type(node).__name__
    if kind in ("And", "Or"):
        return Junction(kind == "And", (_statement(node.left, labels), _statement(node.right, labels)))
    if kind == "Not":
        return Negation(_statement(node.node, labels))
    if kind == "Call" and _word(node) in (SIMILAR, STABLE):
        return _similarity(node, labels)
    if kind != "Compare" or any(operand.op not in COMPARISONS for operand in node.ops):
        raise ClaimError(GRAMMAR)
    # 1 < a < 2 is 1 < a and a < 2
    values = [_value(node.expr), *(_value(operand.expr) for operand in node.ops)]
    signs = [COMPARISONS[operand.op] for operand in node.ops]
    parts = tuple(ClaimComparison(sign, values[at], values[at + 1]) for at, sign in enumerate(signs))
    return parts[0] if len(parts) == 1 else Junction(True, parts)


def _word(call: Any) -> str | None:
    return call.node.name if type(call.node).__name__ == "Name" else None


def _similarity(call: Any, labels: Mapping[str, Iterable[str]]) -> Statement:
    """Read similar(a, b), or stable(a, b): all figures from one label of an axis to another are like the first."""
    word = _word(call)
    values = [_value(argument) for argument in call.args]
    within = values.pop() if len(values) == 3 else None
    if len(values) != 2 or call.kwargs or call.dyn_args or call.dyn_kwargs or not isinstance(within, Number | None):
        raise ClaimError(f"{word} takes two values, and perhaps how far they may differ: {word}(…, …, 0.1)")
    first, last = values
    margin = within.value if within else None
    if margin is not None and not 0 < margin < 1:
        raise ClaimError(f"{word}: values may differ by more than 0 and less than 1, such as 0.1 for 10 %")
    if word == SIMILAR:
        return ClaimComparison(SIMILAR, first, last, margin)
    rungs = _rungs(first, last, labels)
    return Junction(True, tuple(ClaimComparison(SIMILAR, rung, first, margin) for rung in rungs))


def _rungs(first: Value, last: Value, labels: Mapping[str, Iterable[str]]) -> list[Figure]:
    """List the figures behind the first, through the last, by the labels of the one axis in which they differ."""
    if isinstance(first, Figure) and isinstance(last, Figure) and first.metric == last.metric:
        start, end = dict(first.labels), dict(last.labels)
        axes = [axis for axis in start if start[axis] != end.get(axis)]
        if start.keys() == end.keys() and len(axes) == 1:
            order = [Label(label) for label in labels.get(axes[0], ())]
            rungs = sorted(at for at, label in enumerate(order) if label in (start[axes[0]], end[axes[0]]))
            between = order[rungs[0] + 1 : rungs[1]] if len(rungs) == 2 else []
            return [*(Figure(first.metric, tuple({**start, axes[0]: str(label)}.items())) for label in between), last]
    raise ClaimError(f"{STABLE} takes two figures that differ in one label, such as qps(build='a'), qps(build='z')")


def _value(node: Any) -> Value:
    kind = type(node).__name__
    if kind == "Const" and (number := as_number(node.value)) is not None:
        return Number(number)
    if kind in ("Neg", "Pos"):
        return Arithmetic("*", Number(-1.0 if kind == "Neg" else 1.0), _value(node.node))
    if kind in _SIGNS:
        return Arithmetic(_SIGNS[kind], _value(node.left), _value(node.right))
    if kind == "Call" and (name := _word(node)) is not None:
        return Figure(name, tuple((argument.key, _argument(argument.value)) for argument in node.kwargs))
    raise ClaimError(GRAMMAR)


def _argument(node: Any) -> Argument:
    value = getattr(node, "value", None)
    if not isinstance(value, str | int | float):
        raise ClaimError("the label of a figure is text or a number")
    return value
