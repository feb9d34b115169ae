"""Folders that a user names: what others wrote, changed or linked stays as it is, and what we wrote is replaced."""

import json
from pathlib import Path

import pytest

from stepgrid.host.files import sha256
from stepgrid.host.products import OccupiedError, write_file
from stepgrid_page.folders import MANIFEST, check_folder, fill_folder


def filled(**texts):
    def fill(staged):
        for name, text in texts.items():
            path = staged / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return fill


def contents(folder):
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def test_our_files_are_replaced_and_others_stay(tmp_path):
    folder = tmp_path / "new" / "folder"
    fill_folder(folder, filled(a="1", steps__load__x="x", steps__read__x="x"))
    (folder / "steps/read/mine").write_text("mine")
    fill_folder(folder, filled(a="2", b="b"))
    assert contents(folder) == {"a": "2", "b": "b", "steps/read/mine": "mine"}
    assert not (folder / "steps/load").exists()
    listed = json.loads((folder / MANIFEST).read_text())["files"]
    assert listed == [[sha256(folder / name), name] for name in ("a", "b")]


def changed(folder):
    (folder / "a").write_text("mine")


def added(folder):
    (folder / "b").write_text("mine")


def linked(folder):
    (folder / "c").symlink_to("../elsewhere")


def linked_away(folder):
    (folder / "steps").rename(folder.parent / "moved")
    (folder / "steps").symlink_to("../moved")


def in_place_of_a_folder(folder):
    (folder / "c").write_text("mine")


@pytest.mark.parametrize(
    ("meddle", "sentence"),
    [
        (changed, "{}/a was changed since stepgrid wrote it"),
        (added, "{}/b is there already, and stepgrid did not write it"),
        (linked, "{}/c is there already, and stepgrid did not write it"),
        (linked_away, "{}/steps/x is behind a link, which stepgrid did not make"),
        (in_place_of_a_folder, "{}/c is there already, and stepgrid did not write it"),
    ],
)
def test_refused(tmp_path, meddle, sentence):
    folder = tmp_path / "folder"
    (tmp_path / "elsewhere").mkdir()
    fill_folder(folder, filled(a="1", steps__x="x"))
    meddle(folder)
    before = contents(tmp_path)
    with pytest.raises(OccupiedError) as caught:
        fill_folder(folder, filled(a="2", b="b", c__d="d"))
    assert str(caught.value) == sentence.format(folder)
    assert contents(tmp_path) == before


def test_a_folder_of_somebody_else(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(OccupiedError, match="holds files that stepgrid did not write there"):
        check_folder(tmp_path)
    with pytest.raises(OccupiedError, match="is no folder"):
        check_folder(tmp_path / "mine")


def test_a_planted_manifest_leads_nowhere(tmp_path):
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    other.write_text("mine")
    names = ["../other", str(other)]
    (folder / MANIFEST).write_text(json.dumps({"files": [*([sha256(other), name] for name in names), 7, ["a"]]}))
    fill_folder(folder, filled(a="1"))
    assert other.read_text() == "mine"
    (folder / MANIFEST).rename(tmp_path / "manifest")
    (folder / MANIFEST).symlink_to("../manifest")
    with pytest.raises(OccupiedError, match="did not write there"):
        check_folder(folder)


def test_names_that_no_file_can_have_are_none(tmp_path):
    (tmp_path / MANIFEST).write_text(json.dumps({"files": [["0", "a\0b"], ["0", "\ud800"], ["0", ""]]}))
    fill_folder(tmp_path, filled(a="1"))
    assert contents(tmp_path) == {"a": "1"}


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/null", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stderr"])
def test_streams_are_written_to(path, tmp_path):
    seen = []
    write_file(Path(path), seen.append, tmp_path / "notes")
    assert (seen, (tmp_path / "notes").exists()) == ([Path(path)], False)


def test_a_name_below_dev_is_no_stream(tmp_path):
    """A disk would have been written over."""
    (path,) = [entry for entry in Path("/dev").iterdir() if entry.is_block_device() or entry.is_dir()][:1]
    with pytest.raises(OccupiedError, match=f"^{path} is "):
        write_file(path, lambda file: pytest.fail(f"{file} is written"), tmp_path / "notes")


def test_one_that_was_killed_half_way_is_ours(tmp_path):
    def die(staged):
        filled(a="2")(staged)
        raise KeyboardInterrupt

    for texts in ({}, {"a": "1"}):
        with pytest.raises(KeyboardInterrupt):
            fill_folder(tmp_path / "folder", die)
        assert contents(tmp_path / "folder") == texts
        fill_folder(tmp_path / "folder", filled(a="1"))
    assert contents(tmp_path / "folder") == {"a": "1"}
