from __future__ import annotations

import json
from pathlib import Path

from stepgrid.build.record import absolute, programs


def test_options_and_absolute_paths_stay(tmp_path: Path):
    words = ("lib/ld.so", "--library-path", "lib:usr/lib", "/usr/bin/x")
    expected = (f"{tmp_path}/lib/ld.so", "--library-path", f"{tmp_path}/lib:{tmp_path}/usr/lib", "/usr/bin/x")
    assert absolute(tmp_path, words) == expected


def test_from_the_record(tmp_path: Path):
    (tmp_path / "build.json").write_text(json.dumps({"programs": {"x": ["bin/x"], "y": ["/bin/y"]}}))
    assert programs(tmp_path) == {"x": (f"{tmp_path}/bin/x",), "y": ("/bin/y",)}
