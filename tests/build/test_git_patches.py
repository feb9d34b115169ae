"""Patches of a spec on the tree of a build: in order, exactly, and inside the tree alone."""

import hashlib

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.git import apply_patches
from stepgrid.build.recipe import Material
from tests.build.ordering import order
from tests.build.repository import Repository

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def change(name, old, new):
    """Of a line of TEXT, with all of it as context."""
    body = "".join(f"-{line}\n+{new}\n" if line == old else f" {line}\n" for line in TEXT.split())
    return f"--- a/{name}\n+++ b/{name}\n@@ -1,5 +1,5 @@\n{body}"


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "attempt" / "tree"
    made.mkdir(parents=True)
    (made / "a.txt").write_text(TEXT)
    return made


def patched(tmp_path, *texts, **fields):
    """`sha256`: of the first patch, as the plan has it."""
    listed = []
    for index, text in enumerate(texts):
        path = tmp_path / f"{index}.patch"
        path.write_text(text, newline="")
        listed.append({"path": str(path), "sha256": hashlib.sha256(text.encode()).hexdigest(), **fields})
    folder = tmp_path / "attempt"
    return apply_patches(
        order(folder, {"path": "x"}, recipe={"patches": listed}), Material(tree=folder / "tree", facts={"a": 1})
    )


def refused(tmp_path, *texts, **fields):
    with pytest.raises(BuildError) as caught:
        patched(tmp_path, *texts, **fields)
    return str(caught.value)


def test_in_order(tmp_path, tree):
    second = change("a.txt", "two", "TWO").replace("three", "THREE")
    material = patched(tmp_path, change("a.txt", "three", "THREE"), second)
    assert (tree / "a.txt").read_text() == "one\nTWO\nTHREE\nfour\nfive\n"
    assert [patch["path"] for patch in material.facts["patches"]] == [f"{tmp_path}/0.patch", f"{tmp_path}/1.patch"]
    assert material.facts["a"] == 1
    assert sorted(path.name for path in tree.parent.iterdir()) == ["build.log", "tmp", "tree"]


def test_one_that_does_not_fit(tmp_path, tree):
    good = change("a.txt", "two", "TWO")
    assert refused(tmp_path, good, change("a.txt", "four", "FOUR")) == (
        f"the patch {tmp_path}/1.patch is refused: its hunk at a.txt:1 does not fit"
    )


def test_one_that_fits_only_with_fuzz(tmp_path, tree):
    text = change("a.txt", "three", "THREE").replace(" one\n", " ONE\n")
    assert refused(tmp_path, text) == f"the patch {tmp_path}/0.patch is refused: its hunk at a.txt:1 does not fit"
    assert (tree / "a.txt").read_text() == TEXT


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (change("none.txt", "two", "TWO"), "none.txt: No such file or directory"),
        ("something else\n", "it holds no change: what `git diff` or `diff -u` writes is expected"),
        ("\n", "it is empty"),
        (
            change("a.txt", "two", "TWO").replace("\n", "\r\n"),
            "its hunk at a.txt:1 does not fit; its lines end in CRLF, perhaps not those of the file",
        ),
        (change("a.txt", "two", "TWO")[:-12], "corrupt patch at line 8"),
    ],
)
def test_one_that_is_wrong(text, why, tmp_path, tree):
    assert refused(tmp_path, text) == f"the patch {tmp_path}/0.patch is refused: {why}"


NEW = "diff --git a/../canary b/../canary\nnew file mode 100644\n--- /dev/null\n+++ b/../canary\n@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize("text", [NEW, NEW.replace("../canary", "x/../../canary"), change("../there", "two", "TWO")])
@pytest.mark.parametrize("kind", ["repository", "plain"])
def test_one_that_leads_out_of_the_tree(text, kind, tmp_path, tree):
    if kind == "repository":
        Repository(tmp_path / "x")
        (tmp_path / "x" / ".git").rename(tree / ".git")
    (tree.parent / "there").write_text(TEXT)
    name = "../there" if "there" in text else "x/../../canary" if "x/.." in text else "../canary"
    assert refused(tmp_path, text) == f"the patch {tmp_path}/0.patch is refused: invalid path '{name}'"
    assert (tree.parent / "there").read_text() == TEXT
    assert not (tree.parent / "canary").exists()


def test_one_that_goes_through_a_link(tmp_path, tree):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text(TEXT)
    (tree / "way").symlink_to(tmp_path / "outside")
    text = change("way/a.txt", "two", "TWO")
    assert refused(tmp_path, text).startswith(f"the patch {tmp_path}/0.patch is refused: ")
    assert (tmp_path / "outside" / "a.txt").read_text() == TEXT


def test_a_checkout_around_the_tree_does_not_matter(tmp_path, tree):
    """git leaves out, in silence, what is not in its own folder of a repository."""
    (tmp_path / "repository").mkdir()
    tree.parent.rename(tmp_path / "repository" / "attempt")
    Repository(tmp_path / "repository" / "x")
    (tmp_path / "repository" / "x" / ".git").rename(tmp_path / "repository" / ".git")
    patched(tmp_path / "repository", change("a.txt", "two", "TWO"))
    assert "TWO" in (tmp_path / "repository" / "attempt" / "tree" / "a.txt").read_text()


def test_one_that_changed_after_the_spec_was_compiled(tmp_path, tree):
    said = refused(tmp_path, change("a.txt", "two", "TWO"), sha256="0" * 64)
    assert said == f"the patch {tmp_path}/0.patch changed after the spec was compiled: run the same command again"


def test_a_repository_that_came_with_the_tree_starts_nothing(tmp_path, tree):
    """An archive may hold a `.git`, whose settings name programs that git runs on files."""
    canary = tmp_path / "canary"
    brought = Repository(tmp_path / "x")
    for kind in ("clean", "smudge"):
        brought.git("config", f"filter.x.{kind}", f"touch {canary}; cat")
    (tmp_path / "x" / ".git").rename(tree / ".git")
    (tree / ".gitattributes").write_text("* filter=x\n")
    patched(tmp_path, change("a.txt", "two", "TWO"))
    assert "TWO" in (tree / "a.txt").read_text()
    assert not canary.exists()
