"""The schemas in the server that editors run on YAML: what it says of our files and of wrong ones, what it offers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.language_server import Finding, LanguageServer

ROOT = Path(__file__).resolve().parents[2]
SPECS = ROOT / "specs"
MINE = SPECS / "mine.yaml"  # not there: an editor has it open
SHIPPED = sorted(SPECS.rglob("*.yaml"))
BEGIN = """\
# yaml-language-server: $schema=spec.schema.json
title: t
builds: {a: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageServer]:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    made = subprocess.run([ROOT / "scripts" / "language-server"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    found = LanguageServer(ROOT / made.stdout.strip(), ROOT)
    yield found
    found.stop()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(SPECS)))
def test_nothing_is_found_in_what_is_shipped(path: Path, server: LanguageServer) -> None:
    assert server.findings(path, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(SPECS)))
def test_each_is_read_by_its_schema(path: Path, server: LanguageServer) -> None:
    text = path.read_text(encoding="utf-8")
    line = text.count("\n") + 1
    assert server.findings(path, f"{text}nonsense: 1\n") == [Finding(line, 1, "Property nonsense is not allowed.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("swep: {}\n", Finding(4, 1, "Property swep is not allowed.")),
    ],
)
def test_what_is_wrong_is_found_at_its_place(text: str, expected: Finding, server: LanguageServer) -> None:
    assert server.findings(MINE, BEGIN + text) == [expected]


def test_the_site_file(server: LanguageServer) -> None:
    text = "# yaml-language-server: $schema=specs/site.schema.json\ndata: /data\n"
    assert server.findings(ROOT / "mine.yaml", text) == []


@pytest.mark.parametrize("text", ["options: ", "options: [", "options:\n  - "])
def test_option_sets_complete(text: str, server: LanguageServer) -> None:
    print(server.offered(MINE, BEGIN + text))
    assert {"leveled", "lru"} <= server.offered(MINE, BEGIN + text)
