import json

import pytest

from compiler.store.durable import remove_tree, write_json
from compiler.store.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "outputs")


def test_a_result_is_published_by_rename_and_marked(store):
    attempt = store.new_attempt("s-1")
    write_json(attempt / "result.json", {"status": "done"})
    assert store.attempts("s-1") == [attempt]
    result = store.publish_result("s-1", attempt)
    assert store.attempts("s-1") == []
    assert store.results("s-1") == [result]
    assert str(store.mark("s-1").readlink()) == f"../results/s-1/{attempt.name}/result.json"


def test_the_newest_complete_result_counts(store):
    for _ in range(2):
        attempt = store.new_attempt("s-1")
        write_json(attempt / "result.json", {})
        last = store.publish_result("s-1", attempt)
    incomplete = store.root / "results" / "s-1" / "29990101T000000.000000Z"
    incomplete.mkdir()
    assert store.result("s-1") == last
    assert len(store.results("s-1")) == 2
    assert store.result("s-2") is None


def test_an_image_takes_the_place_of_the_one_before(store):
    for content in ("old", "new"):
        staged = store.new_image("s-1")
        (staged / "data").mkdir()
        (staged / "data" / "file").write_text(content)
        store.publish_image("s-1", staged)
    assert (store.image("s-1") / "data" / "file").read_text() == "new"
    assert [entry.name for entry in store.image("s-1").parent.iterdir()] == ["s-1"]


def test_leftovers_are_live_folders_and_unfinished_images(store):
    for name in ("live/s-1.12", "images/.s-2.13", "images/.s-3-old.14", "images/s-4", "live/other"):
        (store.root / name).mkdir(parents=True)
    found = [(stage, folder.name) for stage, folder in store.leftovers()]
    assert found == [("s-1", "s-1.12"), ("s-2", ".s-2.13"), ("s-3-old", ".s-3-old.14")]


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_tree_is_removed_with_its_links_but_not_what_they_name(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "inner" / "link").symlink_to(kept)
    (tree / "file").touch()
    assert remove_tree(tree) is True
    assert not tree.exists()
    assert (kept / "file").exists()
    assert remove_tree(tree) is True


def test_a_removal_stops_when_its_time_is_over(tmp_path):
    (tmp_path / "tree").mkdir()
    for number in range(3):
        (tmp_path / "tree" / str(number)).touch()
    assert remove_tree(tmp_path / "tree", until=0.0) is False
    assert len(list((tmp_path / "tree").iterdir())) == 2
