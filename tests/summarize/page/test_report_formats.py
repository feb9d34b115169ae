"""The order in which a report's tables are listed."""

from __future__ import annotations

import re
from pathlib import Path

from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.claims import Claim
from stepgrid.summarize.notes import Doubt
from stepgrid.summarize.page import report_formats, summary_text
from tests.summarize import scenario


def test_tables_that_were_asked_for_stand_before_the_absolute_figures(tmp_path: Path) -> None:
    found = scenario.report(scenario.experiment(tmp_path))
    own = Table("mine", (Column("x"),), ((Cell("1"),),), "readww")
    names = {
        asked: [table.title for table in report_formats.tables(scenario.altered(found, made=(own,), are_chosen=asked))]
        for asked in (True, False)
    }
    first = {asked: (titles.index("mine"), titles.index("absolute figures")) for asked, titles in names.items()}
    assert first[True][0] < first[True][1]
    assert first[False][0] > first[False][1]
    assert sorted(names[True]) == sorted(names[False])


def test_a_step_before_the_sweep_has_no_label_of_it(tmp_path: Path) -> None:
    found = scenario.report(scenario.experiment(tmp_path))
    (table,) = (table for table in report_formats.tables(found) if table.title.startswith("QPS relative to rocksdb"))
    labels = [column.name for column in table.columns if column.label]
    fill = next(row for row in table.rows if row[0].text == "fillseq")
    assert [cell.text for cell in fill[: len(labels)]] == ["fillseq", *["-"] * (len(labels) - 1)]
    other = next(row for row in table.rows if row[0].text == "readww")
    assert "-" not in [cell.text for cell in other[: len(labels)]]


def test_only_a_page_in_its_folder_names_what_lies_beside_it(tmp_path: Path) -> None:
    found = scenario.report(made := scenario.experiment(tmp_path))
    own = summary_text.page_path(made.store, found.setup.plan)
    links = re.findall(r'href="([^#"]+)"', own.read_text(encoding="utf-8"))
    assert links == ["summary.txt", "tables/steps.parquet"]
    assert [link for link in links if not (own.parent / link).is_file()] == []
    assert "Beside this page" not in report_formats.whole(found, "html", None)


def test_markdown_begins_as_the_text_does(tmp_path: Path) -> None:
    """What is pasted has the answer and its caveats; nothing of a claim or a label is markup."""
    found = scenario.report(scenario.experiment(tmp_path))
    claim = Claim("a|b *is* `faster` <b>", "qps(a='x|y') > 1", "fails", (), "step=<i>")
    found = scenario.altered(
        found, doubts=(Doubt("noise", "disturbed", "the host was not quiet: a|b, *loud*"),), claims=(claim,)
    )
    text = report_formats.whole(found, "markdown", None)
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[:3] == ["In short", "Claims", "Warnings"]
    assert [head for head in heads if head in ("Host", "Measured", "Made from", "Status")] == heads[-4:]
    assert text.index("## In short") < text.index("## Host") < text.index("| step |")
    assert "- the host was not quiet: a\\|b, \\*loud\\*\n" in text
    assert "a\\|b \\*is\\* \\`faster\\` \\<b\\>\n  - qps(a='x\\|y') \\> 1, at step=\\<i\\>" in text
