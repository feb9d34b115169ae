"""What a build's `source:` and `extensions:` may say, checked without touching the world.

A source of any kind that is listed here can be checked and planned; stepgrid.build.sources has those that can be built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from stepgrid.language.builds import source_values as v
from stepgrid.language.builds.source_values import Check
from stepgrid.language.problems import close_names
from stepgrid.model.plan import SERVER

READY = ("debian", "system")  # kinds that bring programs which are made already
TREES = ("git", "tarball", "crate", "pypi", "debian-source", "path")  # kinds that can bring what is compiled
LOCAL = ("system", "path", SERVER)  # kinds that take nothing from the network


class Fault(NamedTuple):
    """Something wrong with a source: at the value of a key, or (with no key) with the whole of it."""

    code: str
    key: str | None
    message: str
    hint: str = ""
    inside: tuple[str, ...] = ()  # the keys that lead to a source within the source


class Form(NamedTuple):
    """What a source of one kind takes, the check of each value by its key."""

    main: Check
    required: Mapping[str, Check]
    optional: Mapping[str, Check]
    nested: tuple[str, ...] = ()  # keys whose values are sources: of the tree that is compiled beside an artifact

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.required, *self.optional, *self.nested)


_VERSIONED: Mapping[str, Check] = {"version": v.VERSION, "sha256": v.SHA256}
_OF_THE_SUITE: Mapping[str, Check] = {"version": v.DEBIAN_VERSION, "patched": v.BOOLEAN, "sha256": v.SHA256}

SOURCES: Mapping[str, Form] = MappingProxyType(
    {
        "debian": Form(v.PACKAGE, {"suite": v.SUITE}, {}),
        "system": Form(v.system, {}, {}),
        "git": Form(v.url("https", "ssh", "file"), {"ref": v.ref}, {"submodules": v.BOOLEAN}),
        "tarball": Form(v.url("https", "file"), {"sha256": v.SHA256}, {}),
        "maven": Form(v.COORDINATES, {}, {"classifier": v.CLASSIFIER, "sha256": v.SHA256}, nested=("tree",)),
        "crate": Form(v.CRATE, {}, _VERSIONED),
        "pypi": Form(v.PYPI, {}, {**_VERSIONED, "kind": v.KIND}),
        "debian-source": Form(v.PACKAGE, {"suite": v.SUITE}, _OF_THE_SUITE),
        "path": Form(v.path, {}, {}),
        SERVER: Form(v.SERVER, {}, {}),
    }
)


def kind_of(source: Mapping[str, Any]) -> str | None:
    """The one kind that a source is of; None when it has none, or several."""
    kinds = [key for key in source if key in SOURCES]
    return kinds[0] if len(kinds) == 1 else None


def network_sources(source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and name of what a source takes from the network, and of the tree beside an artifact; without a release."""
    kind = kind_of(source)
    if kind is None or kind in LOCAL or str(source[kind]).startswith("file:"):
        return
    names = source[kind] if isinstance(source[kind], list | tuple) else [source[kind]]
    yield kind, " ".join(":".join(str(name).split(":")[:2]) if kind == "maven" else str(name) for name in names)
    for key in SOURCES[kind].nested:
        yield from network_sources(source.get(key, {}))


def faults(source: Mapping[str, Any]) -> Iterator[Fault]:
    """Of a source whose values are resolved for its version."""
    kind = kind_of(source)
    if kind is None:
        yield Fault("no-source", None, "a source is of one kind", f"one of: {', '.join(SOURCES)}")
        return
    form = SOURCES[kind]
    strange = [key for key in source if key != kind and key not in form.keys]
    meant = {
        key: name
        for key in strange
        for name in close_names(str(key), [each for each in form.keys if each not in source])
    }
    for key in strange:
        known = ", ".join((kind, *form.keys))
        hint = f"did you mean `{meant[key]}`?" if key in meant else f"it takes: {known}"
        yield Fault("unknown-key", key, f"a {kind} source takes no `{key}`", hint)
    for key in form.required:
        if key not in source and key not in meant.values():  # else it is only written wrong
            yield Fault("missing-key", None, f"a {kind} source needs `{key}`")
    checks = {kind: form.main, **form.required, **form.optional}
    yield from _wrong_values({key: source[key] for key in checks if key in source}, checks)
    for key in form.nested:
        if key in source:
            yield from _nested_faults(key, source[key])


def _nested_faults(key: str, source: Any) -> Iterator[Fault]:
    kind = kind_of(source) if isinstance(source, Mapping) else None
    if kind not in TREES:
        message = f"`{key}` is a source of one kind, of those that bring a tree"
        yield Fault("no-source", key, message, f"one of: {', '.join(TREES)}")
        return
    for fault in faults(source):
        yield fault._replace(inside=(key, *fault.inside))


def _wrong_values(values: Mapping[str, Any], checks: Mapping[str, Check]) -> Iterator[Fault]:
    for key, value in values.items():
        for text in value if isinstance(value, list | tuple) and key == "debian" else [value]:
            wrong = checks[key](scalar_text(text))
            if wrong:
                shown = f"`{key}`" if wrong == v.PASSWORD else f"`{key}: {scalar_text(text)}`"
                yield Fault("wrong-source", key, f"{shown} {wrong}")


def scalar_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def extension_faults(extensions: Mapping[str, Any], engine: str, known: Sequence[str]) -> Iterator[Fault]:
    """Of a build's `extensions: {NAME: VERSION}`; known are the engine's."""
    for name, version in extensions.items():
        if name not in known:
            hint = f"it has: {', '.join(known)}" if known else "it has none"
            yield Fault("undefined-name", name, f"{engine} has no extension `{name}`", hint)
        elif wrong := v.VERSION(scalar_text(version)):
            yield Fault("wrong-source", name, f"`{name}: {scalar_text(version)}` {wrong}")


_NO_NAME = frozenset({"sha256", "submodules", "patched"})  # they say nothing of which file or commit is meant
_ARTIFACTS = frozenset({"maven", "crate", "pypi", "debian-source"})
_COMMIT = re.compile(r"[0-9a-f]{40}")


def key(source: Mapping[str, Any]) -> str:
    """What a lock file calls a source: `git https://… v1.0`. Of a source whose values are complete."""
    kind = kind_of(source)
    if kind is None:
        return " ".join(str(value) for value in source.values() if not isinstance(value, Mapping))
    names = (name for name in (kind, *SOURCES[kind].keys) if name in source and name not in _NO_NAME)
    return " ".join([kind, *(_as_text(source[name]) for name in names if not isinstance(source[name], Mapping))])


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def parts(source: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The source itself, and those that it takes along: each has a pin of its own."""
    yield source
    for value in source.values():
        if isinstance(value, Mapping):
            yield from parts(value)


def moves(source: Mapping[str, Any]) -> bool:
    """Whether a lock file can hold it still: a tag and a branch move, an artifact is what a registry says it is."""
    if "git" in source:
        return not _COMMIT.fullmatch(str(source.get("ref", "")))
    return kind_of(source) in _ARTIFACTS and "sha256" not in source
