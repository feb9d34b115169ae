"""Pins of sources: the lock file beside a spec, and the checksums of patches."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.language.files import NotRegularError, digest, head, record_file
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.site import check_may_read
from stepgrid.language.sources import REQUIREMENTS
from stepgrid.language.yaml import Map, Seq, Text, load, node_location, width
from stepgrid.model.units import size

FORM, SUFFIX = "1", ".lock.yaml"
LARGEST_PATCH = 64 << 20  # bytes
_KEYS = ("lock", "sources")
_COMMIT = (re.compile(r"[0-9a-f]{40}"), "a commit: 40 digits, 0-9 and a-f")
_LIBRARIES = (re.compile(r"[\w.-]+==[\w.+!-]+(?: --hash=sha256:[0-9a-f]{64})*", re.ASCII), "a list of NAME==VERSION")
_CHECKSUM = (re.compile(r"sha256:[0-9a-f]{64}"), "sha256: and 64 digits, 0-9 and a-f")
_HINT = "`stepgrid lock` writes this file"


class Lock(NamedTuple):
    pins: Mapping[str, str]  # source key -> a commit, a checksum that begins with `sha256:`, or lines of libraries
    at: Mapping[str, Location]  # of each source


def path(spec: str) -> Path:
    return Path(spec).with_suffix(SUFFIX)


def spec_path(path: str) -> str:
    """Return the spec of a lock file: `*.yaml` names both."""
    return path.removesuffix(SUFFIX) + ".yaml" if path.endswith(SUFFIX) else path


def read(spec: str, problems: Problems) -> Lock:
    file = path(spec)
    if not file.exists():
        record_file(str(file), None)
        return Lock({}, {})
    own_problems = Problems()
    nodes = load(str(file), own_problems)
    for problem in own_problems.items:
        if problem.code != "empty-file":  # it pins nothing
            problems.append(problem)
    return Lock({}, {}) if nodes is None else _lock(nodes, problems)


def _lock(nodes: Map, problems: Problems) -> Lock:
    for key, value in nodes.items():
        if key not in _KEYS:
            hint = f"{nearest(key, _KEYS)}; {_HINT}"
            problems.add("unknown-key", nodes.at[key], f"`{key}` is not a key of a lock file", hint, len(key))
        elif key == "lock" and value != FORM:
            message = "`lock`: this version reads lock files of the form 1"
            problems.add("not-a-choice", node_location(value, nodes.at[key]), message, _HINT, width(value))
    sources = nodes.get("sources")
    if sources is None:
        return Lock({}, {})
    if not isinstance(sources, Map):
        message = "`sources`: expected a map of sources and what holds each still"
        problems.add("wrong-type", node_location(sources, nodes.where), message, _HINT, width(sources))
        return Lock({}, {})
    pins: dict[str, str] = {}
    for key, value in sources.items():
        is_list = _is_listed(key)
        form, expected = _LIBRARIES if is_list else _COMMIT if key.startswith("git ") else _CHECKSUM
        lines = value if isinstance(value, Seq) and is_list else [value]
        pins[key] = "\n".join(map(str, lines))
        if not all(isinstance(line, Text) and form.fullmatch(line) for line in lines):
            message = f"what holds `{key}` still is {expected}"
            problems.add("wrong-pin", node_location(value, sources.at[key]), message, _HINT, width(value))
    return Lock(pins, sources.at)


def _is_listed(key: str) -> bool:
    return key.startswith(f"{REQUIREMENTS} ")


def warn_of_unused(lock: Lock, sources: Collection[str], problems: Problems) -> None:
    """Warn of pins that are of no source; `sources` are those of the spec in all of its scales."""
    for key in lock.pins:
        if key not in sources:
            same_kind = [source for source in sources if source.split()[0] == key.split()[0]]
            message = f"the spec has no source `{key}`"
            problems.warn("lock-unused", lock.at[key], message, nearest(key, same_kind), len(key))


def pin_digest(pin: str) -> str:
    """Strip the kind of a pin for a comparison."""
    return pin.removeprefix("sha256:")


def content_digest(pin: str) -> str:
    """Return what a finished build has of a pin among its artifacts: of lines of libraries their checksum."""
    return digest(pin.encode()) if "==" in pin else pin


def text(pins: Mapping[str, str]) -> str:
    """Write a lock file; the same pins give the same text."""
    # most keys are plain text to YAML: a colon and a hash are, within a word
    is_plain = re.compile(r"(?!.*(: |:$| #| $))[A-Za-z][!-~ ]*").fullmatch
    values = {
        key: "".join(f"\n    - {line}" for line in pin.splitlines()) if _is_listed(key) else f" {pin}"
        for key, pin in sorted(pins.items())
    }
    lines = "".join(f"  {key if is_plain(key) else json.dumps(key)}:{value}\n" for key, value in values.items())
    sources = f"sources:\n{lines}" if lines else "sources: {}\n"
    return f"# written by `stepgrid lock`; `--update` moves what is held here\nlock: {FORM}\n{sources}"


def patches(names: Sequence[Text], spec: str, problems: Problems) -> list[tuple[str, str]]:
    """List path and checksum of each patch; paths are relative to the file that names them."""
    pairs: list[tuple[str, str]] = []
    for name in names:
        file = str(Path(name.where.file).parent / name)
        if not check_may_read(file, spec, name, problems):
            continue
        try:
            content = _read_patch(file)
        except (OSError, ValueError) as error:
            message = f"the patch `{file}` cannot be read: {getattr(error, 'strerror', None) or error}"
            problems.add("file-not-found", name.where, message, width=len(name))
        else:
            record_file(file, content)
            pairs.append((file, digest(content)))
    return pairs


def _read_patch(file: str) -> bytes:
    try:
        content = head(file, LARGEST_PATCH)
    except NotRegularError as error:
        raise ValueError(f"it is {error}") from None
    if len(content) > LARGEST_PATCH:
        raise ValueError(f"it is larger than {size(LARGEST_PATCH)}")
    return content
