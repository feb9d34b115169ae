"""A spec reads nothing outside its folder: neither by name nor through a link, and no pipe keeps it waiting."""

import os
from pathlib import Path

import pytest

from stepgrid.language.problems import SpecError, format_problems
from stepgrid.plan.assembly import compile_spec
from tests.conftest import HOST
from tests.language.bases import BASE

HINT = "   = copy it there, or list a folder that holds it under `roots` in the site file"
STEP = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]"


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file beside the folder of the spec, which is the current one."""
    there = tmp_path / "secret.yaml"
    there.write_text("password: p4ss\n")
    (tmp_path / "spec").mkdir()
    monkeypatch.chdir(tmp_path / "spec")
    return there


def complaints(text: str) -> str:
    Path("a.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        compile_spec("a.yaml", None, HOST)
    return format_problems(caught.value.problems)


@pytest.mark.parametrize("name", ["../secret.yaml", "/proc/self/environ", "link.yaml", "x/../../secret.yaml"])
def test_an_include_outside_the_spec_s_folder(name: str, secret: Path) -> None:
    Path("link.yaml").symlink_to(secret)
    said = complaints(BASE + f"include: {name}\n")
    assert f"error[file-outside]: the file `{os.path.normpath(name)}` is outside the spec's folder" in said
    assert said.endswith(HINT)
    assert "p4ss" not in said


def test_a_root_of_the_site_file(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_patch(name: str, said: str, secret: Path) -> None:
    os.mkfifo("pipe")
    with Path("large").open("wb") as file:
        file.truncate((64 << 20) + 1)
    git = "source: {git: 'https://example.org/r.git', ref: main}"
    build = f"builds: {{a: {{engine: rocksdb, version: 9.10.0, {git}, patches: ['{name}']}}}}"
    assert f"error[{said}" in complaints(f"title: t\n{build}\n{STEP}\nparams: {{keys: 1k}}\n")


def test_a_file_whose_text_a_step_uses(secret: Path) -> None:
    secret.with_suffix(".lua").write_text("-- p4ss\n")
    step = "steps: [{name: s, kind: sysbench, lua: ../secret.lua, rows: 10, threads: 1, duration: 1s}]"
    build = "builds: {a: {engine: mysql, version: 8.0.36, source: {system: mysqld}}}"
    said = complaints(f"title: t\n{build}\n{step}\nparams: {{keys: 1k}}\n")
    assert "error[file-outside]: the file `../secret.lua` is outside the spec's folder" in said
