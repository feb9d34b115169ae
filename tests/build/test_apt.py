from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.apt import (
    Mirror,
    PrivateApt,
    architecture,
    configured_mirrors,
    deb822,
    explain_download,
    explain_source,
    explain_update,
    merge_usr,
    one_line,
    relink,
    stanzas,
    unpack_packages,
)
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from tests.needs import needs

DEBIAN = "http://mirror.example/debian"


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"deb {DEBIAN} bookworm main contrib", [Mirror(DEBIAN, ("bookworm",), ("main", "contrib"))]),
        (
            f"deb [arch=amd64 signed-by=/k.gpg trusted=yes] {DEBIAN} sid main # why",
            [Mirror(DEBIAN, ("sid",), ("main",), (("signed-by", "/k.gpg"), ("trusted", "yes")))],
        ),
        ("deb cdrom:[Debian 12]/ bookworm main", []),
        (f"deb-src {DEBIAN} bookworm main", []),
        (f"# deb {DEBIAN} bookworm main", []),
        ("", []),
    ],
)
def test_one_line(line: str, expected: list[Mirror]):
    assert list(one_line(line)) == expected


def test_deb822_has_a_mirror_for_each_uri():
    suites = "Suites: trixie trixie-updates\nComponents: main\n"
    text = f"Types: deb deb-src\nURIs: {DEBIAN} http://other.example/debian\n{suites}"
    assert list(deb822(text)) == [
        Mirror(DEBIAN, ("trixie", "trixie-updates"), ("main",)),
        Mirror("http://other.example/debian", ("trixie", "trixie-updates"), ("main",)),
    ]


@pytest.mark.parametrize("field", ["Enabled: no", "Enabled: false"])
def test_deb822_that_is_disabled(field: str):
    assert list(deb822(f"{field}\nTypes: deb\nURIs: {DEBIAN}\nSuites: sid\nComponents: main\n")) == []


def test_deb822_of_sources_only():
    assert list(deb822(f"Types: deb-src\nURIs: {DEBIAN}\nSuites: sid\nComponents: main\n")) == []


def test_the_distribution_comes_first_and_security_archives_never(etc: Path):
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
    assert [mirror.uri for mirror in configured_mirrors(etc)] == [DEBIAN, "http://vendor.example/apt"]


def test_a_mirror_counts_once(etc: Path):
    (etc / "sources.list").write_text(f"deb {DEBIAN} bookworm main\ndeb {DEBIAN}/ bookworm-updates main\n")
    assert [mirror.suites for mirror in configured_mirrors(etc)] == [("bookworm",)]


def test_a_machine_without_apt(tmp_path: Path):
    assert configured_mirrors(tmp_path / "none") == ()


def test_the_source_of_another_suite_keeps_the_key():
    key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDME"
    text = f"Types: deb\nURIs: {DEBIAN}\nSuites: bookworm\nComponents: main contrib\nSigned-By:{key}\n"
    (mirror,) = deb822(text)
    written = mirror.source("sid", "arm64")
    (again,) = deb822(written)
    assert "Architectures: arm64\n" in written
    assert (again.uri, again.suites, again.components, again.trust) == (DEBIAN, ("sid",), ("main",), mirror.trust)


def test_fields_continuations_and_comments():
    text = "Package: a\nDepends: b,\n  c\n\n# a comment\n\nPACKAGE: d\nVersion: 1:2.0-3\n"
    assert list(stanzas(text)) == [
        {"package": "a", "depends": "b,\n  c"},
        {"package": "d", "version": "1:2.0-3"},
    ]


def test_a_comment_does_not_end_a_field():
    assert list(stanzas("Types: deb\n# once\nURIs: http://mirror.example/debian\n")) == [
        {"types": "deb", "uris": "http://mirror.example/debian"}
    ]


def test_nothing():
    assert list(stanzas("\n\n")) == []


needs_private_apt = needs("apt-get")


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
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
    return Mirror(f"copy:{root}", ("one",), ("main",), (("trusted", "yes"),))


@pytest.fixture
def tree(tmp_path: Path) -> PrivateApt:
    (tmp_path / "build").mkdir()
    commands = Commands(tmp_path / "log", tmp_path / "build")
    return PrivateApt(tmp_path / "build" / "apt", commands, _architecture(tmp_path))


