"""The short tables of a cut: operations per second, absolute or relative to the first build, by step and version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest

from stepgrid_importers.db_bench.columns import FAILED, Row
from stepgrid_importers.db_bench.summary_file import Block
from stepgrid_importers.shared import awk

LEFT_OUT = ("revrange.t", "overwritesome")  # steps that are there to prepare the next
_FEWEST = 21  # words of a row that has a result

Line = tuple[str, Sequence[str]]


def tables(name: str, blocks: Sequence[Block], set_: str = "", beside: Collection[str] = ()) -> dict[str, str]:
    """By the names of the published files, for the cut sum.NAME.txt, or sum2.NAME.txt of the set 2.

    `beside`: names of published files: those of other years are made where one of that name lies there.
    """
    relative, absolute = list(_lines(blocks, _relative)), list(_lines(blocks, _absolute))
    versions = _versions(blocks)
    short = {f"csum{set_}.{name}.csv": csv(versions, relative)}
    if set_:
        return short
    for flag, lines in (("abs0", relative), ("abs1", absolute)):
        short[f"sum.{flag}.{name}.csv"] = csv(versions, lines)
        short[f"sum.{flag}.{name}.tsv"] = tsv(versions, lines)
    other = _of_2023(name, relative, absolute) | _of_may_2025(name, versions, relative)
    return short | {file: text for file, text in other.items() if file in beside}


def _of_2023(name: str, relative: Sequence[Line], absolute: Sequence[Line]) -> dict[str, str]:
    """Without heads, and without the column of the first build where all are relative to it."""
    return {
        f"rel2.{name}.csv": "".join(",".join((step, *values[1:])) + "\n" for step, values in relative),
        f"abs.{name}.tsv": "".join("\t".join((*values, step)) + "\n" for step, values in absolute),
    }


def _of_may_2025(name: str, versions: Sequence[str], relative: Sequence[Line]) -> dict[str, str]:
    """Both hold relative figures, whatever they are called."""
    written = {"csv": csv(versions, relative), "tsv": tsv(versions, relative)}
    return {f"fmt.{name}.{flag}.{end}": text for flag in ("abs0", "abs1") for end, text in written.items()}


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


def moved(block: Block) -> list[tuple[str, str]]:
    """Published and own relative figures, a pair per build: of a step that some build failed or lacks."""
    rows = _counted(block)
    if len(rows) == len(block) or not rows:
        return []
    published = _relative([row.cells["ops_sec"] for row in rows])
    own = [_cell(row, block[0]) for row in block]
    return list(zip_longest(published, own, fillvalue=""))


def _cell(row: Row | None, base: Row | None) -> str:
    if row is None:
        return "missing"
    if row.failed or base is None or base.failed:
        return FAILED if row.failed else ""
    return _relative([base.cells["ops_sec"], row.cells["ops_sec"]])[1]
