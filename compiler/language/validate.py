"""Nodes against a model: every fault as a problem at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.language.nodes import Map, Node, Seq, place, replaced, width, without
from compiler.language.problem import Problems, Where, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

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
}


def validated(model: type[M], node: Map, problems: Problems) -> M | None:
    """What a map says, once its faults are reported."""
    return mended(model, node, problems)[0]


def mended(model: type[M], node: Map, problems: Problems) -> tuple[M | None, Map]:
    """Also the map itself, as it is taken: a guess at what was meant, where it is wrong, lets more faults be found."""
    from pydantic import ValidationError

    try:
        return model.model_validate(node), node
    except ValidationError as error:
        taken = node
        for found in error.errors(include_url=False, include_input=False):
            path = _real(node, found["loc"])
            known = _fields(model, path[:-1])
            _report(known, node, path, found, problems)
            taken = _mended(taken, path, known if found["type"] == "extra_forbidden" else ())
    try:
        return model.model_validate(taken), taken
    except ValidationError:
        return None, taken


def _mended(node: Any, path: Sequence[str | int], known: Sequence[str]) -> Any:
    """Without what is wrong at a path; a key that is nearly a known one is taken for it."""
    key, rest = path[0], path[1:]
    if isinstance(node, Map) and key in node:
        if rest:
            return replaced(node, str(key), _mended(node[str(key)], rest, known))
        from difflib import get_close_matches

        meant = [name for name in get_close_matches(str(key), known, n=1) if name not in node]
        left = without(node, str(key))
        return replaced(left, meant[0], node[str(key)]) if meant else left
    if isinstance(node, Seq) and isinstance(key, int) and key < len(node):
        items = [_mended(item, rest, known) if rest and i == key else item for i, item in enumerate(node)]
        return Seq(items if rest else [item for i, item in enumerate(node) if i != key], node.where)
    return node


def _report(known: Sequence[str], root: Map, path: Sequence[str | int], found: Any, problems: Problems) -> None:
    kind, key = found["type"], path[-1]
    parent = _walk(root, path[:-1])
    if kind == "extra_forbidden":
        message, hint = f"`{key}` is not a key here", nearest(str(key), known)
        problems.add("unknown-key", _key(parent, key), message, hint, len(str(key)))
    elif kind == "missing":
        problems.add("missing-key", place(parent, root.where), f"`{key}` is missing")
    else:
        node = _walk(root, path)
        message = sentence(str(key), found, describe(node))
        problems.add(_code(kind), place(node, _key(parent, key)), message, width=width(node))


def _code(kind: str) -> str:
    if kind == "literal_error":
        return "not-a-choice"
    if kind == "wrong_unit":
        return "wrong-unit"
    return "wrong-type" if kind in _EXPECTED else "out-of-range"


def sentence(key: str, found: Any, shown: str) -> str:
    """What pydantic found at a key, in our words."""
    kind, context = found["type"], found.get("ctx", {})
    if kind == "wrong_unit":
        return f"{key}: {context['why']}"
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
        case "multiple_of":
            return f"a multiple of {context['multiple_of']:g}"
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


def _key(parent: Node, key: str | int) -> Where:
    if isinstance(parent, Map) and key in parent.at:
        return parent.at[str(key)]
    return place(parent, Where("", 1, 1))


def _fields(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The keys that the model at a path knows, found by walking the annotations along it."""
    annotation: Any = model
    for part in path:
        annotation = _inside(annotation, part)
    found = _model(annotation)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _inside(annotation: Any, part: str | int) -> Any:
    from typing import get_args, get_origin

    found = _model(annotation)
    if found is not None:
        by_key = {field.alias or name: field for name, field in found.model_fields.items()}
        return by_key[str(part)].annotation if part in by_key else None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return arguments[1]
    if origin is tuple:
        return arguments[0]
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
