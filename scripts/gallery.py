"""Run the quickstart, and specs at their smoke scale, and keep their reports in docs/gallery.

`make gallery` goes on where it was stopped, as every run does. Names of specs, or parts of them, choose some:
`.venv/bin/python scripts/gallery.py speedb mixgraph`. With `--render` nothing is run: texts and charts are made again
from the results. Its exit status is 3 if a stage failed, or if others use the host: README.md has figures of the
quickstart. A site file is named by STEPGRID_SITE.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from stepgrid.errors import FAILED, FINE, USAGE
from stepgrid_page.drawing import stand_alone

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
    "posts/2023-01-insert-benchmark-amd", "posts/2026-06-insert-benchmark-postgres",
    "posts/2023-08-myrocks-gc-debt", "posts/2024-11-mysql-scan-regressions", "posts/2025-11-sysbench-postgres",
    "posts/2025-12-sysbench-mysql", "posts/2026-06-tproc-c-postgres", "posts/2016-01-linkbench-disk-array",
    "posts/2025-01-vector-mariadb-pgvector",
    "microbenchmarks", "microbenchmarks-versions", "pgbench", "tpcc", "embedded",
)  # fmt: skip
PAGES = (WHOLE, "posts/2023-01-insert-benchmark-amd", "posts/2023-08-myrocks-gc-debt")  # kept with their charts
LONG_TABLES = {"microbenchmarks": "per operation"}  # too long for the summary
OTHERS = re.compile(r"(cpu|steal|device .*|swapping|throttling|builds|services|cron jobs|other runs)$")  # of doctor
LONGEST_ANSWER = 160  # characters
PROGRESS_HEAD = ("| spec | done | unsupported | failed | not measured |", "|---|---|---|---|---|")


class Exhibit(NamedTuple):
    name: str
    plan: str
    title: str
    answer: str
    cells: int
    stages: int
    seconds: float  # of measuring, builds apart
    days: frozenset[str]
    host: str


class Progress(NamedTuple):
    """How many stages of a spec have which end."""

    name: str
    done: int
    unsupported: int
    failed: int
    missing: int  # not tried, or not to the end

    @property
    def is_whole(self) -> bool:
        return not self.failed and not self.missing


class NotKept(Exception):
    """Why a summary is not in the gallery."""


def main(words: Sequence[str]) -> int:
    names = [word for word in words if word != "--render"]
    chosen = [spec for spec in SPECS if not names or any(name in spec for name in names)]
    if not chosen:
        print(f"none of {', '.join(SPECS)} is called so", file=sys.stderr)
        return USAGE
    if "--render" not in words:
        if WHOLE in chosen and (noise := other_work()):
            print(f"the quickstart is measured on a quiet host alone; doctor says: {'; '.join(noise)}", file=sys.stderr)
            return FAILED
        for name in chosen:
            run(name)
    try:
        progress = [count_stages(name) for name in SPECS]
    except NotKept as reason:
        print(f"the gallery is as it was: {reason}", file=sys.stderr)
        return FAILED
    exhibits = {entry.name: exhibit for entry in progress if entry.is_whole and (exhibit := keep(entry.name))}
    (GALLERY / "README.md").write_text(page(exhibits, progress), encoding="utf-8")
    print(progress_table(progress))
    if exhibits:
        plans = [exhibit.plan for exhibit in exhibits.values()]
        subprocess.run([STEPGRID, "site", SITE, *plans, "--title", "Gallery"], cwd=ROOT, check=True)
    return FAILED if any(entry.failed for entry in progress if entry.name in chosen) else FINE


def other_work() -> list[str]:
    """List what `doctor` warns of that others do on this host; settings of the host are part of its description."""
    sections = json.loads(output("doctor", WHOLE, "--format", "json"))["sections"]
    warnings = [each for section in sections for each in section["findings"] if each["severity"] == "warning"]
    return [f"{each['name']}: {each['said']}" for each in warnings if OTHERS.match(each["name"])]


def count_stages(name: str) -> Progress:
    counts = json.loads(output("status", name, "--format", "json"))["totals"]["stage"]
    done, unsupported = counts.pop("done"), counts.pop("unsupported")
    failed = counts.pop("failed") + counts.pop("blocked")
    return Progress(name, done, unsupported, failed, sum(counts.values()))


def progress_table(progress: Sequence[Progress]) -> str:
    """Write the stages of each spec as a table."""
    rows = [f"| [{entry.name}](../../{spec(entry.name)}) | {' | '.join(map(str, entry[1:]))} |" for entry in progress]
    totals = (sum(counts) for counts in zip(*(entry[1:] for entry in progress), strict=True))
    return "\n".join((*PROGRESS_HEAD, *rows, f"| all | {' | '.join(map(str, totals))} |"))


def run(name: str) -> None:
    print(f"== {name}", flush=True)
    subprocess.run([STEPGRID, "run", *arguments(name)], cwd=ROOT, check=False)


def keep(name: str) -> Exhibit | None:
    """Write the texts and the chart of a spec; None, and a word about it, where it is not measured whole."""
    try:
        exhibit = describe(name)
        texts = dict(texts_of(name))
        if place := next(filter(None, map(machine, texts.values())), None):
            raise NotKept(f"its summary names this machine: {place}")
        if name == WHOLE and (disturbed := re.search(r"\d+ of \d+ stages disturbed", texts[f"{name}.txt"])):
            raise NotKept(f"the host was not quiet: {disturbed.group()}")
    except NotKept as reason:
        print(f"{name}: not kept: {reason}", file=sys.stderr)
        return None
    GALLERY.mkdir(exist_ok=True)
    for file, text in texts.items():
        (GALLERY / file).write_text(text, encoding="utf-8")
    exhibit = exhibit._replace(host=host(texts[f"{PurePath(name).name}.txt"]))
    if name == WHOLE:
        readme = shop_window(README.read_text(encoding="utf-8"), exhibit, output("report", name))
        README.write_text(readme, encoding="utf-8")
    return exhibit


def shop_window(readme: str, exhibit: Exhibit, brief: str) -> str:
    """Write the end of the quickstart's run into README.md, and which run it is: the same as in the gallery."""
    before, _, tail = readme.partition(BEGIN)
    _, _, after = tail.partition(END)
    day = min(exhibit.days, default="?")
    run = f"{exhibit.cells} cells, {exhibit.stages} stages; a run of {day} on {exhibit.host}, plan {exhibit.plan[:8]}:"
    return f"{before}{BEGIN}\n{run}\n\n```\n{brief}```\n{END}{after}"


