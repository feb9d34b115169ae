"""The published summaries: qr of an engine in groups by index, .qps and .recall sorted, qr.topN with the best of all.

A group is found as a part of the text, as the scripts do it: m=4 also finds m=48. They list fixed sets of indexes and
of ef_search: those of the published qr where one lies beside. Otherwise what one of several engines alone was searched
with is not listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from stepgrid_importers.vector_search.plots import ENGINES, FIXED, Engine, Group, Plot, Search

LIMITS = ("1.000", "0.99", "0.98", "0.97", "0.96", "0.95")
BEST = (1, 3)
NOTHING: Group = {}  # an index that has no search

_TOP = re.compile(r"qr\.topN\.(?P<number>\d+)\.(?P<engines>\D.*)")  # names the files that it is made of


def summaries(plots: Sequence[Plot], suffixes: Sequence[str]) -> Mapping[str, str]:
    """Of the plots of one folder; `suffix`: of a plot's files."""
    found: dict[str, str] = {}
    for plot, suffix in zip(plots, suffixes, strict=True):
        by_qps: dict[str, str] = {}
        for engine in ENGINES:
            if published(plot, engine, suffix):
                files = _of_engine(plot, engine, suffix)
                by_qps[engine.file] = files[f"qr.{engine.file}{suffix}.qps"]
                found |= files
        if by_qps:
            found |= {f"qr.topN.{number}{suffix}": best(by_qps.values(), number) for number in BEST}
    return found | dict(_named_tops(plots, found))


def groups(plot: Plot, engine: Engine, suffix: str) -> list[tuple[Group, list[str]]]:
    """Each index, and the lines of its searches."""
    searches, asked = published(plot, engine, suffix), values(plot, engine, suffix)
    found = indexes(engine, searches, plot.published.get(f"qr.{engine.file}{suffix}")) if searches else []
    return [(group, listed(engine, searches, group, asked)) for group in found]


def _of_engine(plot: Plot, engine: Engine, suffix: str) -> Mapping[str, str]:
    name, found = f"qr.{engine.file}{suffix}", groups(plot, engine, suffix)
    lines = [line for _, group in found for line in group]
    return {
        name: "".join(f"{line}\n" for _, group in found for line in ("", *group)),
        f"{name}.recall": by(0, lines, plot.published.get(f"{name}.recall")),
        f"{name}.qps": by(1, lines, plot.published.get(f"{name}.qps")),
    }


def published(plot: Plot, engine: Engine, suffix: str) -> list[Search]:
    """Those that a summary lists, as they stand in the plot."""
    asked = {str(value) for value in values(plot, engine, suffix)}
    return [each for each in plot.searches if engine.has(each) and each.params[engine.searched] in asked]


def values(plot: Plot, engine: Engine, suffix: str) -> list[int]:
    """The ef_search that the scripts listed, or may have listed."""
    text = plot.published.get(f"qr.{engine.file}{suffix}", "")
    if there := set(re.findall(rf"\b{engine.searched}=(\d+)", text)):
        return sorted(map(int, there))
    own = _asked(plot, (engine,))
    others = _asked(plot, [each for each in ENGINES if each.name != engine.name and each.searched == engine.searched])
    return sorted(own & others if others else own)


def _asked(plot: Plot, engines: Iterable[Engine]) -> set[int]:
    found = ((each, search) for each in engines for search in plot.searches if each.has(search))
    return {int(search.params[each.searched]) for each, search in found}


def indexes(engine: Engine, searches: Sequence[Search], beside: str | None) -> list[Group]:
    """What indexes were made with: by ef_construction, then by m; without the former, a fixed list."""
    if not engine.index:
        return [{"m": str(m)} for m in FIXED]
    found = {tuple(int(search.params[name]) for name in engine.index) for search in searches if _shown(search, beside)}
    return _placed([dict(zip(engine.index, map(str, values), strict=True)) for values in sorted(found)], beside or "")


def _placed(found: list[Group], beside: str) -> list[Group]:
    """With those that the scripts asked for and did not find, an empty line of the published file each."""
    lines = beside.split("\n")
    begins = [at for at, line in enumerate(lines[:-1]) if not line]
    for index in (index for index, at in enumerate(begins) if not lines[at + 1]):
        found.insert(index, NOTHING)
    return found


def _shown(search: Search, beside: str | None) -> bool:
    return beside is None or search.text in beside


def listed(engine: Engine, searches: Sequence[Search], group: Group, asked: Sequence[int]) -> list[str]:
    """The lines of a group: by ef_search, then as they stand in the plot."""
    if group is NOTHING:
        return []
    found = [search for search in searches if all(f"{name}={value}" in search.text for name, value in group.items())]
    parts = (f"{engine.searched}={value}{engine.after}" for value in asked)
    return [_line(search) for part in parts for search in found if part in search.text]


def belongs(search: Search, group: Group) -> bool:
    return all(search.params.get(name) == value for name, value in group.items())


def _line(search: Search) -> str:
    return f"{search.recall} {float(search.qps):.1f}     {search.text}"


def by(word: int, lines: Sequence[str], beside: str | None) -> str:
    """Descending by a number of theirs; equal ones descending by the whole line, in the order of what lies beside."""
    orders: Sequence[Callable[[str], str]] = (str, _words)
    texts = [
        _text(sorted(lines, key=lambda line: (float(line.split()[word]), order(line)), reverse=True))
        for order in orders
    ]
    return beside if beside in texts else texts[0]


def _words(line: str) -> str:
    """As `sort` compares where a language is set: without what is no letter and no digit."""
    return re.sub(r"\W", "", line)


def _named_tops(plots: Sequence[Plot], made: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Published ones that say which files they are made of, as qr.topN.1.maria.pgvector."""
    known = {name[len("qr.") : -len(".qps")]: text for name, text in made.items() if name.endswith(".qps")}
    for name in sorted({name for plot in plots for name in plot.published}):
        match = _TOP.fullmatch(name)
        if match and name not in made and (parts := _parts(match["engines"], list(known))):
            yield name, best([known[part] for part in parts], int(match["number"]))


def _parts(text: str, names: Sequence[str]) -> list[str]:
    """`maria.pgvector` is maria and pgvector, if these are names; empty where it is something else."""
    for name in sorted(names, key=len, reverse=True):
        if text == name:
            return [name]
        if text.startswith(f"{name}.") and (others := _parts(text[len(name) + 1 :], names)):
            return [name, *others]
    return []


def best(sorted_by_qps: Iterable[str], number: int) -> str:
    return _text(_best([text.splitlines() for text in sorted_by_qps], number))


def _best(engines: Sequence[Sequence[str]], number: int) -> Iterator[str]:
    for limit in LIMITS:
        yield f"Best QPS with recall >= {limit}"
        for lines in engines:
            yield from [line for line in lines if float(line.split()[0]) >= float(limit)][:number]
            yield from [""] if number > 1 else []
        yield from [""] if number == 1 else []


def _text(lines: Iterator[str] | Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
