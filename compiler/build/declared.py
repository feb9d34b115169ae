"""What a build's `source:` and `extensions:` may say, checked without touching the world.

A source of any kind that is listed here can be checked and planned; compiler.build.sources has those that can be built.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

Check: TypeAlias = Callable[[str], str | None]  # what is wrong with a value, as the end of a sentence

_URL_CHARACTERS = re.compile(r"[!-~]+")
_PASSWORD = "holds a password, which would go into every report"
_BOOLEANS = ("true", "false")

READY = ("debian", "system")  # kinds that bring programs which are made already


class Fault(NamedTuple):
    """Something wrong with a source: at the value of a key, or (with no key) with the whole of it."""

    code: str
    key: str | None
    message: str
    hint: str = ""


class Form(NamedTuple):
    """What a source of one kind takes, the check of each value by its key."""

    main: Check
    required: Mapping[str, Check]
    optional: Mapping[str, Check]

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


def _matching(pattern: str, expected: str) -> Check:
    compiled = re.compile(pattern)

    def check(value: str) -> str | None:
        return None if compiled.fullmatch(value) else f"is not {expected}"

    return check


def _url(*schemes: str) -> Check:
    def check(value: str) -> str | None:
        if value.startswith("-"):
            return "begins with `-`"
        if not _URL_CHARACTERS.fullmatch(value):
            return "is not a URL: it has characters that must be written as %XX"
        return _wrong_url(value, schemes)

    return check


def _wrong_url(value: str, schemes: Sequence[str]) -> str | None:
    try:
        parts = urlsplit(value)
    except ValueError as error:
        return f"is not a URL: {error}"
    if parts.scheme not in schemes or f"{parts.scheme}://" != value[: len(parts.scheme) + 3].lower():
        return f"is not a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
    if parts.password is not None:
        return _PASSWORD
    if parts.scheme != "file" and not parts.hostname:
        return "names no host"
    return "names a host that begins with `-`" if (parts.netloc.rpartition("@")[2]).startswith("-") else None


def _ref(value: str) -> str | None:
    if value.startswith("-"):
        return "begins with `-`"
    if ".." in value or not re.fullmatch(r"[\w./+@{}^~-]+", value, re.ASCII):
        return "is not a tag, a branch or a commit"
    return None


def _system(value: str) -> str | None:
    if value.startswith("-"):
        return "begins with `-`"
    return "is neither a program's name nor an absolute path" if "/" in value and not value.startswith("/") else None


def _path(value: str) -> str | None:
    return "begins with `-`" if value.startswith("-") else None if value else "is empty"


_BOOLEAN = _matching("|".join(_BOOLEANS), "true or false")
_SHA256 = _matching(r"[0-9a-f]{64}", "a SHA-256: 64 digits, 0-9 and a-f")
_VERSION = _matching(r"[A-Za-z0-9][A-Za-z0-9.+!_~-]*", "a version")
_CRATE = _matching(r"[A-Za-z][A-Za-z0-9_-]*", "a crate's name")
_PYPI = _matching(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", "a package's name")
_PACKAGE = _matching(r"[a-z0-9][a-z0-9+.-]+", "a Debian package's name")
_SUITE = _matching(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "a suite such as bookworm")
_COORDINATES = _matching(r"[\w.-]*\w:\w[\w.-]*(?::\w[\w.+-]*)?", "GROUP:ARTIFACT or GROUP:ARTIFACT:VERSION")
_CLASSIFIER = _matching(r"\w[\w.-]*", "a classifier such as linux64")

SOURCES: Mapping[str, Form] = MappingProxyType(
    {
        "debian": Form(_PACKAGE, {"suite": _SUITE}, {}),
        "system": Form(_system, {}, {}),
        "git": Form(_url("https", "ssh", "file"), {"ref": _ref}, {"submodules": _BOOLEAN}),
        "tarball": Form(_url("https", "file"), {"sha256": _SHA256}, {}),
        "maven": Form(_COORDINATES, {}, {"classifier": _CLASSIFIER, "sha256": _SHA256}),
        "crate": Form(_CRATE, {}, {"version": _VERSION, "sha256": _SHA256}),
        "pypi": Form(_PYPI, {}, {"version": _VERSION, "sha256": _SHA256}),
        "path": Form(_path, {}, {}),
    }
)


def kind_of(source: Mapping[str, Any]) -> str | None:
    """The one kind that a source is of; None when it has none, or several."""
    kinds = [key for key in source if key in SOURCES]
    return kinds[0] if len(kinds) == 1 else None


def faults(source: Mapping[str, Any]) -> Iterator[Fault]:
    """Of a source whose values are resolved for its version."""
    kind = kind_of(source)
    if kind is None:
        yield Fault("no-source", None, "a source is of one kind", f"one of: {', '.join(SOURCES)}")
        return
    form = SOURCES[kind]
    for key in source:
        if key != kind and key not in form.keys:
            known = ", ".join((kind, *form.keys))
            yield Fault("unknown-key", key, f"a {kind} source takes no `{key}`", f"it takes: {known}")
    for key in form.required:
        if key not in source:
            yield Fault("missing-key", None, f"a {kind} source needs `{key}`")
    checks = {kind: form.main, **form.required, **form.optional}
    yield from _wrong_values({key: source[key] for key in checks if key in source}, checks)


def _wrong_values(values: Mapping[str, Any], checks: Mapping[str, Check]) -> Iterator[Fault]:
    for key, value in values.items():
        for text in value if isinstance(value, list | tuple) and key == "debian" else [value]:
            wrong = checks[key](_text(text))
            if wrong:
                shown = f"`{key}`" if wrong == _PASSWORD else f"`{key}: {_text(text)}`"
                yield Fault("wrong-source", key, f"{shown} {wrong}")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def extension_faults(extensions: Mapping[str, Any], engine: str, known: Sequence[str]) -> Iterator[Fault]:
    """Of a build's `extensions: {NAME: VERSION}`; known are the engine's."""
    for name, version in extensions.items():
        if name not in known:
            hint = f"it has: {', '.join(known)}" if known else "it has none"
            yield Fault("undefined-name", name, f"{engine} has no extension `{name}`", hint)
        elif wrong := _VERSION(_text(version)):
            yield Fault("wrong-source", name, f"`{name}: {_text(version)}` {wrong}")
