"""What a step runs in besides its options: how it is launched, what the cache holds, what looks on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from stepgrid.expand.axes.dependencies import STORAGE_ENGINE
from stepgrid.expand.axes.points import Point
from stepgrid.expand.builds import Build
from stepgrid.expand.expression_scope import UNSET, Scope
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps import collectors, probes, service
from stepgrid.language.models import Launch, Probe, Spec
from stepgrid.language.problems import Problems
from stepgrid.model.plan import FILES, INPUTS, NAMED, SERVICE, Json, encode
from stepgrid.model.search import SEARCH
from stepgrid.plugins.registry import engine


class Input(NamedTuple):
    """A file that a step's command reads where it lies."""

    path: str
    checksum: str


class Setup(NamedTuple):
    values: Mapping[str, Json]  # without what is left to itself
    text: str  # what identity has of it; empty where there is nothing
    client: Build | None = None  # of the step: its id, which identity has, is known when its source is
    files: Mapping[str, str] = {}  # name in the step's folder -> text
    earlier_texts: Sequence[str] = ()  # what earlier ids had: without NAMED, then without INPUTS, too

    def text_of(self, generation: int) -> str:
        """`generation`: 0 is that of today."""
        return self.earlier_texts[generation - 1] if generation and self.earlier_texts else self.text

    def reading(self, inputs: Mapping[str, Input], named: Mapping[str, Input]) -> Setup:
        """The same with the files that its command reads: identity has what is in them, not where they lie."""
        if not inputs and not named:
            return self
        first = self._with(INPUTS, inputs)
        return first._with(NAMED, named)._replace(earlier_texts=(first.text, self.text))

    def _with(self, key: str, inputs: Mapping[str, Input]) -> Setup:
        if not inputs:
            return self
        sums: dict[str, Json] = {name: entry.checksum for name, entry in inputs.items()}
        paths: dict[str, Json] = {name: entry.path for name, entry in inputs.items()}
        attached = self.values.get(FILES)
        values = {**self.values, FILES: {**(attached if isinstance(attached, dict) else {}), **sums}, key: paths}
        return self._replace(values=values, text=identity_text(values))

    def along(self, client: Build | None, files: Mapping[str, str]) -> Setup:
        """The same with what the step brings along: of files identity has the checksums."""
        if not files:
            return self._replace(client=client)
        sums: dict[str, Json] = {name: _sum(text) for name, text in files.items()}
        values = {**self.values, FILES: sums}
        return Setup(values, identity_text(values), client, files)


def resolve(
    item: StepEntry, build: Build, points: Iterable[Point], spec: Spec, scope: Scope, problems: Problems
) -> Setup:
    chosen, taken = list(points), [probe for probe in spec.probes if probes.takes(build, probe)]
    values: dict[str, Json] = {
        "launch": _launch([spec.launch, *(point.launch for point in chosen)]),
        "start": next((p.start for p in reversed(chosen) if p.start is not None), spec.start),
        STORAGE_ENGINE: storage_engine(build, scope) if engine(build.engine).server else None,
        SERVICE: service.resolve(build, scope, problems),
        "before": [_probe(probe) for probe in taken if probes.times(item, probe.before)],
        "after": [_probe(probe) for probe in taken if probes.times(item, probe.after)],
        "collectors": [collectors.said(found) for found in spec.collectors if collectors.watches(found, item)],
    }
    if item.search is not None:
        values[SEARCH] = item.search.to_json()
    said = {name: value for name, value in values.items() if value}
    return Setup(said, identity_text(said) if said else "")


def identity_text(values: Mapping[str, Json]) -> str:
    """What identity has of a setup, without the places of files."""
    placeless = {name: value for name, value in values.items() if name not in (INPUTS, NAMED)}
    found = placeless.get(SERVICE)
    return encode({**placeless, SERVICE: service.identity(found)} if isinstance(found, dict) else placeless)


@lru_cache(maxsize=1024)  # many steps have the same
def _sum(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def storage_engine(build: Build, scope: Scope) -> str:
    """The param of that name, else the engine's default."""
    value, _ = scope.param(STORAGE_ENGINE)
    return engine(build.engine).default_storage_engine if value is UNSET else str(value)


def axes(points: Sequence[tuple[int, Point]]) -> Iterator[int]:
    """The axes whose points say something of this."""
    return (axis for axis, point in points if point.launch is not None or point.start is not None)


def _launch(layers: Iterable[Launch | None]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for launch in layers:
        if launch is not None:
            found |= launch.model_dump(mode="json", exclude_defaults=True)
    return found


def _probe(probe: Probe) -> dict[str, Json]:
    """A single name of counters stands by itself: there was no other form, and identity has it."""
    said = probe.model_dump(mode="json", exclude_none=True, exclude={"before", "after", "counters"})
    names = [str(name) for name in probe.counters]
    counters: Json = names[0] if len(names) == 1 else [*names]
    found: dict[str, Json] = {
        name: [str(v) for v in value] if isinstance(value, list | tuple) else str(value) for name, value in said.items()
    }
    return {**found, **({"counters": counters} if names else {})}
