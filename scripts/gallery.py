"""Runs the quickstart, and published experiments at their smoke scale, and keeps their reports in docs/gallery.

`make gallery` goes on where it was stopped, as every run does. Names of specs, or parts of them, choose some:
`.venv/bin/python scripts/gallery.py speedb mixgraph`. A site file is named by STEPGRID_SITE.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
STEPGRID = ROOT / ".venv" / "bin" / "stepgrid"
GALLERY = ROOT / "docs" / "gallery"
README = ROOT / "README.md"
BEGIN, END = "<!-- the quickstart, by scripts/gallery.py -->", "<!-- /the quickstart -->"
SITE = ROOT / "dist" / "gallery"  # all pages with their tables, which are too large for git
SCALE = "smoke"
WHOLE = "quickstart"  # it has no smaller scale
SPECS = (
    WHOLE,
    "posts/2022-03-mixgraph", "posts/2024-11-rocksdb-hyperclock-v2", "posts/2024-11-rocksdb-lru-vs-hyperclock",
    "posts/2024-11-rocksdb-leveled", "posts/2024-11-rocksdb-universal", "posts/2024-12-speedb",
    "posts/2023-01-insert-benchmark-amd", "posts/2023-08-myrocks-gc-debt", "posts/2024-11-mysql-scan-regressions",
    "posts/2016-01-linkbench-disk-array", "posts/2025-01-vector-mariadb-pgvector",
    "microbenchmarks", "microbenchmarks-versions",
)  # fmt: skip
MORE = {"microbenchmarks": "per operation"}  # a table that is too long for the summary


class Exhibit(NamedTuple):
    name: str
    plan: str
    title: str
    cells: int
    stages: int
    seconds: float  # of measuring, builds apart
    days: frozenset[str]
    host: str


class Unkept(Exception):
    """Why a summary is not in the gallery."""


def main(wanted: Sequence[str]) -> int:
    chosen = [name for name in SPECS if not wanted or any(each in name for each in wanted)]
    if not chosen:
        print(f"none of {', '.join(SPECS)} is called so", file=sys.stderr)
        return 2
    failed = [name for name in chosen if not ran(name)]
    exhibits = [found for name in SPECS if name not in failed and (found := kept(name))]
    if len(exhibits) == len(SPECS):
        (GALLERY / "README.md").write_text(page(exhibits), encoding="utf-8")
        plans = [each.plan for each in exhibits]
        subprocess.run([STEPGRID, "site", SITE, *plans, "--title", "Gallery"], cwd=ROOT, check=True)
    else:
        print("README.md of the gallery is as it was: not all of the specs are measured", file=sys.stderr)
    return 3 if failed else 0


def ran(name: str) -> bool:
    print(f"== {name}", flush=True)
    done = subprocess.run([STEPGRID, "run", *asked(name)], cwd=ROOT, check=False)
    return done.returncode == 0


def kept(name: str) -> Exhibit | None:
    """None, and a word about it, where it is not measured whole."""
    try:
        found = exhibit(name)
        texts = dict(texts_of(name))
        if here := next(filter(None, map(machine, texts.values())), None):
            raise Unkept(f"its summary names this machine: {here}")
    except Unkept as reason:
        print(f"{name}: not kept: {reason}", file=sys.stderr)
        return None
    GALLERY.mkdir(exist_ok=True)
    for file, text in texts.items():
        (GALLERY / file).write_text(text, encoding="utf-8")
    found = found._replace(host=host(texts[f"{PurePath(name).name}.txt"]))
    if name == WHOLE:
        README.write_text(
            shop_window(README.read_text(encoding="utf-8"), found, said("report", name)), encoding="utf-8"
        )
    return found


def shop_window(readme: str, exhibit: Exhibit, brief: str) -> str:
    """Write the end of the quickstart's run into README.md, and which run it is: the same as in the gallery."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    day = min(exhibit.days, default="?")
    run = f"{exhibit.cells} cells, {exhibit.stages} stages; a run of {day} on {exhibit.host}, plan {exhibit.plan[:8]}:"
    return f"{before}{BEGIN}\n{run}\n\n```\n{brief}```\n{END}{after}"


def texts_of(name: str) -> Iterator[tuple[str, str]]:
    """By the name of the file."""
    stem = PurePath(name).name
    yield f"{stem}.txt", f"{said('report', name)}\n{said('report', name, '--all')}"
    if (table := MORE.get(name)) is not None:
        yield f"{stem}.{table.replace(' ', '-')}.txt", said("report", name, "--table", table)
    yield f"{stem}.html", said("report", name, "--format", "html")


