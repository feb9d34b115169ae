"""`extends`: the chain of definitions behind one, the farthest first; a cycle is written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from compiler.language.nodes import Text
from compiler.language.problem import Problems, nearest


class Extending(Protocol):
    @property
    def extends(self) -> Text | None: ...


D = TypeVar("D", bound=Extending)


def chain(name: str, first: D, parent: Callable[[str, str], D | None], known: list[str], problems: Problems) -> list[D]:
    """`parent(child, name)` finds what a child extends."""
    found, names = [first], [name]
    while (above := found[0].extends) is not None:
        definition = parent(names[0], above)
        if definition is None:
            if not problems.unread:
                message, hint = f"`{above}` is not defined", nearest(above, known)
                problems.add("undefined-name", above.where, message, hint, len(above))
            break
        if any(definition is other for other in found):
            around = names[: next(n for n, other in enumerate(found) if other is definition) + 1]
            circle = " → ".join([*reversed(around), above])
            problems.add("extends-cycle", above.where, f"definitions go round: {circle}", width=len(above))
            break
        found.insert(0, definition)
        names.insert(0, above)
    return found
