"""What a cache of cmake says; configurations are those of the engines' own tests."""

import re
from pathlib import Path

from stepgrid.build.compilation import cmake_settings

CACHE = """\
# a comment
//What it is for
WITH_LZ4:BOOL=ON
WITH_LZ4-ADVANCED:INTERNAL=1
NOT_WITH_IT:STRING=x
CMAKE_BUILD_TYPE:STRING=Release
WITH_NOTHING:STRING=
"""


def test_the_variables_that_matter(tmp_path: Path):
    (tmp_path / "CMakeCache.txt").write_text(CACHE)
    found = cmake_settings(tmp_path, re.compile("WITH_|CMAKE_BUILD_TYPE"))
    assert found == {"configured": {"WITH_LZ4": "ON", "CMAKE_BUILD_TYPE": "Release", "WITH_NOTHING": ""}}
