"""Links between pages lead to files and headings that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import TEXTS, anchors, links, name


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not link.startswith(("http:", "https:")) and not leads(page, link)] == []


def leads(page: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not heading or heading in anchors(target))
