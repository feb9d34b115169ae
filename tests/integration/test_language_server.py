"""The schemas in the server that editors run on YAML: what it says of our files and of wrong ones, what it offers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepgrid.cli import new
from stepgrid.plugins.registry import ENGINES
from tests.integration.language_server import Finding, LanguageServer
from tests.needs import require

ROOT = Path(__file__).resolve().parents[2]
SPECS = ROOT / "specs"
MINE = SPECS / "mine.yaml"  # not there: an editor has it open
SHIPPED = sorted(
    path for path in SPECS.rglob("*.yaml") if ".lock" not in path.suffixes and path.parent.name != "published"
)


def schema(name: str) -> str:
    return f"# yaml-language-server: $schema={name}.schema.json\n"


BEGIN = f"""\
{schema("spec")}title: t
builds: {{a: {{engine: rocksdb, version: 9.10.0, source: {{system: db_bench}}}}}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageServer]:
    require("node", *([] if any(ROOT.glob(".venv/language-server-*")) else ["npm"]))
    made = subprocess.run([ROOT / "scripts" / "language-server"], capture_output=True, text=True, check=False)
    if "npm error" in made.stderr:
        pytest.skip(f"npm cannot reach its registry: {made.stderr.splitlines()[0]}")
    assert made.returncode == 0, made.stderr
    found = LanguageServer(ROOT / made.stdout.strip(), ROOT)
    yield found
    found.stop()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(SPECS)))
def test_nothing_is_found_in_what_is_shipped(path: Path, server: LanguageServer) -> None:
    """The wrong line shows that the server has found the schema by the file's first line."""
    text = path.read_text(encoding="utf-8")
    wrong = server.open(path, f"{text}nonsense: 1\n")
    assert server.findings(server.open(path, text)) == []
    assert server.findings(wrong) == [Finding(text.count("\n") + 1, 1, "Property nonsense is not allowed.")]


def test_nothing_is_found_in_specs_to_start_from(server: LanguageServer) -> None:
    texts = [(ENGINES.folder(name) / "starting.yaml").read_text(encoding="utf-8") for name in new.engines()]
    opened = [server.open(MINE, schema("spec") + text) for text in texts]
    assert [server.findings(uri) for uri in opened] == [[]] * len(texts)


WRONG = {
    "swep: {}": Finding(4, 1, "Property swep is not allowed."),
    "report:\n  bas: {cache: lru}": Finding(5, 3, "Property bas is not allowed."),
    "hardware: {core: 2}": Finding(4, 12, "Property core is not allowed."),
    "sweep: {cache: {points: {lru: {option: lru}}}}": Finding(4, 32, "Property option is not allowed."),
    "scales: {smoke: {parms: {keys: 1}}}": Finding(4, 18, "Property parms is not allowed."),
    "seed: many": Finding(4, 7, 'Incorrect type. Expected "integer".'),
    "share: maybe": Finding(4, 8, 'Incorrect type. Expected "boolean".'),
    "repeat: {loads: 0}": Finding(4, 17, "Value is below the minimum of 1."),
    "order: random": Finding(
        4, 8, 'Value is not accepted. Valid values: "randomized", "interleaved", "as_written".'
    ),
    "sweep: {threads: [[1]]}": Finding(4, 19, "Incorrect type. Expected one of string, number, boolean."),
}  # fmt: skip


def test_what_is_wrong_is_found_at_its_place(server: LanguageServer) -> None:
    opened = {text: server.open(MINE, f"{BEGIN}{text}\n") for text in WRONG}
    assert {text: server.findings(uri) for text, uri in opened.items()} == {text: [WRONG[text]] for text in WRONG}


@pytest.mark.parametrize(
    "text",
    [
        "options: ",
        "options: [",
        "options: [leveled, ",
        "options:\n  - ",
        "options:\n  - leveled\n  - ",
        "steps:\n  - name: a\n    options: ",
        "sweep:\n  cache:\n    points:\n      lru: {options: ",
        "sweep:\n  cache:\n    points:\n      lru:\n        options:\n          - ",
        "scales:\n  smoke:\n    options:\n      - ",
    ],
)
def test_names_of_option_sets_complete(text: str, server: LanguageServer) -> None:
    assert {"leveled", "lru", "tiny.innodb"} <= server.offered(MINE, BEGIN + text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workload: ", "db_bench.sequence"),
        ("hardware: ", "ax162-s"),
        ("order: ", "as_written"),
        ("steps:\n  - name: a\n    kind: ", "db_bench"),
        ("steps:\n  - name: a\n    wri", "write_rate"),
        ("steps:\n  - name: a\n    metrics:\n      p99_us:\n        pat", "pattern"),
        ("steps:\n  - name: a\n    series:\n      ti", "time"),
        ("rep", "repeat"),
    ],
)
def test_other_names_and_keys_complete(text: str, expected: str, server: LanguageServer) -> None:
    assert expected in server.offered(MINE, BEGIN + text)
