"""Sources and extensions of builds: their forms, checked without touching the world, and their defaults.

stepgrid.build.recipe has a route for each kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from stepgrid.language.problems import close_names
from stepgrid.language.requirements import HASH, PYTHON, Requirement, RequirementsError, parse_requirement
from stepgrid.model.plan import SERVER, listed_texts
from stepgrid.model.records import Json

READY = ("debian", "system")  # kinds with programs that need no compilation
TREES = ("git", "tarball", "crate", "pypi", "debian-source", "path")  # kinds with a tree that can be compiled
LOCAL = ("system", "path", SERVER)  # kinds that take nothing from the network
REQUIREMENTS = "requirements"  # the kind of libraries of a Python script, in an environment of their own
INSTALLED = ("cargo", "go", "npm", REQUIREMENTS)  # kinds with programs that a client installs into the build
LIBRARIES = "libraries"  # in a source of any kind: the source of its requirements
SOURCE_PARTS = "parts"  # in a source that brings a tree: further sources by name, laid beside the tree
PART_KINDS = ("git", "tarball", "debian-source", "debian")
LISTED = frozenset({"debian", "files", REQUIREMENTS})  # keys that take several names
WHOLE = "."  # of the files of a `path` source: its folder, without what is no part of a program

Check: TypeAlias = Callable[[str], str | None]  # the end of a sentence, such as "is empty"


class Form(NamedTuple):
    """The keys of a source of one kind, with the checks of their values."""

    main: Check
    required: Mapping[str, Check]
    optional: Mapping[str, Check]
    nested: tuple[str, ...] = ()  # keys whose values are sources: of the tree that is compiled beside an artifact

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.required, *self.optional, *self.nested)


class SourceFault(NamedTuple):
    """A fault of a source: at the value of a key, or of all of it."""

    code: str
    key: str | None
    message: str
    hint: str = ""
    inside: tuple[str, ...] = ()  # the keys that lead to a source within the source


def _matching(pattern: str, expected: str) -> Check:
    return lambda value: None if re.fullmatch(pattern, value) else f"is not {expected}"


_PASSWORD = "holds a password or a user's name, which may be a token: it would go into every report"


def _url(*schemes: str, separators: str = "") -> Check:
    """Check a URL, which has no character that a shell would act upon but these separators of a query."""

    def check(value: str) -> str | None:
        if value.startswith("-"):
            return "begins with `-`"
        if not re.fullmatch(rf"[\w.~:/?#\[\]@+,=%{separators}-]+", value, re.ASCII):
            return "is not a URL: it has characters that must be written as %XX"
        try:
            parts = urlsplit(value)
        except ValueError as error:
            return f"is not a URL: {error}"
        if parts.scheme not in schemes or f"{parts.scheme}://" != value[: len(parts.scheme) + 3].lower():
            return f"is not a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}"
        if parts.password is not None or (parts.scheme == "https" and parts.username):
            return _PASSWORD
        if parts.scheme != "file" and not parts.hostname:
            return "names no host"
        return "names a host that begins with `-`" if (parts.netloc.rpartition("@")[2]).startswith("-") else None

    return check


_REMOTE = _url("https", "ssh", "file")
LOCAL_REPOSITORY = re.compile(r"\.\.?(/[\w./+@-]*)?", re.ASCII)  # `.`: from the file that names it


def _ref(value: str) -> str | None:
    if value.startswith("-"):
        return "begins with `-`"
    if ".." in value or not re.fullmatch(r"[\w./+@{}^~-]+", value, re.ASCII):
        return "is not a tag, a branch or a commit"
    return None


def _not_an_option(pattern: str, complaint: str) -> Check:
    return lambda value: (
        "begins with `-`" if value.startswith("-") else None if re.fullmatch(pattern, value, re.DOTALL) else complaint
    )


def _requirement(value: str) -> str | None:
    try:
        parse_requirement(value)
    except RequirementsError as error:
        return str(error)
    return None


_BOOLEAN = _matching("true|false", "true or false")
_SHA256 = _matching(r"[0-9a-f]{64}", "a SHA-256: 64 digits, 0-9 and a-f")
_VERSION = _matching(r"[A-Za-z0-9][A-Za-z0-9.+!_~-]*", "a version")
_DEBIAN_VERSION = _matching(r"[0-9][A-Za-z0-9.+:~-]*", "a version of a Debian package")
_CRATE = _matching(r"[A-Za-z][A-Za-z0-9_-]*", "a crate's name")
_PYPI = _matching(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", "a package's name")
_NPM = _matching(r"(?:@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*", "a package's name")
_GO = _matching(
    r"[a-z0-9][\w.-]*(?:/[\w.~-]+)+(?:@v[\w.+-]+)?", "a package's path such as host.example/module/cmd/name"
)
_FEATURES = _matching(r"\w[\w/+.-]*(?:[ ,]+\w[\w/+.-]*)*", "a list of features")
_PACKAGE = _matching(r"[a-z0-9][a-z0-9+.-]+", "a Debian package's name")
_SUITE = _matching(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "a suite such as bookworm")
_COORDINATES = _matching(r"[\w.-]*\w:\w[\w.-]*(?::\w[\w.+-]*)?", "GROUP:ARTIFACT or GROUP:ARTIFACT:VERSION")
_CLASSIFIER = _matching(r"\w[\w.-]*", "a classifier such as linux64")
_KIND = _matching("wheel|sdist", "wheel or sdist")
_LOCAL_FILE = _matching(r"(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\0]+", "a file or a folder below its `path`")
_PART = _matching(r"[a-z][a-z0-9_-]*", "a name of small letters and digits")
_SERVER = _matching(r"[A-Za-z0-9_][\w.-]*", "a name that a site file could have under `servers`")

_VERSIONED: Mapping[str, Check] = {"version": _VERSION, "sha256": _SHA256}
_DEBIAN_SOURCE: Mapping[str, Check] = {"version": _DEBIAN_VERSION, "patched": _BOOLEAN, "sha256": _SHA256}

SOURCES: Mapping[str, Form] = MappingProxyType(
    {
        "debian": Form(_PACKAGE, {"suite": _SUITE}, {}),
        "system": Form(_not_an_option("[^/]*|/.*", "is neither a program's name nor an absolute path"), {}, {}),
        "git": Form(
            lambda value: None if LOCAL_REPOSITORY.fullmatch(value) else _REMOTE(value),
            {"ref": _ref},
            {"submodules": _BOOLEAN},
        ),
        "tarball": Form(_url("https", "file", separators="&;"), {"sha256": _SHA256}, {}),
        "maven": Form(_COORDINATES, {}, {"classifier": _CLASSIFIER, "sha256": _SHA256}, nested=("tree",)),
        "crate": Form(_CRATE, {}, _VERSIONED),
        "pypi": Form(_PYPI, {}, {**_VERSIONED, "kind": _KIND}),
        "debian-source": Form(_PACKAGE, {"suite": _SUITE}, _DEBIAN_SOURCE),
        "cargo": Form(_CRATE, {}, {**_VERSIONED, "features": _FEATURES}),
        "go": Form(_GO, {}, {"version": _VERSION}),
        "npm": Form(_NPM, {}, {**_VERSIONED, "scripts": _BOOLEAN}),
        REQUIREMENTS: Form(_requirement, {}, {}),
        "path": Form(_not_an_option(".+", "is empty"), {}, {"files": _LOCAL_FILE}),
        SERVER: Form(_SERVER, {}, {}),
    }
)


def source_kind(source: Mapping[str, Json]) -> str | None:
    """Find the kind of a source; None if it has none, or several."""
    kinds = [key for key in source if key in SOURCES]
    return kinds[0] if len(kinds) == 1 else None


def default_program(source: Mapping[str, Json]) -> str | None:
    """Name the program that a source brings where a build names none."""
    kind = source_kind(source)
    if kind == REQUIREMENTS:
        return PYTHON
    if kind != "system" and kind not in INSTALLED:
        return None
    parts = str(source[kind]).partition("@" if kind == "go" else "\0")[0].split("/")
    return parts[-2] if kind == "go" and re.fullmatch("v[0-9]+", parts[-1]) else parts[-1]


def declared_libraries(source: Mapping[str, Json]) -> list[Requirement]:
    """List the libraries of a source of requirements, without the Python; of another source none."""
    return [library for library in _requirements(source) if library.name != PYTHON]


def required_pythons(source: Mapping[str, Json]) -> list[Requirement]:
    """List what the scripts of a source require of Python."""
    return [requirement for requirement in _requirements(source) if requirement.name == PYTHON]


def _requirements(source: Mapping[str, Json]) -> list[Requirement]:
    return [parse_requirement(line) for line in listed_texts(source.get(REQUIREMENTS))]


def network_sources(source: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """List kind and name, less the release, of a source that needs the network, and of the tree beside an artifact."""
    kind = source_kind(source)
    if kind is not None and kind not in LOCAL and not str(source[kind]).startswith("file:"):
        names = [name.partition(HASH)[0] for name in listed_texts(source[kind])]
        yield kind, " ".join(":".join(name.split(":")[:2]) if kind == "maven" else name for name in names)
    for part in source.values():
        if isinstance(part, Mapping):
            yield from network_sources(part)


def source_faults(source: Mapping[str, Json], is_any_program: bool = True) -> Iterator[SourceFault]:
    """Check a source whose values are resolved for its version. Only builds of any program have parts."""
    kind = source_kind(source)
    if kind is None:
        yield SourceFault("no-source", None, "a source is of one kind", f"one of: {', '.join(SOURCES)}")
        return
    form, takes_parts = SOURCES[kind], is_any_program and kind in TREES
    unknown_keys = [key for key in source if key not in (kind, *form.keys, *([SOURCE_PARTS] if takes_parts else []))]
    missing_keys = [name for name in form.keys if name not in source]
    corrections = {key: name for key in unknown_keys for name in close_names(str(key), missing_keys)}
    for key in unknown_keys:
        keys = ", ".join((kind, *form.keys))
        hint = f"did you mean `{corrections[key]}`?" if key in corrections else f"it takes: {keys}"
        yield SourceFault("unknown-key", key, f"a {kind} source takes no `{key}`", hint)
    for key in form.required:
        if key not in source and key not in corrections.values():
            yield SourceFault("missing-key", None, f"a {kind} source needs `{key}`")
    checks = {kind: form.main, **form.required, **form.optional}
    for key, check in checks.items():
        if key in source:
            yield from _value_faults(key, source[key], check)
    for key in form.nested:
        if key in source:
            yield from _nested_faults(source[key], (key,), TREES)
    if takes_parts and SOURCE_PARTS in source:
        yield from _part_faults(source[SOURCE_PARTS])


def _part_faults(parts: Any) -> Iterator[SourceFault]:
    if not isinstance(parts, Mapping) or not parts:
        yield SourceFault(
            "wrong-type",
            SOURCE_PARTS,
            f"`{SOURCE_PARTS}` has sources by name",
            "write `parts: {NAME: {git: …, ref: …}}`",
        )
        return
    for name, source in parts.items():
        if complaint := _PART(name):
            yield SourceFault("wrong-source", name, f"`{name}` {complaint}", inside=(SOURCE_PARTS,))
        yield from _nested_faults(source, (SOURCE_PARTS, name), PART_KINDS)


def _value_faults(key: str, value: Any, check: Check) -> Iterator[SourceFault]:
    for text in map(scalar_text, value if isinstance(value, list | tuple) and key in LISTED else [value]):
        if complaint := check(text):
            shown_value = f"`{key}`" if complaint == _PASSWORD else f"`{key}: {text}`"
            yield SourceFault("wrong-source", key, f"{shown_value} {complaint}")


def _nested_faults(source: Any, keys: tuple[str, ...], kinds: Sequence[str]) -> Iterator[SourceFault]:
    """Check a source within another, to which `keys` lead."""
    kind = source_kind(source) if isinstance(source, Mapping) else None
    if kind not in kinds or (keys[0] == SOURCE_PARTS and SOURCE_PARTS in source):
        message = f"`{keys[-1]}` is a source of one kind, of those that bring a tree"
        yield SourceFault("no-source", keys[-1], message, f"one of: {', '.join(kinds)}", keys[:-1])
        return
    for fault in source_faults(source):
        yield fault._replace(inside=(*keys, *fault.inside))


def local_files(source: Mapping[str, Json]) -> tuple[str, ...]:
    """List the names that a `path` source chooses of its folder; none: it is all of the folder."""
    return tuple(listed_texts(source.get("files")))


def scalar_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def extension_faults(extensions: Mapping[str, Json], engine: str, names: Sequence[str]) -> Iterator[SourceFault]:
    """Check a build's `extensions: {NAME: VERSION}` against the extensions of its engine."""
    for name, version in extensions.items():
        if name not in names:
            hint = f"it has: {', '.join(names)}" if names else "it has none"
            yield SourceFault("undefined-name", name, f"{engine} has no extension `{name}`", hint)
        else:
            yield from _value_faults(name, scalar_text(version), _VERSION)


