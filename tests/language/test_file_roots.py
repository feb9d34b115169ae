"""A spec reads nothing outside its folder: neither by name nor through a link, and no pipe keeps it waiting."""

import os
from pathlib import Path

import pytest

from stepgrid.language.files import record_inputs
from stepgrid.language.problems import Problems, SpecError, format_problems
from stepgrid.language.spec_file import read_spec
from stepgrid.package import SPECS
from stepgrid.plan.assembly import compile_spec
from tests.conftest import HOST
from tests.language.bases import BASE

HINT = "   = copy it there, or list a folder that holds it under `roots` in the site file"
STEP = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]"


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """A file beside the folder of the spec, which is the current one."""
    there = tmp_path / "secret.yaml"
    there.write_text("password: p4ss\n")
    (tmp_path / "spec").mkdir()
    monkeypatch.chdir(tmp_path / "spec")
    return there


def complaints(text):
    Path("a.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        compile_spec("a.yaml", None, HOST)
    return format_problems(caught.value.problems)


@pytest.mark.parametrize("name", ["../secret.yaml", "/proc/self/environ", "link.yaml", "x/../../secret.yaml"])
def test_an_include_outside_the_spec_s_folder(name, secret):
    Path("link.yaml").symlink_to(secret)
    said = complaints(BASE + f"include: {name}\n")
    assert f"error[file-outside]: the file `{os.path.normpath(name)}` is outside the spec's folder" in said
    assert said.endswith(HINT)
    assert "p4ss" not in said


def test_a_root_of_the_site_file(secret, monkeypatch):
    (secret.parent / "other").mkdir()
    (secret.parent / "other" / "b.yaml").write_text("define: {options: {x: {options: {a: 1}}}}\n")
    site = secret.with_name("site.yaml")
    site.write_text("roots: [other]\n")
    monkeypatch.setenv("STEPGRID_SITE", str(site))
    assert "file-outside" not in complaints(BASE + "include: [../other/b.yaml, nowhere.yaml]\n")
    assert "file-outside" in complaints(BASE + "include: ../secret.yaml\n")
    site.write_text("roots: [nowhere]\n")
    assert "error[file-not-found]: `roots`: there is no folder `" in complaints(BASE + "include: x.yaml\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../secret.yaml", "file-outside]: the file `../secret.yaml` is outside the spec's folder"),
        ("pipe", "file-not-found]: the patch `pipe` cannot be read: it is a pipe or a device"),
        (".", "file-not-found]: the patch `.` cannot be read: it is a folder"),
        ("large", "file-not-found]: the patch `large` cannot be read: it is larger than 64 MiB"),
    ],
)
def test_a_patch(name, said, secret):
    os.mkfifo("pipe")
    with Path("large").open("wb") as file:
        file.truncate((64 << 20) + 1)
    git = "source: {git: 'https://example.org/r.git', ref: main}"
    build = f"builds: {{a: {{engine: rocksdb, version: 9.10.0, {git}, patches: ['{name}']}}}}"
    assert f"error[{said}" in complaints(f"title: t\n{build}\n{STEP}\nparams: {{keys: 1k}}\n")


def test_a_file_whose_text_a_step_uses(secret):
    secret.with_suffix(".lua").write_text("-- p4ss\n")
    step = "steps: [{name: s, kind: sysbench, lua: ../secret.lua, rows: 10, threads: 1, duration: 1s}]"
    build = "builds: {a: {engine: mysql, version: 8.0.36, source: {system: mysqld}}}"
    said = complaints(f"title: t\n{build}\n{step}\nparams: {{keys: 1k}}\n")
    assert "error[file-outside]: the file `../secret.lua` is outside the spec's folder" in said


SPEC = """\
title: t
include: {}
builds: {{b: {{engine: rocksdb, version: 9.10.0}}}}
steps: [{{name: x, kind: quiesce}}]
"""
SHIPPED = str(SPECS / "library" / "vector.yaml")


def _spec(folder, include="library/vector.yaml"):
    path, problems = folder / "my.yaml", Problems()
    path.write_text(SPEC.format(include))
    found = read_spec(str(path), None, problems)
    return [each.path for each in found.includes] if found else [], problems


def test_it_is_found_from_any_folder(tmp_path):
    with record_inputs() as seen:
        assert _spec(tmp_path)[0] == [SHIPPED]
    assert seen.files[SHIPPED] is not None
    near = str(tmp_path / "library/vector.yaml")
    assert seen.files[near] is None, "a plan made so is another one as soon as that file is there"


def test_a_file_beside_the_spec_comes_first(tmp_path):
    own = tmp_path / "library" / "vector.yaml"
    own.parent.mkdir()
    own.write_text("define: {}\n")
    assert _spec(tmp_path)[0] == [str(own)]


def test_a_name_that_it_lacks(tmp_path):
    _, problems = _spec(tmp_path, "library/vectors.yaml")
    (error,) = (each for each in problems.errors if each.code == "file-not-found")
    assert error.message == f"there is no file `{SPECS}/library/vectors.yaml`"
    assert error.hint == "did you mean `vector.yaml`?"
    (tmp_path / "library").mkdir()
    _, problems = _spec(tmp_path, "library/vectors.yaml")
    assert f"there is no file `{tmp_path}/library/vectors.yaml`" in {each.message for each in problems.errors}
