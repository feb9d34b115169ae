"""`extends`: the chain of definitions behind one, the farthest first; a cycle is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from stepgrid.language.problems import Problems, nearest
from stepgrid.language.yaml import Text


class Extending(Protocol):
    @property
    def extends(self) -> Text | None: ...


D = TypeVar("D", bound=Extending)


def chain(
    name: str, first: D, parent: Callable[[str, str], D | None], known: Iterable[str], problems: Problems
) -> list[D]:
    """`parent(child, name)` finds what a child extends."""
    found, names = [first], [name]
    while (above := found[0].extends) is not None:
        definition = parent(names[0], above)
        if definition is None:
            if not problems.unread:
                itself = f"its own name means an include's, and none defines `{above}`"
                message = f"`{above}` is not defined"
                hint = itself if above == names[0] else nearest(above, known)
                problems.add("undefined-name", above.where, message, hint, len(above))
            break
        if any(definition is other for other in found):
            last = next(n for n, other in enumerate(found) if other is definition)
            _round(names[: last + 1], [link.extends for link in found[: last + 1]], problems)
            break
        found.insert(0, definition)
        names.insert(0, above)
    return found


def _round(names: list[str], said: Sequence[Text | None], problems: Problems) -> None:
    """Told from the first of them in the file, from whichever it was found: once."""
    links = [(text, name) for text, name in zip(reversed(said), reversed(names), strict=True) if text is not None]
    first = min(range(len(links)), key=lambda number: links[number][0].where)
    links = [*links[first:], *links[:first]]
    last = links[-1][0]
    circle = " → ".join([name for _, name in links] + [last])
    problems.add("extends-cycle", last.where, f"definitions go round: {circle}", width=len(last))
