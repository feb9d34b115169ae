"""The Boost that a tree of MySQL wants: releases from 5.7 to 8.2 want one version of it, and would download it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from compiler.build.problem import BuildError

_WANTED = re.compile(r'SET\(BOOST_PACKAGE_NAME\s+"(boost_[\d_]+)"', re.IGNORECASE)


def boost(tree: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The variable of cmake that says where it is, where that must be said."""
    file = tree / "cmake" / "boost.cmake"
    match = _WANTED.search(file.read_text(encoding="utf-8", errors="replace")) if file.is_file() else None
    if match is None or (tree / "extra" / "boost" / match[1]).is_dir() or "WITH_BOOST" in variables:
        return {}
    if (tree / "boost" / match[1]).is_dir():
        return {"WITH_BOOST": str(tree / "boost")}
    raise BuildError(
        f"this release of MySQL is compiled with {match[1]}, which its tree does not hold: take its archive that does "
        f"(mysql-boost-VERSION.tar.gz), or unpack {match[1]} and say `flags: {{WITH_BOOST: FOLDER}}`"
    )
