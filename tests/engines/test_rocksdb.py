"""Shapes of db_bench's help, manifests as RocksDB writes them."""

import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.engine import OptionInfo
from stepgrid_databases.engines import rocksdb
from stepgrid_databases.engines.rocksdb import tree_levels

OTHERS = re.compile(r"/gflags\w*\.cc$")
words = st.lists(st.text(alphabet="abcxyz.,:=-()[]%", min_size=1, max_size=12), max_size=30).map(" ".join)


@given(st.from_regex(r"\A[a-z][a-z0-9_]{0,40}\Z"), words, st.integers(-(2**40), 2**40))
def test_wrapping_at_80_columns_loses_nothing(name, about, default):
    entry = f"-{name} ({about}) type: int64 default: {default}"
    lines = textwrap.wrap(entry, 76, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    text = "  Flags from tools/db_bench_tool.cc:\n" + "\n".join(f"    {line}" for line in lines) + "\n\n"
    assert rocksdb.gflags_options(text, OTHERS) == {name: OptionInfo(name, "int64", str(default), about)}


BLOCK, HEADER = 32768, 7


def number(value):
    return bytes([value & 127 | 128]) + number(value >> 7) if value > 127 else bytes([value])


def text(value):
    return number(len(value)) + value


def field(tag, *values):
    return number(tag) + b"".join(text(value) if isinstance(value, bytes) else number(value) for value in values)


def added(level, file, size, key=b"key"):
    return field(103, level, file, size, key, key, 1, 9, 12, b"unique", 5, b"\x07", 1)


def deleted(level, file):
    return field(6, level, file)


def log(*edits):
    """In blocks; of checksums nobody reads any."""
    written = b""
    for edit in edits:
        rest, first = edit, True
        while first or rest:
            left = BLOCK - len(written) % BLOCK
            if left < HEADER:
                written += bytes(left)
                continue
            part, rest = rest[: left - HEADER], rest[left - HEADER :]
            kind = (1 if first else 4) if not rest else (2 if first else 3)
            written += bytes(4) + len(part).to_bytes(2, "little") + bytes([kind]) + part
            first = False
    return written


@pytest.fixture
def database(tmp_path):
    def write(manifest):
        return made(tmp_path, manifest)

    return write


def made(folder, manifest):
    (folder / "CURRENT").write_text("MANIFEST-000005\n")
    (folder / "MANIFEST-000005").write_bytes(manifest)
    return folder


def row(family, level, files, size):
    return {"family": family, "level": level, "files": float(files), "bytes": float(size)}


def test_files_that_came_and_went(database):
    first = field(1, b"leveldb.BytewiseComparator") + field(2, 4) + field(3, 9) + field(4, 700) + added(0, 8, 300)
    ways = (
        field(7, 1, 10, 5, b"a", b"b")
        + field(100, 1, 11, 6, b"a", b"b", 1, 2)
        + field(102, 1, 12, 0, 7, b"", b"", 1, 2)
    )
    moved = field(300, 2) + deleted(0, 8) + added(6, 8, 300) + field(5, 1, b"cursor")
    found = tree_levels(database(log(first, ways, moved)))
    assert found == [row("default", "L1", 3, 18), row("default", "L6", 1, 300)]


def test_column_families(database):
    new = field(200, 1) + field(201, b"hot") + field(203, 1)
    files = field(200, 1) + added(0, 8, 300), added(0, 9, 20)
    manifest = log(new, *files, field(200, 2) + field(201, b"gone"), field(200, 2) + added(3, 7, 1))
    dropped = log(field(200, 2) + field(202))
    found = tree_levels(database(manifest + dropped))
    assert found == [row("default", "L0", 1, 20), row("hot", "L0", 1, 300)]


def test_what_is_not_of_the_tree_is_passed_over(database):
    blobs = field(400, 9, 5, 5000, b"", b"", 0) + field(401, 9, 1, 100, 0) + field(8194, 9, 5, 5000, b"x", b"y", 0)
    ignorable = field(8193, b"id") + field(8198, b"whatever it is") + field(9999, b"of a later release")
    assert tree_levels(database(log(blobs + ignorable + added(2, 3, 4)))) == [row("default", "L2", 1, 4)]


def test_a_field_that_is_not_known(database):
    with pytest.raises(ValueError, match=r"^a manifest has a field 500, which is not known$"):
        tree_levels(database(log(field(500, 1))))
    with pytest.raises(ValueError, match=r"^a manifest ends within an edit$"):
        tree_levels(database(log(added(0, 1, 2)[:9])))


@given(st.lists(st.integers(0, BLOCK * 2), max_size=9), st.integers(0, 40))
def test_edits_of_any_length_and_a_last_one_that_was_cut(tmp_path_factory, keys, cut):
    edits = [added(1, number, 100, b"k" * size) for number, size in enumerate(keys)]
    manifest = log(*edits, added(0, 99, 5))
    whole = [] if cut else [row("default", "L0", 1, 5)]
    many = [row("default", "L1", len(keys), len(keys) * 100)] if keys else []
    lost = manifest[: len(manifest) - min(cut, 20)]
    assert tree_levels(made(tmp_path_factory.mktemp("db"), lost)) == [*whole, *many]
