"""A spec file and its includes, its short forms written out, a scale and `--set` merged in: models and nodes."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, TypeAlias

from stepgrid.language.files import record_file
from stepgrid.language.lock_file import Releases
from stepgrid.language.models import Library, Spec
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.site import check_may_read
from stepgrid.language.sources import ReleaseQuestion
from stepgrid.language.validation import describe, validate
from stepgrid.language.yaml import (
    Map,
    Node,
    Seq,
    Text,
    drop_keys,
    load,
    merge_nodes,
    node_location,
    parse_value,
    set_value,
)
from stepgrid.model import units
from stepgrid.package import SPECS

MOST_INCLUDES = 100
FindReleases: TypeAlias = Callable[[ReleaseQuestion], Releases]


class Source(NamedTuple):
    """An included file: its nodes, with short forms written out, and their model."""

    path: str
    nodes: Map
    library: Library


class Tried(NamedTuple):
    """Points that a search has added to its first ones, by axis and label, and what it is known by."""

    key: str = ""
    points: Sequence[Mapping[str, str]] = ()
    finalists: Sequence[str] = ()  # last stages of their first loads


class Document(NamedTuple):
    """A spec with its includes, nearest first."""

    path: str
    scale: str | None
    nodes: Map
    spec: Spec
    includes: Sequence[Source]
    files: Sequence[str] = ()  # all that were read
    settle: Callable[[str], str] = str  # evaluates what does not depend on the version of a build
    find_releases: FindReleases = lambda question: {}  # the newest of a build's source; empty: nobody knows
    tried: Tried = Tried()


def read_spec(path: str, scale: str | None, problems: Problems, sets: Sequence[str] = ()) -> Document | None:
    loaded = load(path, problems)
    if loaded is None:
        return None
    nodes = _apply_sets(_apply_scale(expand_short_forms(loaded), scale, problems), sets, problems)
    files = [path]
    includes = _includes(nodes, path, (path,), files, problems)
    nodes = _write_out_tune(nodes, problems)
    spec, nodes = validate(Spec, nodes, problems, expand_short_forms)
    return None if spec is None else Document(path, scale, nodes, spec, includes, files)


def definition_location(source: Map, kind: str, name: str) -> Location:
    """Locate `define: {kind: {name: …}}` in a file."""
    define = source.get("define")
    group = define.get(kind) if isinstance(define, Map) else None
    return group.at[name] if isinstance(group, Map) and name in group.at else source.where


def _apply_scale(nodes: Map, scale: str | None, problems: Problems) -> Map:
    if scale is None:
        return nodes
    scales = nodes.get("scales")
    patches = scales if isinstance(scales, Map) else Map({}, nodes.where, {})
    patch = patches.get(scale)
    if not isinstance(patch, Map):
        if scale in patches:
            hint = "what belongs to it stands further right" if patch is None else ""
            message = f"`{scale}`: expected a map, found {describe(patch)}"
            problems.add("wrong-type", node_location(patch, patches.at[scale]), message, hint)
        else:
            where = node_location(scales, nodes.where)
            problems.add("undefined-scale", where, f"there is no scale `{scale}`", nearest(scale, patches))
        return nodes
    if "scales" in patch:
        problems.add("unknown-key", patch.at["scales"], "`scales` is not a key here", "a scale has none", len("scales"))
        patch = drop_keys(patch, "scales")
    return _merge(drop_keys(nodes, "scales"), patch)


def _merge(nodes: Map, patch: Map) -> Map:
    merged = merge_nodes(nodes, expand_short_forms(patch))
    assert isinstance(merged, Map)
    return merged


def _apply_sets(nodes: Map, sets: Sequence[str], problems: Problems) -> Map:
    """Apply `--set PATH=VALUE`, as a scale would."""
    for number, text in enumerate(sets, 1):
        path, equals, value = text.partition("=")
        where = Location("--set", number, 1)
        keys = path.split(".")
        if not equals or not all(keys):
            problems.add("set-form", where, f"`{text}` is not PATH=VALUE", "for example: params.keys=1M")
            continue
        node = parse_value(value, where, problems)
        depth, items = _list_on_path(nodes, keys)
        if items is not None:
            outer, inner = keys[:depth], keys[depth:]
            if outer[-1] == "options" and len(inner) == 1 and not inner[0].isdigit():
                keys, node = outer, Seq([*items, Map({inner[0]: node}, where, {inner[0]: where})], where)
            else:
                name = ".".join(outer)
                message, hint = f"`{name}` is a list, which is set as a whole", f"for example: {name}=[…]"
                problems.add("set-form", where, message, hint)
                keys, node = outer, items
        for key in reversed(keys):
            node = Map({key: node}, where, {key: where})
        assert isinstance(node, Map)
        nodes = _merge(nodes, node)
    return nodes


def _list_on_path(nodes: Map, keys: Sequence[str]) -> tuple[int, Seq | None]:
    """Find the list that a path leads into, and how many keys lead to it."""
    node: Node = nodes
    for depth, key in enumerate(keys):
        if isinstance(node, Seq):
            return depth, node
        node = node.get(key) if isinstance(node, Map) else None
    return 0, None


def _includes(nodes: Map, path: str, chain: tuple[str, ...], files: list[str], problems: Problems) -> list[Source]:
    """Read includes depth first; a file that two others include is read once."""
    include = nodes.get("include")
    entries = include if isinstance(include, Seq) else Seq((), nodes.where)
    if len(entries) > MOST_INCLUDES:
        problems.add("too-large", entries.where, f"{len(entries):,} includes: a file has at most {MOST_INCLUDES}")
    names = [entry for entry in entries[:MOST_INCLUDES] if isinstance(entry, Text)]
    return [source for name in names for source in _include(name, path, chain, files, problems)]


def _include(name: Text, path: str, chain: tuple[str, ...], files: list[str], problems: Problems) -> list[Source]:
    target = _target(name, path)
    if not check_may_read(target, chain[0], name, problems):
        problems.unread.append(target)
        return []
    if target in chain:
        circle = " → ".join([*chain[chain.index(target) :], target])
        problems.add("include-cycle", name.where, f"includes go round: {circle}", width=len(name))
        return []
    if target in files:
        return []
    files.append(target)
    loaded = load(target, problems, name.where)
    library = None
    if loaded is not None:
        library, nodes = validate(Library, expand_short_forms(loaded), problems, expand_short_forms)
    if library is None:
        problems.unread.append(target)
        return []
    return [Source(target, nodes, library), *_includes(nodes, target, (*chain, target), files, problems)]


def _target(name: str, path: str) -> str:
    """Find an included file beside the file that includes it, or in stepgrid's own `library/`."""
    near = os.path.normpath(Path(path).parent / name)
    shipped_file = SPECS / name
    if not name.startswith("library/") or os.path.lexists(near):
        return near
    if shipped_file.is_file() or not Path(near).parent.is_dir():
        record_file(near, None)
        return os.path.normpath(shipped_file)
    return near


