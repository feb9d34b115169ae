"""The site opened as files, without a web server: it loads nothing from elsewhere, and its search finds pages."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser import browser
from tests.docs.pages import ROOT
from tests.needs import needs
from tests.waiting import until

OPEN = """\
document.querySelector("label[for=__search]").click();
document.querySelector(".md-search__input").focus()
"""
FOUND = 'Array.from(document.querySelectorAll(".md-search-result__link"), each => each.href)'


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="`make docs` installs mkdocs")
@needs("chromium")
def test_search_works_without_a_web_server(tmp_path: Path) -> None:
    site = tmp_path / "site"
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    assert subprocess.run(argv, cwd=ROOT, capture_output=True).returncode == 0
    assert [path.name for path in site.rglob("*.html") if "```" in path.read_text(encoding="utf-8")] == []
    with browser(tmp_path / "profile") as page:
        page.open(site / "index.html")
        page.run(OPEN)
        page.ask("Input.insertText", text="checkpoint")
        until(lambda: len(page.run(FOUND)) > 3)
        assert any("language.html" in link for link in page.run(FOUND))
        assert [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))] == []
        assert page.complaints() == []