def exhibit(name: str) -> Exhibit:
    plan: Any = json.loads(said("plan", name, "--format", "json"))
    state: Any = json.loads(said("status", name, "--format", "json"))
    stages = [node for node in state["nodes"] if node["kind"] == "stage"]
    if left := [node for node in stages if node["state"] not in ("done", "unsupported")]:
        raise Unkept(f"{len(left)} of {len(stages)} stages have no result")
    seconds = sum(node["seconds"] or 0.0 for node in stages)
    days = frozenset(node["ended"][:10] for node in stages if node["ended"])
    return Exhibit(name, plan["plan"], plan["title"], plan["totals"]["cells"], len(stages), seconds, days, "")


def said(command: str, name: str, *more: str) -> str:
    argv = [str(STEPGRID), command, *asked(name), *more]
    done = subprocess.run(argv, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Unkept(f"stepgrid {command} ended with exit status {done.returncode}")
    return done.stdout


def asked(name: str) -> list[str]:
    return [spec(name)] if name == WHOLE else [spec(name), "--scale", SCALE]


def spec(name: str) -> str:
    return f"specs/{name}.yaml"


def machine(text: str) -> str | None:
    """What a text for everybody must not say: places and names of where it was made."""
    for name in (str(ROOT), str(Path.home()), socket.gethostname()):
        if len(name) > 1 and (found := re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text)):
            return found.group()
    return None


def host(text: str) -> str:
    found = re.search(r"^ *host +(.*(?:\n {12,}.*)*)", text, re.MULTILINE)
    return " ".join(found.group(1).split()) if found else "unknown"


def page(exhibits: Sequence[Exhibit]) -> str:
    days = sorted(frozenset().union(*(each.days for each in exhibits)))
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "unknown"
    hosts = "; ".join(dict.fromkeys(each.host for each in exhibits))
    rows = "\n".join(map(row, exhibits))
    return PAGE.format(rows=rows, total=clock(sum(each.seconds for each in exhibits)), when=when, hosts=hosts)


def row(each: Exhibit) -> str:
    stem = PurePath(each.name).name
    also = f", [{table}]({stem}.{table.replace(' ', '-')}.txt)" if (table := MORE.get(each.name)) else ""
    told = f"[{each.title}]({stem}.html), [as text]({stem}.txt){also}"
    return f"| {told} | [{stem}](../../{spec(each.name)}) | {each.cells} | {each.stages} | {clock(each.seconds)} |"


def clock(seconds: float) -> str:
    return f"{int(seconds // 60)} min {seconds % 60:02.0f} s"


PAGE = """\
# Gallery

For those who want to see what comes out of published experiments.

The reports, word for word and as pages, of the quickstart (`make demo`), and at their `smoke` scale of published
experiments with RocksDB and Speedb, of the insert benchmark on MySQL, MyRocks and PostgreSQL, of LinkBench on InnoDB
and MyRocks, of vector search in MariaDB and PostgreSQL, and of the microbenchmarks of sysbench on MySQL, MariaDB
(InnoDB and MyRocks) and PostgreSQL. How pages begin, by `python -m scripts.screenshots`:
[the quickstart's](quickstart.png), [the insert benchmark's](2023-01-insert-benchmark-amd.png),
[that of MVCC garbage](2023-08-myrocks-gc-debt.png), and the site of these docs: [front](site-front.png),
[tutorial](site-tutorial.png), [this page on a phone](site-phone.png).
What became of the claims of the articles, and why: [insert benchmark](insert-benchmark.md), [LinkBench](linkbench.md).
[Which tables of each article come out](articles.md), and where.

| report | spec | cells | stages | measuring |
|---|---|---|---|---|
{rows}

Measuring took {total} in all, without the builds; made on {when}, on {hosts}, by

```
make gallery
```

For each spec that is `stepgrid run SPEC --scale smoke`, then `stepgrid report SPEC --scale smoke`, once more with
`--format html`. It goes on where it was stopped, and ends with `stepgrid site dist/gallery`: all of them with an
index, a feed and their tables, which are too large to be kept here. For what is not built yet it needs Maven, git and
a compiler: a minute for most builds; one release of
RocksDB is compiled whole, with and without a patch, which takes half an hour on two cores, and hardly longer for both
where ccache is. Servers and sysbench are unpacked, not compiled.

These are tries of the specs, not results. A step lasts some seconds, on a database of at most a few hundred MB
(of a few MB for sysbench), from one load; on two cores of a virtual machine, whose neighbours are heard, equal arms
differ by a factor of two and more. The order of releases, forks and servers in these tables means nothing. What they
show is that every table of the articles comes out, from real programs. For figures, run a spec as it stands, on the
hardware that it names, with `repeat: 3`.
"""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
