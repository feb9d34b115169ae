"""The published summary files of a source, by name, and cells of them that are something else than their column says.

They are summary.tsv, cuts of it, and what is made of these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, pstdev, stdev
from typing import NamedTuple

from stepgrid.model.figures import Figures
from stepgrid_importers.db_bench import names
from stepgrid_importers.db_bench.folder import Column, Source
from stepgrid_importers.db_bench.logs import report_row
from stepgrid_importers.db_bench.reports import (
    COLUMNS,
    FAILED,
    HEAD,
    METRICS,
    NONE,
    SHIFTED,
    Block,
    Row,
    block_lines,
    glued,
    repeated,
    shifted,
    written,
)
from stepgrid_importers.shared import awk
from stepgrid_published.importer import RecomputedFigure


def summaries(source: Source, root: Path) -> dict[str, str]:
    place = source.path if source.path.is_dir() else source.path.parent
    below = place.relative_to(root) if place.is_relative_to(root) else Path()  # of a folder that is a build's own
    beside = {path.name for path in place.iterdir()}
    found = dict(_summarized(source, beside)) if source.summarized else _of_cut(source, beside)
    return {str(below / name): text for name, text in found.items()} | dict(_reports(source, root))


def _summarized(source: Source, beside: Collection[str]) -> Iterator[tuple[str, str]]:
    yield names.SUMMARY, written(source.blocks, source.reports)
    builds = [column.build for column in source.columns]
    for variant, places in names.variants(builds).items():
        name = f"{source.workload}.{variant}" if variant else source.workload
        cut = [[block[place] for place in places] for block in source.blocks]
        yield f"sum.{name}.txt", written(cut)
        yield from short_tables(name, cut, beside=beside).items()


def _of_cut(source: Source, beside: Collection[str]) -> dict[str, str]:
    if len(source.columns) < 2:
        return {}
    spread = repeated(source.blocks)
    more = {f"{source.path.name}{DEVIATIONS}": deviations(source.blocks)} if spread else {}
    return short_tables(source.workload, source.blocks, source.set, beside) | more


def _reports(source: Source, root: Path) -> Iterator[tuple[str, str]]:
    """Where every step has its log, the report is made of these."""
    for column in source.columns:
        if column.folder and column.rows and all(row.test in column.logs for row in column.rows):
            name = names.REPORT if source.summarized else f"{names.REPORT}.{source.workload}"
            yield str(column.folder.relative_to(root) / name), _report(column)


def _report(column: Column) -> str:
    rows = (report_row(column.logs[row.test]) for row in column.rows)
    return column.before + "".join(f"{line}\n" for line in (HEAD, *rows))


# The short tables of a cut: operations per second, absolute or relative to the first build, by step and version

LEFT_OUT = ("revrange.t", "overwritesome")  # steps that are there to prepare the next
_FEWEST = 21  # words of a row that has a result

Line = tuple[str, Sequence[str]]


def short_tables(name: str, blocks: Sequence[Block], set_: str = "", beside: Collection[str] = ()) -> dict[str, str]:
    """By the names of the published files, for the cut sum.NAME.txt, or sum2.NAME.txt of the set 2.

    `beside`: names of published files: those of other years are made where one of that name lies there.
    """
    relative, absolute = list(_lines(blocks, _relative)), list(_lines(blocks, list))
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
    forms = {"csv": csv(versions, relative), "tsv": tsv(versions, relative)}
    return {f"fmt.{name}.{flag}.{end}": text for flag in ("abs0", "abs1") for end, text in forms.items()}


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


# FILE.sdev: below the repeats of each step their mean, their standard deviation, and that relative to the mean

DEVIATIONS = ".sdev"


class Spread(NamedTuple):
    mean: float
    deviation: float

    @property
    def relative(self) -> float:
        return self.deviation / self.mean if self.mean else 0.0

    def __str__(self) -> str:
        return f"mean={awk.plain(self.mean)}\tstddev={self.deviation:.1f}\tsdev/mean={self.relative:.3f}"


def published_spread(block: Block) -> Spread:
    """Of these repeats and no others: their squares are divided by their number."""
    found = _operations(block)
    return Spread(fmean(found), pstdev(found))


def clean_spread(block: Block) -> Spread:
    """An estimate for repeats to come: divided by one less."""
    found = _operations(block)
    return Spread(fmean(found), stdev(found))


def deviations(blocks: Sequence[Block]) -> str:
    each = (line for block in blocks for line in (*block_lines(block), str(published_spread(block)), ""))
    return "".join(f"{line}\n" for line in each)


def _operations(block: Block) -> list[float]:
    return [awk.number(row.cells["ops_sec"]) for row in block if row]


# Where a published cell is something else than its column says: what stands there, and what we have

SHIFT = "c_wsecs, c_csecs, b_rgb and b_wgb from RocksDB 10.3 on"
NSTALL, AMPLIFIED, GLUED = "Nstall from RocksDB 8.1 on", "w_amp", "pmax of two histograms"
FAILURE, REPEATS = "A step that failed", "stddev of repeats"


def step_differences(source: Source) -> Iterator[RecomputedFigure]:
    """Of what is made of a step's rows together."""
    for block in source.blocks:
        test = next((row.test for row in block if row), "")
        for column, (legacy, clean) in zip(source.columns, moved(block), strict=False):
            yield RecomputedFigure(f"csum.{source.workload}", test, column.build, legacy, clean, FAILURE)
        if repeated(source.blocks):
            file = f"{source.path.name}{DEVIATIONS}"
            legacy, clean = (f"{spread(block).deviation:.1f}" for spread in (published_spread, clean_spread))
            yield RecomputedFigure(file, test, "stddev", legacy, clean, REPEATS)


def row_differences(file: str, build: str, row: Row, clean: Figures) -> Iterator[RecomputedFigure]:
    for column, why in _wrong(row).items():
        yield RecomputedFigure(
            file, f"{build} {row.test}", column, row.cells[column], _clean(column, clean.metrics), why
        )


def _wrong(row: Row) -> Mapping[str, str]:
    found = dict.fromkeys(SHIFTED, SHIFT) if shifted(row) and not row.failed else {}
    if not row.cells["Nstall"] and not row.failed:
        found["Nstall"] = NSTALL
    if row.cells["w_amp"] not in ("", NONE):
        found["w_amp"] = AMPLIFIED
    if glued(row):
        found["pmax"] = GLUED
    return {column: found[column] for column in COLUMNS if column in found}


def _clean(column: str, metrics: Mapping[str, float]) -> str:
    """Empty where it cannot be known."""
    name, unit = ("write_amplification", 1.0) if column == "w_amp" else METRICS[column] or ("", 1.0)
    return f"{metrics[name] / unit:.6g}" if name in metrics else ""
