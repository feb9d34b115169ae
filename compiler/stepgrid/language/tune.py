"""`tune`, a search for the best values of options, written out as axes, a design, and a question for the report."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import Map, Node, Seq, Text, node_location, set_value
from stepgrid.model import units

DESIGN = "tune"  # by this name a package brings it
FIRST_TRIES = 16
STEPS = 9  # of a range that is not walked by doubling
_GOAL = re.compile(r"(max|min)\s+([A-Za-z_]\w*)(?:\s+where\s+(.+))?", re.S)
_GOAL_FORM = "expected `max METRIC` or `min METRIC`, which `where CONDITION` may follow"


def write_out_tune(nodes: Map, problems: Problems) -> Map:
    """Add to a spec what its `tune` stands for; what is wrong in it is reported."""
    tune = nodes.get("tune")
    if not isinstance(tune, Map):
        return nodes
    where = nodes.at["tune"]
    for key in ("sweep", "design", "repeat"):
        if key in nodes:
            message, hint = f"`tune` says what is varied and how often: it stands beside no `{key}`", "keep one"
            problems.add("not-both", nodes.at[key], message, hint, len(key))
    report = nodes.get("report")
    report = report if isinstance(report, Map) else Map({}, where, {})
    report = set_value(report, *_question(tune, where, problems))
    if not (tune.get("budget") or tune.get("tries")):
        problems.add("missing-key", where, "`tune` has no end", "`budget: 6h`, or `tries: 60`", len("tune"))
    over = tune.get("over")
    axes = over if isinstance(over, Map) else Map({}, where, {})
    params = nodes.get("params")
    names = params if isinstance(params, Map) else ()
    sweep = Map({name: _axis(name, name in names, axes, tune, problems) for name in axes}, axes.where, axes.at)
    first = Text(str(FIRST_TRIES), where)
    if isinstance(tries := tune.get("tries"), Text) and tries.isdigit():
        first = Text(str(max(min(int(tries) // 2, FIRST_TRIES), 2)), where)
    design = Map({"name": Text(DESIGN, where), "number": first}, where, {"name": where, "number": where})
    for key, node in (("report", report), ("sweep", sweep), ("design", design)):
        nodes = Map({**nodes, key: node}, nodes.where, {**nodes.at, key: nodes.at.get(key, where)})
    return nodes


def _question(tune: Map, where: Location, problems: Problems) -> tuple[str, Node]:
    """Return `best` or `pareto` of the report."""
    goal, front = tune.get("for"), tune.get("pareto")
    if (goal is None) == (front is None):
        message = "`tune` needs `for`, such as `max qps`, or `pareto` with two or three metrics"
        problems.add("missing-key" if goal is None else "not-both", where, message, "keep one", len("tune"))
    if front is not None:
        return "pareto", front
    match = _GOAL.fullmatch(goal.strip()) if isinstance(goal, Text) else None
    place = node_location(goal, where)
    if isinstance(goal, Text) and not match:
        problems.add("search-form", place, f"`for: {goal}`: {_GOAL_FORM}", "for example: max qps", len(goal))
    aim, metric, condition = match.groups() if match else ("max", "qps", None)
    parts: dict[str, Node] = {"metric": Text(metric, place), "aim": Text(aim, place)}
    parts |= {"where": Text(condition, place)} if condition else {}
    parts |= {"step": tune["step"]} if isinstance(tune.get("step"), Text) else {}
    return "best", Map(parts, place, dict.fromkeys(parts, place))


def _axis(name: str, is_param: bool, axes: Map, tune: Map, problems: Problems) -> Node:
    """Make the axis of an option, or of a param that the spec sets; two numbers are the ends of a range."""
    values, where = axes[name], axes.at[name]
    if not isinstance(values, Seq):
        return values  # its model reports it
    texts = [value for value in values if isinstance(value, Text)]
    if len(texts) == len(values) == 2 and all(_amount(text) is not None for text in texts):
        values = Seq([Text(label, texts[0].where) for label in _ladder(texts[0], texts[1], problems)], values.where)
    parts: Mapping[str, Node] = {"param" if is_param else "option": Text(name, where), "values": values}
    parts = {**parts, "from": tune["from"]} if tune.get("from") is not None else parts
    return Map(
        parts, where, {**dict.fromkeys(parts, where), "values": values.where, "from": tune.at.get("from", where)}
    )


def _ladder(low: Text, high: Text, problems: Problems) -> list[str]:
    """List the values of a range: by doubling where its ends are far apart, else in equal steps."""
    first, last = _amount(low) or 0, _amount(high) or 0
    if first >= last:
        problems.add("out-of-range", low.where, f"[{low}, {high}] is no range", "the lower end comes first", len(low))
        return [low]
    if first > 0 and last / first >= 4:
        count = math.ceil(math.log2(last / first))
        amounts = [first * 2**step for step in range(count)] + [last]
    else:
        count = min(STEPS, last - first + 1) if isinstance(first, int) and isinstance(last, int) else STEPS
        amounts = [first + (last - first) * step / (count - 1) for step in range(int(count))]
        amounts = [round(amount) for amount in amounts] if isinstance(first, int) else amounts
    is_size = any(text.endswith(tuple(units.SIZES)) for text in (low, high))
    return list(dict.fromkeys(_label(amount, is_size) for amount in amounts))


def _label(amount: float, is_size: bool) -> str:
    return units.exact_size(int(amount)).replace(" ", "") if is_size else f"{amount:.12g}"


def _amount(text: str) -> int | float | None:
    return units.number(text)
