from __future__ import annotations

import subprocess
import sys

import pytest

from compiler.collect.metrics import METRICS
from compiler.drivers import driver, kinds


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(LookupError, match=r"^there is no step kind 'db_bensh'; the kinds are: db_bench$"):
        driver("db_bensh")


@pytest.mark.parametrize("kind", kinds())
def test_every_driver_has_what_the_protocol_asks_for(kind: str) -> None:
    found = driver(kind)
    fields = set(found.settings_model().model_fields)
    assert found.kind == kind
    assert found.revision >= 1
    assert found.parser >= 1
    assert {setting for setting in found.reserved.values() if setting} <= fields
    assert found.settings_model().model_config["extra"] == "forbid"
    assert found.settings_model().model_config["frozen"] is True


@pytest.mark.parametrize("kind", kinds())
def test_a_command_needs_no_heavy_import(kind: str) -> None:
    """A job makes commands: it must not pay for pydantic."""
    program = (
        "import sys; from compiler.drivers import driver; "
        f"driver({kind!r}); print([m for m in ('pydantic', 'duckdb', 'numpy', 'snakemake') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_metric_names_are_plain_words() -> None:
    assert all(name.isidentifier() and name == name.lower() for name in METRICS)
