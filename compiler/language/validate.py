"""Nodes against a model: every fault as a problem at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.language.nodes import Map, Node, place, width
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
    from pydantic import ValidationError

    try:
        return model.model_validate(node)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            _report(model, node, found, problems)
    return None


def _report(model: type[BaseModel], root: Map, found: Any, problems: Problems) -> None:
    kind, path = found["type"], _real(root, found["loc"])
    parent, key = _walk(root, path[:-1]), path[-1]
    if kind == "extra_forbidden":
        known = _fields(model, root, path[:-1])
        problems.add("unknown-key", _key(parent, key), f"`{key}` is not a key here", nearest(str(key), known), len(str(key)))
    elif kind == "missing":
        problems.add("missing-key", place(parent, root.where), f"`{key}` is missing")
    else:
        node = _walk(root, path)
        problems.add(_code(kind), place(node, _key(parent, key)), _sentence(found, node, str(path[-1])), width=width(node))


def _code(kind: str) -> str:
    if kind == "literal_error":
        return "not-a-choice"
    if kind == "wrong_unit":
        return "wrong-unit"
    return "wrong-type" if kind in _EXPECTED else "out-of-range"


def _sentence(found: Any, node: Node, key: str) -> str:
    kind, context = found["type"], found.get("ctx", {})
    if kind == "wrong_unit":
        return f"{key}: {context['why']}"
    if kind in _EXPECTED:
        return f"`{key}`: expected {_EXPECTED[kind]}, found {describe(node)}"
    if kind == "literal_error":
        return f"`{key}`: expected {context['expected'].replace(chr(39), '`')}, found {describe(node)}"
    if kind == "greater_than_equal":
        return f"`{key}`: expected at least {context['ge']}, found {describe(node)}"
    if kind == "too_short":
        return f"`{key}`: expected at least one entry"
    return f"`{key}`: {found['msg'][:1].lower()}{found['msg'][1:]}, found {describe(node)}"


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
    node: Any = root
    for part in path:
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            return node
    return node


def _key(parent: Node, key: str | int) -> Where:
    if isinstance(parent, Map) and key in parent.at:
        return parent.at[str(key)]
    return place(parent, Where("", 1, 1))


def _fields(model: type[BaseModel], root: Map, path: Sequence[str | int]) -> list[str]:
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