@needs_private_apt
def test_a_package_and_what_it_needs(tree: PrivateApt, mirror: Mirror):
    tree.update([mirror], "one")
    files = tree.download(["tool"], "one")
    assert [file.name for file in files] == ["tool-lib_1.0_all.deb", "tool_1.0_all.deb"]
    sums = {
        (name, "1.0"): hashlib.sha256(file.read_bytes()).hexdigest() for name, file in zip(_NAMES, files, strict=True)
    }
    assert tree.checksums(["tool=1.0", "tool-lib=1.0"]) == sums
    assert tree.release()["codename"] == "uno"


@needs_private_apt
def test_one_package_alone(tree: PrivateApt, mirror: Mirror):
    tree.update([mirror], "one")
    assert tree.download_alone("tool", "one").name == "tool_1.0_all.deb"


@needs_private_apt
def test_the_next_mirror_is_asked(tree: PrivateApt, mirror: Mirror, tmp_path: Path):
    empty = Mirror(f"copy:{tmp_path / 'empty'}", ("one",), ("main",), mirror.trust)
    tree.update([empty, mirror], "one")
    assert len(tree.download(["tool"], "one")) == 2


@needs_private_apt
def test_a_package_that_is_not_what_the_index_says(tree: PrivateApt, mirror: Mirror, tmp_path: Path):
    path = tmp_path / "mirror/pool/tool_1.0_all.deb"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    tree.update([mirror], "one")
    with pytest.raises(BuildError, match=r"^apt could not fetch tool of suite one from its mirror: "):
        tree.download(["tool"], "one")
    assert "Hash Sum mismatch" in (tmp_path / "log").read_text()


@needs_private_apt
def test_lists_that_nobody_signed(tree: PrivateApt, mirror: Mirror):
    with pytest.raises(BuildError, match=r"^the mirror's suite one is not signed: "):
        tree.update([Mirror(mirror.uri, mirror.suites, mirror.components)], "one")


@needs_private_apt
def test_a_machine_without_mirrors(tree: PrivateApt):
    with pytest.raises(BuildError) as caught:
        tree.update([], "one")
    assert str(caught.value) == (
        "apt knows no mirror of distribution packages (looked in /etc/apt/sources.list*): "
        "name a binary that is installed instead, `source: {system: PROGRAM}`"
    )


_NAMES = ("tool-lib", "tool")


def _package(root: Path, name: str, depends: str) -> str:
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


def _architecture(folder: Path) -> str:
    return architecture(Commands(folder / "log", folder))


debian = needs("dpkg-deb")


def test_files_of_an_unmerged_suite_end_in_usr(tmp_path: Path):
    """As bullseye's libc: files in /lib, an absolute link to the loader, relative links between the two trees."""
    _write(tmp_path / "lib/multi/ld-2.31.so", "loader")
    _write(tmp_path / "usr/lib/multi/liba.so.1.0", "a")
    _link(tmp_path / "lib64/ld-linux.so.2", "/lib/multi/ld-2.31.so")
    _link(tmp_path / "lib/multi/liba.so.1", "../../usr/lib/multi/liba.so.1.0")
    merge_usr(tmp_path)
    relink(tmp_path)
    assert (tmp_path / "lib").readlink() == Path("usr/lib")
    assert (tmp_path / "lib64/ld-linux.so.2").read_text() == "loader"
    assert (tmp_path / "usr/lib/multi/liba.so.1").read_text() == "a"


def test_the_prefix_can_be_moved(tmp_path: Path):
    prefix = tmp_path / "prefix"
    _write(prefix / "usr/lib/x", "x")
    _link(prefix / "usr/bin/y", "/usr/lib/x")
    relink(prefix)
    moved = prefix.rename(tmp_path / "moved")
    assert (moved / "usr/bin/y").read_text() == "x"


def test_merging_a_merged_prefix_changes_nothing(tmp_path: Path):
    _write(tmp_path / "usr/lib/x", "x")
    merge_usr(tmp_path)
    merge_usr(tmp_path)
    assert (tmp_path / "lib/x").read_text() == "x"


@debian
def test_unpack_leaves_the_manuals_out(tmp_path: Path):
    root = tmp_path / "root"
    _write(root / "DEBIAN/control", "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n")
    _write(root / "usr/share/man/man1/x.1", "manual")
    _write(root / "usr/share/x/data", "data")
    _write(root / "lib/x", "x")
    subprocess.run(["dpkg-deb", "--build", root, tmp_path / "x.deb"], check=True, capture_output=True)
    unpack_packages([tmp_path / "x.deb"], tmp_path / "prefix", Commands(tmp_path / "log", tmp_path))
    files = sorted(str(p.relative_to(tmp_path / "prefix")) for p in (tmp_path / "prefix").rglob("*") if p.is_file())
    assert [file for file in files if not file.startswith("lib/")] == ["usr/lib/x", "usr/share/x/data"]


