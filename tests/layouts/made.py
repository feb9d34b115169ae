"""Blocks as tests need them: rows of figures, by name."""

from collections.abc import Mapping, Sequence

from stepgrid.model.table import Table
from stepgrid.plugins.layout import Block, LayoutCell


def subjects(values: Mapping[str, Mapping[str, float] | str], **said: object) -> Block:
    """A row for each; a text is why there are no figures."""
    spots = {(row, 0): spot(each) for row, each in enumerate(values.values())}
    return Block("t", tuple((name,) for name in values), spots=spots, **said)  # type: ignore[arg-type]


def spot(said: Mapping[str, float] | str) -> LayoutCell:
    return LayoutCell(status=said) if isinstance(said, str) else LayoutCell(said)


def texts(table: Table) -> list[str]:
    return [" ".join(cell.text for cell in row) for row in table.rows]


def compared(rows: Mapping[str, Sequence[float]], columns: Sequence[str]) -> Block:
    """QPS of steps by build, with the ratios to the first."""
    spots = {
        (row, column): LayoutCell({"qps": rate}, ratios={"qps": rate / rates[0]})
        for row, rates in enumerate(rows.values())
        for column, rate in enumerate(rates)
    }
    names = tuple((name,) for name in columns)
    return Block(
        "relative QPS", tuple((name,) for name in rows), names, spots, ("step",), base=columns[0], base_column=0
    )
