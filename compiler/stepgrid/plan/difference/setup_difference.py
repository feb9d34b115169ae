"""What differs between the setups of two steps: launch, start, probes, collectors, field by field. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from stepgrid.model.plan import SERVICE, PlannedStep
from stepgrid.plan.difference.unset import UNSET

Setup: TypeAlias = Mapping[str, Any]
WHEN = "when"  # of a probe: it stands in the list of its time, `before` or `after`


def changed(old: PlannedStep, new: PlannedStep) -> Iterator[tuple[str, Any, Any]]:
    """Each field with what it was and what it is; UNSET where it is not there."""
    before, after = fields(old), fields(new)
    for name in sorted({*before, *after}):
        yield name, before.get(name, UNSET), after.get(name, UNSET)
    for name, listed in (("probes", _probes), ("collectors", _collectors)):
        one, other = list(listed(old.setup)), list(listed(new.setup))
        if sorted(one) == sorted(other):  # else the fields say which came and went
            yield name, one, other


def fields(step: PlannedStep) -> dict[str, Any]:
    """The setup of a step as flat fields, by the names that a spec gives them."""
    setup: Setup = step.setup
    found = {f"launch.{name}": value for name, value in (setup.get("launch") or {}).items()}
    for name, value in found.pop("launch.env", {}).items():
        found[f"launch.env.{name}"] = value
    if setup.get("start"):
        found["start"] = setup["start"]
    found |= _service(setup)
    return found | _engine(step) | _named("probes", _probes(setup)) | _named("collectors", _collectors(setup))


def _engine(step: PlannedStep) -> dict[str, Any]:
    """Of a kind without such a setting: with one, the settings say it."""
    engine = step.setup.get("storage_engine")
    return {} if engine is None or step.settings.get("storage_engine") else {"params.storage_engine": engine}


def _service(setup: Setup) -> dict[str, Any]:
    """Without its timeouts, which change no figure."""
    found = {f"service.{name}": value for name, value in (setup.get(SERVICE) or {}).items()}
    for part in ("env", "ready", "stop"):
        inner = found.pop(f"service.{part}", {}).items()
        found |= {f"service.{part}.{name}": value for name, value in inner if name != "timeout"}
    return found


def _probes(setup: Setup) -> dict[str, Setup]:
    """A step has one of each name."""
    return {probe["name"]: {**probe, WHEN: when} for when in ("before", "after") for probe in setup.get(when) or ()}


def _collectors(setup: Setup) -> dict[str, Setup]:
    return {str(each.get("name") or each.get("collector")): each for each in setup.get("collectors") or ()}


def _named(prefix: str, found: Mapping[str, Setup]) -> dict[str, Any]:
    flat = ((name, key, value) for name, values in found.items() for key, value in values.items())
    return {f"{prefix}.{name}.{key}": value for name, key, value in flat if key != "name"}
