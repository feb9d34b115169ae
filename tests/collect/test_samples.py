"""Samples as they are read."""

import pytest

from stepgrid.collect.samples import read_samples


def test_what_is_no_number_is_told_with_its_place(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"monotonic": 1.0}\n{"monotonic": 2.0, "cpu": {"user": "soon"}}\n')
    with pytest.raises(ValueError, match=r'sample 2: `cpu\.user` is "soon", and not a number') as error:
        read_samples(tmp_path)
    assert str(error.value).startswith(f"{path}: ")
