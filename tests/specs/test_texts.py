"""What may not stand in a shipped spec, and what the page about them must say."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.specs.conftest import shipped_plan

SPECS = Path(__file__).resolve().parents[2] / "specs"
SAMPLES = SPECS.parents[1] / "shared" / "samples" / "engines"
FILES = sorted(path for path in SPECS.rglob("*.yaml") if ".lock" not in path.suffixes)
SPECS_AND_LIBRARY = [path for path in FILES if path.parent.name != "published"]
COMPILED = [path for path in SPECS_AND_LIBRARY if path.parent.name != "library"]
STARTING = sorted((SPECS.parent / "compiler" / "stepgrid" / "engines").rglob("starting.yaml"))
SERIES = {"mariadb": 2, "mysql": 1, "postgres": 1}  # numbers of a release series
HOSTS = {"github.com", "smalldatum.blogspot.com"}  # sources and articles; never a registry's


def named(path):
    return str(path.relative_to(SPECS if path.is_relative_to(SPECS) else SPECS.parent))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_addresses_are_of_sources_and_articles(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://([^/\s\"']+)", text)) <= HOSTS


@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_paths_of_a_machine(path):
    text = re.sub(r"\w+://\S+", "", path.read_text(encoding="utf-8"))
    assert not re.findall(r"(?<![\w.}/])/(?:[\w.-]+/)+[\w.-]*", text)


@pytest.mark.parametrize("path", FILES, ids=named)
def test_lines_are_short(path):
    assert [line for line in path.read_text(encoding="utf-8").splitlines() if len(line) > 120] == []


def test_the_page_lists_every_file():
    page = (SPECS / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(((?:posts|library|builds)/[^)]+)\)", page)
    assert sorted(links) == [named(path) for path in SPECS_AND_LIBRARY if path.parent != SPECS]


@pytest.mark.parametrize("path", COMPILED + STARTING, ids=named)
def test_a_suite_that_moves_is_named_without_a_point_release(path):
    """A stable suite takes each point release of a server, sid each release: such a spec builds for months."""
    scales = [None, *YAML(typ="safe", pure=True).load(path).get("scales", {})]
    for build in [build for scale in scales for build in shipped_plan(path, scale).builds]:
        if build.source.keys() & {"debian", "debian-source"}:
            most = SERIES.get(build.engine, 2 if build.source["suite"] == "sid" else 3)
            assert len(build.version.split(".")) <= most, build.name


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not beside the checkout")
def test_the_options_of_mariadb_are_its_own():
    lines = (SAMPLES / "mariadb-trixie-global-variables.tsv").read_text(encoding="utf-8").splitlines()
    known = {line.split("\t")[0] for line in lines}
    text = (SPECS / "library" / "mariadb.yaml").read_text(encoding="utf-8")
    given = set(re.findall(r"\b((?:innodb|mhnsw|binlog|log|sync|max|performance|eq)_\w+):", text))
    assert len(given) > 20
    assert given <= known


def test_the_lock_names_one_public_registry():
    lock = (SPECS / "programs/kv_bench/Cargo.lock").read_text(encoding="utf-8")
    sources = {line for line in lock.splitlines() if line.startswith("source")}
    assert sources == {'source = "registry+https://github.com/rust-lang/crates.io-index"'}
    assert lock.count("checksum = ") == lock.count("source = ")
