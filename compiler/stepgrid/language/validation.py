"""Types of values, and nodes checked against a model: every fault becomes a problem at its place.

A guess at what was meant, where something is wrong, lets more faults be found in one pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    InstanceOf,
    ValidationError,
    WrapValidator,
    field_validator,
)
from pydantic_core import PydanticCustomError

from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Map, Node, Seq, Text, drop_keys, node_location, rename_key, set_value, width
from stepgrid.model import units
from stepgrid.model.records import Json

M = TypeVar("M", bound=BaseModel)
MOST_FAULTS = 200


def sentence_error(kind: str, sentence: str) -> PydanticCustomError:
    """Make an error whose sentence is shown as it is."""
    return PydanticCustomError(kind, "{sentence}", {"sentence": sentence})


def quantity(kind: str) -> BeforeValidator:
    """Read a quantity from its text, such as 64GiB or 10m."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return units.quantity(value, kind)
        except units.UnitError as error:
            raise sentence_error("wrong_unit", str(error)) from None

    return BeforeValidator(read)


def _checked(is_sound: Callable[[str], object], error: PydanticCustomError) -> AfterValidator:
    def check(value: str) -> str:
        if not is_sound(value):
            raise error
        return value

    return AfterValidator(check)


_one_line = _checked(lambda text: "\n" not in text.strip(), sentence_error("control_character", "a name is one line"))
_version = _checked(
    re.compile(r"\w[\w.+~:-]*").fullmatch,
    PydanticCustomError("not_a_version", "a version is letters, digits and . + ~ : _ -"),
)

_number = _checked(
    re.compile(r"[1-9][0-9]{0,2}").fullmatch, PydanticCustomError("not_a_number", "expected a number from 1 to 999")
)

Label = Annotated[Text, InstanceOf()]  # the text as it is: names, versions, refs, expressions
Name = Annotated[Label, _one_line]
Title = Annotated[str, Field(min_length=1), _one_line]
Version = Annotated[Label, _version]
Number = Annotated[Label, _number]  # whose place in the file is needed
Count = Annotated[int, Field(ge=1, le=1000)]
Size = Annotated[int, quantity("size")]
Duration = Annotated[float, quantity("duration")]
FreeMap = Annotated[  # the map as it was read, with the places of its keys
    dict[str, Json], WrapValidator(lambda value, validate: value if isinstance(value, Map) else validate(value))
]


class accepts:  # noqa: N801 - it reads as a word of the annotation
    """Short forms of a value, for the JSON schema alone: no validation pays for them."""

    def __init__(self, forms: Any) -> None:
        self._forms = forms

    def __get_pydantic_json_schema__(self, _schema: Any, handler: GetJsonSchemaHandler) -> Any:
        from pydantic import TypeAdapter

        return handler(TypeAdapter(self._forms).core_schema)


class Model(BaseModel):
    # models inside another are built with it, not by themselves: most commands need two of them all
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    @field_validator("*")
    @classmethod
    def _refuse_null(cls, value: Any) -> Any:
        """Refuse a key without a value, which is a slip: a null that removes, in a scale, never comes here."""
        if value is None:
            raise PydanticCustomError("nothing", "expected a value")
        return value