# Short forms, written out before a scale is merged in, so that everything after sees one form

Rule: TypeAlias = Callable[[Node], Node]

_LONG_AXIS = ("points", "option", "param", "values", "builds", "each", "groups")
_AXIS_SCOPE = ("from", "steps")


def expand_short_forms(document: Map) -> Map:
    """Write out every short form of a spec or a library."""
    nodes = _apply(document, _SPEC)
    assert isinstance(nodes, Map)
    return nodes


def _apply(node: Node, rules: Mapping[str, Rule]) -> Node:
    """Apply rules to the values of a map, by key."""
    if isinstance(node, Map):
        for key, rule in rules.items():
            if node.get(key) is not None:
                node = set_value(node, key, rule(node[key]))
    return node


def _all(rule: Rule) -> Rule:
    """Make a rule for all entries of a map or a list."""

    def apply(node: Node) -> Node:
        if isinstance(node, Map):
            return Map({key: rule(value) for key, value in node.items()}, node.where, node.at)
        return Seq([rule(item) for item in node], node.where, node.at) if isinstance(node, Seq) else node

    return apply


def _keys(names: str, rule: Rule) -> Rule:
    rules = dict.fromkeys(names.split(), rule)
    return lambda node: _apply(node, rules)


def _list(node: Node) -> Node:
    return Seq([node], node.where) if isinstance(node, Text | Map) else node


def _under(key: str, node: Text | Seq) -> Map:
    return Map({key: node}, node.where, {key: node.where})


_options = _keys("options", _list)


def _words(node: Node) -> Node:
    """Join the words of a flag that is a list, as a shell would read them."""
    words = [item for item in node if isinstance(item, Text)] if isinstance(node, Seq) else []
    if not isinstance(node, Seq) or not words or len(words) < len(node):
        return node
    text = Text(shlex.join(words), node.where)
    text.key = node.key
    return text


def _build(node: Node) -> Node:
    return _apply(node, {"options": _list, "flags": _all(_words)})


_STEP_LISTS: Mapping[str, Rule] = {"options": _list, "expects": _list}


def _step(node: Node) -> Node:
    if isinstance(node, Text):
        return _under("use", node)
    # a variable of a live grid is a list; a map is a search
    variables = _all(lambda v: _list(v) if isinstance(v, Text) else v)
    return _apply(node, {**_STEP_LISTS, "for": variables, "beside": lambda v: _all(_step)(_list(v))})


