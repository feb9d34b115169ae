"""What the plans of the published experiments come to: what is shared, and what each cell really gets."""

from collections.abc import Callable

from stepgrid.model.plan import Plan

Compiled = Callable[..., Plan]
V2_RELEASES = [
    "6.0.2",
    "6.29.5",
    "7.0.4",
    "7.6.0",
    "7.7.8",
    "8.5.4",
    "8.6.7",
    "9.0.1",
    "9.1.2",
    "9.3.2",
    "9.5.2",
    "9.7.4",
    "9.9.0",
]


def test_lru_against_hyperclock_shares_two_loads(compiled: Compiled) -> None:
    plan = compiled("2024-11-rocksdb-lru-vs-hyperclock")
    roots = [stage for stage in plan.stages if stage.parent is None]
    assert len(roots) == 2
    assert len(plan.stages) == 2 + 48
    fanouts = {stage.steps[0].options["max_bytes_for_level_multiplier"].value for stage in roots}
    assert fanouts == {8, 32}
    assert {len(stage.children) for stage in roots} == {24}


def test_two_repeats_are_two_loads_of_each_fanout(compiled: Compiled) -> None:
    plan = compiled("2024-11-rocksdb-lru-vs-hyperclock", sets=("repeat=2",))
    assert len([stage for stage in plan.stages if stage.parent is None]) == 4


def test_mixgraph_loads_once(compiled: Compiled) -> None:
    plan = compiled("2022-03-mixgraph")
    assert len([stage for stage in plan.stages if stage.parent is None]) == 1
    assert len(plan.stages) == 1 + 50


def test_mixgraph_loads_four_databases(compiled: Compiled) -> None:
    plan = compiled("2022-03-mixgraph")
    assert {step.options["num_multi_db"].value for stage in plan.stages for step in stage.steps if step.options} == {4}


