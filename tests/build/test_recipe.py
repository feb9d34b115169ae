""""""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.option_difference import differences, same
from stepgrid.build.recipe import ROUTES, Source, load_source, source_of
from stepgrid.build.record import absolute, programs

DECLARED = {
    "debian": {"debian": "rocksdb-tools", "suite": "trixie"},
    "system": {"system": "db_bench"},
    "git": {"git": "https://host.example/a.git", "ref": "v1"},
    "tarball": {"tarball": "https://host.example/a.tgz", "sha256": "0" * 64},
    "maven": {"maven": "a.b:c:1", "classifier": "linux64"},
    "crate": {"crate": "a", "version": "1"},
    "pypi": {"pypi": "a", "version": "1"},
    "cargo": {"cargo": "a", "version": "1"},
    "go": {"go": "host.example/a/cmd/b@v1.0.0"},
    "npm": {"npm": "@a/b", "version": "1"},
    "requirements": {"requirements": ["a==1", "b"]},
    "debian-source": {"debian-source": "gflags", "suite": "bookworm"},
    "path": {"path": "../a"},
    "server": {"server": "prod"},
}


@pytest.mark.parametrize("route", ROUTES)
def test_every_source_keeps_the_protocol(route: str):
    found = load_source(route)
    assert found.route == route
    assert source_of(DECLARED[route]) is found
    assert found.describe(DECLARED[route]).startswith(f"{route} ")
    for name in ("describe", "fetch"):
        assert inspect.signature(getattr(type(found), name)) == inspect.signature(getattr(Source, name))


@pytest.mark.parametrize(
    ("declared", "given"),
    [({}, "nothing"), ({"svn": "x"}, "svn"), ({"debian": "a", "system": "b"}, "debian, system")],
)
def test_one_source_each(declared: dict[str, str], given: str):
    with pytest.raises(BuildError) as caught:
        source_of(declared)
    routes = (
        "debian, system, git, tarball, maven, crate, pypi, cargo, go, npm, requirements, debian-source, path, server"
    )
    assert str(caught.value) == f"a source has exactly one of the keys {routes}; this one has {given}"


def test_options_and_absolute_paths_stay(tmp_path: Path):
    words = ("lib/ld.so", "--library-path", "lib:usr/lib", "/usr/bin/x")
    expected = (f"{tmp_path}/lib/ld.so", "--library-path", f"{tmp_path}/lib:{tmp_path}/usr/lib", "/usr/bin/x")
    assert absolute(tmp_path, words) == expected


def test_from_the_record(tmp_path: Path):
    (tmp_path / "build.json").write_text(json.dumps({"programs": {"x": ["bin/x"], "y": ["/bin/y"]}}))
    assert programs(tmp_path) == {"x": (f"{tmp_path}/bin/x",), "y": ("/bin/y",)}


def info(kind: str, default: str) -> dict[str, str]:
    return {"type": kind, "default": default, "help": default}


def test_by_kind_and_name():
    one = {"z": info("int32", "1"), "b": info("int32", "1"), "gone": info("bool", "true"), "t": info("int32", "1")}
    other = {"z": info("int64", "2"), "b": info("int32", "2"), "new": info("bool", "true"), "t": info("int64", "1")}
    found = differences(one, other)
    assert [(each.option, each.kind) for each in found] == [
        ("b", "default"),
        ("z", "default"),
        ("t", "type"),
        ("gone", "only-first"),
        ("new", "only-second"),
    ]
    assert [each.help for each in found] == ["2", "2", "1", "true", "true"]


@pytest.mark.parametrize(
    ("one", "other"), [("0.5", "0.500000"), ("ON", "true"), ("off", "FALSE"), ("1048576", "1048576"), ("", "")]
)
def test_one_value_in_two_spellings(one: str, other: str):
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), [("", "0"), ("on", "off"), ("lru_cache", "hyper_clock_cache"), ("1", "2")])
def test_two_values(one: str, other: str):
    assert not same(one, other)
