from pathlib import Path

from scripts.kinds_page import page

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/kinds.md"


def test_the_page_is_made_of_the_models():
    assert PAGE.read_text(encoding="utf-8") == page() + "\n", "python -m scripts.kinds_page > docs/reference/kinds.md"