def validate(
    model: type[M], node: Map, problems: Problems, expand: Callable[[Map], Map] = lambda node: node
) -> tuple[M | None, Map]:
    """Make the model of a map, and return the map with its faults corrected.

    `expand` writes out short forms: those below a misspelt key had not been recognized as such."""
    try:
        return model.model_validate(node), node
    except ValidationError as error:
        corrected, faults = node, error.errors(include_url=False, include_input=False)
    if len(faults) > MOST_FAULTS:
        message = f"{len(faults):,} faults of form: only the first {MOST_FAULTS} are shown"
        problems.add("too-large", node.where, message, "is it the file of another program?")
        faults = faults[:MOST_FAULTS]
    unknown_keys = [_path_in_file(node, fault["loc"]) for fault in faults if fault["type"] == "extra_forbidden"]
    for fault in faults:
        path = _path_in_file(node, fault["loc"])
        if fault["type"] == "too_short" and len(_walk(node, path) or ()) >= fault["ctx"]["min_length"]:
            continue  # it has entries enough, whose faults are reported
        names = fields(model, path[:-1])
        # a missing key that stands there misspelt is reported as that
        is_misspelt = any(at[:-1] == path[:-1] and _close(str(at[-1]), names) == [path[-1]] for at in unknown_keys)
        if fault["type"] != "missing" or not is_misspelt:
            _report(names, node, path, fault, problems)
        corrected = _correct(corrected, path, names if fault["type"] == "extra_forbidden" else ())
    return _fill_in(model, expand(corrected))


def _close(key: str, names: Sequence[str]) -> list[str]:
    return get_close_matches(key, names, n=1)


def _correct(node: Any, path: Sequence[str | int], names: Sequence[str]) -> Any:
    """Remove the fault at a path; a misspelt key gets its name."""
    key, inner = path[0], path[1:]
    if isinstance(node, Map) and key in node:
        if inner:
            return set_value(node, str(key), _correct(node[str(key)], inner, names))
        close = [name for name in _close(str(key), names) if name not in node]
        return rename_key(node, str(key), close[0]) if close else drop_keys(node, str(key))
    if isinstance(node, Seq) and isinstance(key, int) and key < len(node):
        if inner:
            return Seq([_correct(x, inner, names) if n == key else x for n, x in enumerate(node)], node.where, node.at)
        return Seq([*node[:key], *node[key + 1 :]], node.where, [*node.at[:key], *node.at[key + 1 :]])
    return node


def _fill_in(model: type[M], node: Map) -> tuple[M | None, Map]:
    """Set a text for each missing key, and drop entries of lists that lack one, so that more faults are found.

    Both are reported already. Steps stay: others are declared by their names."""
    try:
        return model.model_validate(node), node
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
    entries: dict[tuple[str | int, ...], None] = {}
    for fault in reversed(faults):  # the last entry of a list first, as it moves those behind it
        path = _path_in_file(node, fault["loc"])
        numbers = [depth for depth, part in enumerate(path) if isinstance(part, int)]
        if fault["type"] == "missing" and len(path) == 1:
            node = set_value(node, str(path[0]), Text("?", node.where))
        elif numbers and "steps" not in path and "workloads" not in path:
            entries[tuple(path[: numbers[-1] + 1])] = None
    for entry in entries:
        node = _correct(node, entry, ())
    try:
        return model.model_validate(node), node
    except ValidationError:
        return None, node


_HINTS = {
    ("groups", "each"): "a list of points is generated; named ones: `points: {NAME: {…}}`, with `each` beside it"
}  # for a missing key, by the list that it belongs to
_CODES = {
    "literal_error": "not-a-choice",
    "wrong_unit": "wrong-unit",
    "not_both": "not-both",
    "control_character": "control-character",
    "needs_key": "missing-key",
}
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


def _report(names: Sequence[str], root: Map, path: Sequence[str | int], fault: Any, problems: Problems) -> None:
    kind, key = fault["type"], path[-1]
    parent = _walk(root, path[:-1])
    if kind == "extra_forbidden":
        message, hint = f"`{key}` is not a key here", nearest(str(key), names)
        problems.add("unknown-key", _key_location(parent, key), message, hint, len(str(key)))
    elif kind == "missing":
        hint = _HINTS.get((str(path[-3]), str(key)), "") if len(path) > 2 else ""
        problems.add("missing-key", node_location(parent, root.where), f"`{key}` is missing", hint)
    else:
        node = _walk(root, path)
        code = _CODES.get(kind) or ("wrong-type" if kind in _EXPECTED else "out-of-range")
        message = fault_sentence(_key_in_file(root, path), fault, describe(node))
        problems.add(code, node_location(node, _key_location(parent, key)), message, width=width(node))


