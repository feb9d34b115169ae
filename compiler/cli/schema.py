"""stepgrid schema: the language as a JSON Schema, for editors."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

LIBRARY = "specs/library"


def arguments(parser: argparse.ArgumentParser) -> None:
    what = "the schema of specs (the default), or of library files"
    parser.add_argument("of", nargs="?", choices=("spec", "library"), default="spec", help=what)
    parser.add_argument("--library", metavar="FOLDER", default=LIBRARY, help=f"whose names complete ({LIBRARY})")


def run(args: argparse.Namespace) -> int:
    print(text(args.of, Path(args.library)), end="")
    return 0


def text(of: str, library: Path) -> str:
    from compiler.language.models import Library, Spec
    from compiler.language.schema import schema, setting_texts

    model = Spec if of == "spec" else Library
    found = schema(model, _names(library), setting_texts(_settings()))
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _names(library: Path) -> dict[str, list[str]]:
    from compiler import drivers, engines
    from compiler.language.load import load
    from compiler.language.problem import Problems
    from compiler.language.shortforms import names

    files = [load(str(path), Problems()) for path in sorted(library.glob("**/*.yaml"))]
    found = names([each for each in files if each is not None])
    singular = {"workload": found.get("workloads", [])}
    return {**found, **singular, "kind": list(drivers.kinds()), "engine": list(engines.names())}


def _settings() -> list[Any]:
    from compiler import drivers

    return [drivers.driver(kind).settings_model() for kind in drivers.kinds()]