def _axis(name: str, axis: Node, sweep: Map) -> Node:
    where = node_location(axis, sweep.at[name])
    if name == "build" and isinstance(axis, Text):
        axis = Seq([axis], axis.where)
    if name == "build":  # it lists families and builds
        return _under("builds", axis) if isinstance(axis, Seq) else axis
    if isinstance(axis, Seq):
        param = Text(name, sweep.at[name])
        return Map({"param": param, "values": axis}, where, {"param": param.where, "values": where})
    if not isinstance(axis, Map):
        return axis
    if not any(key in axis for key in _LONG_AXIS):
        scope = {key: value for key, value in axis.items() if key in _AXIS_SCOPE}
        points = Map({key: value for key, value in axis.items() if key not in _AXIS_SCOPE}, where, axis.at)
        axis = Map({"points": points, **scope}, where, {"points": where, **axis.at})
    return _apply(_grouped(axis), {"points": _all(_options), "groups": _all(_options)})


def _grouped(axis: Map) -> Map:
    """Move generated points, alone, beside named ones or as a list, to `groups`."""
    if isinstance(axis.get("points"), Seq):
        return set_value(drop_keys(axis, "points"), "groups", axis["points"])
    if "each" in axis:
        keys = [key for key in axis if key not in ("points", *_AXIS_SCOPE)]
        group = Map({key: axis[key] for key in keys}, axis.where, axis.at)
        return set_value(drop_keys(axis, *keys), "groups", Seq([group], axis.where))
    return axis


def _design(node: Node) -> Node:
    """Write out `pairs` and `{sample: 40}`, so that the design of a scale takes the place of the spec's."""
    if isinstance(node, Map) and node and "name" not in node:
        name, number = next(iter(node.items()))
        unknown = {key: value for key, value in node.items() if key != name}
        where = node.at[name]
        at = {**node.at, "name": where, "number": node_location(number, where)}
        return Map({"name": Text(name, where), "number": number, **unknown}, node.where, at)
    if isinstance(node, Text):
        number = Text("0", node.where)
        return Map({"name": node, "number": number}, node.where, {"name": node.where, "number": node.where})
    return node


def _best(node: Node) -> Node:
    """Write out `{qps: max}`, also over that of a spec whose scale asks for another metric."""
    names = [key for key in node if key not in ("metric", "aim", "where", "step")] if isinstance(node, Map) else []
    if isinstance(node, Map) and names and "metric" not in node:
        name = names[0]
        parts = {key: value for key, value in node.items() if key != name}
        at = {**node.at, "metric": node.at[name], "aim": node.at[name]}
        return Map({"metric": Text(name, node.at[name]), "aim": node[name], **parts}, node.where, at)
    return node


_table_lists = _keys("rows columns by metrics counters window", _list)


def _collector(node: Node) -> Node:
    """Write out a collector; a kind that has no name is called what it is."""
    if isinstance(node, Text):
        node = _under("collector", node)
    if isinstance(node, Map) and "name" not in node and isinstance(node.get("collector"), Text):
        node = set_value(node, "name", node["collector"])
    return _apply(node, {"steps": _list, "events": _list})


_DEFINE: Mapping[str, Rule] = {"builds": _all(_build), "workloads": _all(_all(_step))}
_SPEC: Mapping[str, Rule] = {
    "include": _list,
    "define": lambda node: _apply(node, _DEFINE),
    "builds": _all(_build),
    "options": _list,
    "steps": _all(_step),
    "sweep": lambda node: (
        Map({name: _axis(name, axis, node) for name, axis in node.items()}, node.where, node.at)
        if isinstance(node, Map)
        else node
    ),
    "design": _design,
    "exclude": _list,
    "also": _list,
    "repeat": lambda node: _under("loads", node) if isinstance(node, Text) else node,
    "profile": lambda node: _keys("where", _list)(_under("where", node) if isinstance(node, Text) else node),
    "probes": _all(_keys("before after counters", _list)),
    "collectors": lambda node: _all(_collector)(_list(node)),
    "report": lambda node: _apply(
        node,
        {
            "tables": _all(lambda table: _under("layout", table) if isinstance(table, Text) else _table_lists(table)),
            "best": _best,
        },
    ),
}

# `tune`, a search for the best values of options, written out as axes, a design, and a question for the report

TUNE_DESIGN = "tune"  # by this name a package brings it
FIRST_TRIES = 16
RANGE_STEPS = 9  # of a range that is not walked by doubling
_OTHER_SIZE = re.compile(r"[\d.]+\s*[kKMGT]i?[bB]?")  # is no quantity here, and no choice
_GOAL = re.compile(r"(max|min)\s+([A-Za-z_]\w*)(?:\s+where\s+(.+))?", re.S)
_GOAL_FORM = "expected `max METRIC` or `min METRIC`, which `where CONDITION` may follow"