class PublishedLibrary(NamedTuple):
    """A published library of an engine, and the source of its releases."""

    classifier: str  # empty: there is one jar
    git: str
    ref: str
    one_jar_from: int = 0  # the major release since which no platform has a jar of its own


def complete_source(
    libraries: Mapping[str, PublishedLibrary], source: Mapping[str, Json], version: str
) -> dict[str, Json]:
    """Add everything that decides what is fetched: version, classifier, the tree of a library.

    `libraries`: those that are published of the build's engine, by GROUP:ARTIFACT.
    """
    kind = source_kind(source)
    if kind in ("crate", "pypi", "cargo", "npm") or (kind == "go" and "@" not in str(source[kind])):
        return {**source, **({"version": version} if version and "version" not in source else {})}
    if kind != "maven":
        return dict(source)
    group, artifact, *releases = str(source["maven"]).split(":")
    release = releases[0] if releases else version
    if not release:
        return dict(source)
    values: dict[str, Any] = {**source, "maven": f"{group}:{artifact}:{release}"}
    if library := libraries.get(f"{group}:{artifact}"):
        major = release.partition(".")[0]
        is_one_jar = library.one_jar_from and major.isdecimal() and int(major) >= library.one_jar_from
        if library.classifier and not is_one_jar:
            values.setdefault("classifier", library.classifier)
        values.setdefault("tree", {"git": library.git, "ref": library.ref.format(release)})
    if "tree" in values:
        kind_of_tree = {"kind": "sdist"} if "pypi" in values["tree"] else {}  # a wheel has no source
        values["tree"] = {**kind_of_tree, **complete_source(libraries, values["tree"], version)}
    return values


