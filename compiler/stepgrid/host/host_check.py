"""Severities of findings about this host."""

from __future__ import annotations

from stepgrid.model.records import HostFinding, Severity

OK: Severity = "ok"
WARNING: Severity = "warning"
UNKNOWN: Severity = "unknown"  # could not be looked at: never fine
STOPS: Severity = "stops"  # nothing can run


def unknown(name: str, why: str = "this host does not say", expected: str = "") -> HostFinding:
    return HostFinding(name, UNKNOWN, why, None, expected)
