"""What an engine can do, by a table of releases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

Release: TypeAlias = tuple[int, ...]


def release(version: str) -> Release:
    """`9.10.0` as numbers: 9.10 comes after 9.9. What follows the numbers is not compared."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def reached(version: str, since: Mapping[str, Release]) -> frozenset[str]:
    """Capabilities whose first release is there. None is ever lost: what is taken out again is no entry of a table."""
    number = release(version)
    return frozenset(name for name, first in since.items() if number >= first)
