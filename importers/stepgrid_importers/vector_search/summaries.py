"""The published summaries: qr of an engine in groups by index, .qps and .recall sorted, and the best of all in qr.topN.

A group is found as a part of the text, as the scripts do it: m=4 also finds m=48. They list a fixed set of ef_search,
one for all engines: what one of several engines alone was searched with is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid_importers.vector_search.plot import Plot, Search

ENGINES: Mapping[str, str] = {"PGVector": "pgvector", "PGVector_halfvec": "pgvector_halfvec", "MariaDB": "maria"}
LIMITS = ("1.000", "0.99", "0.98", "0.97", "0.96", "0.95")
BEST = (1, 3)

SEARCHED, INDEX = "ef_search", ("ef_construction", "m")
FIXED = (4, 5, 6, 8, 12, 16, 24, 32, 48)  # m of the engine without ef_construction: another one is not listed

Group = Mapping[str, str]  # parameter -> value


def summaries(plot: Plot, suffix: str) -> Mapping[str, str]:
    """`suffix`: of the files, where there is more than one plot."""
    found: dict[str, str] = {}
    sorted_by_qps: dict[str, list[str]] = {}
    for engine, name in ENGINES.items():
        if searches := published(plot, engine):
            groups = [listed(searches, group) for group in indexes(searches)]
            lines = [line for group in groups for line in group]
            sorted_by_qps[engine] = by(1, lines)
            found[f"qr.{name}{suffix}"] = "".join(f"{line}\n" for group in groups for line in ("", *group))
            found[f"qr.{name}{suffix}.recall"] = _text(by(0, lines))
            found[f"qr.{name}{suffix}.qps"] = _text(sorted_by_qps[engine])
    if sorted_by_qps:
        found |= {f"qr.topN.{number}{suffix}": _text(_best(sorted_by_qps, number)) for number in BEST}
    return found


def published(plot: Plot, engine: str) -> list[Search]:
    """Those that a summary lists, as they stand in the plot."""
    asked: dict[str, set[str]] = {}
    for search in plot.searches:
        if search.name in ENGINES:
            asked.setdefault(search.name, set()).add(search.params[SEARCHED])
    others = set().union(*(values for name, values in asked.items() if name != engine))
    return [each for each in plot.searches if each.name == engine and (not others or each.params[SEARCHED] in others)]


def indexes(searches: Sequence[Search]) -> list[Group]:
    """What indexes were made with: by ef_construction, then by m; without the former, a fixed list."""
    if "ef_construction" not in searches[0].params:
        return [{"m": str(m)} for m in FIXED]
    found = {tuple(int(search.params[name]) for name in INDEX) for search in searches}
    return [dict(zip(INDEX, map(str, values), strict=True)) for values in sorted(found)]


def listed(searches: Sequence[Search], group: Group) -> list[str]:
    """The lines of a group: by ef_search, then as they stand in the plot."""
    found = [search for search in searches if all(f"{name}={value}" in search.text for name, value in group.items())]
    return [_line(search) for search in sorted(found, key=lambda search: int(search.params[SEARCHED]))]


def belongs(search: Search, group: Group) -> bool:
    return all(search.params.get(name) == value for name, value in group.items())


def _line(search: Search) -> str:
    return f"{search.recall} {float(search.qps):.1f}     {search.text}"


def by(word: int, lines: Sequence[str]) -> list[str]:
    """Descending by a number of theirs; equal ones descending by the whole line, as `sort` has them."""
    return sorted(lines, key=lambda line: (float(line.split()[word]), line), reverse=True)


def _best(engines: Mapping[str, Sequence[str]], number: int) -> Iterator[str]:
    for limit in LIMITS:
        yield f"Best QPS with recall >= {limit}"
        for lines in engines.values():
            yield from [line for line in lines if float(line.split()[0]) >= float(limit)][:number]
            yield from [""] if number > 1 else []
        yield from [""] if number == 1 else []


def _text(lines: Iterator[str] | Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
