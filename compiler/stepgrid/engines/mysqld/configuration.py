"""my.cnf, from the template and the options that a spec gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stepgrid.plugins.server import ServerHome, templates

_PLAIN = re.compile(r"[^\s\"'#\\;]([^\"'#\\\n\r\t]*[^\s\"'#\\])?")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def render(home: ServerHome, options: Mapping[str, Any], lines: tuple[str, ...] = ()) -> str:
    """`lines`: what an engine adds of its own."""
    environment = templates("mysqld")
    environment.filters["value"] = value
    return environment.get_template("my.cnf.j2").render(home=home, options=options, lines=lines)


def value(given: Any, name: str = "") -> str:
    """As an option file has it: words for booleans, since an enumeration counts its words in its own way."""
    if isinstance(given, bool):
        negated = name.replace("-", "_").startswith("skip_")  # skip_x=OFF would be taken for skip_x
        return ("1" if given else "0") if negated else ("ON" if given else "OFF")
    text = str(given)
    return text if not text or _PLAIN.fullmatch(text) else '"' + "".join(_ESCAPES.get(c, c) for c in text) + '"'
