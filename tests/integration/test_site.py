"""A site of two real experiments, as `stepgrid site` writes it: every link leads somewhere, also in a browser."""

import re

import pytest

from tests.browser import PHONE, browser
from tests.integration.conftest import Lab
from tests.needs import needs

SPEC = """\
title: TITLE
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: count, kind: command, argv: ["{program:sh}", -c, "echo rows {{ params.rows }}"],
     metrics: {qps: {pattern: 'rows (\\d+)', required: true}}}
params: {rows: 10}
sweep: {rows: {param: rows, values: [10, ROWS]}}
repeat: 2
report: {base: {rows: 10}}
allow: {step-short: a test}
"""
NAMES = ("few", "many")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    lab = Lab(folder := tmp_path_factory.mktemp("site"))
    for name, rows in zip(NAMES, ("20", "40"), strict=True):
        lab.write(SPEC.replace("TITLE", name).replace("ROWS", rows), f"{name}.yaml")
        done = lab.execute(lab.argv("run", f"{name}.yaml"))
        assert done.returncode == 0, done.stderr
    made = lab.execute(lab.argv("site", "web", "--title", "Two"))
    assert (made.returncode, made.stdout) == (0, "2 experiments: web/index.html\n"), made.stderr
    return folder / "web"


def test_every_link_of_a_site_leads_somewhere(web):
    pages = sorted(web.rglob("*.html"))
    assert {page.parent.name for page in pages} == {*NAMES, "web"}
    for page in pages:
        links = re.findall(r'href="([^"#]+)', page.read_text(encoding="utf-8"))
        assert links, page
        assert [link for link in links if not (page.parent / link).exists()] == []


@needs("chromium")
def test_its_pages_are_quiet_and_fit_a_phone(web, tmp_path):
    with browser(tmp_path / "profile") as tab:
        for page in web.rglob("*.html"):
            tab.open(page, width=PHONE)
            assert tab.complaints() == []
            assert tab.requests() == [page.absolute().as_uri()]
            assert tab.run("document.documentElement.scrollWidth") == PHONE
        tab.open(web / "index.html")
        assert tab.run("document.querySelector('#changes')") is None
        assert "`" not in tab.run("document.body.innerText")
        assert tab.run("document.querySelectorAll('article').length") == len(NAMES)
