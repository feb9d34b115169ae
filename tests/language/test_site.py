from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.language import render, site
from compiler.language.problem import SpecError
from compiler.plan.compile import compile_spec
from compiler.plan.model import Plan
from tests.conftest import HOST

SPEC = """\
title: t
hardware: {id: big, cores: 48}
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, keys: 1k}]
"""


def test_what_a_site_says(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text("data: /mnt/fast\nallow_other_hardware: true\n")
    found = site.read(str(tmp_path / "site.yaml"))
    assert (found.data, found.allow_other_hardware) == ("/mnt/fast", True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dat: /mnt\n", "site.yaml:1:1: error[unknown-key]: `dat` is not a key here"),
        ("allow_other_hardware: perhaps\n", "error[wrong-type]: `allow_other_hardware`: expected true or false"),
        ("- a\n", "error[wrong-type]: expected a map of settings"),
    ],
)
def test_faults_of_a_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site.yaml").write_text(text)
    render._source.cache_clear()
    with pytest.raises(SpecError) as caught:
        site.read("site.yaml")
    assert said in render.text(caught.value.problems)


def test_other_hardware_is_never_taken_for_the_described(tmp_path: Path, compile_text: Callable[..., Plan]) -> None:
    described = compile_text(SPEC)
    own = compile_spec("a.yaml", None, HOST, own_hardware=True)
    assert described.stages[0].hardware == "big"
    assert own.stages[0].hardware.startswith("h-")
    assert own.hardware["declared"] is False
