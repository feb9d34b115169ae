"""Files with a line of JSON per id, sorted: a job finds its own line by bisection, without reading the others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from stepgrid.model.canonical_json import encode, quoted


def line(node: str, fields: Mapping[str, Any]) -> str:
    # the id comes first on its line, so that lines sort and bisect by it
    return f'{{"id":{quoted(node)},{encode({name: value for name, value in fields.items() if name != "id"})[1:]}\n'


def found(path: Path, nodes: Iterable[str]) -> list[dict[str, Any]]:
    """What the lines of some ids say."""
    with path.open("rb") as file:
        return [json.loads(_bisected(file, node)) for node in nodes]


def every(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        yield from map(json.loads, file)


def _bisected(file: BinaryIO, node: str) -> bytes:
    key = f'{{"id":{quoted(node)},'.encode()
    low, high = 0, file.seek(0, os.SEEK_END)
    while low < high:
        middle = (low + high) // 2
        text = _line_from(file, middle)
        if text and text[: len(key)] < key:
            low = middle + 1
        else:
            high = middle
    text = _line_from(file, low)
    if not text.startswith(key):
        raise KeyError(f"{file.name} has no {node}")
    return text


def _line_from(file: BinaryIO, position: int) -> bytes:
    """The first line that starts at or after a position."""
    file.seek(max(position - 1, 0))
    if position:
        file.readline()
    return file.readline()
