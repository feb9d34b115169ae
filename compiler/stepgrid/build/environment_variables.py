"""What of the job's environment the programs of a build see: what is in someone's shell must not change a build."""

from __future__ import annotations

import os
from collections.abc import Mapping

# the attempt that a process works for: by it the next run knows what a killed one left running
COOKIE = "STEPGRID_BUILDING"

# git would work on another repository than the one in its folder, as within a hook
_GIT = (
    "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES "
    "GIT_NAMESPACE GIT_PREFIX GIT_CEILING_DIRECTORIES GIT_EXTERNAL_DIFF GIT_TEMPLATE_DIR"
)
# compilers and makes take them as flags that no spec declares and no record shows
_COMPILERS = (
    "CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LIBS MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKELEVEL DESTDIR "
    "CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_RUN_PATH CMAKE_BUILD_TYPE CMAKE_GENERATOR "
    "CMAKE_TOOLCHAIN_FILE CMAKE_PREFIX_PATH CONFIG_SITE RUSTFLAGS"
)
_GIT_NAMES = frozenset(_GIT.split())
_COMPILER_NAMES = frozenset(_COMPILERS.split())


TEMPORARY = "tmp"  # in the attempt: what a killed program leaves goes with it


def client(folder: str, extra: Mapping[str, str]) -> dict[str, str]:
    """Of a program that fetches, or is asked something: the user's proxies and settings are in there."""
    kept = {name: value for name, value in os.environ.items() if name not in _GIT_NAMES}
    return {**kept, "LC_ALL": "C", COOKIE: folder, "TMPDIR": f"{folder}/{TEMPORARY}", **extra}


def compiler(folder: str, extra: Mapping[str, str]) -> dict[str, str]:
    """Of a program that compiles: its flags are the spec's."""
    kept = {name: value for name, value in client(folder, {}).items() if name not in _COMPILER_NAMES}
    return {**kept, **extra}
