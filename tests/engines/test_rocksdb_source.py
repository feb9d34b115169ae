"""What is said of releases, looked up in a clone of RocksDB with all of its tags: STEPGRID_ROCKSDB_GIT names it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from stepgrid.plugins.engine import Renaming, release_numbers
from stepgrid_databases.drivers.db_bench.benchmarks import FIRST_RELEASES
from stepgrid_databases.drivers.db_bench.sequence_lints import DEFAULT_CHANGES
from stepgrid_databases.engines.rocksdb import RENAMINGS
from stepgrid_databases.engines.rocksdb import SINCE as OPTIONS_SINCE

CLONE = os.environ["STEPGRID_ROCKSDB_GIT"]
SPECS = Path(__file__).resolve().parents[2] / "specs"
SOURCE = "tools/db_bench_tool.cc"


def git(*argv):
    done = subprocess.run(["git", f"--git-dir={CLONE}", *argv], capture_output=True, encoding="utf-8", errors="replace")
    return done.stdout


@pytest.fixture(scope="module")
def sources():
    tags = re.findall(r"^v(?:[5-9]|1\d)\.\d+\.\d+$", git("tag"), re.MULTILINE)
    return {release_numbers(tag): git("show", f"{tag}:{SOURCE}") for tag in tags}


def stands(name):
    """How a flag, a benchmark or a kind of cache stands in the source."""
    if name == "waitforcompaction_universal":
        return r"->WaitForCompact\("
    return rf'name == "{name}"' if name in FIRST_RELEASES else rf'DEFINE_\w+\(\s*{name}\s*,|"{name}"'


@pytest.mark.parametrize(("name", "first"), sorted({**FIRST_RELEASES, **OPTIONS_SINCE}.items()))
def test_the_first_release_that_has_it(name, first, sources):
    assert {number: number >= first for number in sources} == {
        number: re.search(stands(name), text) is not None for number, text in sources.items()
    }


@pytest.mark.parametrize("row", RENAMINGS, ids=Renaming.describe)
def test_where_an_option_changed_its_name(row, sources):
    old, new = (
        [number for number, text in sources.items() if re.search(rf"DEFINE_\w+\(\s*{name}\s*,", text)]
        for name in (row.old, row.new)
    )
    first = min(other.since for other in RENAMINGS if other.old == row.old)
    assert max(old) < first == min(number[:2] for number in sources if number > max(old))
    assert not row.new or min(new)[:2] == first
    text = sources[min(number for number in sources if number >= row.since)]
    assert all(f'"{word}"' in text for word in row.words.values())


@pytest.mark.parametrize("change", DEFAULT_CHANGES, ids=lambda change: change.option)
def test_where_a_default_changed(change, sources):
    said = re.compile(rf"DEFINE_\w+\(\s*{change.option}\s*,\s*(.+?)[,/]", re.DOTALL)
    defaults = {number: match[1] for number, text in sources.items() if (match := said.search(text))}
    old, new = (value.replace("rocksdb::", "ROCKSDB_NAMESPACE::") for value in _around(defaults, change.since))
    assert old != new


def _around(defaults, since):
    yield defaults[max(number for number in defaults if number < since)]
    yield defaults[min(number for number in defaults if number >= since)]


def _yaml(path):
    return YAML(typ="safe", pure=True).load(path)


REFS = _yaml(SPECS / "library" / "rocksdb.yaml")["define"]["builds"]["rocksdb"]["source"]["ref"][:-1]


def test_a_ref_of_the_library_is_the_release_that_it_stands_for():
    for ref in REFS:
        header = git("show", f"{ref['value']}:include/rocksdb/version.h")
        said = re.findall(r"define ROCKSDB_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        assert ref["when"] == f"version == '{'.'.join(said)}'"


def test_the_patch_for_the_last_level_applies_from_5_18_on(tmp_path, sources):
    patch = SPECS / "builds" / "patches" / "db_bench-bottommost.patch"
    (tmp_path / "tools").mkdir()
    for number, text in sources.items():
        if number >= (5, 18):
            (tmp_path / SOURCE).write_text(text, encoding="utf-8")
            subprocess.run(["git", "apply", str(patch)], cwd=tmp_path, check=True, env={"GIT_DIR": "/nonexistent"})
            assert "options.bottommost_compression" in (tmp_path / SOURCE).read_text(encoding="utf-8"), number


@pytest.mark.parametrize("path", sorted(SPECS.glob("posts/*.yaml")), ids=lambda path: path.stem)
def test_a_release_of_a_published_experiment_is_there(path):
    builds = [one for one in _yaml(path)["builds"].values() if one.get("extends") == "rocksdb"]
    named = {str(version) for one in builds for version in one.get("versions", [one.get("version")])}
    assert named <= {tag.removeprefix("v") for tag in git("tag").split()} | {ref["when"].split("'")[1] for ref in REFS}
