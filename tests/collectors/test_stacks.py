"""Stacks of a recording of db_bench, cut short."""

from __future__ import annotations

from stepgrid.collectors import stacks

SCRIPT = """\
db_bench 29403/29662 13148.624696: cpu-clock:ppp:
\tffffffff815eea80 handle_mm_fault ([kernel.kallsyms])
\t           96c98 sysmalloc (/usr/lib/x86_64-linux-gnu/libc.so.6)

db_bench 29403/29661 13148.629502: cpu-clock:ppp:
\t          5b9247 rocksdb::DB::Open(rocksdb::Options const&, char; int)+0x1f (/a b/librocksdb.so.7.8.3)
\t           5963c [unknown] (/usr/bin/db_bench)
\t               1 [unknown] ([unknown])
\t               2 [unknown] ([unknown])

db_bench 29403/29661 13148.649502: cpu-clock:ppp:
\tffffffff815eea80 handle_mm_fault ([kernel.kallsyms])
\t           96c98 sysmalloc (/usr/lib/x86_64-linux-gnu/libc.so.6)

rocksdb:low 0 29403/29661 13148.649502: cpu-clock:ppp:
\t           96c98 sysmalloc (/usr/lib/x86_64-linux-gnu/libc.so.6)
"""


def test_samples_are_counted_by_stack() -> None:
    assert stacks.folded(SCRIPT.splitlines(keepends=True)) == {
        ("db_bench", "sysmalloc", "handle_mm_fault"): 2,
        ("db_bench", "[unknown]", "[db_bench]", "rocksdb::DB::Open(rocksdb::Options const&, char: int)"): 1,
        ("rocksdb:low 0", "sysmalloc"): 1,
    }


def test_a_line_for_each_stack() -> None:
    assert stacks.text({("a", "b"): 2, ("a",): 1}) == "a 1\na;b 2\n"


def test_nothing_was_recorded() -> None:
    assert stacks.folded([]) == {}


def test_a_text_is_read_back() -> None:
    """A line without a count is none."""
    counts = {("a", "b"): 2, ("a", "b c"): 3, ("b",): 1}
    assert stacks.parsed(f"{stacks.text(counts)}cut off;he\n") == counts
