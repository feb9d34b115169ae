"""Write compiler/stepgrid/engines/*/known_options.json: options of the releases whose builds a store holds.

`python scripts/known_options.py OUTPUTS …` adds those of the builds in these folders. `stepgrid check` goes by them for
builds that are not made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ENGINES = Path(__file__).resolve().parents[1] / "compiler" / "stepgrid" / "engines"
FILE = "known_options.json"
FAMILIES = {"mariadb": "mysqld", "mysql": "mysqld"}  # one file for servers that share most options


def main(stores: list[str]) -> None:
    for folder in sorted(folder for store in stores for folder in Path(store, "builds").glob("*/")):
        record, catalogue = folder / "build.json", folder / "catalogue.json"
        if record.is_file() and catalogue.is_file():
            engine = json.loads(record.read_text())["engine"]
            add(ENGINES / FAMILIES.get(engine, engine) / FILE, json.loads(catalogue.read_text()))


def add(path: Path, catalogue: dict[str, dict[str, Any]]) -> None:
    options = json.loads(path.read_text()) if path.is_file() else {}
    for name, info in catalogue.items():
        kind = str(info.get("type", ""))
        options[name] = (
            kind if options.get(name, kind) == kind else ""
        )  # releases differ: nothing is known of its values
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(options[name])}" for name in sorted(options))
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
