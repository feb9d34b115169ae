from __future__ import annotations

import re
import textwrap

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.engines.rocksdb import gflags
from stepgrid.plugins.engine import OptionInfo

OTHERS = re.compile(r"/gflags\w*\.cc$")

# shapes of db_bench --help: gflags' own, defaults on the next line, help with line ends, quotes and brackets of its own
HELP = """db_bench:
USAGE:
db_bench [OPTIONS]...

  Flags from /build/gflags-2.2.2/src/gflags.cc:
    -flagfile (load flags from file) type: string default: ""

  Flags from ./tools/db_bench_tool.cc:
    -benchmarks (Comma-separated list of operations. Available benchmarks:
      \tfillseq       -- write N values in sequential key order in async mode
      \tflush - flush the memtable(s)
      ) type: string
      default: "fillseq,stats"
    -compressed_secondary_cache_compress_format_version
      (compress_format_version can have two values.) type: uint32 default: 2
    -cache_size (Number of bytes to use as a cache of uncompressed data)
      type: int64 default: 33554432
    -compression_ratio (Arrange to generate values that shrink to this fraction
      of their original size after compression) type: double default: 0.5
    -db (Use the db with the following name.) type: string default: ""
    -help (show help on all flags [tip: all flags can have two dashes])
      type: bool default: false currently: true
    -odd (says type: int32 default: 5 in its help) type: string
      default: "a (b) type: c"



"""


def test_every_flag_but_those_of_other_files() -> None:
    found = gflags.options(HELP, OTHERS)
    assert list(found) == [
        "benchmarks",
        "compressed_secondary_cache_compress_format_version",
        "cache_size",
        "compression_ratio",
        "db",
        "help",
        "odd",
    ]
    assert found["cache_size"] == OptionInfo(
        "cache_size", "int64", "33554432", "Number of bytes to use as a cache of uncompressed data"
    )
    assert (found["compression_ratio"].type, found["compression_ratio"].default) == ("double", "0.5")
    assert found["benchmarks"].default == "fillseq,stats"
    assert found["benchmarks"].help.endswith("flush - flush the memtable(s) ")
    assert found["db"].default == ""
    assert found["help"].default == "false"
    assert found["compressed_secondary_cache_compress_format_version"].default == "2"


def test_nothing_is_no_option() -> None:
    assert gflags.options("", OTHERS) == {}
    assert gflags.options("ERROR: unknown command line flag 'help'\n", OTHERS) == {}


words = st.lists(st.text(alphabet="abcxyz.,:=-()[]%", min_size=1, max_size=12), max_size=30).map(" ".join)


@given(st.from_regex(r"\A[a-z][a-z0-9_]{0,40}\Z"), words, st.integers(-(2**40), 2**40))
def test_wrapping_at_80_columns_loses_nothing(name: str, about: str, default: int) -> None:
    entry = f"-{name} ({about}) type: int64 default: {default}"
    lines = textwrap.wrap(entry, 76, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    text = "  Flags from tools/db_bench_tool.cc:\n" + "\n".join(f"    {line}" for line in lines) + "\n\n"
    assert gflags.options(text, OTHERS) == {name: OptionInfo(name, "int64", str(default), about)}
