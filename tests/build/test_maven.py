from __future__ import annotations

import hashlib
import platform
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build import maven
from stepgrid.build.error import BuildError
from stepgrid.build.maven import Maven, open_jar
from stepgrid.build.recipe import Artifact, Material
from stepgrid.model.site import Site
from tests.build.ordering import order
from tests.build.test_archive import file, link, tar, zipped

JAR = {"maven": "a.b:c:1", "classifier": "linux64"}

# what mvn does with the words it gets: the jar of its repository, or what it says that it has not
MVN = """#!/bin/sh
echo "$@" >> {folder}/words
[ -e {folder}/c.jar ] || {{ echo "Could not find artifact a.b:c:jar:linux64:1 in r"; exit 1; }}
for word; do case $word in -DoutputDirectory=*) cp {folder}/c.jar "${{word#*=}}/c-1-linux64.jar";; esac; done
"""


@pytest.fixture
def mvn(tmp_path: Path) -> Path:
    program = tmp_path / "mvn"
    program.write_text(MVN.format(folder=tmp_path))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    zipped(tmp_path / "c.jar", ("META-INF/MANIFEST.MF", 0o644, "m"), ("libc-linux64.so", 0o644, "so"))
    return program


def obtain(mvn: Path, source: dict[str, Any], **fields: Any) -> Material:
    folder = mvn.with_name("attempt")
    wanted = order(folder, source, site=Site(tools={"mvn": str(mvn)}), **fields)
    return Maven().fetch(source, folder, wanted)


def digest(mvn: Path) -> str:
    return hashlib.sha256(mvn.with_name("c.jar").read_bytes()).hexdigest()


def test_a_jar(mvn: Path) -> None:
    material = obtain(mvn, JAR)
    assert material.prefix is not None
    assert [path.name for path in material.prefix.iterdir()] == ["libc-linux64.so"]
    assert material.artifacts == (Artifact("a.b:c:linux64", "1", digest(mvn)),)
    assert (material.quality, material.facts) == ({"route": "maven"}, {"artifact": "a.b:c:linux64"})
    assert sorted(path.name for path in mvn.with_name("attempt").iterdir()) == ["build.log", "prefix", "tmp"]
    assert " -Dartifact=a.b:c:1:jar:linux64 " in mvn.with_name("words").read_text()


@pytest.mark.parametrize("right", [True, False])
def test_a_checksum_of_the_lock_file(mvn: Path, right: bool) -> None:
    expected = digest(mvn) if right else "0" * 64
    pins = {"maven a.b:c:1 linux64": f"sha256:{expected}"}
    if right:
        assert obtain(mvn, JAR, pins=pins).prefix
        return
    with pytest.raises(BuildError) as caught:
        obtain(mvn, JAR, pins=pins)
    assert str(caught.value) == (
        f"c-1-linux64.jar is not the file that the lock file means: its sha256 is {digest(mvn)}, expected {'0' * 64}"
    )
    assert not mvn.with_name("attempt").joinpath("prefix").exists()


def test_a_wrong_checksum_of_the_spec(mvn: Path) -> None:
    with pytest.raises(BuildError, match=r"^c-1-linux64\.jar is not the file that the spec means: its sha256 is "):
        obtain(mvn, {**JAR, "sha256": "1" * 64})


def test_the_tree_beside_a_jar_comes_first(mvn: Path, tmp_path: Path) -> None:
    """Git fails more often than mvn, which keeps what it had once; and the jar is the larger one."""
    with pytest.raises(BuildError, match="nowhere"):
        obtain(mvn, {**JAR, "tree": {"path": str(tmp_path / "nowhere")}})
    assert not mvn.with_name("words").exists()


