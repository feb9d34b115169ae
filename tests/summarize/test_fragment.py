"""A part of the page for a post: complete without files, scripts and styles of ours."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

from stepgrid.summarize import html_page
from tests.summarize import scenario


def test_fragment_has_answer_chart_and_table(tmp_path: Path) -> None:
    text = html_page.fragment(scenario.report(scenario.experiment(tmp_path, title="LRU <b> & hyper")))
    section = ElementTree.fromstring(text.replace('%">', '%"/>').replace('auto">', 'auto"/>'))
    assert section.tag == "section"
    assert section.findtext("h2") == "LRU <b> & hyper"
    assert "cache=hyper" in (section.findtext("ul/li/strong") or "")
    assert [cell.text for cell in section.findall("table/thead/tr/th")][-2:] == ["cache=lru", "cache=hyper"]
    assert not re.search(r"<script|<style|<link|href=| src=\"(?!data:)", text)
    picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    assert picture is not None
    assert ElementTree.fromstring(base64.b64decode(picture[1])).tag == "{http://www.w3.org/2000/svg}svg"
    assert "plan p-synthetic" in text


def test_fragment_of_nothing_measured(tmp_path: Path) -> None:
    experiment = scenario.Experiment(tmp_path)
    experiment.add_build(experiment.builds[0])
    assert "<img" not in html_page.fragment(scenario.report(experiment))
