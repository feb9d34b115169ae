"""Nodes against a model: every fault as a problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Map, Node, Seq, Text, drop_keys, node_location, rename_key, set_value, width

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")
MOST_FAULTS = 200

_EXPECTED = {
    "is_instance_of": "text",
    "string_type": "text",
    "tuple_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "nothing": "a value",
}


def validated(model: type[M], node: Map, problems: Problems) -> M | None:
    """What a map says, once its faults are reported."""
    return mended(model, node, problems)[0]


def mended(
    model: type[M], node: Map, problems: Problems, expanded: Callable[[Map], Map] = lambda node: node
) -> tuple[M | None, Map]:
    """Also the map itself, as it is taken: a guess at what was meant, where it is wrong, lets more faults be found.

    `expanded` writes out the short forms: those below a misspelt key were not known as such."""
    from pydantic import ValidationError

    try:
        return model.model_validate(node), node
    except ValidationError as error:
        taken, faults = node, error.errors(include_url=False, include_input=False)
        if len(faults) > MOST_FAULTS:
            message = f"{len(faults):,} faults of form: only the first {MOST_FAULTS} are shown"
            problems.add("too-large", node.where, message, "is it the file of another program?")
            faults = faults[:MOST_FAULTS]
        for found in faults:
            path = _real(node, found["loc"])
            if found["type"] == "too_short" and _walk(node, path):
                continue  # it has entries, and what is wrong with them is said
            known = fields(model, path[:-1])
            if found["type"] != "missing" or not _misspelt(node, path, known, faults):
                _report(known, node, path, found, problems)
            taken = _mended(taken, path, known if found["type"] == "extra_forbidden" else ())
    return _stood_in(model, expanded(taken))


def _misspelt(root: Map, path: Sequence[str | int], known: Sequence[str], faults: Sequence[Any]) -> bool:
    """Whether a key that is missing is there under nearly its name, which is said."""
    beside = [_real(root, each["loc"]) for each in faults if each["type"] == "extra_forbidden"]
    return any(at[:-1] == path[:-1] and _meant(str(at[-1]), known) == [path[-1]] for at in beside)


def _meant(key: str, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(key, known, n=1)


def _stood_in(model: type[M], node: Map) -> tuple[M | None, Map]:
    """With a text for each key that is missing (which is said already): what else is wrong is found all the same."""
    from pydantic import ValidationError

    try:
        return model.model_validate(node), node
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            if found["type"] == "missing" and len(found["loc"]) == 1:
                node = set_value(node, str(found["loc"][0]), Text("?", node.where))
    try:
        return model.model_validate(node), node
    except ValidationError:
        return None, node


def _mended(node: Any, path: Sequence[str | int], known: Sequence[str]) -> Any:
    """Without what is wrong at a path; a key that is nearly a known one is taken for it."""
    key, rest = path[0], path[1:]
    if isinstance(node, Map) and key in node:
        if rest:
            return set_value(node, str(key), _mended(node[str(key)], rest, known))
        meant = [name for name in _meant(str(key), known) if name not in node]
        return rename_key(node, str(key), meant[0]) if meant else drop_keys(node, str(key))
    if isinstance(node, Seq) and isinstance(key, int) and key < len(node):
        items = [_mended(item, rest, known) if rest and i == key else item for i, item in enumerate(node)]
        return Seq(items, node.where, node.at) if rest else _without_item(node, key)
    return node


def _without_item(node: Seq, key: int) -> Seq:
    left = [number for number in range(len(node)) if number != key]
    return Seq([node[n] for n in left], node.where, [node.at[n] for n in left] if node.at else ())


def _report(known: Sequence[str], root: Map, path: Sequence[str | int], found: Any, problems: Problems) -> None:
    kind, key = found["type"], path[-1]
    parent = _walk(root, path[:-1])
    if kind == "extra_forbidden":
        message, hint = f"`{key}` is not a key here", nearest(str(key), known)
        problems.add("unknown-key", _key(parent, key), message, hint, len(str(key)))
    elif kind == "missing":
        problems.add(
            "missing-key",
            node_location(parent, root.where),
            f"`{key}` is missing",
            _ELSEWHERE.get((*path[-3:-2], key), ""),
        )
    else:
        node = _walk(root, path)
        message = sentence(_said(root, path), found, describe(node))
        problems.add(_code(kind), node_location(node, _key(parent, key)), message, width=width(node))


_ELSEWHERE: dict[tuple[str | int, ...], str] = {
    ("groups", "each"): "a list of points is generated; named ones: `points: {NAME: {…}}`, with `each` beside it"
}


def _said(root: Map, path: Sequence[str | int]) -> str:
    """The key as the file has it: an entry of a list, and what a short form left out, go by the key above."""
    key, parent = path[-1], _walk(root, path[:-1])
    short = isinstance(parent, Map) and parent.at.get(str(key)) == node_location(_walk(root, path), root.where)
    above = next((str(part) for part in reversed(path[:-1]) if isinstance(part, str)), str(key))
    return above if short or isinstance(key, int) else str(key)


_CODES = {
    "literal_error": "not-a-choice",
    "wrong_unit": "wrong-unit",
    "not_both": "not-both",
    "control_character": "control-character",
    "needs_key": "missing-key",
}


_WHOLE = ("wrong_unit", "not_both", "control_character", "needs_key", "out_of_order")  # their sentence is `why`


def _code(kind: str) -> str:
    return _CODES.get(kind) or ("wrong-type" if kind in _EXPECTED else "out-of-range")


def sentence(key: str, found: Any, shown: str) -> str:
    """What pydantic found at a key, in our words."""
    kind, context = found["type"], found.get("ctx", {})
    if kind in _WHOLE:
        return f"{key}: {context['why']}" if kind == "wrong_unit" else f"`{key}`: {context['why']}"
    expected = _EXPECTED.get(kind) or _bounded(kind, context)
    if expected:
        return f"`{key}`: expected {expected}, found {shown}"
    return f"`{key}`: {found['msg'][:1].lower()}{found['msg'][1:]}, found {shown}"


def _bounded(kind: str, context: Any) -> str:
    match kind:
        case "literal_error":
            return str(context["expected"].replace("'", "`"))
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal" | "less_than":
            return f"at most {context['le']}" if "le" in context else f"less than {context['lt']}"
        case "multiple_of":
            return f"a multiple of {context['multiple_of']:g}"
        case "too_long":
            return f"at most {context['max_length']} entries"
        case "too_short" | "string_too_short":
            return "at least one entry" if kind == "too_short" else "some text"
        case "string_pattern_mismatch":
            return "a plain name"
    return ""


def describe(node: Node) -> str:
    if node is None:
        return "nothing"
    if isinstance(node, str):
        return f"`{node}`"
    if not node:
        return "an empty map" if isinstance(node, dict) else "an empty list"
    return "a map" if isinstance(node, dict) else "a list"


def _real(root: Map, location: Sequence[str | int]) -> list[str | int]:
    """The path in the file: pydantic names a union's members (and key checks) in between."""
    path: list[str | int] = []
    node: Any = root
    for position, part in enumerate(location):
        last = position == len(location) - 1
        if isinstance(node, dict) and (part in node or last):
            path.append(part)
            node = node.get(str(part))
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            path.append(part)
            node = node[part]
    return path or [location[-1]]


