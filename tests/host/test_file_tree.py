import json
import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.host.files import Tree, scan, tree_size
from stepgrid.run.images.clone import clone

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 100
)
ENTRIES = st.recursive(
    st.binary(max_size=50) | st.builds(lambda name: ("link", name), NAMES),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
FOLDERS = st.dictionaries(NAMES, ENTRIES, max_size=5)


def _make(folder: Path, entries) -> None:
    folder.mkdir()
    for name, content in entries.items():
        if isinstance(content, dict):
            _make(folder / name, content)
        elif isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            (folder / name).symlink_to(content[1])


def _content(folder: Path, tree: Tree) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in tree.files}


@settings(max_examples=60, deadline=None)
@given(FOLDERS)
def test_a_list_of_files_survives_json_and_a_copy_equals_it(entries):
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        _make(root / "data", entries)
        tree = scan(root / "data")
        again = Tree.from_json(json.loads(json.dumps(tree.to_json())))
        assert again == tree
        assert tree.difference(scan(root / "data")) is None
        clone(root / "data", root / "copy", again, ["*.sst", "a*"])
        assert scan(root / "copy") == tree
        assert _content(root / "copy", tree) == _content(root / "data", tree)
        assert tree_size(root / "copy") == tree.bytes


def test_names_that_are_no_text(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.sst")).write_text("x")
    tree = scan(tmp_path)
    assert Tree.from_json(json.loads(json.dumps(tree.to_json()))).difference(scan(tmp_path)) is None


def test_what_belongs_to_a_process_is_left_out(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert scan(tmp_path) == Tree((), {}, {})


def test_a_folder_that_is_not_there_has_no_files(tmp_path):
    assert scan(tmp_path / "none") == Tree((), {}, {})
    assert tree_size(tmp_path / "none") == 0
