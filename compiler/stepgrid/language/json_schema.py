"""The JSON Schema (draft 7) of what people write: from the models, with the short forms, names and scales added.

Everything is found by rule: a new field, model or short form of the language appears here by itself."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from stepgrid.language.models import Library, Spec
from stepgrid.language.short_form_schema import NAME, Path, ShortForms, absorbed, beside, forms, redirected, stays

DRAFT = "http://json-schema.org/draft-07/schema#"
SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
ANYTHING: dict[str, Any] = {}
_SPECIAL = ("build",)  # names that mean something where others are free
_REFERENCE = "#/definitions/"
_PATCH = " in a scale"
_KNOWN = "known "

Schema = dict[str, Any]


def schema(model: type[Spec | Library], names: Mapping[str, Sequence[str]], settings: Mapping[str, str]) -> Schema:
    """`names`: what a key's value is likely to be, by key. `settings`: of all step kinds -> what they are."""
    found = model.model_json_schema(ref_template=f"{_REFERENCE}{{model}}", schema_generator=_Generator)
    definitions = {
        **{f"{_KNOWN}{key}": {"enum": list(known)} for key, known in names.items()},
        **found.pop("$defs", {}),
    }
    root = definitions.setdefault(model.__name__, found)
    if "$ref" in root:
        root = definitions[root["$ref"].removeprefix(_REFERENCE)]
    writer = _Writer(definitions, names)
    definitions[model.__name__] = root
    writer.inside(root, ())
    _add_settings(definitions, settings)
    if "scales" in root.get("properties", {}):
        _add_scales(definitions, model.__name__)
    own = definitions.pop(model.__name__)
    title = f"stepgrid {model.__name__.lower()}"
    return {"$schema": DRAFT, **own, "title": title, "definitions": _used(own, definitions)}


def plain(model: type[BaseModel], name: str) -> Schema:
    """Of a file that has neither short forms nor scales."""
    return {"$schema": DRAFT, **model.model_json_schema(schema_generator=_Generator), "title": f"stepgrid {name}"}


class _Generator(GenerateJsonSchema):
    """A scalar of YAML is text to us, and a number or a boolean to an editor."""

    def is_instance_schema(self, schema: Any) -> JsonSchemaValue:
        return dict(SCALAR)

    def function_before_schema(self, schema: Any) -> JsonSchemaValue:
        """Written as a quantity, such as 64GiB."""
        return {"anyOf": [super().function_before_schema(schema), {"type": "string"}]}

    def str_schema(self, schema: Any) -> JsonSchemaValue:
        return {**super().str_schema(schema), **SCALAR}

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        given = list(schema["expected"])
        return {"enum": [*given, *(int(each) for each in given if isinstance(each, str) and each.isdecimal())]}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


