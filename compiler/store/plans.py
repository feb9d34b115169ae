"""Plans in a store: their folders, published whole."""

from __future__ import annotations

import os
from pathlib import Path

from compiler.plan import files
from compiler.plan.model import Plan
from compiler.store.store import Store


def publish(store: Store, plan: Plan) -> None:
    store.publish_plan(plan.digest, lambda folder: write(plan, folder))


def write(plan: Plan, folder: Path) -> None:
    """By rename; a plan that is there already is the same plan."""
    if (folder / files.HEADER).is_file():
        return
    new = folder.with_name(f".{folder.name}.{os.getpid()}")
    new.mkdir(parents=True)
    for name, content in files.texts(plan):
        with (new / name).open("w", encoding="utf-8") as file:
            file.writelines(content)
    try:
        os.rename(new, folder)
    except OSError:  # another process published the same plan first
        for entry in new.iterdir():
            entry.unlink()
        new.rmdir()
