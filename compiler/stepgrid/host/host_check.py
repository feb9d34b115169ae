"""Findings about this host: how a thing is, how it should be, and what would mend it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["ok", "warning", "unknown", "stops"]
OK: Severity = "ok"
WARNING: Severity = "warning"
UNKNOWN: Severity = "unknown"  # could not be looked at: never fine
STOPS: Severity = "stops"  # nothing can run


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    severity: Severity
    text: str  # the observation, for a person
    value: Any = None  # the same as data; None where it is unknown
    expected: str = ""
    mend: str = ""  # the command, or what to do
    travels: bool = False  # as a warning it goes with the figures into the report

    def to_json(self) -> dict[str, Any]:
        values = {name: value for name, value in asdict(self).items() if value not in ("", None, False)}
        return {"said" if name == "text" else name: value for name, value in values.items()}


def unknown(name: str, why: str = "this host does not say", expected: str = "") -> Finding:
    return Finding(name, UNKNOWN, why, None, expected)
