"""Expressions and settings reach the jobs of a cluster as they were written, through two shells."""

from __future__ import annotations

import json
import subprocess

import pytest
from snakemake.cli import parse_config
from snakemake_interface_executor_plugins.utils import format_cli_arg

from stepgrid.workflow import config_texts

TEXTS = ["cache != 'half'", '"a" == cache', "params.x='1'", "params.argv=[sh, -c, \"echo '$HOME' `id` \\\\ a\"]", "x=1"]


def in_a_job(arguments: list[str]) -> list[str]:
    """As the executor for SLURM gives them: Python's quotes, within a shell's."""
    command = format_cli_arg("--config", arguments).replace('"', '\\"')
    told = subprocess.run(["sh", "-c", f'printf %s "{command}"'], check=True, capture_output=True, text=True).stdout
    shell = f"printf '%s\\0' {told}"
    said = subprocess.run(["sh", "-c", shell], check=True, capture_output=True, text=True).stdout
    return said.split("\0")[1:-1]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reaches_a_job_as_it_was_written(text: str) -> None:
    config = parse_config(in_a_job([f"only={config_texts.written([text])}"]))
    assert config_texts.read(config["only"]) == (text,)


def test_what_a_person_gives_snakemake_is_a_text_or_a_list() -> None:
    for given, read in ((None, ()), ("a", ("a",)), (["a", "b"], ("a", "b")), (1, ("1",))):
        assert config_texts.read(given) == read


def test_what_no_shell_changes_stays_as_it_is() -> None:
    assert json.loads(config_texts.written(["repeat=3"])) == ["repeat=3"]
    assert config_texts.written(["a'b"]) == "hex:5b22612762225d"
