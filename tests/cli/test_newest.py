"""`versions: {newest: …}`: asked of a real git repository once, held by the lock file, and renewed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.build.pins import choose, list_releases
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, SpecError
from stepgrid.language.scalars import Version
from stepgrid.language.sources import ReleaseQuestion
from stepgrid.model.site import Site
from stepgrid.workflow import host_plan
from tests.build.repository import Repository
from tests.cli.worlds import kept
from tests.needs import needs

TAGS = ("v1.0.1", "v1.0.2", "v1.9.0", "v1.10.0", "v2.0.0", "v2.1.0-rc1", "other-9.9.9", "v3")
SPEC = """\
title: t
builds:
  r: {{engine: rocksdb, versions: {{newest: 1, of: each major}}, source: {{git: "{url}", ref: "v{{{{ version }}}}"}}}}
steps: [{{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}}]
params: {{keys: 1M, duration: 1h}}
repeat: 3
"""


@pytest.fixture
def origin(tmp_path, monkeypatch):
    repository = Repository(tmp_path / "origin")
    for tag in TAGS:
        repository.commit(tag)
    (tmp_path / "checkout" / "outputs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    Path("a.yaml").write_text(SPEC.format(url=repository.url))
    return repository


def run(capsys, *words):
    status = main(words)
    streams = capsys.readouterr()
    return status, streams.out, "".join(line for line in streams.err.splitlines(True) if not line.endswith(" …\n"))


def releases():
    return [version for answer in lock_file.read("a.yaml", Problems()).versions.values() for version in answer]


def test_a_run_asks_once_and_the_lock_file_answers_from_then_on(origin, capsys):
    key = f"git {origin.url} v{{{{ version }}}}, newest 1 of each major"
    status, _, err = run(capsys, "plan", "a.yaml")
    assert (status, Path("a.lock.yaml").exists()) == (1, False)
    assert f"the lock file has no answer to `{key[:100]}" in err  # a long name is cut
    assert "= `stepgrid lock a.yaml` asks the registry\n" in err
    with host_plan.asking_registries(True):  # as a run
        assert len(kept().builds) == 3
    assert capsys.readouterr().err == f"a.lock.yaml: {key}: 1.10.0, 2.0.0, 3\n"
    origin.folder.rename(origin.folder.with_name("away"))
    assert {build.version for build in kept().builds} == {"1.10.0", "2.0.0", "3"}
    lines = " ".join(run(capsys, "explain", "a.yaml", "build=r-2.0.0")[1].split())
    assert f"version 2.0.0: {key} (a.lock.yaml:4:3)" in lines
    assert run(capsys, "lock", "a.yaml", "--upgrade")[0] == 3
    assert releases() == ["1.10.0", "2.0.0", "3"]


def test_an_answer_is_not_written_through_a_link(origin, capsys):
    Path("a.lock.yaml").symlink_to("../.bash_profile")
    with (
        host_plan.asking_registries(True),
        pytest.raises(SpecError, match=r"the lock file `a\.lock\.yaml` is a link to"),
    ):
        kept()
    assert not Path("../.bash_profile").exists()
    assert capsys.readouterr().err == "", "no registry was asked"


NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=3)


@given(st.sets(NUMBERS.map(lambda parts: ".".join(map(str, parts)))), st.integers(1, 3), st.sampled_from([0, 1, 2]))
def test_the_newest_of_each_group(versions, count, depth):
    group = ("all", "each major", "each minor")[depth]
    newest = choose(versions, ReleaseQuestion({}, count, group, "2"))
    assert newest == sorted(newest, key=Version)
    for version in versions:
        newer = {
            v
            for v in versions
            if Version(v) > version and f"{v}.0".split(".")[:depth] == f"{version}.0".split(".")[:depth]
        }
        assert (version in newest) or Version(version) < "2" or len(newer) >= count or version in map(Version, newest)


REGISTRIES = [
    pytest.param({"maven": "org.rocksdb:rocksdbjni:{{ version }}"}, "9.10.0", marks=needs("maven"), id="maven"),
    pytest.param({"pypi": "six"}, "1.16.0", marks=needs("pip"), id="pypi"),
    pytest.param({"crate": "cfg-if"}, "1.0.0", marks=needs("cargo"), id="crate"),
    pytest.param({"debian": "rocksdb-tools", "suite": ["bookworm"]}, "7.8", marks=needs("apt"), id="debian"),
]


@pytest.mark.integration
@pytest.mark.parametrize(("source", "release"), REGISTRIES)
def test_registries_list_their_releases(source, release):
    listed = list_releases(source, Site())
    assert release in listed
    assert listed[release] == ("bookworm" if "debian" in source else "")
