"""docs/reference/report_keys.md, from the JSON Schema of a report.

`python -m scripts.report_keys_page > docs/reference/report_keys.md`
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stepgrid.package import TEMPLATES

INTRODUCTION = """# Keys of a report as JSON

`stepgrid report SPEC --format json` prints these keys, and `stepgrid schema report` their JSON Schema;
[results](results.md) explains the words. Made by `python -m scripts.report_keys_page >
docs/reference/report_keys.md`; a test keeps it so.

| key | of | what it is |
|---|---|---|"""

Schema = Mapping[str, Any]


def page() -> str:
    schema = json.loads((TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8"))
    return "\n".join([INTRODUCTION, *_rows("", schema)])


def _rows(above: str, schema: Schema) -> Iterator[str]:
    for name, said in schema.get("properties", {}).items():
        yield from _key(f"{above}{name}", said)


def _key(path: str, said: Schema) -> Iterator[str]:
    yield f"| `{path}` | {_of(said)} | {said.get('description', '')} |"
    for each in (said, *said.get("anyOf", ())):
        yield from _rows(f"{path}.", each)
        if isinstance(each.get("items"), dict):
            yield from _rows(f"{path}[].", each["items"])
        if isinstance(each.get("additionalProperties"), dict):
            yield from _rows(f"{path}.*.", each["additionalProperties"])


def _of(said: Schema) -> str:
    if "anyOf" in said:
        return " or ".join(dict.fromkeys(map(_of, said["anyOf"])))
    if "enum" in said:
        return ", ".join("null" if each is None else f"`{each}`" for each in said["enum"])
    if "const" in said:
        return f"`{said['const']}`"
    kinds = said["type"] if isinstance(said.get("type"), list) else [said.get("type", "any value")]
    return " or ".join(_kind(kind, said) for kind in kinds)


def _kind(kind: str, said: Schema) -> str:
    if kind == "array":
        return f"list of {_of(said.get('items', {}))}"
    more = said.get("additionalProperties")
    return f"map of {_of(more)}" if kind == "object" and isinstance(more, dict) else {"object": "map"}.get(kind, kind)


if __name__ == "__main__":
    print(page())
