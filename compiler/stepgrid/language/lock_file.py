"""What holds sources still: the lock file beside a spec, and the content of patches."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.language import file_roots, files
from stepgrid.language.files import NotRegularError, head
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Map, Text, load, node_location, width
from stepgrid.model.number_format import size

FORM, SUFFIX = "1", ".lock.yaml"
_KEYS = ("lock", "sources")
_COMMIT = (re.compile(r"[0-9a-f]{40}"), "a commit: 40 digits, 0-9 and a-f")
_CHECKSUM = (re.compile(r"sha256:[0-9a-f]{64}"), "sha256: and 64 digits, 0-9 and a-f")
_HINT = "`stepgrid lock` writes this file"
LARGEST_PATCH = 64 << 20  # bytes


class Lock(NamedTuple):
    pins: Mapping[
        str, str
    ]  # source (stepgrid.language.builds.sources.key) -> a commit, or a checksum with `sha256:` before it
    at: Mapping[str, Location]  # where each stands


def path(spec: str) -> Path:
    return Path(spec).with_suffix(SUFFIX)


def spec_of(path: str) -> str:
    """A lock file stands for its spec: `*.yaml` names both."""
    return path.removesuffix(SUFFIX) + ".yaml" if path.endswith(SUFFIX) else path


def read(spec: str, problems: Problems) -> Lock:
    file = path(spec)
    if not file.exists():
        files.record_file(str(file), None)
        return Lock({}, {})
    found = Problems()
    nodes = load(str(file), found)
    for problem in found.items:
        if problem.code != "empty-file":  # it holds nothing still
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
    listed = nodes.get("sources")
    if listed is not None and not isinstance(listed, Map):
        message = "`sources`: expected a map of sources and what holds each still"
        problems.add("wrong-type", node_location(listed, nodes.where), message, _HINT, width(listed))
    return _pins(listed, problems) if isinstance(listed, Map) else Lock({}, {})


def _pins(listed: Map, problems: Problems) -> Lock:
    for key, value in listed.items():
        form, expected = _COMMIT if key.startswith("git ") else _CHECKSUM
        if not isinstance(value, Text) or not form.fullmatch(value):
            message = f"what holds `{key}` still is {expected}"
            problems.add("wrong-pin", node_location(value, listed.at[key]), message, _HINT, width(value))
    return Lock({key: str(value) for key, value in listed.items()}, listed.at)


def unused(lock: Lock, used: Collection[str], problems: Problems) -> None:
    """`used`: the sources of the spec in all of its scales."""
    for key in lock.pins:
        if key not in used:
            message, hint = f"the spec has no source `{key}`", _nearest(key, used)
            problems.warn("lock-unused", lock.at[key], message, hint, len(key))


def _nearest(key: str, used: Collection[str]) -> str:
    """Of the same kind: `git URL REF`."""
    return nearest(key, [each for each in used if each.split()[0] == key.split()[0]])


def digest(pin: str) -> str:
    """As it is compared: without what says of which kind it is."""
    return pin.removeprefix("sha256:")


def text(pins: Mapping[str, str]) -> str:
    """The file that holds these: the same for the same pins."""
    listed = "".join(f"  {_written(key)}: {pins[key]}\n" for key in sorted(pins))
    sources = f"sources:\n{listed}" if listed else "sources: {}\n"
    return f"# written by `stepgrid lock`; `--update` moves what is held here\nlock: {FORM}\n{sources}"


def _written(key: str) -> str:
    """Most keys are plain text to YAML: a colon and a hash are, within a word."""
    plain = re.fullmatch(r"[A-Za-z][!-~ ]*", key) and not re.search(r": |:$| #| $", key)
    return key if plain else json.dumps(key)


def patches(listed: Sequence[Text], spec: str, problems: Problems) -> list[tuple[str, str]]:
    """Path and checksum of each; paths are relative to the file that names them."""
    found: list[tuple[str, str]] = []
    for patch in listed:
        file = str(Path(patch.where.file).parent / patch)
        if not file_roots.check(file, spec, patch, problems):
            continue
        try:
            content = _patch(file)
        except (OSError, ValueError) as error:
            message = f"the patch `{file}` cannot be read: {getattr(error, 'strerror', None) or error}"
            problems.add("file-not-found", patch.where, message, width=len(patch))
        else:
            files.record_file(file, content)
            found.append((file, hashlib.sha256(content).hexdigest()))
    return found


def _patch(file: str) -> bytes:
    try:
        content = head(file, LARGEST_PATCH)
    except NotRegularError as error:
        raise ValueError(f"it is {error}") from None
    if len(content) > LARGEST_PATCH:
        raise ValueError(f"it is larger than {size(LARGEST_PATCH)}")
    return content
