import hashlib
import io
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from stepgrid.build.archive import unpack
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import download_file
from stepgrid.build.recipe import Artifact, load_source
from tests.build.ordering import order
from tests.needs import needs


def file(name, content=b"x", **fields):
    return name, {"mode": 0o644, "mtime": 1_000_000_000, **fields}, content


def folder(name):
    return name, {"type": tarfile.DIRTYPE, "mode": 0o2755}, b""


def link(name, target, kind=tarfile.SYMTYPE):
    return name, {"type": kind, "linkname": target}, b""


def tar(path, *members):
    with tarfile.open(path, "w") as archive:
        for name, fields, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, mode, content in members:
            info = zipfile.ZipInfo(name, (2001, 9, 9, 1, 46, 40))
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return path


@pytest.fixture
def refused(tmp_path):
    """What is said; and nothing is outside the folder that was not there before."""

    def said(archive, **more):
        before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "into")}
        with pytest.raises(BuildError) as caught:
            unpack(archive, tmp_path / "into", **more)
        assert {path for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "into")} == before
        return str(caught.value)

    return said


def test_files_folders_and_links(tmp_path):
    members = [folder("a"), file("a/run", b"r", mode=0o755), file("a/b/deep"), link("a/up", "../c"), folder("c")]
    unpack(tar(tmp_path / "x.tar", *members, link("a/hard", "a/run", tarfile.LNKTYPE)), tmp_path / "into")
    into = tmp_path / "into"
    assert (into / "a" / "run").read_bytes() == (into / "a" / "hard").read_bytes() == b"r"
    assert stat.S_IMODE((into / "a" / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((into / "a" / "b" / "deep").stat().st_mode) == 0o644
    assert (into / "a" / "up").readlink() == Path("../c")
    assert (into / "a" / "run").stat().st_mtime == 1_000_000_000, "make compares times"


COMPRESSIONS = [pytest.param(name, marks=needs(name)) for name in ("gzip", "bzip2", "xz", "zstd")]


@pytest.mark.parametrize("how", COMPRESSIONS)
def test_compressed(how, tmp_path):
    plain = tar(tmp_path / "x.tar", file("top/a"))
    with (tmp_path / "x").open("wb") as out:
        subprocess.run([how, "--stdout", str(plain)], stdout=out, check=True)
    unpack(tmp_path / "x", tmp_path / "into")
    assert (tmp_path / "into" / "top" / "a").read_text() == "x"


def test_a_single_top_folder_is_left_out_where_asked(tmp_path):
    archive = tar(tmp_path / "x.tar", file("x-1.0/a"), link("x-1.0/b", "a"))
    unpack(archive, tmp_path / "into", strip=True)
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == ["a", "b"]
    two = tar(tmp_path / "y.tar", file("a/a"), file("b/b"))
    unpack(two, tmp_path / "two", strip=True)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([file("../canary")], "'../canary' leads out of its folder"),
        ([file("a/../../canary")], "'a/../../canary' leads out of its folder"),
        ([file("/canary")], "'/canary' is an absolute path"),
        ([link("a", "/etc/passwd")], "'a' is a link out of its folder, to /etc/passwd"),
        ([link("a", "../canary")], "'a' is a link out of its folder, to ../canary"),
        ([link("x/y/one", "../.."), link("two", "x/y/one/..")], "'two' is a link out of its folder, to x/y/one/.."),
        ([link("a", ".."), file("a/canary")], "'a' is there twice, once as a link"),
        ([folder("b"), link("a", "b"), file("a/inside")], "'a' is there twice, once as a link"),
        ([link("a", "b"), link("a", "c")], "'a' is there twice, once as a link"),
        ([link("a", "../canary", tarfile.LNKTYPE)], "'../canary' leads out of its folder"),
        ([link("a", "b", tarfile.LNKTYPE)], "'a' is a link to b, which is no file before it"),
        ([("a", {"type": tarfile.CHRTYPE}, b"")], "'a' is neither a file, a folder nor a link"),
        ([("a", {"type": tarfile.FIFOTYPE}, b"")], "'a' is neither a file, a folder nor a link"),
        ([file("a", mode=0o4755)], "'a' would run with the rights of its owner (setuid or setgid)"),
        ([file("a"), file("a/b")], "'a/b' needs a folder where it has a file"),
        ([folder("a"), file("a")], "'a' needs a file where it has a folder"),
    ],
)
def test_what_no_archive_of_a_tree_holds(members, why, tmp_path, refused):
    assert refused(tar(tmp_path / "x.tar", *members)) == f"x.tar is not unpacked: its entry {why}"


def test_a_file_that_comes_again_does_not_write_into_a_hard_link(tmp_path):
    members = [file("a", b"old"), link("b", "a", tarfile.LNKTYPE), file("b", b"new")]
    unpack(tar(tmp_path / "x.tar", *members), tmp_path / "into")
    assert (tmp_path / "into" / "a").read_text() == "old"
    assert (tmp_path / "into" / "b").read_text() == "new"