def _walk(root: Node, path: Sequence[str | int]) -> Node:
    found: Any = root
    part: Any
    for part in path:
        in_map = isinstance(found, dict) and part in found
        in_list = isinstance(found, list) and isinstance(part, int)
        if not in_map and not in_list:
            break
        found = found[part]
    node: Node = found
    return node


def _key(parent: Node, key: str | int) -> Location:
    if isinstance(parent, Map) and key in parent.at:
        return parent.at[str(key)]
    if isinstance(parent, Seq) and isinstance(key, int) and key < len(parent.at):
        return parent.at[key]
    return node_location(parent, Location("", 1, 1))


def fields(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The keys that the model at a path knows, found by walking the annotations along it."""
    annotation: Any = model
    for part in path:
        annotation = _inside(annotation, part)
    found = _model(annotation)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _inside(annotation: Any, part: str | int) -> Any:
    from typing import get_args, get_origin

    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return arguments[1]
    if origin is tuple:
        return arguments[0]
    found = _model_only(annotation)
    if found is not None:
        by_key = {field.alias or name: field for name, field in found.model_fields.items()}
        return by_key[str(part)].annotation if part in by_key else None
    return next((_inside(a, part) for a in arguments if _inside(a, part) is not None), None)


def _model(annotation: Any) -> type[BaseModel] | None:
    from typing import get_args

    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for a in get_args(annotation) if (found := _model_only(a))), None)


def _model_only(annotation: Any) -> type[BaseModel] | None:
    from pydantic import BaseModel

    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
