import os
import stat

import pytest

from stepgrid.host.files import scan
from stepgrid.run import images
from stepgrid.run.images import clone_tree


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    (folder / "cf").mkdir(parents=True)
    (folder / "cf" / "1.sst").write_bytes(b"s" * 100)
    (folder / "CURRENT").write_bytes(b"c" * 10)
    (folder / "CURRENT").chmod(0o640)
    return folder


def test_immutable_files_share_and_the_others_do_not(source, tmp_path):
    done = clone_tree(source, tmp_path / "target", scan(source), ["*.sst"])
    assert done.method in (images.HARDLINK, images.REFLINK)
    assert (done.bytes, done.copied) == (110, 10)
    target = tmp_path / "target"
    assert (target / "CURRENT").stat().st_ino != (source / "CURRENT").stat().st_ino
    assert stat.S_IMODE((target / "CURRENT").stat().st_mode) == 0o640
    if done.method == images.HARDLINK:
        assert (target / "cf" / "1.sst").stat().st_ino == (source / "cf" / "1.sst").stat().st_ino


def test_a_file_system_without_links_gets_copies(source, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(images, "_reflink", lambda *_: False)
    done = clone_tree(source, tmp_path / "target", scan(source), ["*.sst"])
    assert (done.method, done.copied) == (images.COPY, 110)
    assert (tmp_path / "target" / "cf" / "1.sst").read_bytes() == b"s" * 100


def test_nothing_immutable_is_a_copy(source, tmp_path):
    assert clone_tree(source, tmp_path / "target", scan(source), []).method == images.COPY


def test_some_links_and_some_copies_are_mixed(source, tmp_path, monkeypatch):
    (source / "2.sst").write_bytes(b"t")
    link, calls = os.link, []

    def once(old, new):
        calls.append(old)
        if len(calls) > 1:
            raise OSError(31, "Too many links")
        link(old, new)

    monkeypatch.setattr(os, "link", once)
    monkeypatch.setattr(images, "_reflink", lambda *_: False)
    assert clone_tree(source, tmp_path / "target", scan(source), ["*.sst"]).method == images.MIXED