def texts_of(name: str) -> Iterator[tuple[str, str]]:
    """Yield each file's name and content."""
    stem = PurePath(name).name
    yield f"{stem}.txt", f"{output('report', name)}\n{output('report', name, '--all')}"
    if table := LONG_TABLES.get(name):
        yield f"{stem}.{table.replace(' ', '-')}.txt", output("report", name, "--table", table)
    html = output("report", name, "--format", "html")
    yield f"{stem}.svg", thumbnail(html)
    if name in PAGES:
        yield f"{stem}.html", html


def thumbnail(html: str) -> str:
    """Cut the first chart out of a page, as a phone shows it."""
    chart = re.search(r'<div class="narrow">(<svg class="chart".*?</svg>)</div>', html, re.DOTALL)
    if chart is None:
        raise NotKept("its page has no chart")
    return stand_alone(chart[1])


def describe(name: str) -> Exhibit:
    plan: Any = json.loads(output("plan", name, "--format", "json"))
    state: Any = json.loads(output("status", name, "--format", "json"))
    stages = [node for node in state["nodes"] if node["kind"] == "stage"]
    seconds = sum(node["seconds"] or 0.0 for node in stages)
    days = frozenset(node["ended"][:10] for node in stages if node["ended"])
    answer = brief_answer(json.loads(output("report", name, "--format", "json"))["answer"])
    return Exhibit(name, plan["plan"], plan["title"], answer, plan["totals"]["cells"], len(stages), seconds, days, "")


def brief_answer(answers: Sequence[dict[str, Any]]) -> str:
    """Choose the first answer with what qualifies it, as far as it fits on a card; no ratio that has no verdict."""
    if not answers:
        return "no comparison"
    text, _, qualification = answers[0]["text"].partition(" (")
    if answers[0]["kind"] == "none":
        reason = qualification.removesuffix(")").partition(" · ")[0].removesuffix(": no verdict")
        return f"A try: no verdict ({reason})"
    return text if len(text) <= LONGEST_ANSWER else f"{text[:LONGEST_ANSWER].rpartition(' ')[0].rstrip(',;:')} …"


