"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from stepgrid.language.problems import Location

if TYPE_CHECKING:
    from stepgrid.lint.subject import Subject


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that a rule does not like. `cells`: positions of the cells that it concerns; None = the spec."""

    where: Location
    message: str
    hint: str = ""
    cells: Collection[int] | None = None
    width: int = 1


Check: TypeAlias = "Callable[[Subject], Iterable[Finding]]"


@dataclass(frozen=True, slots=True)
class Rule:
    code: str  # docs/problems/<code>.md says what, why (the evidence), an example and the fix
    summary: str
    check: Check
    severity: Literal["error", "warning"] = "warning"  # an error only where the run cannot be right
    reads: tuple[str, ...] = ()  # options that the check looks at, where it does not tell by itself


@runtime_checkable
class RuleProvider(Protocol):
    """An engine or a driver with rules of its own, for the specs that use it."""

    def rules(self) -> Sequence[Rule]: ...
