"""What a downloaded .deb says of itself."""

import hashlib
import shutil
import subprocess

import pytest

from stepgrid.build import apt
from stepgrid.build.apt import Mirror
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, load_source
from stepgrid_registries.debian import DebianSource, read_package
from tests.build.ordering import order
from tests.needs import needs

ONE = {"debian": "rocksdb-tools", "suite": "trixie"}


def test_a_machine_that_is_no_debian(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError) as caught:
        load_source("debian").fetch(ONE, tmp_path, order(tmp_path, ONE, "db_bench"))
    assert str(caught.value) == (
        "`source: debian` needs a Debian machine: there is no apt-get on PATH; "
        "name a binary that is installed instead, `source: {system: PROGRAM}`"
    )


needs_deb_read = needs("dpkg-deb")


@needs_deb_read
def test_what_is_no_package_is_refused(tmp_path):
    (tmp_path / "b.deb").write_text("<html>an error page</html>")
    with pytest.raises(BuildError, match=r"^b\.deb is no Debian package: "):
        read_package(Commands(tmp_path / "log", tmp_path), tmp_path / "b.deb")


needs_debian_source = needs("apt-get", "dpkg-source")
CONTROL = """\
Source: thing
Section: misc
Priority: optional
Maintainer: m <m@example.org>
Standards-Version: 4.6.2

Package: thing
Architecture: any
Description: d
"""
CHANGELOG = "thing (1.0-2) one; urgency=low\n\n  * c\n\n -- m <m@example.org>  Mon, 06 May 2024 07:08:09 +0000\n"
PATCH = "--- a/main.c\n+++ b/main.c\n@@ -1 +1 @@\n-int upstream;\n+int debian;\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    pool = tmp_path_factory.mktemp("pool")
    _source_package(pool)
    return pool


@pytest.fixture
def mirror(tmp_path, package, monkeypatch):
    root = tmp_path / "mirror"
    pool = root / "pool"
    shutil.copytree(package, pool)
    description = (pool / "thing_1.0-2.dsc").read_text()
    entry = f" {hashlib.sha256(description.encode()).hexdigest()} {len(description)} thing_1.0-2.dsc\n"
    listed = description.replace("Source: ", "Package: ").replace("Checksums-Sha256:\n", f"Checksums-Sha256:\n{entry}")
    index = root / "dists/one/main/source/Sources"
    index.parent.mkdir(parents=True)
    index.write_text(listed.rstrip() + "\nDirectory: pool\n")
    content = index.read_bytes()
    (root / "dists/one/Release").write_text(
        "Suite: one\nCodename: uno\nDate: Fri, 20 Nov 2026 00:00:00 UTC\nComponents: main\n"
        f"SHA256:\n {hashlib.sha256(content).hexdigest()} {len(content)} main/source/Sources\n"
    )
    one = Mirror(f"copy:{root}", ("one",), ("main",), (("trusted", "yes"),))
    monkeypatch.setattr(apt, "configured_mirrors", lambda: (one,))
    return root


def _source_package(pool):
    tree = pool / "thing-1.0"
    for name, text in {
        "main.c": "int upstream;\n",
        "debian/control": CONTROL,
        "debian/changelog": CHANGELOG,
        "debian/source/format": "3.0 (quilt)\n",
        "debian/patches/series": "change\n",
        "debian/patches/change": PATCH,
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    subprocess.run(
        ["tar", "-C", pool, "-czf", pool / "thing_1.0.orig.tar.gz", "--exclude=debian", "thing-1.0"], check=True
    )
    subprocess.run(["dpkg-source", "-b", "thing-1.0"], cwd=pool, check=True, capture_output=True)
    shutil.rmtree(tree)


def obtain(tmp_path, **more):
    source = {"debian-source": "thing", "suite": "one", **more}
    return DebianSource().fetch(source, tmp_path / "attempt", order(tmp_path / "attempt", source))


def digest(mirror):
    return hashlib.sha256((mirror / "pool/thing_1.0-2.dsc").read_bytes()).hexdigest()


@needs_debian_source
@pytest.mark.parametrize(("more", "content"), [({}, "int debian;\n"), ({"patched": "false"}, "int upstream;\n")])
def test_the_tree(tmp_path, mirror, more, content):
    material = obtain(tmp_path, version="1.0-2", sha256=digest(mirror), **more)
    assert material.tree is not None
    assert (material.tree / "main.c").read_text() == content
    assert material.artifacts == (Artifact("thing", "1.0-2", digest(mirror)),)
    assert material.quality == {"route": "source"}
    assert material.facts == {"suite": "uno", "package": "thing 1.0-2", "patched": not more}
    assert sorted(path.name for path in (tmp_path / "attempt").iterdir()) == ["build.log", "tmp", "tree"]


@needs_debian_source
def test_a_wrong_checksum(tmp_path, mirror):
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, sha256="0" * 64)
    assert str(caught.value) == (
        f"thing_1.0-2.dsc is not the file that the spec means: its sha256 is {digest(mirror)}, expected {'0' * 64}"
    )
    assert not (tmp_path / "attempt/tree").exists()


@needs_debian_source
def test_a_file_that_is_not_what_the_index_says(tmp_path, mirror):
    path = mirror / "pool/thing_1.0.orig.tar.gz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(BuildError, match=r"^apt could not fetch thing of suite one from its mirror: "):
        obtain(tmp_path)
