"""Claims are expressions over metrics: qps(cache='best') / qps(cache='lru') >= 2.5. Here they are only checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stepgrid.expand.axes.label import Label
from stepgrid.language.problems import Problems, nearest
from stepgrid.language.yaml import Text


def check(expect: Text, labels: Mapping[str, set[str]], figures: Collection[str], problems: Problems) -> None:
    from stepgrid.language.expressions import ExpressionError

    try:
        calls, found, comparing = _figures(expect)
    except ExpressionError as error:
        problems.add("expression", expect.where, str(error), error.hint, len(expect))
        return
    before = len(problems.items)
    if not comparing:
        hint = "for example qps(cache='best') >= 2 * qps(cache='lru')"
        problems.add("expression", expect.where, "a claim compares: < <= > >= == or !=", hint, len(expect))
    called = {id(call.node) for call in calls}
    for name in found:
        if id(name) in called:
            check_metric(name.name, expect, figures, problems)
        else:
            hint = "figures are written as METRIC(axis='label', …)"
            problems.add("undefined-name", expect.where, f"`{name.name}` is not a figure", hint, len(expect))
    for call in calls:
        _arguments(call, expect, labels, problems)
    if len(problems.items) == before:
        _check_kind(expect, problems)


def _check_kind(expect: Text, problems: Problems) -> None:
    """What can be read, and is of things that there are, may still be no claim."""
    from stepgrid.plan.report.claim_expression import ClaimError, parsed

    try:
        parsed(expect)
    except ClaimError as error:
        hint = "for example qps(cache='best') >= 2 * qps(cache='lru')"
        problems.add("expression", expect.where, str(error), hint, len(expect))


def _figures(expect: str) -> tuple[list[Any], list[Any], list[Any]]:
    """The calls, the names and the comparisons in it."""
    from jinja2 import nodes

    from stepgrid.language.expressions import find_nodes

    calls, names, comparing = find_nodes(expect, nodes.Call, nodes.Name, nodes.Compare)
    return calls, names, comparing


def check_metric(name: str, said: Text, figures: Collection[str], problems: Problems) -> None:
    if name not in figures:
        problems.add("undefined-name", said.where, f"there is no metric `{name}`", nearest(name, figures), len(said))


def _arguments(call: Any, expect: Text, labels: Mapping[str, set[str]], problems: Problems) -> None:
    from jinja2 import nodes

    if call.args or call.dyn_args or call.dyn_kwargs:
        hint = "for example qps(cache='lru')"
        problems.add("expression", expect.where, "the arguments of a figure have names", hint, len(expect))
    for argument in call.kwargs:
        if argument.key not in labels:
            hint = nearest(argument.key, labels)
            problems.add("undefined-name", expect.where, f"there is no axis `{argument.key}`", hint, len(expect))
        elif isinstance(argument.value, nodes.Const):
            value = argument.value.value
            known = labels[argument.key]
            if str(value) not in known and not any(Label(label) == value for label in known):
                message = f"axis `{argument.key}` has no cell at `{value}`"
                hint = nearest(str(value), known)
                problems.add("undefined-name", expect.where, message, hint, len(expect))
