"""Blocks as tests need them: rows of figures, by name."""

from stepgrid.plugins.layout import Block, LayoutCell


def subjects(values, **said):
    """A row for each; a text is why there are no figures."""
    spots = {(row, 0): spot(each) for row, each in enumerate(values.values())}
    return Block("t", tuple((name,) for name in values), spots=spots, **said)


def spot(said):
    return LayoutCell(status=said) if isinstance(said, str) else LayoutCell(said)


def texts(table):
    return [" ".join(cell.text for cell in row) for row in table.rows]


def compared(rows, columns):
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
