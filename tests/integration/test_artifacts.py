"""Small artifacts, by the clients of their registries."""

from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import source_of
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.workflow import host_plan
from tests.build.ordering import order
from tests.needs import needs

JFFI = "a38dd049951a27f7a423389fecf0195a5bd414f418e90f5ac9992652c22a5b8e"
ITOA = "1aab8fc367588b89dcee83ab0fd66b72b50b72fa1904d7095045ace2b0c81c35"
SIX = {
    "wheel": "8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254",
    "sdist": "1e61c37477a1626458e36f7b1d82aa5c9b094fa4802892072e49de9c60c4c926",
}


def obtain(folder, **source):
    return source_of(source).fetch(source, folder / "attempt", order(folder / "attempt", source))


@needs("maven")
def test_a_jar_with_libraries(tmp_path):
    material = obtain(tmp_path, maven="com.github.jnr:jffi:1.3.13", classifier="native", sha256=JFFI)
    assert material.prefix is not None
    assert (material.prefix / "jni/x86_64-Linux/libjffi-1.2.so").read_bytes()[:4] == b"\x7fELF"
    assert not [*material.prefix.rglob("*.class")]


@needs("cargo")
def test_a_crate(tmp_path):
    material = obtain(tmp_path, crate="itoa", version="1.0.1", sha256=ITOA)
    assert material.tree is not None
    assert (material.tree / "src/lib.rs").is_file()
    assert sorted(path.name for path in (tmp_path / "attempt").iterdir()) == ["build.log", "tmp", "tree"]


@needs("pip")
@pytest.mark.parametrize("kind", SIX)
def test_a_python_package(tmp_path, kind):
    material = obtain(tmp_path, pypi="six", version="1.16.0", kind=kind, sha256=SIX[kind])
    found = material.prefix or material.tree
    assert found is not None
    assert (found / "six.py").is_file()


SPEC = """\
title: t
builds: {r: {engine: rocksdb, version: 1.0.0, source: {crate: cfg-if}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""
CFG_IF = "sha256:baf1de4339761588bc0619e3cbc0120ee582ebb74b53b4efbf79117bd2da40fd"


@needs("cargo")
def test_an_artifact_is_held_to_its_checksum(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC)
    assert main(["lock", "a.yaml"]) == 0
    assert lock_file.read("a.yaml", Problems()).pins == {"crate cfg-if 1.0.0": CFG_IF}
    build = host_plan.compile_for_host("a.yaml", None).builds[0]
    source, route = build.source, source_of(build.source)
    route.fetch(source, tmp_path / "one", order(tmp_path / "one", source, pins=build.pins))
    other = order(tmp_path / "two", source, pins={"crate cfg-if 1.0.0": "0" * 64})
    with pytest.raises(BuildError, match="is not the file that the lock file means"):
        route.fetch(source, tmp_path / "two", other)
