from pathlib import Path

import pytest

from stepgrid.build.apt import Mirror, configured_mirrors, deb822, one_line

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
