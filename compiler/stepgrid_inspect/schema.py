"""stepgrid schema: JSON Schemas (draft 7) of what people write, with names that complete, settings and scales.

Short forms stand in the models (`accepts`).
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from stepgrid.errors import FINE
from stepgrid.language.models import Library, Spec
from stepgrid.language.problems import Problems
from stepgrid.language.site_file import SiteFile
from stepgrid.language.yaml import Map, Node, load
from stepgrid.package import SPECS, TEMPLATES
from stepgrid.plugins.registry import DRIVERS, ENGINES, driver
from stepgrid.summarize import formats

DRAFT = "http://json-schema.org/draft-07/schema#"
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_REFERENCE = "#/definitions/"
_PATCH = " in a scale"
_KNOWN = "known "

Schema = dict[str, Any]


def add_schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "of",
        nargs="?",
        choices=("spec", "library", "site", "report"),
        default="spec",
        help="the schema of specs (the default), of library files, of a site file, or of a report as JSON",
    )
    parser.add_argument(
        "--library",
        metavar="FOLDER",
        default=SPECS / "library",
        type=Path,
        help="whose names complete (stepgrid's own library)",
    )


def run_schema(args: argparse.Namespace) -> int:
    print(schema_text(args.of, args.library), end="")
    return FINE


def schema_text(kind: str, library: Path) -> str:
    """Return the JSON Schema of specs, libraries, site files or reports; the library's names complete."""
    if kind == "report":
        return (TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8")
    if kind == "site":
        return formats.json_text(site_schema(SiteFile)) + "\n"
    settings: list[Any] = [driver(name).settings_model() for name in DRIVERS.names()]
    model = Spec if kind == "spec" else Library
    return formats.json_text(spec_schema(model, _completions(library), setting_schemas(settings))) + "\n"


def _completions(library: Path) -> dict[str, list[str]]:
    files = [load(str(path), Problems()) for path in sorted(library.glob("**/*.yaml"))]
    completions = defined_names([file for file in files if file is not None])
    workloads = {"workload": completions.get("workloads", [])}
    return {**completions, **workloads, "kind": list(DRIVERS.names()), "engine": list(ENGINES.names())}


def spec_schema(
    model: type[Spec | Library], names: Mapping[str, Sequence[str]], settings: Mapping[str, Schema]
) -> Schema:
    """Write the schema of specs or libraries.

    `names`: values that complete, by key. `settings`: those of all step kinds -> their schemas."""
    root = model.model_json_schema(ref_template=f"{_REFERENCE}{{model}}", schema_generator=_Generator)
    definitions = {model.__name__: root, **root.pop("$defs", {})}
    for definition in definitions.values():
        properties = definition.get("properties", {})
        for name in properties.keys() & {name for name, choices in names.items() if choices}:
            properties[name] = _complete(properties[name], {"$ref": f"{_REFERENCE}{_KNOWN}{name}"})
        if definition.get("additionalProperties") is True and "kind" in properties:
            for name, schema in sorted(settings.items()):
                properties.setdefault(name, schema)
    if "scales" in root["properties"]:
        _add_scales(definitions, root, model.__name__)
    definitions |= {f"{_KNOWN}{key}": {"enum": list(choices)} for key, choices in names.items()}
    used = _used(root, definitions)
    return {"$schema": DRAFT, **root, "title": f"stepgrid {model.__name__.lower()}", "definitions": used}


def site_schema(model: type[BaseModel]) -> Schema:
    """Write the schema of a file that has neither names that complete nor scales."""
    return {"$schema": DRAFT, **model.model_json_schema(schema_generator=_Generator), "title": "stepgrid site"}


class _Generator(GenerateJsonSchema):
    """Write scalars of YAML, which are text in a spec, as what an editor takes them for."""

    def is_instance_schema(self, schema: Any) -> JsonSchemaValue:
        return dict(_SCALAR)

    def function_before_schema(self, schema: Any) -> JsonSchemaValue:
        """Accept quantities as text, such as 64GiB."""
        inner = super().function_before_schema(schema)
        return inner if "json_schema_input_schema" in schema else {"anyOf": [inner, {"type": "string"}]}

    def str_schema(self, schema: Any) -> JsonSchemaValue:
        return {**super().str_schema(schema), **_SCALAR}

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        texts = list(schema["expected"])
        return {"enum": [*texts, *(int(text) for text in texts if isinstance(text, str) and text.isdecimal())]}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def _complete(schema: Schema, names: Schema) -> Schema:
    """Put names before any text that is as good; maps stay first, by which a language server complains."""
    if schema.get("type") == _SCALAR["type"]:
        return {"anyOf": [names, schema]}
    if "items" in schema:
        return {**schema, "items": _complete(schema["items"], names)}
    if "anyOf" not in schema:
        return schema
    members = []
    for member in schema["anyOf"]:
        members += [names, member] if member.get("type") == _SCALAR["type"] else [_complete(member, names)]
    return {**schema, "anyOf": members}


def _add_scales(definitions: dict[str, Schema], root: Schema, name: str) -> None:
    """Add patches over the whole spec, where nothing is required and null removes."""
    patches = {f"{key}{_PATCH}": _patch(copy.deepcopy(definition)) for key, definition in definitions.items()}
    definitions |= patches
    definitions[f"{name}{_PATCH}"]["properties"].pop("scales")
    scale = {"$ref": f"{_REFERENCE}{name}{_PATCH}"}
    root["properties"]["scales"] = {"type": "object", "additionalProperties": scale}


def _patch(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_patch(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    patch: Schema = {}
    for key, value in schema.items():
        if key == "$ref":
            patch[key] = value if value.startswith(f"{_REFERENCE}{_KNOWN}") else f"{value}{_PATCH}"
        elif key == "properties":
            patch[key] = {name: _or_null(_patch(inner)) for name, inner in value.items()}
        elif key == "additionalProperties":
            patch[key] = _or_null(_patch(value))
        elif key not in ("required", "minProperties", "minItems"):
            patch[key] = value if key == "enum" else _patch(value)
    return patch


def _or_null(schema: Any) -> Any:
    return {"anyOf": [schema, {"type": "null"}]} if isinstance(schema, dict) and schema else schema


def _used(root: Schema, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """List the definitions that are referred to."""
    used: dict[str, Schema] = {}
    queue = list(_references(root))
    while queue:
        name = queue.pop()
        if name not in used:
            used[name] = definitions[name]
            queue += _references(used[name])
    return dict(sorted(used.items()))


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(_REFERENCE)
        schema = list(schema.values())
    for member in schema if isinstance(schema, list) else ():
        yield from _references(member)


def setting_schemas(models: Sequence[type[BaseModel]]) -> dict[str, Schema]:
    """Describe settings of step kinds and the keys of their maps, as far as one of the models does."""
    schemas: dict[str, Schema] = {}
    for model in models:
        for name, field in model.model_fields.items():
            schemas[name] = {**_described(field), **schemas.get(name, {})}
    return schemas


def _described(field: FieldInfo) -> Schema:
    """Describe a field. A value of another form, such as an expression, is as good: no type is named."""
    schema: Schema = {"description": field.description} if field.description else {}
    for part in (field.annotation, *get_args(field.annotation)):
        if isinstance(part, type) and issubclass(part, BaseModel):
            keys = {inner.alias or name: _described(inner) for name, inner in part.model_fields.items()}
            is_map = get_origin(field.annotation) is dict
            schema |= {"additionalProperties": {"properties": keys}} if is_map else {"properties": keys}
    return schema


def defined_names(libraries: Sequence[Mapping[str, Node]]) -> dict[str, list[str]]:
    """List the names that library files define, by kind: options, workloads …"""
    names: dict[str, set[str]] = {}
    for library in libraries:
        define = library.get("define")
        for kind, group in define.items() if isinstance(define, Map) else ():
            names.setdefault(kind, set()).update(group if isinstance(group, Map) else ())
    return {kind: sorted(group) for kind, group in sorted(names.items())}
