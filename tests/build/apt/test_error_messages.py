import pytest

from stepgrid.build.apt import explain_download, explain_source, explain_update

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
