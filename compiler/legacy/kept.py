"""Plans of results that were imported from published scripts: no spec comes to them, and they stay."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.legacy.planned import imported
from compiler.plan import files
from compiler.plan.model import Plan
from compiler.store.store import Store


def plans(store: Store) -> Iterator[Plan]:
    parent = store.plan("_").parent
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        try:
            if imported(files.read_header(folder)["spec"]):
                yield files.read(folder)
        except (OSError, ValueError, KeyError):
            continue  # it is no plan
