"""What mixgraph is run with: the five configurations, and what the published scripts make of them.

Of these the first option of `all_random` begins with "==", and the third range parameter of `prefix_random` lacks the
dashes.
"""

import pytest

from stepgrid.plan.assembly import compile_spec
from tests.specs.test_legacy_flags import HOST, LIBRARY, flag_text, given

RATIOS = {"mix": ("0.83", "0.14", "0.03"), "get": ("1", "0", "0"), "put": ("0", "1", "0"), "seek": ("0", "0", "1")}


def run(folder, config, mix, legacy):
    included = [str(LIBRARY / f"{name}.yaml") for name in ("rocksdb", "db_bench")]
    lines = [
        "title: a",
        f"include: {included}",
        "builds: {a: {extends: rocksdb, version: 8.5.4}}",
        f"options: [mixgraph.server, {{cache_size: 1GiB}}, mixgraph.{config}, mixgraph.{mix}]",
        "workload: db_bench.mixgraph",
        f"params: {{keys: 1B, duration: 1h, legacy: {str(legacy).lower()}}}",
    ]
    (folder / "a.yaml").write_text("\n".join(lines), encoding="utf-8")
    stages = compile_spec(str(folder / "a.yaml"), None, HOST).stages
    steps = [step for stage in stages for step in stage.steps]
    return {step.name: given(step, "8.5.4") for step in steps if step.kind == "db_bench"}


@pytest.mark.parametrize("legacy", [True, False], ids=["legacy", "ours"])
@pytest.mark.parametrize("config", ["all_random", "all_dist", "prefix_random", "prefix_dist", "hwperf"])
def test_every_flag_of_the_mix(tmp_path, config, legacy, golden):
    golden(flag_text(run(tmp_path, config, "mix", legacy)))


@pytest.mark.parametrize("mix", RATIOS)
def test_what_is_done_of_all_operations(tmp_path, mix):
    found = run(tmp_path, "all_dist", mix, legacy=False)["mixgraph"]
    assert tuple(found[f"mix_{operation}_ratio"] for operation in ("get", "put", "seek")) == RATIOS[mix]
