"""The JSON Schema for editors, judged by a validator that others wrote (python-jsonschema, draft 7: the draft that YAML
language servers take), on all shipped specs and on wrong ones."""

from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from stepgrid.language.problems import Problems
from stepgrid.language.spec_file import expand_short_forms
from stepgrid.language.yaml import parse
from stepgrid_inspect import schema
from tests.cases import rows

ROOT = Path(__file__).resolve().parents[2]
SPECS = ROOT / "specs"
BEGIN = "title: t\nbuilds: {a: {engine: rocksdb, version: 9.10, source: {system: db_bench}}}\n"


def validator(of):
    import json

    found = json.loads(schema.schema_text(of, SPECS / "library"))
    Draft7Validator.check_schema(found)
    return Draft7Validator(found)


@pytest.fixture(scope="module")
def specs():
    return validator("spec")


@pytest.fixture(scope="module")
def libraries():
    return validator("library")


def plain(text):
    """As an editor reads YAML."""
    return YAML(typ="safe", pure=True).load(text)


def places(found, text):
    """Where it is wrong, as far down as the schema can tell."""
    return ["/".join(map(str, error.absolute_path)) for error in _leaves(found.iter_errors(plain(text)))]


def _leaves(errors):
    for error in errors:
        deepest = max(error.context or [error], key=lambda each: len(each.absolute_path))
        yield deepest if len(deepest.absolute_path) > len(error.absolute_path) else error


def shipped():
    return [
        path
        for path in sorted(SPECS.rglob("*.yaml"))
        if not {"library", "published"} & {*path.parts} and ".lock" not in path.suffixes
    ]


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_shipped_specs_are_valid(path, specs):
    assert places(specs, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted((SPECS / "library").glob("*.yaml")), ids=lambda path: path.name)
def test_libraries_are_valid(path, libraries):
    assert places(libraries, path.read_text(encoding="utf-8")) == []


FORMS = rows(__file__, "forms")


@pytest.mark.parametrize("text", FORMS)
def test_every_form_that_people_write_is_valid(text, specs):
    assert places(specs, BEGIN + text) == []
    problems = Problems()
    nodes = parse(BEGIN + text, "a.yaml", problems)
    assert nodes is not None
    expand_short_forms(nodes)
    assert problems.items == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("builds: {a: {engine: rocksdb}}", [""]),  # no title
        ("title: t", [""]),  # no builds
        ("title: t\nbuilds: {}", ["builds"]),
        (BEGIN + "swep: {}", [""]),
        (BEGIN + "repeat: {lods: 2}", ["repeat"]),
        (BEGIN + "repeat: {loads: 0}", ["repeat/loads"]),
        (BEGIN + "order: random", ["order"]),
        (BEGIN + "seed: -1", ["seed"]),
        (BEGIN + "hardware: {cores: many}", ["hardware/cores"]),
        (BEGIN + "hardware: {core: 2}", ["hardware"]),
        (BEGIN + "report: {bas: {cache: lru}}", ["report"]),
        (BEGIN + "sweep: {a: {points: {x: {option: lru}}}}", ["sweep/a/points"]),
        (BEGIN + "scales: {smoke: {parms: {keys: 1}}}", ["scales/smoke"]),
        ("title: t\nbuilds: {a: {engine: rocksdb, version: [1]}}", ["builds/a/version"]),
        ("title: t\nbuilds: {a: {vrsion: 1}}", ["builds/a"]),
    ],
)
def test_wrong_specs_are_wrong_at_their_place(text, where, specs):
    assert places(specs, text) == where


def test_names_of_the_library_complete_and_others_are_as_good(specs):
    known = specs.schema["definitions"]["known options"]["enum"]
    assert {"leveled", "lru"} <= set(known)
    assert places(specs, BEGIN + "options: [of-my-own]") == []


@pytest.mark.parametrize("path", [*shipped(), *sorted((SPECS / "library").glob("*.yaml"))], ids=lambda path: path.name)
def test_shipped_files_name_their_schema(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    of = "library" if "library" in path.parts else "spec"
    up = "../" * (len(path.relative_to(SPECS).parts) - 1)
    assert first == f"# yaml-language-server: $schema={up}{of}.schema.json"
