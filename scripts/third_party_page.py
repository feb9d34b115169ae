"""THIRD_PARTY.md, from the metadata of what stepgrid's wheel needs.

`python -m scripts.third_party_page > THIRD_PARTY.md`
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

INTRODUCTION = """# Third-party notices

Made by `python -m scripts.third_party_page > THIRD_PARTY.md`; a test keeps it so.

stepgrid's wheel holds its own files alone. pip installs the packages below beside it, each under its own license, whose
text is in the package. Engines and clients that a spec builds or unpacks (RocksDB, MySQL, MariaDB, PostgreSQL …)
come under the licenses of their projects; `build.json` of a build names the source.

| package | license |
|---|---|"""
PREFIX = "License :: OSI Approved :: "


def page() -> str:
    found = needed("stepgrid", {})
    rows = (f"| {name} | {license_of(found[name])} |" for name in sorted(found) if name != "stepgrid")
    return "\n".join([INTRODUCTION, *rows])


def needed(name: str, known: dict[str, Distribution], extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """With what it needs itself on this platform."""
    try:
        known[name] = distribution(name)
    except PackageNotFoundError:  # of another platform
        return known
    for line in known[name].requires or ():
        wanted = Requirement(line)
        plain = re.sub(r"[-_.]+", "-", wanted.name).lower()
        holds = wanted.marker is None or any(wanted.marker.evaluate({"extra": each}) for each in {"", *extras})
        if holds and plain not in known:
            needed(plain, known, frozenset(wanted.extras))
    return known


def license_of(found: Distribution) -> str:
    """As short as its metadata says it."""
    said = found.metadata
    classified = [each.removeprefix(PREFIX) for each in said.get_all("Classifier") or () if each.startswith(PREFIX)]
    written = (said["License"] or "").strip().splitlines()
    return said["License-Expression"] or ", ".join(classified) or (written[0] if written else "see the package")


if __name__ == "__main__":
    print(page())
