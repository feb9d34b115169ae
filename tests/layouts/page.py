"""docs/reference/layouts.md, made of the examples: `python -m tests.layouts.page > docs/reference/layouts.md`."""

from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.formats import FORMATS
from tests.layouts.examples import EXAMPLES

HEAD = """\
# Layouts

Made by `python -m tests.layouts.page > docs/reference/layouts.md`; a test keeps it so.

What `report.tables` may name as `layout`: the line of a spec, and the table that it makes, as text. Rows, columns
and blocks
are the layout's own unless the table names others; the rules of their figures are in [results.md](results.md). A name
alone is a table as well: `tables: [stalls, iostat]`; `window: 5m` makes it one of each step's last five minutes."""


def page():
    return "\n".join(_lines()) + "\n"


def _lines():
    yield HEAD
    for name, example in EXAMPLES.items():
        shown = "\n".join(map(FORMATS["text"], LAYOUTS.get(name).tables(example.block)))
        yield f"\n## {name}\n\n{example.what} `{example.said}`\n\n```\n{shown}```"


if __name__ == "__main__":
    print(page(), end="")
