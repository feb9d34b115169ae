"""build.json and catalogue.json, read: one of which a field is not what it must be was damaged, and says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from stepgrid.host import files

RECORD = "build.json"


class Artifact(TypedDict, total=False):
    name: str
    version: str
    digest: str


class Declared(TypedDict, total=False):
    version: str
    pin: str
    recipe: dict[str, Any]


class Record(TypedDict, total=False):
    id: str
    name: str
    engine: str
    version: str
    source: dict[str, Any]
    declared: Declared
    route: str
    recipe: str
    artifacts: list[Artifact]
    programs: dict[str, list[str]]
    warnings: list[str]
    facts: dict[str, Any]
    quality: dict[str, Any]
    seconds: float
    made: str


def catalogue(path: Path) -> dict[str, dict[str, Any]] | None:
    """catalogue.json: what is known of each option of its programs; None where there is none, or a damaged one."""
    found = files.read_json(path)
    return found if found and all(isinstance(each, dict) for each in found.values()) else None


def read(path: Path) -> dict[str, Any]:
    import msgspec

    found = files.read_json(path)
    try:
        msgspec.convert(found, Record)
    except msgspec.ValidationError:
        return {}
    return found
