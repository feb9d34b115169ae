"""Expressions and settings reach the jobs of a cluster as they were written, through two shells."""

from __future__ import annotations

import json
import subprocess

import pytest
from snakemake.cli import parse_config
from snakemake_interface_executor_plugins.utils import format_cli_arg

from stepgrid.workflow import config_texts
from stepgrid.workflow.run_request import Fault, work_of

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


FAULTS = {
    "scal=smoke": "there is no key `scal`: did you mean `scale`? known keys: spec, scale, only, set, site, until",
    "repeat=5": "there is no key `repeat`: a value of the spec is set by `set=repeat=5`; "
    "known keys: spec, scale, only, set, site, until",
    "scale=": "`scale=` has no value: expected the name of one of the spec's `scales`, or leave it out",
    "scale=[a, b]": "scale=['a', 'b']: expected the name of one of the spec's `scales`",
    "spec={a: b.yaml}": "spec={'a': 'b.yaml'}: expected the file of a spec",
    "only=[cache == 1, cache == 2]": "only=['cache == 1', 'cache == 2']: expected one expression over the axes",
}


@pytest.mark.parametrize("text", FAULTS)
def test_an_unknown_key_or_an_unusable_value_is_a_wrong_call(text: str) -> None:
    with pytest.raises(Fault) as caught:
        work_of(parse_config([text, *(["spec=a.yaml"] if not text.startswith("spec") else [])]))
    assert (str(caught.value), caught.value.status) == (f"--config: {FAULTS[text]}", 2)


def test_all_faults_of_a_request_come_at_once() -> None:
    assert len([*config_texts.faults({"spce": "a.yaml", "scale": None, "onyl": "x"})]) == 3


def test_an_empty_site_means_none_and_a_list_of_settings_is_fine() -> None:
    config = parse_config(["spec=a.yaml", "site=", "set=[params.x=1, repeat=2]", "until=6h", "only=['x == 1']"])
    assert [*config_texts.faults(config)] == []
