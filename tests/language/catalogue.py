"""Wrong specs and what is said of each, as data: tests/language/problems/*.yaml.

A case has a spec, or a base and what is edited in it and added to it; further files; a scale; and what is said:
place, code, message, and the hint below it. `make golden` writes what is said anew.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from ruamel.yaml import YAML

from stepgrid.model.records import replace

FOLDER = Path(__file__).with_name("problems")
OTHER_TYPES = ("true", "false", "null", "yes", "no", "on", "off")  # words that are no text in YAML


class Case(Struct, frozen=True):
    name: str
    said: str
    base: str = ""
    edit: Mapping[str, str] = {}
    add: str = ""
    files: Mapping[str, str] = {}
    scale: str | None = None

    def text(self, bases):
        text = bases.get(self.base, "")
        for old, new in self.edit.items():
            assert old in text, f"{self.name}: the base has no {old!r}"
            text = text.replace(old, new)
        return text + self.add


class Catalogue(Struct, frozen=True):
    file: Path
    bases: Mapping[str, str]
    ignored: tuple[str, ...]  # codes of lints that the bases bring along
    cases: tuple[Case, ...]

    def updated(self, name, said):
        return replace(
            self, cases=tuple(replace(case, said=said) if case.name == name else case for case in self.cases)
        )

    def write(self):
        lines = [f"ignored: [{', '.join(self.ignored)}]", "bases:"]
        for name, text in self.bases.items():
            lines += _entry("  ", name, text)
        lines.append("cases:")
        for case in self.cases:
            lines.append(f"  {_key(case.name)}:")
            lines += [f"    base: {case.base}"] if case.base else []
            for title, entries in (("edit", case.edit), ("files", case.files)):
                lines += [f"    {title}:"] if entries else []
                lines += [line for old, new in entries.items() for line in _entry("      ", old, new)]
            lines += _entry("    ", "add" if case.base else "spec", case.add) if case.add else []
            lines += [f"    scale: {case.scale}"] if case.scale else []
            lines += _entry("    ", "said", case.said)
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(file):
    found = YAML(typ="safe").load(file)
    cases = []
    for name, said in found["cases"].items():
        added = said.get("add", said.get("spec", ""))
        edit, files = said.get("edit", {}), said.get("files", {})
        cases.append(Case(name, said["said"], said.get("base", ""), edit, added, files, said.get("scale")))
    return Catalogue(file, found["bases"] or {}, tuple(found["ignored"]), tuple(cases))


def catalogues(folder=FOLDER):
    for file in sorted(folder.glob("*.yaml")):
        yield read(file)


def _key(text):
    return text if re.fullmatch(r"[a-z][\w ,.-]*", text) and text not in OTHER_TYPES else json.dumps(text)


def _entry(indent, key, text):
    """A key with a text: as it is, where YAML can have it so."""
    lines = text.split("\n")
    plain = all(line.isprintable() and line == line.rstrip() for line in lines)
    if plain and re.fullmatch(r"[A-Za-z][\w ./-]*", text) and text not in OTHER_TYPES:
        return [f"{indent}{_key(key)}: {text}"]
    if plain and len(lines) > 1 and lines[-1] == "" != lines[-2] and not text.startswith((" ", "\n")):
        return [f"{indent}{_key(key)}: |", *(f"{indent}  {line}".rstrip() for line in lines[:-1])]
    return [f"{indent}{_key(key)}: {json.dumps(text, ensure_ascii=not plain)}"]