def test_a_jar_with_its_tree(mvn: Path, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.cc").write_text("int a;")
    material = obtain(mvn, {**JAR, "tree": {"path": str(tmp_path / "source")}})
    assert material.tree is not None
    assert [path.name for path in material.tree.iterdir()] == ["a.cc"]
    assert material.artifacts[0].name == "a.b:c:linux64"


def test_what_no_repository_has(mvn: Path) -> None:
    mvn.with_name("c.jar").unlink()
    with pytest.raises(BuildError) as caught:
        obtain(mvn, JAR)
    assert str(caught.value) == (
        "no repository of mvn's has a.b:c:1 linux64: check the group, the artifact, the version and the classifier"
    )


def test_a_home_that_is_not_there(mvn: Path) -> None:
    """mvn takes the home of the user database, whatever HOME says."""
    mvn.write_text(
        "#!/bin/sh\necho '[ERROR] Could not create local repository at /home/x/.m2/repository -> [Help 1]'\nexit 1\n"
    )
    with pytest.raises(BuildError) as caught:
        obtain(mvn, JAR)
    assert str(caught.value) == (
        "mvn cannot create its local repository /home/x/.m2/repository: make its folder, or name another one: "
        "export MAVEN_OPTS=-Dmaven.repo.local=FOLDER"
    )


def test_no_mvn(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path / "not-there", JAR)
    assert str(caught.value) == (
        f"there is no program {tmp_path}/not-there, which this build needs: "
        "install it (Debian package maven), or name it under `tools:` in the site file"
    )


def test_no_version(mvn: Path) -> None:
    with pytest.raises(BuildError) as caught:
        obtain(mvn, {"maven": "a.b:c"})
    assert str(caught.value) == "`maven: a.b:c` names no version: write GROUP:ARTIFACT:VERSION"


JAVA = [("META-INF/MANIFEST.MF", 0o644, "m"), ("org/x/A.class", 0o644, "c")]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def holding(folder: Path, *names: str) -> Path:
    """A jar with archives of these names, each with a program that says which one it is of."""
    path = zipped(folder / "a-1.jar", *JAVA)
    with zipfile.ZipFile(path, "a") as archive:
        for name in names:
            inner = tar(
                folder / name, file("bin/x", name.encode(), mode=0o755), file("share/y"), link("bin/z", "/etc/x")
            )
            archive.write(inner, name)
    return path


def names(prefix: Path) -> list[str]:
    return sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file())


def test_libraries_without_the_java(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a-1.jar", *JAVA, ("liba-linux64.so", 0o644, "so"), ("jni/x86_64-Linux/b.so", 0o644, "b"))
    open_jar(path, tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["jni/x86_64-Linux/b.so", "liba-linux64.so"]
    assert not (tmp_path / "prefix" / "org").exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a-1.jar", "prefix"]


def test_the_programs_for_this_machine(tmp_path: Path) -> None:
    path = holding(tmp_path, "mysql-Linux-amd64.tar.gz", "mysql-Mac_OS_X-x86_64.tar.gz", "mysql-linux-arm64.tgz")
    open_jar(path, tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["bin/x", "share/y"]  # no link to where the packer's own files were
    assert (tmp_path / "prefix/bin/x").read_text() == "mysql-Linux-amd64.tar.gz"
    assert (tmp_path / "prefix/bin/x").stat().st_mode & 0o111
    assert not [*tmp_path.glob(".prefix*")]


def test_one_archive_that_names_no_machine(tmp_path: Path) -> None:
    open_jar(holding(tmp_path, "postgres-linux.txz"), tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["bin/x", "share/y"]


@pytest.mark.parametrize(
    ("archives", "count"),
    [
        (["p-linux-arm_64.txz", "p-darwin-x86_64.txz"], "no archive"),
        (["p-linux.txz", "q-linux.txz"], "several archives"),
    ],
)
def test_no_archive_or_several(tmp_path: Path, archives: list[str], count: str) -> None:
    with pytest.raises(BuildError) as caught:
        open_jar(holding(tmp_path, *archives), tmp_path / "prefix")
    listed = ", ".join(sorted(archives))
    assert str(caught.value) == f"a-1.jar holds {count} for Linux on x86_64; it holds: {listed}"


def test_every_machine_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    archives = [Path(f"a-linux-{machine}.txz") for machine in maven._MACHINES]
    for machine, archive in zip(maven._MACHINES, archives, strict=True):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        assert maven._select_archive("a.jar", archives) == archive
