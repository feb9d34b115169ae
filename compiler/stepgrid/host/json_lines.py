"""Lines of JSON objects, of a file that may still be written or whose writer died: what is damaged says nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def records(texts: Iterable[str], key: str) -> Iterator[Mapping[str, Any]]:
    """Of those that have this key."""
    for text in texts:
        try:
            found = json.loads(text)
        except ValueError:
            continue
        if isinstance(found, dict) and key in found:
            yield found
