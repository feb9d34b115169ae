from __future__ import annotations

from pathlib import Path

from scripts.kinds_page import page
from stepgrid.plugins.registry import DRIVERS, ENGINES

PAGE = Path(__file__).resolve().parents[2] / "docs/kinds.md"


def test_the_page_is_made_of_the_models() -> None:
    assert PAGE.read_text(encoding="utf-8") == page() + "\n", "python -m scripts.kinds_page > docs/kinds.md"


def test_it_has_every_kind_and_engine() -> None:
    text = page()
    assert all(f"\n## {kind}\n" in text for kind in DRIVERS.names())
    assert all(f"\n| {name} |" in text for name in ENGINES.names())