_UNNAMED = frozenset({"sha256", "submodules", "patched", "features", "scripts"})  # they name no file and no commit
_ARTIFACTS = frozenset({"maven", "crate", "pypi", "debian-source", "cargo", "go", "npm"})


def source_key(source: Mapping[str, Json]) -> str:
    """Name a complete source as lock files do: `git https://… v1.0`."""
    kind = source_kind(source)
    if kind is None:
        return " ".join(str(value) for value in source.values() if not isinstance(value, Mapping))
    names = [name for name in (kind, *SOURCES[kind].keys) if name in source and name not in _UNNAMED]
    values = [listed_texts(source[name]) for name in names if not isinstance(source[name], Mapping)]
    return " ".join([kind, *(",".join(name.partition(HASH)[0] for name in value) for value in values)])


def source_parts(source: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """List a source and those within it: each has a pin of its own."""
    yield source
    for value in source.values():
        if isinstance(value, Mapping):
            yield from source_parts(value)


def can_move(source: Mapping[str, Json]) -> bool:
    """Decide if a lock file can pin a source: a tag and a branch move, and a registry may change an artifact."""
    if "git" in source:
        return not re.fullmatch(r"[0-9a-f]{40}", str(source.get("ref", "")))
    if REQUIREMENTS in source:
        return not all(library.hashes for library in declared_libraries(source))
    return source_kind(source) in _ARTIFACTS and "sha256" not in source


# Newest releases, as the registry of a source lists them

LISTED_KINDS = ("git", "debian", "maven", "pypi", "crate", "cargo")  # kinds whose registries list releases


class ReleaseQuestion(NamedTuple):
    """A question for the newest releases of a source whose texts leave the version open: `v{{ version }}`."""

    source: Mapping[str, Json]
    number: int
    group: str  # all, each major or each minor
    first: str  # the oldest that counts; empty: all do

    @property
    def key(self) -> str:
        """Name the question as lock files do: `maven GROUP:ARTIFACT, newest 2 of each major`."""
        group = "" if self.group == "all" else f" of {self.group}"
        return f"{source_key(self.source)}, newest {self.number}{group}{f' from {self.first}' if self.first else ''}"

    @property
    def fault(self) -> tuple[str, str] | None:
        """Say why no registry can be asked, and what would be right; None where one can."""
        kind, text = source_kind(self.source), release_text(self.source)
        if kind not in LISTED_KINDS:
            fault = f"a {kind} source has no list of releases" if kind else "it has no source"
            return fault, f"those of kind {', '.join(LISTED_KINDS)} have one"
        if "{{" in str(self.source[kind]).replace(text, "", 1):
            return f"its {kind} source has another name for each version", "list them: `versions: […]`"
        if text and "{{" not in text:
            return f"`{text}` is the same for each version", "leave the version open, as in `v{{ version }}`"
        return None


def open_source(source: Mapping[str, Json], settle: Callable[[str], str] = str) -> dict[str, Json]:
    """Write the values of a source before there is a version: of alternatives the last, which is for new releases.

    `settle` evaluates what does not depend on the version."""
    names = (*(key for key in source if key in SOURCES), "ref", "version", "kind", "suite")
    values = {name: _last_alternative(source[name]) for name in names if name in source}
    return {name: settle(value) if isinstance(value, str) else value for name, value in values.items()}


def _last_alternative(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return _last_alternative(value[-1]) if value and isinstance(value[-1], Mapping) else [*map(str, value)]
    return _last_alternative(value.get("value", "")) if isinstance(value, Mapping) else str(value)


def release_text(source: Mapping[str, Json]) -> str:
    """Return the text of a source that names the release; empty where that is the version of its build."""
    kind = source_kind(source)
    coordinates = str(source["maven"]).split(":", 2) if kind == "maven" else []
    return "".join(coordinates[2:]) if kind == "maven" else str(source.get("ref" if kind == "git" else "version", ""))
