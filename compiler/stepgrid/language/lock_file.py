"""Pins of sources: the lock file beside a spec, and the checksums of patches."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from stepgrid.language.files import NotRegularError, digest, head, record_file
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.site import check_may_read
from stepgrid.language.sources import REQUIREMENTS
from stepgrid.language.yaml import Map, Seq, Text, load, node_location, width
from stepgrid.model.units import size

FORM, SUFFIX = "1", ".lock.yaml"
LARGEST_PATCH = 64 << 20  # bytes
MOST_RELEASES = 5_000  # of a question
_KEYS = ("lock", "versions", "sources")
_COMMIT = (re.compile(r"[0-9a-f]{40}"), "a commit: 40 digits, 0-9 and a-f")
_LIBRARIES = (re.compile(r"[\w.-]+==[\w.+!-]+(?: --hash=sha256:[0-9a-f]{64})*", re.ASCII), "a list of NAME==VERSION")
_CHECKSUM = (re.compile(r"sha256:[0-9a-f]{64}"), "sha256: and 64 digits, 0-9 and a-f")
_RELEASE = re.compile(r"(\w[\w./+~:-]*)?")  # or its suite
_HINT = "`stepgrid lock` writes this file"

Releases: TypeAlias = Mapping[str, str]  # version -> the suite that has it; empty for other sources than Debian's


class Lock(NamedTuple):
    pins: Mapping[str, str]  # source key -> a commit, a checksum that begins with `sha256:`, or lines of libraries
    at: Mapping[str, Location]  # of each source and question
    versions: Mapping[str, Releases] = MappingProxyType({})  # question for the newest -> releases, the oldest first


def path(spec: str) -> Path:
    return Path(spec).with_suffix(SUFFIX)


def spec_path(path: str) -> str:
    """Return the spec of a lock file: `*.yaml` names both."""
    return path.removesuffix(SUFFIX) + ".yaml" if path.endswith(SUFFIX) else path


def is_elsewhere(spec: str) -> bool:
    """Tell whether a link leads from the lock file out of the spec's folder, or to what is called otherwise."""
    real, folder = (Path(os.path.realpath(name)) for name in (path(spec), Path(spec).parent))
    return not (real.is_relative_to(folder) and real.name.endswith(SUFFIX))


def read(spec: str, problems: Problems) -> Lock:
    file = path(spec)
    if is_elsewhere(spec):
        message = f"the lock file `{file}` is a link to `{os.path.realpath(file)}`"
        hint = f"a file in the spec's folder is expected, with a name that ends in `{SUFFIX}`: remove the link"
        problems.add("file-outside", Location(spec, 1, 1), message, hint)  # no line of that file is shown
        return Lock({}, {})
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
    sources = _map(nodes, "sources", "sources and what holds each still", problems)
    questions = _map(nodes, "versions", "questions and the releases that answer them", problems)
    pins: dict[str, str] = {}
    for key, value in sources.items():
        is_list = _is_listed(key)
        form, expected = _LIBRARIES if is_list else _COMMIT if key.startswith("git ") else _CHECKSUM
        lines = value if isinstance(value, Seq) and is_list else [value]
        pins[key] = "\n".join(map(str, lines))
        if not all(isinstance(line, Text) and form.fullmatch(line) for line in lines):
            message = f"what holds `{key}` still is {expected}"
            problems.add("wrong-pin", node_location(value, sources.at[key]), message, _HINT, width(value))
    versions: dict[str, Releases] = {}
    for key, value in questions.items():
        items = value if isinstance(value, Seq | Map) else ()
        if len(items) > MOST_RELEASES:
            message = f"{len(items):,} releases of `{key}`: a lock file has at most {MOST_RELEASES:,}"
            problems.add("too-large", questions.at[key], message, _HINT, len(key))
            continue
        pairs = [*items.items()] if isinstance(items, Map) else [(item, Text("", nodes.where)) for item in items]
        if pairs and all(isinstance(text, str) and _RELEASE.fullmatch(text) for pair in pairs for text in pair):
            versions[key] = {str(version): str(suite) for version, suite in pairs}
        else:
            message = f"the releases of `{key}` are a list such as [17.10, 17.11], or a map of releases and suites"
            problems.add("wrong-pin", node_location(value, questions.at[key]), message, _HINT, width(value))
    return Lock(pins, {**questions.at, **sources.at}, versions)


def _map(nodes: Map, key: str, content: str, problems: Problems) -> Map:
    value = nodes.get(key)
    if value is not None and not isinstance(value, Map):
        message = f"`{key}`: expected a map of {content}"
        problems.add("wrong-type", node_location(value, nodes.where), message, _HINT, width(value))
    return value if isinstance(value, Map) else Map({}, nodes.where, {})


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


def text(pins: Mapping[str, str], versions: Mapping[str, Releases] = MappingProxyType({})) -> str:
    """Write a lock file; the same pins and releases give the same text."""
    values = {
        key: "".join(f"\n    - {line}" for line in pin.splitlines()) if _is_listed(key) else f" {pin}"
        for key, pin in sorted(pins.items())
    }
    lists = {key: f" {releases_text(releases)}" for key, releases in sorted(versions.items())}
    head = f"# written by `stepgrid lock`; `--update` moves what is held here\nlock: {FORM}\n"
    return f"{head}{_section('versions', lists) if lists else ''}{_section('sources', values)}"


def releases_text(releases: Releases) -> str:
    """Write [17.10, 17.11], or {7.8: bookworm, 9.10: trixie}."""
    items = ", ".join(f"{version}: {suite}" if suite else version for version, suite in releases.items())
    return f"{{{items}}}" if any(releases.values()) else f"[{items}]"


def _section(name: str, values: Mapping[str, str]) -> str:
    # most keys are plain text to YAML: a colon and a hash are, within a word
    is_plain = re.compile(r"(?!.*(: |:$| #| $))[A-Za-z][!-~ ]*").fullmatch
    lines = (f"  {key if is_plain(key) else json.dumps(key)}:{value}\n" for key, value in values.items())
    return f"{name}:\n{''.join(lines)}" if values else f"{name}: {{}}\n"


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
