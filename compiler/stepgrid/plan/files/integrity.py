"""Whether the files of a plan hold what was written: its folder is named by the digest of their text."""

from __future__ import annotations

import hashlib
from pathlib import Path

from stepgrid.plan import identity
from stepgrid.plan.files.plan_file import BUILDS, CELLS, HEADER, STAGES

# what readers meet in the files of a plan that was damaged, or that an older version wrote
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def intact(folder: Path) -> bool:
    """By their bytes alone, which takes a hundredth of the time of reading them."""
    name = folder.name.encode()
    if not all((folder / file).is_file() for file in (HEADER, BUILDS, STAGES)):  # nor is a pipe waited for
        return False
    try:
        header = (folder / HEADER).read_bytes().replace(b'"digest":"%b"' % name, b'"digest":""', 1)
        found = hashlib.sha256(header)
        for file in (CELLS, BUILDS, STAGES):
            if file != CELLS or (folder / file).is_file():  # a plan of no cells has no such file
                found.update((folder / file).read_bytes())
    except OSError:
        return False
    return found.hexdigest()[: identity.LENGTH].encode() == name
