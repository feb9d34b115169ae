import hashlib
import tarfile
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.fetch import download_file
from stepgrid.build.recipe import Artifact, Material, load_source
from tests.build.fetch.test_archive_extraction import file, tar
from tests.build.ordering import order


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    plain = tar(tmp_path / "a b-1.0.tar", file("a-1.0/main.c", b"int main;\n"))
    with tarfile.open(plain) as old, tarfile.open(tmp_path / "a b-1.0.tar.gz", "w:gz") as new:
        for member in old:
            new.addfile(member, old.extractfile(member))
    return tmp_path / "a b-1.0.tar.gz"


def obtain(tmp_path: Path, url: str, sha256: str) -> Material:
    source = {"tarball": url, "sha256": sha256}
    return load_source("tarball").fetch(source, tmp_path / "attempt", order(tmp_path / "attempt", source))


def url(archive: Path) -> str:
    return f"file://{archive}".replace(" ", "%20")


def test_the_tree_without_its_top_folder(tmp_path: Path, archive: Path):
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    material = obtain(tmp_path, url(archive), digest)
    assert material.tree is not None
    assert (material.tree / "main.c").read_text() == "int main;\n"
    assert material.artifacts == (Artifact(url(archive), archive.name, digest),)
    assert material.quality == {"route": "source"}
    assert sorted(path.name for path in (tmp_path / "attempt").iterdir()) == ["build.log", "tree"]


def test_a_wrong_checksum(tmp_path: Path, archive: Path):
    found, expected = hashlib.sha256(archive.read_bytes()).hexdigest(), "0" * 64
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, url(archive), expected)
    said = f"{url(archive)} is not the file that the spec means: its sha256 is {found}, expected {expected}"
    assert str(caught.value) == said
    assert not (tmp_path / "attempt" / "tree").exists()


def test_an_archive_that_leads_out_of_its_folder(tmp_path: Path):
    evil = tar(tmp_path / "x.tar", file("../canary"))
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, url(evil), hashlib.sha256(evil.read_bytes()).hexdigest())
    assert str(caught.value) == "x.tar is not unpacked: its entry '../canary' leads out of its folder"
    assert not [*tmp_path.rglob("canary")]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            "http://a.example/x.tar",
            "`tarball: http://a.example/x.tar` is not a URL that begins with https:// or file://",
        ),
        ("--proxy=x", "`tarball: --proxy=x` begins with `-`"),
    ],
)
def test_a_source_that_no_check_lets_through(given: str, why: str, tmp_path: Path):
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, given, "0" * 64)
    assert str(caught.value) == f"the source cannot be used: {why}"


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(BuildError) as caught:
        download_file(f"file://{tmp_path}/none.tar", tmp_path / "x")
    assert str(caught.value) == f"there is no file {tmp_path}/none.tar"


def test_a_host_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BuildError) as caught:
        download_file("https://127.0.0.1:1/x.tar", tmp_path / "x")
    advice = "check the network and its proxy, then run the same command again"
    assert str(caught.value) == f"https://127.0.0.1:1/x.tar cannot be had: Connection refused: {advice}"