def test_rows_of_the_insert_benchmark_are_those_of_all_clients(compiled: Compiled) -> None:
    plan = compiled("2023-01-insert-benchmark-amd")
    stages = {stage.id: stage for stage in plan.stages}
    rows = {
        (one.labels["data"], int(one.labels["clients"]) * int(str(step.settings["rows"])) // 10**6)
        for one in plan.cells
        for step in stages[one.repeats[0].stages[0]].steps
        if step.name in ("l.i0", "l.i1") and int(one.labels["clients"]) != 3  # which does not divide them
    }
    assert rows == {("cached", 20), ("io-bound", 500), ("io-bound", 10)}


def test_universal_compaction_is_as_published(compiled: Compiled) -> None:
    plan = compiled("2024-11-rocksdb-universal")
    options = [step.options for stage in plan.stages for step in stage.steps if step.options]
    assert {one["block_size"].value for one in options} == {8192}
    assert {one["universal_allow_trivial_move"].value for one in options if "universal_allow_trivial_move" in one} == {
        True
    }


def test_covered_and_not_by_primary_key_then_by_secondary_index(compiled: Compiled) -> None:
    steps = [step.name for step in compiled("2024-11-mysql-scan-regressions").cells[0].steps]
    order = ["covered-pk", "notcovered-pk", "covered-si", "notcovered-si"]
    for after in (".pre", ""):
        expected = [f"{kind}-{index}{after}" for kind in ("points", "range") for index in order]
        assert [name for name in steps if name in expected] == expected


def test_vectors_are_loaded_once_for_each_engine_and_indexed_for_each_cell(compiled: Compiled) -> None:
    plan = compiled("2025-01-vector-mariadb-pgvector")
    assert [len(plan.stages), len([s for s in plan.stages if s.parent is None])] == [2 + 2 * 47, 2]
    assert len([one for one in plan.cells if one.labels["build"] == "mariadb"]) == 9
    vectors = {one.labels["build"]: one for one in plan.cells}
    assert len([step for step in vectors["mariadb"].steps if step.name.startswith("search")]) == 7 * 14
    assert len([step for step in vectors["pgvector"].steps if step.name.startswith("search")]) == 9 * 14


def test_sysbench_has_42_microbenchmarks(compiled: Compiled) -> None:
    for one in compiled("2024-11-mysql-scan-regressions").cells:
        assert len([step for step in one.steps if step.measured]) == 42


def test_sysbench_follows_the_hardware(compiled: Compiled) -> None:
    plan = compiled("2024-11-mysql-scan-regressions")
    stages = {stage.id: stage for stage in plan.stages}
    found = {}
    for one in plan.cells:
        step = stages[one.repeats[0].stages[1]].steps[1]
        found[one.labels["server"]] = [step.settings[name] for name in ("threads", "tables", "rows")]
    assert found == {"dell32": [24, 8, 10**7], "ax162-s": [40, 8, 10**7], "bee": [1, 1, 3 * 10**7]}
    assert not [one for one in plan.cells if one.labels == {"server": "bee", "build": "my8040adv_pre"}]


def test_the_hack_reads_no_more_than_the_device_takes_at_once(compiled: Compiled) -> None:
    plan = compiled("2024-12-speedb")
    stages = {stage.id: stage for stage in plan.stages}
    readahead = {
        one.labels["build"]: stages[one.repeats[0].stages[-1]].steps[-1].options["compaction_readahead_size"].value
        for one in plan.cells
        if one.labels["data"] == "iobuf"
    }
    assert readahead.pop("9.9hack") == 128 * 1024 - 8 * 1024
    assert set(readahead.values()) == {2 * 1024**2}
    assert len(readahead) == 8
    assert len([one for one in plan.cells if one.labels["build"] == "9.9hack"]) == 1


def test_each_release_has_the_block_cache_of_the_article(compiled: Compiled) -> None:
    plan = compiled("2024-11-rocksdb-hyperclock-v2")
    stages = {stage.id: stage for stage in plan.stages}
    options = {one.labels["build"]: stages[one.repeats[0].stages[-1]].steps[-1].options for one in plan.cells}
    kinds = {name: option["cache_type"].value if "cache_type" in option else None for name, option in options.items()}
    assert [kinds[f"rocksdb-{release}"] for release in V2_RELEASES] == [
        *(None, None, None),
        "lru_cache",
        *("hyper_clock_cache", "hyper_clock_cache"),
        *("auto_hyper_clock_cache",) * 7,
    ]


def test_tombstone_windows(compiled: Compiled) -> None:
    plan = compiled("2023-08-myrocks-gc-debt")
    stages = {stage.id: stage for stage in plan.stages}
    found = {}
    for one in plan.cells:
        options = stages[one.repeats[0].stages[0]].steps[0].options
        pair = ("rocksdb_compaction_sequential_deletes", "rocksdb_compaction_sequential_deletes_window")
        found[one.labels["gc"]] = [options[name].value for name in pair if name in options]
    assert found == {"base": [], "sd8k": [8191, 8192], "sd32k": [32767, 32768], "sd128k": [131071, 131072]}


def test_each_storage_engine_gets_its_own_options(compiled: Compiled) -> None:
    for post in ("2016-01-linkbench-disk-array", "2023-01-insert-benchmark-amd"):
        for scale in (None, "smoke"):
            plan = compiled(post, scale)
            stages = {stage.id: stage for stage in plan.stages}
            for one in plan.cells:
                step = stages[one.repeats[0].stages[0]].steps[0]
                others = {"innodb": "rocksdb_", "rocksdb": "innodb_"}.get(str(step.settings.get("storage_engine")))
                strange = {name for name in step.options if name.startswith(others or ("innodb_", "rocksdb_"))}
                # every server of MariaDB has InnoDB's log, which is in the size of its database
                assert strange <= {"innodb_log_file_size"}, (post, scale, one.labels)
                assert step.options
