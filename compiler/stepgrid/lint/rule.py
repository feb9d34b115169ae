"""Rules of experience, and the findings that they make; an engine or a driver may bring rules of its own.

A rule about one step is a row: the names that it reads, a judgement of their values, and where it is reported. It is
judged once per combination of these values, however many cells have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from stepgrid.language.problems import Location
from stepgrid.model.units import as_number

if TYPE_CHECKING:
    from stepgrid.lint.subject import LintSubject


class LintFinding(Struct, frozen=True):
    """A place that a rule objects to. `cells`: positions of the cells that it concerns; None = the spec."""

    where: Location
    message: str
    hint: str = ""
    cells: Collection[int] | None = None
    width: int = 1


Check: TypeAlias = "Callable[[LintSubject], Iterable[LintFinding]]"


class Rule(Struct, frozen=True):
    code: str  # docs/problems/<code>.md has the evidence, an example and the fix
    summary: str
    check: Check
    severity: Literal["error", "warning"] = "warning"  # an error only if the run cannot be right
    reads: tuple[str, ...] = ()  # options that the check reads, if it is no StepRule

    @property
    def options(self) -> frozenset[str]:
        names = (*self.check.needs, *self.check.reads) if isinstance(self.check, StepRule) else ()
        return frozenset(name.removesuffix(".unsupported") for name in (*self.reads, *names))


@runtime_checkable
class RuleProvider(Protocol):
    """An engine, a driver or a collector with rules of its own, for the specs that use it."""

    def rules(self) -> Sequence[Rule]: ...


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_LARGEST = 2**64  # a larger number is a slip
_TRUE = (True, 1, "1", "true", "on", "ON")


class Facts:
    """Values that a rule about one step declared, and no others; None is a value that is not set.

    Options and facts of the step's kind by name, settings as `step.NAME`, hardware as `hardware.NAME`.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def has(self, name: str) -> bool:
        return self._values[name] is not None

    def is_on(self, name: str, default: bool = False) -> bool:
        value = self._values[name]
        return default if value is None else value in _TRUE

    def number(self, name: str, default: float | None = None) -> float | None:
        """Read a number, also if the engine writes it as text: 90G, 96GB."""
        value = self._values[name]
        if value is None or isinstance(value, bool):
            return default
        number = as_number(value)
        number = size(str(value)) if number is None else number
        return None if number is None or abs(number) > _LARGEST else number

    def amount(self, name: str, default: float) -> float:
        number = self.number(name, default)
        return default if number is None else number


def size(text: str) -> float | None:
    match = _SIZE.fullmatch(text.strip())
    return float(match[1]) * _UNITS[match[2].upper()] if match else None


def release(numbers: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in numbers)


class Verdict(Struct, frozen=True):
    """`at` is the option or setting that is reported: NAME, `step.NAME`, `step` or `build`."""

    at: str
    message: str
    hint: str = ""


class StepRule(Struct, frozen=True):
    """`judge` gets what the rule `reads` and `needs`; it is not called if a needed value is not set."""

    reads: tuple[str, ...]
    judge: Callable[[Facts], Verdict | None]
    needs: tuple[str, ...]

    def __call__(self, subject: LintSubject) -> Iterator[LintFinding]:
        table = subject.table
        if not table.rows or any(table.values(name) <= {None} for name in self.needs):
            return
        names = dict.fromkeys((*self.needs, *self.reads))
        varying = [name for name in names if len(table.values(name)) > 1]
        fixed = {name: next(iter(table.values(name))) for name in names if name not in varying}
        columns = [table.column(name) for name in varying]
        verdicts: dict[tuple[Any, ...], Verdict] = {}
        for values in combinations(columns) if columns else [()]:
            facts = {**fixed, **dict(zip(varying, values, strict=True))}
            if all(facts[name] is not None for name in self.needs) and (verdict := self.judge(Facts(facts))):
                verdicts[values] = verdict
        for position, row in enumerate(table.rows if verdicts else ()):
            if verdict := verdicts.get(tuple(column[position] for column in columns)):
                where = subject.location(row, verdict.at)
                yield LintFinding(where, verdict.message, verdict.hint, table.cells(row))


def each_step(reads: Sequence[str], judge: Callable[[Facts], Verdict | None], needs: Sequence[str] = ()) -> StepRule:
    return StepRule(tuple(reads), judge, tuple(needs))


def combinations(columns: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """List the distinct rows of some columns, in order."""
    return list(dict.fromkeys(zip(*columns, strict=True)))