@debian
def test_what_is_no_package(tmp_path: Path):
    (tmp_path / "x.deb").write_text("no package")
    with pytest.raises(BuildError, match=r"^x\.deb cannot be unpacked: dpkg-deb: error: "):
        unpack_packages([tmp_path / "x.deb"], tmp_path / "prefix", Commands(tmp_path / "log", tmp_path))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


SYSTEM = "name a binary that is installed instead, `source: {system: PROGRAM}`"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "E: The repository 'http://mirror.example/debian nosuch Release' does not have a Release file.",
            f"the mirror that apt is configured with has no suite nosuch: choose a suite that it has, or {SYSTEM}",
        ),
        (
            "W: GPG error: http://mirror.example sid InRelease: The following signatures couldn't be verified because "
            "the public key is not available: NO_PUBKEY 0E98404D386FA1D9",
            "the mirror's suite nosuch is signed with a key that this machine does not know: install a newer archive "
            "keyring package of the distribution",
        ),
        (
            "W: GPG error: http://mirror.example sid InRelease: gpgv, gpgv2 or gpgv1 required for verification, but "
            "neither seems installed\nE: The repository 'http://mirror.example sid InRelease' is not signed.",
            "apt checks signatures of suite nosuch with gpgv, which is not on PATH: install the package gpgv",
        ),
        (
            "E: Failed to fetch http://mirror.example/x  Could not resolve 'mirror.example'",
            "apt could not reach its mirror for suite nosuch: check the network, then run the same command again",
        ),
        (
            "E: Write error - write (28: No space left on device)",
            "the disk is full: apt could not store the lists of suite nosuch",
        ),
        ("E: something new", "apt could not fetch the lists of suite nosuch"),
    ],
)
def test_update(said: str, message: str):
    assert explain_update("nosuch", said) == message


def test_a_package_that_the_suite_lacks_names_the_nearest():
    said = "E: Unable to locate package rocksdb-tool"
    message = explain_download(["rocksdb-tool"], "sid", "amd64", ["rocksdb-tools", "bash"], said)
    assert message == (
        "suite sid has no package rocksdb-tool for amd64 (did you mean rocksdb-tools?): "
        f"choose a suite that has it, or {SYSTEM}"
    )


def test_a_package_of_other_architectures():
    said = "E: Package 'rocksdb-tools' has no installation candidate"
    message = explain_download(["rocksdb-tools"], "sid", "riscv64", [], said)
    assert message == f"suite sid has no package rocksdb-tools for riscv64: choose a suite that has it, or {SYSTEM}"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "The following packages have unmet dependencies:\n rocksdb-tools : Depends: librocksdb9.11",
            "a b of suite sid depends on packages that the suite lacks at the moment: try again later, choose another "
            f"suite, or {SYSTEM}",
        ),
        (
            "E: Failed to fetch http://mirror.example/a.deb  404  Not Found",
            "the mirror has a file of a b in its lists of suite sid, and not the file: "
            "try again later, or choose another suite",
        ),
        (
            "E: Failed to fetch http://mirror.example/a.deb  Connection failed",
            "apt could not fetch a b of suite sid from its mirror: check the network, then run the same command again",
        ),
        (
            "E: You don't have enough free space in /somewhere.",
            "the disk is full: apt could not store a b of suite sid",
        ),
        ("E: something new", "apt could not fetch a b of suite sid"),
    ],
)
def test_download(said: str, message: str):
    assert explain_download(["a", "b"], "sid", "amd64", [], said) == message


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "E: Unable to find a source package for gflag",
            "suite sid has no source package gflag (did you mean gflags?): choose a suite that has it",
        ),
        (
            "E: Can not find version '2' of package 'gflag'\nE: Unable to find a source package for gflag",
            "suite sid has no gflag 2, it has another version: a suite moves on",
        ),
        (
            "E: Failed to fetch x.dsc  Connection failed",
            "apt could not fetch gflag of suite sid from its mirror: "
            "check the network, then run the same command again",
        ),
    ],
)
def test_source(said: str, message: str):
    assert explain_source("gflag", "2", "sid", lambda: {"gflags": ["1"]}, said) == message
