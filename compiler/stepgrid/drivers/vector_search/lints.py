"""Searches that say nothing: of an index that its cache does not hold, with too few candidates, of uniform vectors."""

from __future__ import annotations

from stepgrid.drivers.vector_search.datasets.shape import UNIFORM
from stepgrid.lint.rule import Facts, Rule, Verdict, each_step
from stepgrid.model.number_format import size

CACHE, CACHE_DEFAULT = "mhnsw_max_cache_size", 16 * 2**20  # of MariaDB
BYTES_OF_A_NUMBER = 2  # that MariaDB's index keeps in its cache; neighbours come on top
DEFAULTS = {"mariadb": 20, "postgres": 40}  # of ef_search
KIND = "vector_search"


def _small_cache(facts: Facts) -> Verdict | None:
    rows, dimensions = facts["vectors"], facts["vector_dimensions"]
    if facts["vector_engine"] != "mariadb" or facts["step.action"] == "load" or facts.is_on("step.exact"):
        return None
    cache, index = facts.amount(CACHE, CACHE_DEFAULT), rows * dimensions * BYTES_OF_A_NUMBER
    if cache >= index:
        return None
    message = f"`{CACHE}` is {size(cache)}, an index of {rows:,} vectors of {dimensions} dimensions takes {size(index)}"
    at = CACHE if facts.has(CACHE) else "step"
    return Verdict(at, f"{message} and more", f"`{CACHE}: {size(_power_of_two(2 * index)).replace(' ', '')}`")


def _power_of_two(least: float) -> int:
    return 1 << int(least - 1).bit_length()


def _few_candidates(facts: Facts) -> Verdict | None:
    if facts["step.action"] != "search" or facts.is_on("step.exact"):
        return None
    default = DEFAULTS.get(str(facts["vector_engine"]))
    wanted, looked = facts.number("step.k"), facts.number("step.ef_search", default)
    if wanted is None or looked is None or looked >= wanted:
        return None
    said = "" if facts.has("step.ef_search") else ", the engine's default"
    message = (
        f"`ef_search` is {looked:g}{said}: a search that looks at fewer candidates than `k` has no {wanted:g} answers"
    )
    at = "step.ef_search" if facts.has("step.ef_search") else "step.k"
    return Verdict(at, message, f"`ef_search: {wanted:g}` or more")


def _uniform(facts: Facts) -> Verdict | None:
    if facts["vector_distribution"] != UNIFORM:
        return None
    message = "uniform vectors are nearly equally far from each other: recall collapses as with no real data"
    return Verdict("step.dataset", message, "leave `distribution` out: vectors around centres")


RULES = (
    Rule("vector-cache-small", "a cache that does not hold the vector index",
         each_step(("vector_engine", "step.action", "step.exact", CACHE), _small_cache,
                   ("vectors", "vector_dimensions"))),
    Rule("ef-search-below-k", "fewer candidates than neighbours that are asked for",
         each_step(("vector_engine", "step.action", "step.exact", "step.ef_search"), _few_candidates, ("step.k",))),
    Rule("vectors-uniform", "vectors that are drawn uniformly",
         each_step((), _uniform, ("vector_distribution",))),
)  # fmt: skip
