"""What the tests that compile need: a compiler, and the smallest tree that a recipe of RocksDB takes for one."""

from tests.needs import needs

needs_compiler = needs("cc", "c++", "make")
needs_cmake = needs("cc", "c++", "cmake", "ninja")
_VERSION = """\
#define ROCKSDB_MAJOR 9
#define ROCKSDB_MINOR 8
#define ROCKSDB_PATCH 7
"""
# a db_bench that leaves the LOG of a database behind
_BENCH = r"""
#include <fstream>
#include <string>
#include <sys/stat.h>
int main(int argc, char** argv) {
  std::string db = argv[argc - 1];
  db = db.substr(db.find('=') + 1);
  mkdir(db.c_str(), 0777);
  std::ofstream(db + "/LOG") << "2026/01/01 Compression algorithms supported:\n"
                                "2026/01/01 \tkZSTD supported: 1\n"
                                "2026/01/01 \tkSnappyCompression supported: 0\n";
}
"""
_SOURCES = "BENCH_LIB_SOURCES = \\\n  tools/db_bench_tool.cc  \\\n\nOTHER = x\n"
_MAKEFILE = """\
CXXFLAGS += ${EXTRA_CXXFLAGS}
db_bench:
\techo "PLATFORM_CXXFLAGS=-std=c++17 ${EXTRA_CXXFLAGS}" > make_config.mk
\t${CXX} ${CXXFLAGS} -O1 tools/db_bench.cc -o db_bench
"""
_CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project(tiny CXX)
set(CMAKE_CXX_STANDARD 17)
option(WITH_LZ4 "" OFF)
add_executable(db_bench_tiny tools/db_bench.cc)
add_custom_target(db_bench DEPENDS db_bench_tiny)
"""


def tree(folder):
    files = {
        "include/rocksdb/version.h": _VERSION,
        "tools/db_bench.cc": _BENCH,
        "tools/db_bench_tool.cc": "",
        "test_util/testutil.cc": "",
        "src.mk": _SOURCES,
        "Makefile": _MAKEFILE,
        "CMakeLists.txt": _CMAKE,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