class _Writer:
    def __init__(self, definitions: dict[str, Schema], names: Mapping[str, Sequence[str]]) -> None:
        self._definitions, self._names = definitions, names
        self._done: set[int] = set()

    def inside(self, schema: Schema, path: Path) -> None:
        """Rewrites what stands below a place."""
        target = self._target(schema)
        if id(target) in self._done:
            return
        self._done.add(id(target))
        for name, found in target.get("properties", {}).items():
            target["properties"][name] = self._place(self._named(name, found), (*path, name))
        entries = target.get("additionalProperties")
        if isinstance(entries, dict) and entries:
            self._special(target, entries, path)
            target["additionalProperties"] = self._place(entries, (*path, NAME))
        if target.get("items"):
            target["items"] = self._place(target["items"], (*path, 0))
        for each in target.get("anyOf", ()):
            self.inside(each, path)

    def _place(self, schema: Schema, path: Path) -> Schema:
        self.inside(schema, path)
        return self._taking(schema, forms(path), path)

    def _taking(self, schema: Schema, found: ShortForms, path: Path) -> Schema:
        more: list[Schema] = []
        if found.item:
            more.append(self._items(schema))
        elif found.text:
            more.append(SCALAR)
        if found.words:
            more.append({"type": "array", "items": SCALAR})
        if found.listed is not None:
            more.append(self._property(schema, found.listed, {"type": "array", "items": SCALAR}))
        if found.entries is not None:
            more.append(self._entries(schema, found.entries, path))
        more += self._members(self._target(schema), path)
        return {"anyOf": [schema, *more]} if more else schema

    def _members(self, target: Schema, path: Path) -> Iterator[Schema]:
        """An item of one of its lists, in place of the whole; and that list at another key."""
        properties: dict[str, Schema] = target.get("properties", {})
        for key, found in list(properties.items()):
            member = self._target(found.get("items") or ANYTHING)
            required = member.get("required", ())
            if not required:
                continue
            for name in properties:
                if redirected(path, name, key):
                    properties[name] = {"anyOf": [properties[name], found]}
            if absorbed(path, key, required):
                also = {name: each for name, each in properties.items() if beside(path, name, required)}
                yield {**member, "properties": {**member["properties"], **also}}

    def _items(self, schema: Schema) -> Schema:
        items: Schema = self._target(schema).get("items", ANYTHING)
        return items

    def _property(self, schema: Schema, name: str, default: Schema) -> Schema:
        found: Schema = self._target(schema).get("properties", {}).get(name, default)
        return found

    def _entries(self, schema: Schema, key: str, path: Path) -> Schema:
        """A map of names instead of the key whose value it is; some keys of the long form may stand beside them."""
        properties = self._target(schema).get("properties", {})
        inner = self._with_entries(properties[key])
        beside = {name: found for name, found in properties.items() if stays(path, name)}
        left: Schema = {name: False for name in properties if name not in beside}
        return {"type": "object", "properties": {**beside, **left}, "additionalProperties": inner}

    def _with_entries(self, schema: Schema) -> Schema:
        target = self._target(schema)
        for each in (target, *target.get("anyOf", ())):
            found = self._target(each).get("additionalProperties")
            if isinstance(found, dict):
                return found
        return ANYTHING

    def _special(self, target: Schema, entries: Schema, path: Path) -> None:
        for name in _SPECIAL:
            if forms((*path, name)) != forms((*path, NAME)):
                plain = copy.deepcopy(entries)
                properties = target.setdefault("properties", {})
                properties[name] = self._taking(plain, forms((*path, name)), (*path, name))

    def _named(self, name: str, schema: Schema) -> Schema:
        """Names that are known complete; any other text is as good."""
        known = [{"$ref": f"{_REFERENCE}{_KNOWN}{name}"}] if self._names.get(name) else []
        if schema == ANYTHING:
            inline = self._definitions.get(name.capitalize())
            place = {"$ref": f"{_REFERENCE}{name.capitalize()}"} if inline else None
            # the map first: a language server complains by the first of those that are as near
            return {"anyOf": [place, *known, SCALAR]} if place else schema
        if schema.get("type") == "array" and schema.get("items") == ANYTHING:
            return {**schema, "items": {"anyOf": [*known, SCALAR, {"type": "object"}]}}
        if known and SCALAR["type"] in (schema.get("type"), *(each.get("type") for each in schema.get("anyOf", ()))):
            return {"anyOf": [*known, *schema.get("anyOf", [schema])]}
        return schema

    def _target(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self._definitions[schema["$ref"].removeprefix(_REFERENCE)]
        return schema


def _add_settings(definitions: Mapping[str, Schema], settings: Mapping[str, str]) -> None:
    """Where any key may stand it is a setting of the step's kind: those that there are complete."""
    for found in definitions.values():
        if found.get("additionalProperties") is True and "kind" in found.get("properties", {}):
            for name, what in sorted(settings.items()):
                found["properties"].setdefault(name, {"description": what} if what else {})


def _add_scales(definitions: dict[str, Schema], root: str) -> None:
    """A scale is a patch over the whole: nothing is required in it, and null removes."""
    models = {name: found for name, found in definitions.items() if not name.startswith(_KNOWN)}
    patches = {f"{name}{_PATCH}": _patch(copy.deepcopy(found)) for name, found in models.items()}
    definitions |= patches
    definitions[f"{root}{_PATCH}"]["properties"].pop("scales")
    scale = {"$ref": f"{_REFERENCE}{root}{_PATCH}"}
    definitions[root]["properties"]["scales"] = {"type": "object", "additionalProperties": scale}


def _patch(schema: Any, is_map: bool = False) -> Any:
    """`is_map`: its keys are names, not keywords."""
    if isinstance(schema, list):
        return [_patch(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if is_map:
        return {name: _or_null(_patch(found)) for name, found in schema.items()}
    kept = {key: found for key, found in schema.items() if key not in ("required", "minProperties", "minItems")}
    if kept.get("$ref", "").startswith(f"{_REFERENCE}{_KNOWN}"):
        return kept
    if "$ref" in kept:
        return {**kept, "$ref": f"{kept['$ref']}{_PATCH}"}
    found = {key: each if key == "enum" else _patch(each, key == "properties") for key, each in kept.items()}
    if isinstance(found.get("additionalProperties"), dict):
        found["additionalProperties"] = _or_null(found["additionalProperties"])
    return found


def _or_null(schema: Any) -> Any:
    return {"anyOf": [schema, {"type": "null"}]} if isinstance(schema, dict) and schema else schema


def _used(root: Schema, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """Those that are referred to, by name."""
    found: dict[str, Schema] = {}
    left = list(_references(root))
    while left:
        name = left.pop()
        if name not in found:
            found[name] = definitions[name]
            left += _references(found[name])
    return dict(sorted(found.items()))


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(_REFERENCE)
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else ():
        yield from _references(each)


def setting_texts(models: Sequence[type[BaseModel]]) -> dict[str, str]:
    """Settings of step kinds -> what they are, as far as one says."""
    found: dict[str, str] = {}
    for model in models:
        for name, field in model.model_fields.items():
            found[name] = found.get(name) or field.description or ""
    return found
