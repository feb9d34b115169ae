"""What a source leaves to be understood: the build's version, a library's classifier and the tree that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stepgrid.language.builds.sources import kind_of


class Library(NamedTuple):
    """A published library of an engine, and where the source of its release is."""

    classifier: str  # empty: the one jar that there is
    git: str
    ref: str
    one_jar_from: int = 0  # the major release from which there is none of a platform's own


def complete(libraries: Mapping[str, Library], source: Mapping[str, Any], version: str) -> dict[str, Any]:
    """A sound source with all that decides what is fetched. What it says itself stays.

    `libraries`: those that are published of the build's engine, by GROUP:ARTIFACT.
    """
    kind = kind_of(source)
    if kind in ("crate", "pypi"):
        return {**source, **({"version": version} if version and "version" not in source else {})}
    return _jar(libraries, source, version) if kind == "maven" else dict(source)


def _jar(libraries: Mapping[str, Library], source: Mapping[str, Any], version: str) -> dict[str, Any]:
    group, artifact, *given = str(source["maven"]).split(":")
    if not given and not version:
        return dict(source)
    release = given[0] if given else version
    found: dict[str, Any] = {**source, "maven": f"{group}:{artifact}:{release}"}
    library = libraries.get(f"{group}:{artifact}")
    if library and library.classifier and not _one_jar(library, release):
        found.setdefault("classifier", library.classifier)
    if library:
        found.setdefault("tree", {"git": library.git, "ref": library.ref.format(release)})
    if "tree" in found:
        found["tree"] = _tree(libraries, found["tree"], version)
    return found


def _one_jar(library: Library, release: str) -> bool:
    major = release.partition(".")[0]
    return bool(library.one_jar_from) and major.isdecimal() and int(major) >= library.one_jar_from


def _tree(libraries: Mapping[str, Library], source: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Of a package that has both, the one with the source."""
    kind = {"kind": "sdist"} if "pypi" in source else {}
    return {**kind, **complete(libraries, source, version)}
