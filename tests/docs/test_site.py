"""The site is built from the pages without a warning; each page is of one kind."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from scripts import commands_page, docs_site, gallery, report_keys_page
from tests.browser import PHONE, browser
from tests.cases import rows
from tests.docs.pages import DOCS, ROOT
from tests.needs import needs
from tests.waiting import until

LISTED = ("problems", "gallery")  # folders of which only the list is a page of the navigation
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.parent.name not in LISTED or page.name == "README.md")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if find_spec("zensical") is None:
        pytest.skip("`make docs` installs zensical")
    folder = tmp_path_factory.mktemp("site")
    docs_site.main(folder)
    argv = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_site_is_built_without_a_warning(site):
    assert (site / "guides" / "two-releases.html").is_file()
    assert (site / "search.js").is_file()  # search works without a web server
    assert (site / "repository" / "specs" / "fio.yaml.txt").is_file()
    assert [path.name for path in site.rglob("*.html") if "```" in path.read_text(encoding="utf-8")] == []
    reports = {page.stem for page in (site / "gallery" / "reports").glob("*.html")}
    assert reports == {Path(each).name for each in gallery.SPECS}
    listed = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    assert [name for name in reports if f'reports/{name}.html"' not in listed] == []
    texts = [page.read_text(encoding="utf-8") for page in site.rglob("*.html") if "gallery" not in page.parts]
    loaded = {
        url for text in texts for url in re.findall(r"""<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)""", text)
    }
    assert loaded == set()


@pytest.mark.parametrize(("question", "page"), rows(__file__, "search_finds_a_task_by_a_heading"))
def test_search_finds_a_task_by_a_heading(site, question, page):
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    titles = {entry["location"]: entry["title"].lower() for entry in index}
    hits = [location for location, title in titles.items() if all(word in title for word in question.split())]
    assert page in {location.partition("#")[0] for location in hits[:4]}, hits
    assert not [location for location in titles if "/reports/" in location], "tries have every word"


def test_headings_are_no_names_of_files_and_pages_begin_with_no_list_of_readers():
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    assert [page for page, text in texts.items() if re.search(r"^#.*\.py\b|^For those who", text, re.MULTILINE)] == []


def test_the_options_of_commands_are_those_of_their_parsers():
    written = (DOCS / "reference/commands.md").read_text(encoding="utf-8")
    assert written == f"{commands_page.page()}\n", "run: python -m scripts.commands_page > docs/reference/commands.md"


def test_the_keys_of_a_report_are_those_of_its_schema():
    written = (DOCS / "reference/report_keys.md").read_text(encoding="utf-8")
    assert written == f"{report_keys_page.page()}\n", (
        "run: python -m scripts.report_keys_page > docs/reference/report_keys.md"
    )


def test_every_page_is_in_the_navigation():
    """Of problems and the gallery their lists are."""
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [str(page.relative_to(DOCS)) for page in PAGES]
    assert [page for page in pages if not re.search(rf"[ :] ?{re.escape(page)}$", nav, re.MULTILINE)] == []


OPEN = "document.querySelector('.md-search__button').click()"
SEARCH = "[...document.querySelectorAll('*')].find(each => each.shadowRoot)?.shadowRoot"
IS_OPEN = f"{SEARCH}?.activeElement?.tagName === 'INPUT'"
FOUND = f"Array.from({SEARCH}.querySelectorAll('a'), each => each.href)"


@needs("chromium")
def test_search_works_without_a_web_server_and_no_page_is_wider_than_a_phone(site, tmp_path):
    with browser(tmp_path / "profile") as page:
        page.open(site / "index.html")
        page.run(OPEN)
        until(lambda: page.run(IS_OPEN))
        page.ask("Input.insertText", text="checkpoint")
        until(lambda: len(page.run(FOUND)) > 3)
        assert any("language.html" in link for link in page.run(FOUND))
        assert [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))] == []
        assert page.complaints() == []
        for name in ("index", "guides/index", "guides/two-releases", "gallery/index"):
            page.open(site / f"{name}.html", PHONE)
            assert page.run("document.documentElement.scrollWidth") == PHONE, name
