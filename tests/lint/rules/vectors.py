# ruff: noqa: E501
"""Rules of stepgrid_databases.drivers.vector_search.lints."""

SPEC = """\
title: t
builds: {b: {engine: %s, version: "17.2", source: {system: b}}}
steps:
  - {name: load, kind: vector_search, action: load, mutates: true}
  - {name: s, kind: vector_search, action: %s}
params: {dataset: %s, m: 16}
options: [{%s}]
"""
CLUSTERED = "{generated: {rows: 60000, dimensions: 784}}"
CACHE = "mhnsw_max_cache_size: 128MiB"
BUFFERS = "shared_buffers: 1GB"
TAKES = "an index of 60,000 vectors of 784 dimensions takes 89.72 MiB and more"


def spec(
    engine: str = "mariadb", search: str = "search, ef_search: 40", dataset: str = CLUSTERED, options: str = CACHE
) -> str:
    return SPEC % (engine, search, dataset, options)


FIRES = {
    "vector-cache-small": [
        (spec(options="innodb_buffer_pool_size: 1GiB"), f"`mhnsw_max_cache_size` is 16 MiB, {TAKES}"),
        (spec(options="mhnsw_max_cache_size: 64MiB"), f"`mhnsw_max_cache_size` is 64 MiB, {TAKES}"),
        (spec(dataset="data/fashion-mnist-784-euclidean", options="mhnsw_max_cache_size: 64MiB").replace("data/", ""), f"`mhnsw_max_cache_size` is 64 MiB, {TAKES}"),
        (spec(search="index", options="mhnsw_max_cache_size: 64MiB"), f"`mhnsw_max_cache_size` is 64 MiB, {TAKES}"),
    ],
    "ef-search-below-k": [
        (spec(search="search, ef_search: 10, k: 20"), "`ef_search` is 10: a search that looks at fewer candidates than `k` has no 20 answers"),
        (spec(search="search, k: 50"), "`ef_search` is 20, the engine's default: a search that looks at fewer candidates than `k` has no 50 answers"),
        (spec("postgres", "search, k: 50", options=BUFFERS), "`ef_search` is 40, the engine's default: a search that looks at fewer candidates than `k` has no 50 answers"),
    ],
    "vectors-uniform": [
        (spec(dataset="{generated: {rows: 60000, dimensions: 784, distribution: uniform}}"), "uniform vectors are nearly equally far from each other: recall collapses as with no real data"),
    ],
}  # fmt: skip

QUIET = {
    "vector-cache-small": [
        spec(),
        spec("postgres", options=BUFFERS),
        spec(search="search, exact: true", options="innodb_buffer_pool_size: 1GiB"),
        spec(dataset="{generated: {rows: 10000, dimensions: 784}}", options="innodb_buffer_pool_size: 1GiB"),
        spec(dataset="own-2000-angular", options="innodb_buffer_pool_size: 1GiB"),
    ],
    "ef-search-below-k": [
        spec(search="search, ef_search: 20, k: 20"),
        spec(search="search, exact: true, k: 100"),
        spec("postgres", "search, k: 40", options=BUFFERS),
    ],
    "vectors-uniform": [spec(), spec(dataset="random-xs-20-euclidean")],
}  # fmt: skip
