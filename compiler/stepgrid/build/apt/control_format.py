"""Debian's control format: stanzas of `Field: value`, with continuation lines."""

from __future__ import annotations

from collections.abc import Iterator


def stanzas(text: str) -> Iterator[dict[str, str]]:
    """Every stanza; field names in lower case, continuation lines kept with their line breaks."""
    fields: dict[str, str] = {}
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif not line.startswith("#"):
            _add(fields, line)


def _add(fields: dict[str, str], line: str) -> None:
    if line[0] in " \t":
        if fields:
            fields[next(reversed(fields))] += "\n" + line
        return
    name, _, value = line.partition(":")
    fields[name.strip().lower()] = value.strip()
