"""The short tables of a cut: operations per second, absolute or relative to the first build, by step and version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from compiler.legacy import awk
from compiler.legacy.db_bench.columns import Row
from compiler.legacy.db_bench.grouped import Block

LEFT_OUT = ("revrange.t", "overwritesome")  # steps that are there to prepare the next
_FEWEST = 21  # words of a row that has a result

Line = tuple[str, Sequence[str]]


def tables(name: str, blocks: Sequence[Block]) -> dict[str, str]:
    """By the names of the published files, for the cut sum.NAME.txt."""
    relative, absolute = list(_lines(blocks, _relative)), list(_lines(blocks, _absolute))
    versions = _versions(blocks)
    return {
        f"csum.{name}.csv": csv(versions, relative),
        f"sum.abs0.{name}.csv": csv(versions, relative),
        f"sum.abs0.{name}.tsv": tsv(versions, relative),
        f"sum.abs1.{name}.csv": csv(versions, absolute),
        f"sum.abs1.{name}.tsv": tsv(versions, absolute),
    }


def csv(versions: Sequence[str], lines: Sequence[Line]) -> str:
    """The head ends in a comma, the lines do not."""
    head = ",".join(("test", *versions, ""))
    return "".join(f"{line}\n" for line in (head, *(",".join((name, *values)) for name, values in lines)))


def tsv(versions: Sequence[str], lines: Sequence[Line]) -> str:
    rows = [(*versions, "test"), *((*values, name) for name, values in lines)]
    return "".join("\t".join(row) + "\n" for row in rows)


def _lines(blocks: Sequence[Block], values: Callable[[Sequence[str]], list[str]]) -> Iterator[Line]:
    for rows in map(_counted, blocks):
        if rows and not rows[-1].test.startswith(LEFT_OUT):
            yield rows[-1].test, values([row.cells["ops_sec"] for row in rows])


def _counted(block: Block) -> list[Row]:
    """A failed step's row has too few words: the figures after it are in the column of the build before theirs."""
    return [row for row in block if row is not None and len(row.text.split()) >= _FEWEST]


def _versions(blocks: Sequence[Block]) -> list[str]:
    """Of the last step: the word before the last, which is the job's id where there is one."""
    return [row.text.split()[-2] for row in _counted(blocks[-1])] if blocks else []


def _absolute(values: Sequence[str]) -> list[str]:
    return list(values)


def _relative(values: Sequence[str]) -> list[str]:
    base = awk.number(values[0])
    others = (f"{awk.number(value) / base:.2f}" if base else "inf" for value in values[1:])
    return ["1.00", *others]


def clean(blocks: Sequence[Block]) -> Mapping[str, Sequence[str]]:
    """Relative figures by test, a cell per build: a failed one has its own."""
    return {test: _marked(block) for block in blocks if (test := next((row.test for row in block if row), None))}


def _marked(block: Block) -> list[str]:
    base = next(iter(block))
    lower = 0.0 if base is None or base.failed else awk.number(base.cells["ops_sec"])
    return [_cell(row, lower) for row in block]


def _cell(row: Row | None, base: float) -> str:
    if row is None:
        return "missing"
    if row.failed:
        return row.cells["ops_sec"]
    return f"{awk.number(row.cells['ops_sec']) / base:.2f}" if base else ""