def _write_out_tune(nodes: Map, problems: Problems) -> Map:
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
    for key in ("best", "pareto"):
        if key in report:
            message = f"`tune` says what is best: it stands beside no `{key}`"
            problems.add("not-both", report.at[key], message, "keep one", len(key))
    report = set_value(report, *_question(tune, where, problems))
    if not (tune.get("budget") or tune.get("tries")):
        problems.add("missing-key", where, "`tune` has no end", "`budget: 6h`, or `tries: 60`", len("tune"))
    over = tune.get("over")
    axes = over if isinstance(over, Map) else Map({}, where, {})
    params = nodes.get("params")
    names = params if isinstance(params, Map) else ()
    sweep = Map({name: _tune_axis(name, name in names, axes, tune, problems) for name in axes}, axes.where, axes.at)
    first = Text(str(FIRST_TRIES), where)
    if isinstance(tries := tune.get("tries"), Text) and tries.isdigit():
        first = Text(str(max(min(int(tries) // 2, FIRST_TRIES), 2)), where)
    design = Map({"name": Text(TUNE_DESIGN, where), "number": first}, where, {"name": where, "number": where})
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
    location = node_location(goal, where)
    if isinstance(goal, Text) and not match:
        problems.add("search-form", location, f"`for: {goal}`: {_GOAL_FORM}", "for example: max qps", len(goal))
    aim, metric, condition = match.groups() if match else ("max", "qps", None)
    parts: dict[str, Node] = {"metric": Text(metric, location), "aim": Text(aim, location)}
    parts |= {"where": Text(condition, location)} if condition else {}
    parts |= {"step": tune["step"]} if isinstance(tune.get("step"), Text) else {}
    return "best", Map(parts, location, dict.fromkeys(parts, location))


def _tune_axis(name: str, is_param: bool, axes: Map, tune: Map, problems: Problems) -> Node:
    """Make the axis of an option, or of a param that the spec sets; two numbers are the ends of a range."""
    values, where = axes[name], axes.at[name]
    if not isinstance(values, Seq):
        return values  # its model reports it
    texts = [value for value in values if isinstance(value, Text)]
    if len(texts) == len(values) == 2 and all(
        units.number(text) is not None or _OTHER_SIZE.fullmatch(text) for text in texts
    ):
        values = Seq([Text(label, texts[0].where) for label in _ladder(texts[0], texts[1], problems)], values.where)
    parts: Mapping[str, Node] = {"param" if is_param else "option": Text(name, where), "values": values}
    parts = {**parts, "from": tune["from"]} if tune.get("from") is not None else parts
    return Map(
        parts, where, {**dict.fromkeys(parts, where), "values": values.where, "from": tune.at.get("from", where)}
    )


def _ladder(low: Text, high: Text, problems: Problems) -> list[str]:
    """List the values of a range, in its unit: by doubling where its ends are far apart, else in equal steps."""
    first, last = (math.nan if (end := units.number(text)) is None else end for text in (low, high))
    is_size, is_time = (
        any(text.endswith(tuple(suffixes)) for text in (low, high)) for suffixes in (units.SIZES, units.DURATIONS)
    )
    reasons = {
        "sizes are written in KiB, MiB or GiB": math.nan in (first, last),
        "the lower end comes first": first >= last,
        "up to 2^63, and to a factor of 2^63": max(-first, last, last / first if first > 0 else 0) > 2**63,
    }
    if hint := next((reason for reason, holds in reasons.items() if holds), None):
        problems.add("out-of-range", low.where, f"[{low}, {high}] is no range", hint, len(low))
        return [low]
    if first > 0 and last / first >= 4:
        count = math.ceil(math.log2(last / first))
        amounts = [first * 2**step for step in range(count)] + [last]
    else:
        is_whole = isinstance(first, int) and isinstance(last, int)
        count = min(RANGE_STEPS, int(last - first) + 1) if is_whole else RANGE_STEPS
        steps = (Fraction(step, count - 1) for step in range(count))
        amounts = [
            round(first + (last - first) * step) if is_whole else first + (last - first) * float(step) for step in steps
        ]
    return list(dict.fromkeys(_label(amount, is_size, is_time) for amount in amounts))


def _label(amount: float, is_size: bool, is_time: bool) -> str:
    if is_size:
        return units.exact_size(int(amount)).replace(" ", "")
    return (str(int(amount)) if amount == int(amount) else f"{amount:.12g}") + "s" * is_time
