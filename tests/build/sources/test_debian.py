from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import load_source
from tests.build.ordering import order

ONE = {"debian": "rocksdb-tools", "suite": "trixie"}


def test_the_line_for_people():
    debian = load_source("debian")
    assert debian.describe(ONE) == "debian rocksdb-tools (trixie)"
    assert debian.describe({"debian": ["a", "b"], "suite": "sid"}) == "debian a b (sid)"


def test_a_machine_that_is_no_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError) as caught:
        load_source("debian").fetch(ONE, tmp_path, order(tmp_path, ONE, "db_bench"))
    assert str(caught.value) == (
        "`source: debian` needs a Debian machine: there is no apt-get on PATH; "
        "name a binary that is installed instead, `source: {system: PROGRAM}`"
    )
