"""stepgrid schema: the language as a JSON Schema, for editors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stepgrid.language.models import Library, Spec
from stepgrid.language.problems import Problems
from stepgrid.language.schema import defined_names, setting_texts, site_schema, spec_schema
from stepgrid.language.site_file import SiteFile
from stepgrid.language.yaml import load
from stepgrid.model.package_data import SPECS, TEMPLATES
from stepgrid.plugins import registry
from stepgrid.plugins.registry import DRIVERS, ENGINES
from stepgrid.summarize.formats import json_text


def arguments(parser: argparse.ArgumentParser) -> None:
    what = "the schema of specs (the default), of library files, of a site file, or of a report as JSON"
    parser.add_argument("of", nargs="?", choices=("spec", "library", "site", "report"), default="spec", help=what)
    own, what = SPECS / "library", "whose names complete (stepgrid's own library)"
    parser.add_argument("--library", metavar="FOLDER", default=own, type=Path, help=what)


def run(args: argparse.Namespace) -> int:
    print(text(args.of, args.library), end="")
    return 0


def text(of: str, library: Path) -> str:
    if of == "report":
        return (TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8")
    return json_text.text(_site() if of == "site" else _of(of, library)) + "\n"


def _site() -> dict[str, Any]:
    return site_schema(SiteFile)


def _of(of: str, library: Path) -> dict[str, Any]:
    model = Spec if of == "spec" else Library
    return spec_schema(model, _names(library), setting_texts(_settings()))


def _names(library: Path) -> dict[str, list[str]]:
    files = [load(str(path), Problems()) for path in sorted(library.glob("**/*.yaml"))]
    found = defined_names([each for each in files if each is not None])
    singular = {"workload": found.get("workloads", [])}
    return {**found, **singular, "kind": list(DRIVERS.names()), "engine": list(ENGINES.names())}


def _settings() -> list[Any]:
    return [registry.driver(kind).settings_model() for kind in DRIVERS.names()]
