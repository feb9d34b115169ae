"""What a repository and its packages bring beside the code."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from scripts.third_party_page import page
from stepgrid import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_is_semantic() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", __version__)
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what is needed differs between releases of Python")
def test_third_party_notices_are_those_of_what_is_needed() -> None:
    said = "run: python -m scripts.third_party_page > THIRD_PARTY.md"
    assert (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8") == f"{page()}\n", said


def test_the_entry_of_the_schema_catalogue() -> None:
    entry = json.loads((ROOT / "specs" / "catalog.json").read_text(encoding="utf-8"))
    assert "*.stepgrid.yaml" in entry["fileMatch"]
    schema = json.loads((ROOT / "specs" / entry["url"]).read_text(encoding="utf-8"))
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_issue_templates_are_forms(name: str) -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    assert all(part["type"] == "textarea" and part["attributes"]["label"] for part in form["body"])


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