def _key_in_file(root: Map, path: Sequence[str | int]) -> str:
    """Find the key as the file has it: list entries, and keys that a short form leaves out, go by the key above."""
    key, parent = path[-1], _walk(root, path[:-1])
    is_short = isinstance(parent, Map) and parent.at.get(str(key)) == node_location(_walk(root, path), root.where)
    if is_short or isinstance(key, int):
        return next((str(part) for part in reversed(path[:-1]) if isinstance(part, str)), str(key))
    return str(key)


def fault_sentence(key: str, fault: Any, description: str) -> str:
    """Write pydantic's fault at a key as a sentence; `description` is of the value."""
    kind, context = fault["type"], fault.get("ctx", {})
    if "sentence" in context:
        return f"{key}: {context['sentence']}" if kind == "wrong_unit" else f"`{key}`: {context['sentence']}"
    expected = _EXPECTED.get(kind) or _bounds(kind, context)
    if expected:
        return f"`{key}`: expected {expected}, found {description}"
    return f"`{key}`: {fault['msg'][:1].lower()}{fault['msg'][1:]}, found {description}"


def _bounds(kind: str, context: Any) -> str:
    match kind:
        case "literal_error":
            return str(context["expected"].replace("'", "`"))
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "greater_than":
            return f"more than {context['gt']:g}"
        case "less_than_equal" | "less_than":
            return f"at most {context['le']}" if "le" in context else f"less than {context['lt']}"
        case "multiple_of":
            return f"a multiple of {context['multiple_of']:g}"
        case "too_long":
            return f"at most {context['max_length']} entries"
        case "too_short":
            return "at least one entry" if context["min_length"] == 1 else f"at least {context['min_length']} entries"
        case "string_too_short":
            return "some text"
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


def _path_in_file(root: Map, location: Sequence[str | int]) -> list[str | int]:
    """Drop what pydantic names in between: members of unions, and checks of keys."""
    path: list[str | int] = []
    node: Any = root
    for position, part in enumerate(location):
        is_key = isinstance(node, dict) and (part in node or (position == len(location) - 1 and "[" not in str(part)))
        if is_key:  # and no member of a union, such as `json-or-python[…]`
            path.append(part)
            node = node.get(str(part))
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            path.append(part)
            node = node[part]
    return path or [location[-1]]


def _walk(root: Node, path: Sequence[str | int]) -> Node:
    """Follow a path as far as there are nodes."""
    node: Any = root
    part: Any
    for part in path:
        in_map = isinstance(node, dict) and part in node
        in_list = isinstance(node, list) and isinstance(part, int)
        if not in_map and not in_list:
            break
        node = node[part]
    result: Node = node
    return result


def _key_location(parent: Node, key: str | int) -> Location:
    if isinstance(parent, Map) and key in parent.at:
        return parent.at[str(key)]
    if isinstance(parent, Seq) and isinstance(key, int) and key < len(parent.at):
        return parent.at[key]
    return node_location(parent, Location("", 1, 1))


def fields(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """List the keys of the model at a path, by walking the annotations along it."""
    annotation: Any = model
    for part in path:
        annotation = _entry_type(annotation, part)
    models = _models(annotation)
    return [*dict.fromkeys(field.alias or name for model in models for name, field in model.model_fields.items())]


def _entry_type(annotation: Any, part: str | int) -> Any:
    """Find the type of an entry; of a union that of the first member that has such an entry."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return arguments[1]
    if origin in (tuple, list):
        return arguments[0]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        by_key = {field.alias or name: field for name, field in annotation.model_fields.items()}
        return by_key[str(part)].annotation if part in by_key else None
    return next((entry for member in arguments if (entry := _entry_type(member, part)) is not None), None)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) not in (dict, tuple, list):
        for member in get_args(annotation):
            yield from _models(member)
