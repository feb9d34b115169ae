import hashlib
import subprocess
from pathlib import Path

import pytest

from stepgrid.build import apt
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from tests.cases import rows
from tests.needs import needs

DEBIAN = "http://mirror.example/debian"


@pytest.fixture
def etc(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_the_distribution_comes_first_and_security_archives_never(etc):
    (etc / "sources.list").write_text(
        "deb [signed-by=/usr/share/keyrings/vendor.gpg] http://vendor.example/apt bookworm main\n"
        "deb http://security.example/debian-security bookworm-security main\n"
        "deb http://tools.example/apt stable tools\n"
    )
    (etc / "sources.list.d" / "debian.sources").write_text(
        f"Types: deb\nURIs: {DEBIAN}\nSuites: bookworm bookworm-updates\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )
    (etc / "sources.list.d" / "off.sources.disabled").write_text("Types: deb\nURIs: http://off.example\n")
    assert [mirror.uri for mirror in apt.configured_mirrors(etc)] == [DEBIAN, "http://vendor.example/apt"]


needs_private_apt = needs("apt-get")


@pytest.fixture
def mirror(tmp_path):
    """A real mirror on disk: suite `one` with a package and what it depends on."""
    root = tmp_path / "mirror"
    index = "\n".join(_package(root, name, depends) for name, depends in (("tool", "tool-lib"), ("tool-lib", "")))
    arch = _architecture(tmp_path)
    packages = root / "dists/one/main" / f"binary-{arch}" / "Packages"
    packages.parent.mkdir(parents=True)
    packages.write_text(index)
    digest = hashlib.sha256(packages.read_bytes()).hexdigest()
    (root / "dists/one/Release").write_text(
        "Suite: one\nCodename: uno\nDate: Fri, 20 Nov 2026 00:00:00 UTC\n"
        f"Architectures: {arch}\nComponents: main\nSHA256:\n {digest} {len(index)} main/binary-{arch}/Packages\n"
    )
    return apt.Mirror(f"copy:{root}", ("one",), ("main",), (("trusted", "yes"),))


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "build").mkdir()
    commands = Commands(tmp_path / "log", tmp_path / "build")
    return apt.PrivateApt(tmp_path / "build" / "apt", commands, _architecture(tmp_path))


@needs_private_apt
def test_a_package_and_what_it_needs(tree, mirror):
    tree.update([mirror], "one")
    files = tree.download(["tool"], "one")
    assert [file.name for file in files] == ["tool-lib_1.0_all.deb", "tool_1.0_all.deb"]
    sums = {
        (name, "1.0"): hashlib.sha256(file.read_bytes()).hexdigest() for name, file in zip(_NAMES, files, strict=True)
    }
    assert tree.checksums(["tool=1.0", "tool-lib=1.0"]) == sums
    assert tree.release()["codename"] == "uno"


@needs_private_apt
def test_the_next_mirror_is_asked(tree, mirror, tmp_path):
    empty = apt.Mirror(f"copy:{tmp_path / 'empty'}", ("one",), ("main",), mirror.trust)
    tree.update([empty, mirror], "one")
    assert len(tree.download(["tool"], "one")) == 2


@needs_private_apt
def test_a_package_that_is_not_what_the_index_says(tree, mirror, tmp_path):
    path = tmp_path / "mirror/pool/tool_1.0_all.deb"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    tree.update([mirror], "one")
    with pytest.raises(BuildError, match=r"^apt could not fetch tool of suite one from its mirror: "):
        tree.download(["tool"], "one")
    assert "Hash Sum mismatch" in (tmp_path / "log").read_text()


@needs_private_apt
def test_a_machine_without_mirrors(tree):
    with pytest.raises(BuildError) as caught:
        tree.update([], "one")
    assert str(caught.value) == (
        "apt knows no mirror of distribution packages (looked in /etc/apt/sources.list*): "
        "name a binary that is installed instead, `source: {system: PROGRAM}`"
    )


_NAMES = ("tool-lib", "tool")


def _package(root, name, depends):
    """Builds it, and gives its stanza of the index."""
    control = f"Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: m\nDescription: d\n"
    control += f"Depends: {depends}\n" if depends else ""
    (root / name / "DEBIAN").mkdir(parents=True)
    (root / name / "DEBIAN/control").write_text(control)
    (root / "pool").mkdir(exist_ok=True)
    file = root / "pool" / f"{name}_1.0_all.deb"
    subprocess.run(["dpkg-deb", "--build", root / name, file], check=True, capture_output=True)
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return f"{control}Filename: pool/{file.name}\nSize: {len(content)}\nSHA256: {digest}\n"


def _architecture(folder):
    return apt.architecture(Commands(folder / "log", folder))


debian = needs("dpkg-deb")


def test_files_of_an_unmerged_suite_end_in_usr(tmp_path):
    """As bullseye's libc: files in /lib, an absolute link to the loader, relative links between the two trees."""
    _write(tmp_path / "lib/multi/ld-2.31.so", "loader")
    _write(tmp_path / "usr/lib/multi/liba.so.1.0", "a")
    _link(tmp_path / "lib64/ld-linux.so.2", "/lib/multi/ld-2.31.so")
    _link(tmp_path / "lib/multi/liba.so.1", "../../usr/lib/multi/liba.so.1.0")
    apt.merge_usr(tmp_path)
    apt.relink(tmp_path)
    assert (tmp_path / "lib").readlink() == Path("usr/lib")
    assert (tmp_path / "lib64/ld-linux.so.2").read_text() == "loader"
    assert (tmp_path / "usr/lib/multi/liba.so.1").read_text() == "a"


@debian
def test_what_is_no_package(tmp_path):
    (tmp_path / "x.deb").write_text("no package")
    with pytest.raises(BuildError, match=r"^x\.deb cannot be unpacked: dpkg-deb: error: "):
        apt.unpack_packages([tmp_path / "x.deb"], tmp_path / "prefix", Commands(tmp_path / "log", tmp_path))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(("said", "message"), rows(__file__, "update"))
def test_update(said, message):
    assert apt.explain_update("nosuch", said) == message
