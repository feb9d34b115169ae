from __future__ import annotations

import gzip
import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.crate import Crate
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, Material
from stepgrid.model.site import Site
from tests.build.ordering import order
from tests.build.test_archive import file, tar

THING = {"crate": "thing", "version": "0.1.0+9.9.3"}

# what cargo says of the package that wants the crate; without a network only what it has
CARGO = """#!/bin/sh
[ "$1" = --version ] && {{ echo "host: a-b-c"; exit; }}
echo "$@" >> {folder}/words
[ -e {folder}/offline ] && case "$*" in *--offline*) ;; *) echo "spurious network error" >&2; exit 101;; esac
cat {folder}/answer
"""


@pytest.fixture
def cargo(tmp_path: Path) -> Path:
    program = tmp_path / "cargo"
    program.write_text(CARGO.format(folder=tmp_path))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    unpacked = tmp_path / "registry/src/r-1/thing-0.1.0+9.9.3"
    packages = [
        {"name": "thing", "version": "0.0.9", "manifest_path": "/elsewhere/Cargo.toml"},  # of what it depends on
        {"name": "thing", "version": "0.1.0+9.9.3", "manifest_path": str(unpacked / "Cargo.toml")},
    ]
    (tmp_path / "answer").write_text(json.dumps({"packages": packages}))
    plain = tar(tmp_path / "plain", file("thing-0.1.0+9.9.3/build.rs", b"fn main() {}\n"))
    archive(program).parent.mkdir(parents=True)
    archive(program).write_bytes(gzip.compress(plain.read_bytes()))
    return program


def archive(cargo: Path) -> Path:
    return cargo.with_name("registry") / "cache/r-1/thing-0.1.0+9.9.3.crate"


def obtain(cargo: Path, source: dict[str, Any]) -> Material:
    folder = cargo.with_name("attempt")
    return Crate().fetch(source, folder, order(folder, source, site=Site(tools={"cargo": str(cargo)})))


def test_the_tree_of_a_crate(cargo: Path) -> None:
    material = obtain(cargo, THING)
    assert material.tree is not None
    assert (material.tree / "build.rs").read_text() == "fn main() {}\n"
    digest = hashlib.sha256(archive(cargo).read_bytes()).hexdigest()
    assert material.artifacts == (Artifact("thing", "0.1.0+9.9.3", digest),)
    assert material.quality == {"route": "source"}
    assert sorted(path.name for path in cargo.with_name("attempt").iterdir()) == ["build.log", "tmp", "tree"]
    manifest = cargo.with_name("attempt") / ".cargo-package/Cargo.toml"
    words = f"metadata --format-version=1 --manifest-path={manifest} --filter-platform=a-b-c\n"
    assert cargo.with_name("words").read_text() == words


def test_without_a_network_what_the_cache_holds(cargo: Path) -> None:
    cargo.with_name("offline").touch()
    assert obtain(cargo, THING).tree
    assert cargo.with_name("words").read_text().endswith(" --offline\n")


def test_a_wrong_checksum(cargo: Path) -> None:
    with pytest.raises(BuildError, match=r"^thing-0\.1\.0\+9\.9\.3\.crate is not the file that the spec means: "):
        obtain(cargo, {**THING, "sha256": "0" * 64})
    assert not cargo.with_name("attempt").joinpath("tree").exists()


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.1.0+9.9.4", "cargo's registry has no thing 0.1.0+9.9.4: check what stands after the `+`"),
        ("", "`crate: thing` names no version: add `version:`"),
    ],
)
def test_another_version(cargo: Path, version: str, message: str) -> None:
    with pytest.raises(BuildError) as caught:
        obtain(cargo, {**THING, "version": version})
    assert str(caught.value) == message


def test_a_cache_without_archives(cargo: Path) -> None:
    archive(cargo).unlink()
    with pytest.raises(BuildError) as caught:
        obtain(cargo, THING)
    assert str(caught.value) == (
        "cargo keeps no archive of thing-0.1.0+9.9.3: a crate of a vendored folder cannot be checked"
    )
