"""The page about plug-ins names every field of what a driver is given and gives, and what pgbench's driver uses."""

import re
from pathlib import Path

import pytest

from scripts.protocols_page import page
from stepgrid.model.figures import Figures
from stepgrid.model.plan import Command
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers import pgbench
from tests.docs.pages import DOCS, ROOT, blocks

TYPES = {
    "Context": Context._fields,
    "Access": Access._fields,
    "Command": Command.__struct_fields__,
    "Figures": Figures.__struct_fields__,
}


def rows(title):
    """Field -> what the driver of pgbench does with it, of the table below a heading."""
    page = (DOCS / "guides/plugins.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^### {title}\n(.*?)^##", page, re.MULTILINE | re.DOTALL)
    table = re.findall(r"^\| (`.*?) \|.*\| (.*?) ?\|$", section, re.MULTILINE)
    return {name: use for names, use in table for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("title", TYPES)
def test_every_field_is_named(title):
    assert sorted(rows(title)) == sorted(TYPES[title])


@pytest.mark.parametrize(("title", "variable"), [("Context", "context"), ("Access", "access")])
def test_what_pgbench_uses_is_said(title, variable):
    text = Path(pgbench.__file__).read_text(encoding="utf-8")
    used = {*re.findall(rf"\b{variable}\.(\w+)", text)}
    assert {name for name, use in rows(title).items() if use} == used


def test_the_parts_of_an_engine_are_those_of_the_example():
    """Blocks without a file's name are lines of packages/examples/lmdb, whatever their indentation."""
    lines = {line.strip() for path in (ROOT / "packages/examples/lmdb").rglob("*.py") for line in path.open()}
    shown = [block for block in blocks(DOCS / "guides/plugins.md", "python") if not block.file]
    assert len(shown) > 8
    assert [line for block in shown for line in block.text.splitlines() if line.strip() not in {*lines, ""}] == []


def test_the_page_of_protocols_is_made():
    made = "python -m scripts.protocols_page > docs/reference/protocols.md"
    assert (DOCS / "reference/protocols.md").read_text(encoding="utf-8") == page() + "\n", made
