"""A command that only looks at files ends in bounded time and memory."""

import resource
import subprocess
import sys
from itertools import repeat

import pytest

from stepgrid.cli import main
from stepgrid.host import limits
from stepgrid.host.limits import LimitError, limited, unlimited
from tests.cli.samples import SPEC

KINDS = (resource.RLIMIT_AS, resource.RLIMIT_CPU)


def test_memory():
    before = [resource.getrlimit(kind) for kind in KINDS]
    with (
        pytest.raises(LimitError, match=r"^s.yaml: it takes more than 1 GiB of memory; "),
        limited("s.yaml", memory=1 << 30),
    ):
        bytes(2 << 30)
    assert [resource.getrlimit(kind) for kind in KINDS] == before


def test_processor_time():
    with pytest.raises(LimitError, match=r"^s.yaml: it takes more than 1 s of processor time; "), limited("s.yaml", 1):
        all(count() for _ in repeat(None))


def count():
    return sum(range(1, 1000))


def test_a_tool_that_is_started_meanwhile_has_the_former_limits():
    words = [sys.executable, "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[0])"]
    outside = subprocess.check_output(words)
    with limited("s.yaml"), unlimited():
        assert subprocess.check_output(words) == outside
    with limited("s.yaml"):
        assert subprocess.check_output(words) != outside


@pytest.mark.parametrize("words", ["check", "plan", "status", "explain", "outdated", "builds", "report", "gc"])
def test_every_command_that_reads_a_spec(words, tmp_path, monkeypatch, capsys):
    """The compiler asks for more than there may be, in place of a spec that has it ask."""
    (tmp_path / "outputs").mkdir()
    (tmp_path / "my.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stepgrid.plan.assembly.read_spec", lambda *_: bytes(2 * limits.MEMORY))
    assert main([words, "my.yaml"]) in (1, 2)
    assert "my.yaml: it takes more than 4 GiB of memory" in " ".join(capsys.readouterr().err.split())