def output(command: str, name: str, *options: str) -> str:
    argv = [str(STEPGRID), command, *arguments(name), *options]
    done = subprocess.run(argv, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode and not (command == "status" and done.returncode == FAILED):
        raise NotKept(f"stepgrid {command} {spec(name)} ended with exit status {done.returncode}")
    return done.stdout


def arguments(name: str) -> list[str]:
    return [spec(name)] if name == WHOLE else [spec(name), "--scale", SCALE]


def spec(name: str) -> str:
    return f"specs/{name}.yaml"


def machine(text: str) -> str | None:
    """Find places and names of this machine in a text that is for everybody."""
    for name in (str(ROOT), str(Path.home()), socket.gethostname()):
        if len(name) > 1 and (match := re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text)):
            return match.group()
    return None


def host(text: str) -> str:
    match = re.search(r"^ *host +(.*(?:\n {12,}.*)*)", text, re.MULTILINE)
    return " ".join(match.group(1).split()) if match else "unknown"


def page(exhibits: Mapping[str, Exhibit], progress: Sequence[Progress]) -> str:
    days = sorted(frozenset().union(*(exhibit.days for exhibit in exhibits.values())))
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "unknown"
    hosts = "; ".join(dict.fromkeys(exhibit.host for exhibit in exhibits.values()))
    total = clock(sum(exhibit.seconds for exhibit in exhibits.values()))
    cards = [card(exhibits[name]) if name in exhibits else old_card(name) for name in SPECS]
    table = progress_table(progress)
    return PAGE.format(cards="\n".join(cards), total=total, when=when, hosts=hosts, table=table)


def card(exhibit: Exhibit) -> str:
    """Write the card of an exhibit: its chart, its answer in a line, and what lies behind it."""
    sizes = f"{exhibit.cells} cells, {exhibit.stages} stages, {clock(exhibit.seconds)}"
    return _card(exhibit.name, exhibit.title, exhibit.answer, sizes)


def old_card(name: str) -> str:
    """Write the card of a spec that is not measured whole: the text that it has is of an earlier round."""
    title = (GALLERY / f"{PurePath(name).name}.txt").read_text(encoding="utf-8").splitlines()[0]
    return _card(name, title, "Not measured whole in this round: chart and text are of an earlier one.", "")


def _card(name: str, title: str, answer: str, sizes: str) -> str:
    stem = PurePath(name).name
    front = f"{stem}.html" if name in PAGES else f"{stem}.txt"
    links = [f"[text]({stem}.txt)", f"[spec](../../{spec(name)})"]
    if table := LONG_TABLES.get(name):
        links.append(f"[{table}]({stem}.{table.replace(' ', '-')}.txt)")
    line = " · ".join(filter(None, (*links, sizes)))
    return CARD.format(stem=stem, front=front, title=title, answer=answer, line=line)


def clock(seconds: float) -> str:
    return f"{int(seconds // 60)} min {seconds % 60:02.0f} s"


CARD = """\
- [![{title}: the first chart]({stem}.svg)]({front})

    **[{title}]({front})**

    {answer}

    {line}
"""

PAGE = """\
# Gallery

**[Reproduced on other hardware: 0 of 7 claims](reproduced.md)**: LRU against hyper clock cache on two cores, not 48,
measured until decided; what differs, and why.

**All others are tries**: specs at their `smoke` scale (the quickstart is whole), run beside other work on two cores.
They show the form of reports, not which engine is faster.

<div class="grid cards" markdown>

{cards}
</div>

[Claims of articles on their own figures](claims.md), and [which tables of each article come out](articles.md).

## How it was made

```sh
make gallery
```

This is `stepgrid run SPEC --scale smoke` and `stepgrid report SPEC --scale smoke` for each spec; it goes on where it
was stopped. `scripts/gallery.py --render` makes texts and charts again from the results. At its end, `dist/gallery` has
the page and the tables of every report, made by `stepgrid site`: most of these pages are too large for the repository.

Stages of each spec:

{table}

Measuring took {total} in all, without the builds; made on {when}, on {hosts}.

A step lasts some seconds, on a database of at most a few hundred MB (of a few MB for sysbench), from one load. On two
cores whose neighbours are heard, equal arms differ by a factor of two and more. For figures, run a spec unchanged, on
the hardware that it names, with `repeat: 3`.

Builds that do not exist yet need Maven, git and a compiler: a minute for most. One release of RocksDB is compiled
whole, with and without a patch: half an hour on two cores, and hardly longer for both where ccache is. Servers and
sysbench are unpacked.
"""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
