"""Keys and values of Snakemake's --config: what one may be, and texts that shells of a cluster's jobs read again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepgrid.language.problems import close_names

KEYS = {  # and what the value of each is
    "spec": "the file of a spec",
    "scale": "the name of one of the spec's `scales`",
    "only": "one expression over the axes",
    "set": "PATH=VALUE, or a list of them",
    "site": "a site file",
    "until": "a duration or a time of day",
}
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


def faults(config: Mapping[str, Any]) -> Iterator[str]:
    """Messages about unknown keys and unusable values: else `scal=smoke` would start the whole experiment."""
    for key, value in config.items():
        if key not in KEYS:
            close = close_names(key, KEYS)
            hint = f"did you mean `{close[0]}`?" if close else f"a value of the spec is set by `set={key}={value}`;"
            yield f"--config: there is no key `{key}`: {hint} known keys: {', '.join(KEYS)}"
        elif value is None and key != "site":  # `site=` means no site file
            yield f"--config: `{key}=` has no value: expected {KEYS[key]}, or leave it out"
        elif isinstance(value, dict) or (isinstance(value, list | tuple) and key != "set" and len(value) != 1):
            yield f"--config: {key}={value}: expected {KEYS[key]}"
