"""docs/reference/layouts.md: every layout with an example, which a spec may say, and which looks as it says."""

from pathlib import Path

import pytest

from stepgrid.plugins.registry import LAYOUTS
from tests.language.bases import BASE
from tests.layouts.examples import EXAMPLES
from tests.layouts.page import page

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/layouts.md"
PROBE = "probes: [{name: get_min, before: [readww], command: [ls]}]\n"


def test_the_page_is_made_of_the_examples():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_layout_has_an_example():
    assert sorted(EXAMPLES) == sorted(LAYOUTS.names())


@pytest.mark.parametrize("name", LAYOUTS.names())
def test_a_spec_may_ask_for_it_as_the_page_says(name, compile_text):
    for said in (EXAMPLES[name].said, name) if name not in ("probes", "counters") else (EXAMPLES[name].said,):
        plan = compile_text(f"{BASE}{PROBE}report: {{tables: [{said}]}}\n")
        assert plan.report.tables[0].get("layout", "figures") == name
