"""Rules about one step: judged once per combination of the values that they read, however many cells have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepgrid.lint.rule import Finding
from stepgrid.lint.step_table import Row, combinations
from stepgrid.lint.step_values import Facts
from stepgrid.lint.subject import Subject


@dataclass(frozen=True, slots=True)
class Verdict:
    """`at` is the option or setting that the finding stands at: NAME, `step.NAME`, `step` or `build`."""

    at: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class StepRule:
    """`judge` sees what it `reads` and `needs`; it is not asked where something that it needs is not given."""

    reads: tuple[str, ...]
    judge: Callable[[Facts], Verdict | None]
    needs: tuple[str, ...]

    def __call__(self, subject: Subject) -> Iterator[Finding]:
        table = subject.table
        if not table.rows or any(table.values(name) <= {None} for name in self.needs):
            return
        names = (*self.needs, *self.reads)
        varying = [name for name in names if len(table.values(name)) > 1]
        fixed = {name: next(iter(table.values(name))) for name in names if name not in varying}
        verdicts = self._verdicts(subject, varying, fixed)
        if verdicts:
            yield from _findings(subject, varying, verdicts)

    def _verdicts(
        self, subject: Subject, varying: Sequence[str], fixed: Mapping[str, Any]
    ) -> dict[tuple[Any, ...], Verdict]:
        found: dict[tuple[Any, ...], Verdict] = {}
        columns = [subject.table.column(name) for name in varying]
        for values in combinations(columns) if columns else [()]:
            facts = {**fixed, **dict(zip(varying, values, strict=True))}
            if all(facts[name] is not None for name in self.needs):
                verdict = self.judge(Facts(facts))
                if verdict is not None:
                    found[values] = verdict
        return found


def each_step(reads: Sequence[str], judge: Callable[[Facts], Verdict | None], needs: Sequence[str] = ()) -> StepRule:
    return StepRule(tuple(reads), judge, tuple(needs))


def _findings(subject: Subject, varying: Sequence[str], verdicts: dict[tuple[Any, ...], Verdict]) -> Iterator[Finding]:
    columns = list(map(subject.table.column, varying))
    for position, row in enumerate(subject.table.rows):
        verdict = verdicts.get(tuple(column[position] for column in columns))
        if verdict is not None:
            yield finding(subject, row, verdict)


def finding(subject: Subject, row: Row, verdict: Verdict) -> Finding:
    return Finding(subject.where(row, verdict.at), verdict.message, verdict.hint, subject.table.cells(row))
