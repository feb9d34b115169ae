"""A spec compiled for this host: the one place where planning meets the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compiler.language.problem import Problems
    from compiler.plan.model import Plan
    from compiler.store.store import Store


def named(spec: str) -> str:
    """The same file is the same name: a path below the current folder is relative to it."""
    path = Path(spec)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)


def compiled(
    spec: str, scale: str | None, problems: Problems | None = None, only: str | None = None, sets: Sequence[str] = ()
) -> Plan:
    """SpecError holds everything that is wrong with the spec."""
    from compiler.build.pin import pin
    from compiler.plan.uncollected import uncollected
    from compiler.store.store import Store

    with uncollected():  # imports make what stays, too
        from compiler.plan.compile import compile_spec

        return compile_spec(named(spec), scale, host(Store()), pin, problems, only, sets)


def host(store: Store) -> dict[str, Any]:
    """What this host is, with the storage that outputs/ are on."""
    from compiler.run.host import hardware

    return hardware(store.root if store.root.is_dir() else Path())
