"""Write compiler/stepgrid_databases/engines/*/known_options.json: options of the releases whose builds a store holds.

`python scripts/known_options.py OUTPUTS …` adds those of the builds in these folders, which must be releases, to the
files that are there. `stepgrid check` goes by them for builds that are not made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from stepgrid.plugins.engine import release_numbers

ENGINES = Path(__file__).resolve().parents[1] / "compiler" / "stepgrid_databases" / "engines"
FILE = "known_options.json"
FAMILIES = {"mariadb": "mysqld", "mysql": "mysqld"}  # one file for servers that share most options


def main(stores: list[str]) -> None:
    for folder in sorted(folder for store in stores for folder in Path(store, "builds").glob("*/")):
        path, catalogue = folder / "build.json", folder / "catalogue.json"
        if path.is_file() and catalogue.is_file():
            build = json.loads(path.read_text())
            file = ENGINES / FAMILIES.get(build["engine"], build["engine"]) / FILE
            if file.is_file():
                add(file, build["engine"], build["version"], json.loads(catalogue.read_text()))


def add(path: Path, engine: str, version: str, catalogue: dict[str, dict[str, Any]]) -> None:
    record = json.loads(path.read_text())
    releases, options = record["releases"], record["options"]
    releases[engine] = sorted({*releases.get(engine, ()), version}, key=release_numbers)
    for name, info in catalogue.items():
        kind = str(info.get("type", ""))
        options[name] = kind if options.get(name, kind) == kind else ""  # releases differ: values are not checked
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(options[name])}" for name in sorted(options))
    path.write_text(f'{{"releases": {json.dumps(releases, sort_keys=True)},\n"options": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main(sys.argv[1:])
