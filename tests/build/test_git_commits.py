"""The commits between two refs, by the real git."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.git import changes, commits
from stepgrid.engines.rocksdb import RocksDB
from tests.build.ordering import order
from tests.build.repository import DATE, Repository

DAY = DATE[:10]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def listed(folder: Path, repository: Repository, first: str, last: str) -> list[str]:
    asking = order(folder / "attempt", {"git": repository.url, "ref": "main"})
    return [each.id for each in commits(asking, repository.url, first, last)]


def test_from_the_first_to_the_last(tmp_path: Path, repository: Repository):
    made = [repository.commit(tag=f"v{each}", a_c=str(each)) for each in range(4)]
    assert listed(tmp_path, repository, "v1", "v3") == made[1:]
    asking = order(tmp_path / "more", {"git": repository.url, "ref": "main"})
    assert commits(asking, repository.url, made[2], "main")[0] == (made[2], DAY, "x", "")


def test_a_branch_that_was_merged_is_its_merge(tmp_path: Path, repository: Repository):
    first = repository.commit(a_c="1")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit(b_c="1")
    side = repository.commit(b_c="2")
    repository.git("checkout", "--quiet", "main")
    second = repository.commit(a_c="2")
    repository.git("merge", "--quiet", "--no-ff", "--message=merged", "side")
    merge = repository.git("rev-parse", "HEAD")
    assert listed(tmp_path, repository, first, "main") == [first, second, merge]
    assert side not in listed(tmp_path, repository, first, "main")
    asking = order(tmp_path / "more", {"git": repository.url, "ref": "main"})
    said = changes(asking, repository.url, merge).splitlines()
    assert said[0] == f"commit {merge}"
    assert said[-2:] == [" b.c | 1 +", " 1 file changed, 1 insertion(+)"]


def test_what_a_commit_changed(tmp_path: Path, repository: Repository):
    repository.commit(a_c="1\n2\n")
    made = repository.commit(a_c="1\n3\n", b_c="1\n")
    asking = order(tmp_path / "attempt", {"git": repository.url, "ref": "main"})
    said = changes(asking, repository.url, made)
    assert said.splitlines()[-3:] == [" a.c | 2 +-", " b.c | 1 +", " 2 files changed, 2 insertions(+), 1 deletion(-)"]


def test_the_version_that_each_tree_says(tmp_path: Path, repository: Repository):
    """RocksDB's; between two changes of the file it stays."""
    header = "#define ROCKSDB_MAJOR 9\n#define ROCKSDB_MINOR {}\n#define ROCKSDB_PATCH 0\n"
    repository.commit(tag="first", include__rocksdb__version_h=header.format(9))
    repository.commit(a_c="1")
    repository.commit(include__rocksdb__version_h=header.format(10))
    repository.commit(tag="last", a_c="2")
    asking = order(tmp_path / "attempt", {"git": repository.url, "ref": "main"})
    found = commits(asking, repository.url, "first", "last", RocksDB())
    assert [each.version for each in found] == ["9.9.0", "9.9.0", "9.10.0", "9.10.0"]


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        ("v2", "v1", "`v2` is no ancestor of `v1`: it comes after `v1`"),
        ("side", "main", "`side` is no ancestor of `main`: their last common commit is COMMON"),
        ("v1", "v1", "`v1` and `v1` are the same commit, COMMON"),
        ("v1", "v9", "URL has no tag, branch or commit `v9`"),
    ],
)
def test_refused(tmp_path: Path, repository: Repository, first: str, last: str, why: str):
    common = repository.commit(tag="v1", a_c="1")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit(b_c="1")
    repository.git("checkout", "--quiet", "main")
    repository.commit(tag="v2", a_c="2")
    with pytest.raises(BuildError) as caught:
        listed(tmp_path, repository, first, last)
    assert str(caught.value) == why.replace("COMMON", common[:12]).replace("URL", repository.url)
