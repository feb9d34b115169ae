"""stepgrid builds diff: catalogues of builds that lie in the store."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.cli import main
from stepgrid.store.store import Store
from tests.golden import Golden

Capture = pytest.CaptureFixture[str]
OLD = {
    "cache_size": {"type": "int64", "default": "8388608", "help": "Bytes of the cache | of blocks"},
    "compaction_readahead_size": {"type": "int32", "default": "0", "help": "Compaction readahead"},
    "same": {"type": "double", "default": "0.5", "help": ""},
    "fadvice": {"type": "string", "default": "", "help": "Access pattern " * 12},
    "wider": {"type": "int32", "default": "4", "help": "x"},
}
NEW = {
    "cache_size": {"type": "int64", "default": "33554432", "help": "Bytes of the cache | of blocks"},
    "compaction_readahead_size": {"type": "uint64", "default": "2097152", "help": "Compaction readahead"},
    "same": {"type": "double", "default": "0.500000", "help": ""},
    "uncache": {"type": "uint32", "default": "0", "help": "new"},
    "wider": {"type": "int64", "default": "4", "help": "x"},
}


def put(node: str, version: str, catalogue: dict[str, Any] | None, name: str = "") -> None:
    folder = Store().build(node)
    folder.mkdir(parents=True)
    record = {"id": node, "name": name or f"rocksdb-{version}", "engine": "rocksdb", "version": version}
    (folder / "build.json").write_text(json.dumps({**record, "source": {"system": f"bench-{version}"}}))
    if catalogue is not None:
        (folder / "catalogue.json").write_text(json.dumps(catalogue))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put("b-1", "7.8.3", OLD)
    put("b-2", "9.10.0", NEW, "newest")


def test_the_text(capsys: Capture, golden: Golden) -> None:
    assert main(["builds", "diff", "rocksdb-7.8.3", "newest"]) == 0
    golden(capsys.readouterr().out)


def test_builds_that_are_alike(capsys: Capture) -> None:
    assert main(["builds", "diff", "newest", "rocksdb-9.10.0"]) == 0
    assert capsys.readouterr().out == "newest b-2 -> newest b-2: 5 options\n  no option differs\n"


def test_other_forms(capsys: Capture) -> None:
    assert main(["builds", "diff", "b-1", "b-2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["a"] == {"id": "b-1", "name": "rocksdb-7.8.3", "engine": "rocksdb", "version": "7.8.3"}
    assert found["options"][1] == {
        "option": "compaction_readahead_size",
        "change": "default",
        "a": OLD["compaction_readahead_size"],
        "b": NEW["compaction_readahead_size"],
    }
    assert (found["options"][-1]["change"], found["options"][-1]["a"]) == ("only-second", None)
    assert main(["builds", "diff", "b-1", "b-2", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["option", "change", "a", "b", "type_a", "type_b", "help"]
    assert rows[1] == ["cache_size", "default", "8388608", "33554432", "int64", "int64", OLD["cache_size"]["help"]]
    assert main(["builds", "diff", "b-1", "b-2", "--format", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| cache_size | 8388608 | 33554432 | Bytes of the cache \\| of blocks |"
    assert lines[4] == "| wider | 4 (int32) | 4 (int64) | x |"


def test_a_name_that_several_have(capsys: Capture) -> None:
    put("b-3", "9.10.0", NEW, "mine")
    assert main(["builds", "diff", "b-1", "rocksdb-9.10.0"]) == 2
    assert (
        capsys.readouterr().err
        == """\
2 builds are called rocksdb-9.10.0; give an id:
  b-2  newest 9.10.0 (system: bench-9.10.0)
  b-3  mine 9.10.0 (system: bench-9.10.0)
"""
    )


def test_a_build_without_a_catalogue(capsys: Capture) -> None:
    put("b-4", "1", None, "script")
    assert main(["builds", "diff", "b-1", "script"]) == 2
    assert capsys.readouterr().err == "script (b-4) has no catalogue of its options\n"


def test_a_value_is_never_cut(capsys: Capture) -> None:
    """Of two long lists only what differs is shown; the words that explain an option go before a value does."""
    common = [f"some_choice_of_the_optimizer_{number}=on" for number in range(9)]
    old = {
        "modes": {"type": "text", "default": ", ".join([*common, "prune=off", "hash=on", ""]), "help": "Choices"},
        "path": {"type": "text", "default": "/a" * 60, "help": "A place"},
        "protocols": {"type": "text", "default": "first,second", "help": "Those that are allowed"},
    }
    new = {
        "modes": {"type": "text", "default": ",".join(["rowid=on", *common, "prune=on", "hash=on"]), "help": "Choices"},
        "path": {"type": "text", "default": "/b", "help": "A place"},
        "protocols": {"type": "text", "default": "second,third", "help": "Those that are allowed"},
    }
    put("b-5", "5.7", old, "old")
    put("b-6", "8.0", new, "new")
    assert main(["builds", "diff", "old", "new"]) == 0
    rows = capsys.readouterr().out.split("other default\n")[1]
    assert (
        rows
        == f"""\
  modes      -prune=off +rowid=on +prune=on  Choices
  path       {"/a" * 60}
             -> /b
  protocols  first,second -> second,third    Those that are allowed
"""
    )
    assert main(["builds", "diff", "old", "new", "--format", "markdown"]) == 0
    assert (
        f"| modes | {old['modes']['default'].strip()} | {new['modes']['default']} | Choices |"
        in capsys.readouterr().out
    )


def test_the_name_that_a_build_has_comes_before_engine_and_version(capsys: Capture) -> None:
    put("b-7", "7.8.3", OLD, "packaged")
    assert main(["builds", "diff", "rocksdb-7.8.3", "packaged"]) == 0
    assert capsys.readouterr().out == "rocksdb-7.8.3 -> packaged: 5 options\n  no option differs\n"


def test_a_name_that_there_is_not(capsys: Capture) -> None:
    assert main(["builds", "diff", "unheard", "newest"]) == 2
    said = "there is no build `unheard`: known here: newest, rocksdb-7.8.3, rocksdb-9.10.0\n"
    assert capsys.readouterr().err == said
