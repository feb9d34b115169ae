"""The index in a browser: quiet, whole in its folder, and not wider than a phone."""

from __future__ import annotations

from pathlib import Path

from tests.browser import PHONE, browser
from tests.needs import needs
from tests.summarize.site.made_site import TITLE, site

pytestmark = needs("chromium")


def test_the_index_is_quiet_and_fits_a_phone(tmp_path: Path) -> None:
    site(tmp_path, tmp_path / "web")
    index = tmp_path / "web/index.html"
    with browser(tmp_path / "profile") as page:
        page.open(index)
        assert page.complaints() == []
        assert page.requests() == [index.absolute().as_uri()]
        assert page.run("document.title") == TITLE
        assert page.run("getComputedStyle(document.querySelector('.findings li')).borderLeftStyle") == "solid"
        page.open(index, width=PHONE)
        assert page.run("document.documentElement.scrollWidth") <= PHONE
        page.run("document.querySelector('article h2 a').click()")
