"""Compare the option sets of specs/library with the published configuration files that they are named after.

`python -m scripts.published_options FOLDER`: a clone of github:mdcallag/mytools. Which file belongs to which set, and
where they differ and why, is in scripts/published_options.yaml. With `--write` the digests of what was compared are
kept beside it, where a test finds a set that was changed and not compared again.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from stepgrid.model.records import Json
from stepgrid.plan.assembly import compile_spec

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "specs" / "library"
DATA = Path(__file__).with_suffix(".yaml")
DIGESTS = Path(__file__).with_suffix(".json")
HOST: Mapping[str, Json] = {
    "cpu": "a",
    "cores": 2,
    "memory": 2**33,
    "storage": {"filesystem": "ext4", "max_sectors_kb": 128},
}
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "kb": 2**10, "mb": 2**20, "gb": 2**30}
WORDS = {"on": "1", "off": "0"}
SERVER_SECTIONS = ("mysqld", "mariadbd")
REPORT_LIMIT = 20  # of differences of one file

Options = dict[str, str]  # by name, values as compared


class Pair(NamedTuple):
    """A set for one version, and the file that is published of it."""

    sets: tuple[str, ...]
    build: str
    version: str
    file: str  # COMMIT:PATH
    reasons: Mapping[str, str]  # of names that may differ

    @property
    def title(self) -> str:
        return f"{' + '.join(self.sets)}, {self.build} {self.version}"


def main(words: Sequence[str]) -> int:
    folders = [word for word in words if word != "--write"]
    if len(folders) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    pairs = read_pairs()
    resolved = resolve(pairs)
    count = 0
    for pair, options in zip(pairs, resolved, strict=True):
        lines = list(differences(options, parse(published(folders[0], pair.file)), pair.reasons))
        count += len(lines)
        if lines:
            print(f"{pair.title}: {pair.file}", *lines[:REPORT_LIMIT], sep="\n  ")
    print(f"{len(pairs)} files compared: {count or 'no'} difference{'' if count == 1 else 's'} without a reason")
    if not count and "--write" in words:
        DIGESTS.write_text(json.dumps(digests(pairs, resolved), indent=1) + "\n", encoding="utf-8")
    return 3 if count else 0


def read_pairs() -> list[Pair]:
    data = YAML(typ="safe", pure=True).load(DATA)
    return [
        Pair(
            tuple(name.split(" + ")),
            row["build"],
            version,
            path if ":" in path else f"{data['commit']}:{path}",
            data["elsewhere"] | row.get("differs", {}),
        )
        for name, row in data["sets"].items()
        for version, path in row["files"].items()
    ]


def resolve(pairs: Sequence[Pair]) -> list[Options]:
    """Compile one spec in which each pair is a build with the options of its own."""
    builds = ", ".join(
        f"b{number}: {{extends: {pair.build}, version: {pair.version}, options: [{', '.join(pair.sets)}]}}"
        for number, pair in enumerate(pairs)
    )
    included = [str(path) for path in sorted(LIBRARY.glob("*.yaml"))]
    lines = ["title: a", f"include: {included}", f"builds: {{{builds}}}", "steps: [{name: only, kind: quiesce}]"]
    with tempfile.TemporaryDirectory(prefix="stepgrid-published-") as folder:
        spec = Path(folder, "a.yaml")
        spec.write_text("\n".join(lines), encoding="utf-8")
        plan = compile_spec(str(spec), None, HOST)
    stages = {stage.id: stage for stage in plan.stages}
    options = {cell.labels["build"]: stages[cell.repeats[0].stages[0]].steps[0].options for cell in plan.cells}
    return [
        {name: normalize(name, option.value) for name, option in options[f"b{number}"].items()}
        for number in range(len(pairs))
    ]


def published(folder: str, file: str) -> str:
    return subprocess.run(
        ["git", "-C", folder, "show", file], check=True, stdout=subprocess.PIPE, text=True, errors="replace"
    ).stdout


def parse(text: str) -> Options:
    """Read the server's section of a my.cnf, or the lines of a postgresql.conf; the last line of a name counts."""
    options: Options = {}
    section = "mysqld"
    for line in text.splitlines():
        if heading := re.fullmatch(r"\s*\[([\w-]+)\]\s*", line):
            section = heading[1]
            continue
        name, _, value = re.sub(r"(^|\s)#.*", "", line).partition("=")
        name = name.strip().replace("-", "_").removeprefix("loose_")
        if name and section in SERVER_SECTIONS:
            options[name] = normalize(name, value.strip().strip("'") or "ON")
    return options


def normalize(name: str, value: Any) -> str:
    text = str(value).lower()
    if size := re.fullmatch(r"(\d+) *([kmg]b?)", text):
        return str(int(size[1]) * UNITS[size[2]])
    if re.fullmatch(r"\d+\.0|\d+(ms|s)", text):
        return re.sub(r"\.0|ms|s", "", text)
    return "set" if name == "log_bin" else WORDS.get(text, text)


def differences(options: Options, file: Options, reasons: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(options.keys() | file.keys()):
        ours, theirs = options.get(name, "not set"), file.get(name, "not set")
        if ours != theirs and name not in reasons:
            yield f"{name}: {ours} here, {theirs} there"


def digests(pairs: Sequence[Pair], resolved: Sequence[Options]) -> dict[str, str]:
    return {
        pair.title: hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:16]
        for pair, options in zip(pairs, resolved, strict=True)
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
