"""One table in each format, to the letter."""

from __future__ import annotations

import pytest

from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.formats import FORMATS, written

TABLE = Table(
    "QPS",
    (Column("build", label=True), Column("qps", unit="operations/s"), Column("p99"), Column("p99.9")),
    (
        (Cell("old|1"), Cell("12,346", value=12345.6), Cell("5"), Cell("9")),
        (Cell("<new>"), *[Cell("unsupported", "unsupported")] * 3),
    ),
    block="readww",
    before=("relative to nothing",),
    notes=("p99: microseconds",),
)

SAID = {
    "text": """\
QPS: readww
-----------
  relative to nothing
  build  qps (operations/s)  p99  p99.9
  old|1              12,346    5      9
  <new>  unsupported
  p99: microseconds
""",
    "markdown": """\
### QPS: readww

relative to nothing

| build | qps (operations/s) | p99 | p99.9 |
| --- | ---: | ---: | ---: |
| old\\|1 | 12,346 | 5 | 9 |
| \\<new\\> | unsupported | unsupported | unsupported |

p99: microseconds
""",
    "csv": """\
# QPS: readww
# relative to nothing
build,qps (operations/s),p99,p99.9
old|1,12345.6,5,9
<new>,unsupported,unsupported,unsupported
""",
    "tsv": """\
# QPS: readww
relative to nothing
build\tqps (operations/s)\tp99\tp99.9
old|1\t12345.6\t5\t9
<new>\tunsupported\tunsupported\tunsupported
""",
    "html": """\
<section class="table"><h3>QPS: readww</h3>
<p class="note">relative to nothing</p>
<div class="scroll"><table>
<thead><tr><th>build</th><th class="number">qps<br><small>operations/s</small></th>\
<th class="number">p99</th><th class="number">p99.9</th></tr></thead>
<tbody>
<tr><th>old|1</th><td class="number">12,346</td><td class="number">5</td><td class="number">9</td></tr>
<tr><th>&lt;new&gt;</th><td colspan="3" class="number unsupported">unsupported</td></tr>
</tbody></table></div>
<p class="note">p99: microseconds</p>
</section>
""",
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_table(form: str) -> None:
    said = "\n".join(line.rstrip() for line in written(form)(TABLE).split("\n"))
    assert said == SAID[form]


def test_columns_beyond_the_width_go_on_below_with_the_labels_again() -> None:
    heads = tuple(Column(f"a long heading {number}") for number in range(8))
    table = Table("wide", (*heads, Column("name", label=True)), ((*map(Cell, "12345678"), Cell("row")),))
    lines = written("text")(table).splitlines()
    assert all(len(line) <= 120 for line in lines)
    assert [line.split()[-1] for line in lines[2:] if line] == ["name", "row", "name", "row"]