def test_evil_in_a_zip_file(tmp_path, refused):
    out = zipped(tmp_path / "x.zip", ("../canary", 0o100644, "x"))
    assert refused(out) == "x.zip is not unpacked: its entry '../canary' leads out of its folder"
    way = zipped(tmp_path / "y.zip", ("a", 0o120777, "../canary"))
    assert refused(way) == "y.zip is not unpacked: its entry 'a' is a link out of its folder, to ../canary"


def test_one_that_grows_beyond_all_bounds(tmp_path, refused):
    archive = tar(tmp_path / "x.tar", file("a", b"x" * 600), file("b", b"x" * 600))
    expected = "x.tar holds more than an archive of its size does: nothing more is unpacked"
    assert refused(archive, limit=1000) == expected
    assert not (tmp_path / "into" / "b").exists()
    lying = zipped(tmp_path / "y.zip", ("a", 0o100644, "x" * 2000))
    assert refused(lying, limit=1000) == expected.replace("x.tar", "y.zip")


@pytest.mark.parametrize("how", ["", *COMPRESSIONS])
def test_one_that_was_cut_off(how, tmp_path, refused):
    plain = tar(tmp_path / "x.tar", file("a", bytes(range(256)) * 4000))
    content = subprocess.run([how, "--stdout", str(plain)], stdout=subprocess.PIPE).stdout if how else None
    content = content or plain.read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    assert refused(tmp_path / "cut").startswith(
        "cut cannot be unpacked: a whole tar (plain, .gz, .bz2, .xz, .zst) or zip file is expected ("
    )


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK\x03\x04and so on", b"BZh9and so on"])
def test_no_archive(content, tmp_path, refused):
    (tmp_path / "x").write_bytes(content)
    assert refused(tmp_path / "x").startswith("x cannot be unpacked: a whole tar")


def header(kind, size):
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_header_that_would_fill_the_memory(kind, tmp_path, refused):
    (tmp_path / "x.tar").write_bytes(header(kind, 1 << 33) + bytes(1024))
    expected = "x.tar is not unpacked: it has a header of more than 1 MiB, which no source tree needs"
    assert refused(tmp_path / "x.tar") == expected


@pytest.mark.parametrize("version", ["gnu", "1.0"])
def test_a_sparse_file(version, tmp_path, refused):
    """Of which a map of holes without an end could be read."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 20)
        file.write(b"x")
    how = ["--format=gnu"] if version == "gnu" else ["--format=pax", f"--sparse-version={version}"]
    subprocess.run(["tar", "-c", "-S", *how, "-f", "x.tar", "sparse"], cwd=tmp_path, check=True)
    assert refused(tmp_path / "x.tar") == "x.tar is not unpacked: it has a sparse file, which no source tree needs"


def test_a_link_that_would_fill_the_memory(tmp_path, refused):
    said = refused(zipped(tmp_path / "x.zip", ("a", 0o120777, "x" * 5000)))
    assert said == "x.zip is not unpacked: its entry 'a' is a link to a name that is too long for any file"


def test_a_compression_that_python_unpacks_at_once(tmp_path, refused):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", "x")
    assert refused(tmp_path / "x.zip") == "x.zip is not unpacked: its entry 'a' is not stored or deflated"


@pytest.fixture
def archive(tmp_path):
    plain = tar(tmp_path / "a b-1.0.tar", file("a-1.0/main.c", b"int main;\n"))
    with tarfile.open(plain) as old, tarfile.open(tmp_path / "a b-1.0.tar.gz", "w:gz") as new:
        for member in old:
            new.addfile(member, old.extractfile(member))
    return tmp_path / "a b-1.0.tar.gz"


def obtain(tmp_path, url, sha256):
    source = {"tarball": url, "sha256": sha256}
    return load_source("tarball").fetch(source, tmp_path / "attempt", order(tmp_path / "attempt", source))


def url(archive):
    return f"file://{archive}".replace(" ", "%20")


def test_the_tree_without_its_top_folder(tmp_path, archive):
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    material = obtain(tmp_path, url(archive), digest)
    assert material.tree is not None
    assert (material.tree / "main.c").read_text() == "int main;\n"
    assert material.artifacts == (Artifact(url(archive), archive.name, digest),)
    assert material.quality == {"route": "source"}
    assert sorted(path.name for path in (tmp_path / "attempt").iterdir()) == ["build.log", "tree"]


def test_a_wrong_checksum(tmp_path, archive):
    found, expected = hashlib.sha256(archive.read_bytes()).hexdigest(), "0" * 64
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, url(archive), expected)
    said = f"{url(archive)} is not the file that the spec means: its sha256 is {found}, expected {expected}"
    assert str(caught.value) == said
    assert not (tmp_path / "attempt" / "tree").exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BuildError) as caught:
        download_file(f"file://{tmp_path}/none.tar", tmp_path / "x")
    assert str(caught.value) == f"there is no file {tmp_path}/none.tar"


def test_a_host_that_does_not_answer(tmp_path, monkeypatch):
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BuildError) as caught:
        download_file("https://127.0.0.1:1/x.tar", tmp_path / "x")
    advice = "check the network and its proxy, then run the same command again"
    assert str(caught.value) == f"https://127.0.0.1:1/x.tar cannot be had: Connection refused: {advice}"
