"""Texts of a command line as values of Snakemake's --config, which shells of a cluster's jobs read again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_HEX = "hex:"
_TROUBLE = frozenset("'\\$`")  # the executor for SLURM puts Python's quotes around a value, and a shell's around these


def written(texts: Sequence[str]) -> str:
    """As a list, which alone keeps the quotes at the ends of a text; where a shell would change it, in digits."""
    plain = json.dumps(list(texts))
    return plain if _TROUBLE.isdisjoint(plain) else _HEX + plain.encode().hex()


def read(given: Any) -> tuple[str, ...]:
    """A text, a list of them, or what `written` made of one."""
    if isinstance(given, str) and given.startswith(_HEX):
        given = json.loads(bytes.fromhex(given.removeprefix(_HEX)))
    listed = given if isinstance(given, list | tuple) else [given]
    return tuple(str(text) for text in listed if text is not None)
