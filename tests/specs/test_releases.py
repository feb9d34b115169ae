"""One sweep over releases from 4.13 to 11.8: what the library gives to each of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import PlannedStep
from stepgrid.plan.compilation import compile_spec

LIBRARY = Path(__file__).resolve().parents[2] / "specs" / "library"
HOST = {"cpu": "a", "cores": 48, "memory": 2**37, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}
VERSIONS = [
    "4.13.5", "5.18.4", "6.0.2", "6.29.5", "7.3.2", "7.4.5", "7.6.0", "7.7.8", "8.5.4", "8.6.7", "8.7.3", "9.9.3",
    "10.9.1", "11.8.1",
]  # fmt: skip
Steps = Mapping[str, PlannedStep]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Steps]]:
    """Style of compaction -> release -> step."""
    return {style: _sweep(tmp_path_factory.mktemp(style), style) for style in ("leveled", "universal")}


def _sweep(folder: Path, style: str) -> dict[str, Steps]:
    included = [str(LIBRARY / f"{name}.yaml") for name in ("hardware", "rocksdb", "db_bench")]
    lines = [
        "title: a",
        f"include: {included}",
        f"builds: {{r: {{extends: rocksdb, versions: [{', '.join(VERSIONS)}]}}}}",
        f"options: [{style}, scripts, c48r128, v5.jobs, best-cache, byrx]",
        "workload: db_bench.sequence",
        "steps: [fillseq, drain, overwritesome, flush, settle, {checkpoint: loaded}, readww, overwriteandwait]",
        "params: {keys: 100M, threads: 40, duration: 30m, write_rate: 2MiB}",
    ]
    (folder / "a.yaml").write_text("\n".join(lines), encoding="utf-8")
    plan = compile_spec(str(folder / "a.yaml"), None, HOST)
    stages = {stage.id: stage for stage in plan.stages}
    return {
        cell.labels["build"].removeprefix("r-"): {
            step.name: step for node in cell.repeats[0].stages for step in stages[node].steps
        }
        for cell in plan.cells
    }


def options(step: PlannedStep) -> dict[str, Any]:
    return {name: option.value for name, option in step.options.items()}


def test_the_best_cache_of_each_release(swept: Mapping[str, Mapping[str, Steps]]) -> None:
    found = {version: options(steps["readww"]).get("cache_type") for version, steps in swept["leveled"].items()}
    hyper, auto = "hyper_clock_cache", "auto_hyper_clock_cache"
    assert found == {
        **dict.fromkeys(("4.13.5", "5.18.4", "6.0.2", "6.29.5", "7.3.2")),
        **dict.fromkeys(("7.4.5", "7.6.0"), "lru_cache"),
        **dict.fromkeys(("7.7.8", "8.5.4"), hyper),
        **dict.fromkeys(("8.6.7", "8.7.3", "9.9.3", "10.9.1", "11.8.1"), auto),
    }


def test_background_jobs_are_split_before_6(swept: Mapping[str, Mapping[str, Steps]]) -> None:
    names = ("max_background_jobs", "max_background_flushes", "max_background_compactions", "compaction_pri")
    found = {
        version: tuple(options(steps["readww"]).get(name) for name in names)
        for version, steps in swept["leveled"].items()
    }
    assert found.pop("4.13.5") == (12, 3, 9, None)
    assert found.pop("5.18.4") == (12, 3, 9, 3)
    assert set(found.values()) == {(12, None, None, None)}


def test_what_an_early_release_lacks_is_dropped(swept: Mapping[str, Mapping[str, Steps]]) -> None:
    """By what its db_bench lists; these came later than 4.13."""
    later = {
        "cache_high_pri_pool_ratio", "cache_low_pri_pool_ratio", "max_background_jobs", "metadata_block_size",
        "partition_index_and_filters", "pin_top_level_index_and_filter",
    }  # fmt: skip
    pools = {"cache_high_pri_pool_ratio", "cache_low_pri_pool_ratio"}  # universal compaction has none
    for style, ours in (("leveled", later), ("universal", later - pools)):
        given = swept[style]["4.13.5"]["readww"].options
        assert {name: given[name].unsupported for name in ours} == dict.fromkeys(ours, "drop")


def test_who_waits_for_compaction_and_how(swept: Mapping[str, Mapping[str, Steps]]) -> None:
    waiting = {
        style: [
            version
            for version, steps in releases.items()
            if "waitforcompaction" in str(steps["overwriteandwait"].settings["benchmarks"])
        ]
        for style, releases in swept.items()
    }
    assert waiting == {"leveled": VERSIONS[3:], "universal": VERSIONS[10:]}
    kinds = {tuple(step.kind for step in steps.values()) for releases in swept.values() for steps in releases.values()}
    assert kinds == {("db_bench", "quiesce", "db_bench", "db_bench", "quiesce", "db_bench", "db_bench")}
