"""Wrong specs: what the report's tables name and show."""

from stepgrid.plugins.registry import LAYOUTS
from tests.language.bad import BASE, SWEEP, Said

LONG = BASE.replace("duration: 1s", "duration: 10m")


def table(said: str) -> str:
    return f"report: {{tables: [{{title: a, rows: step, {said}}}]}}\n"


CASES: dict[str, Said] = {
    "a label of a point that there is not": (
        BASE + SWEEP + table("labels: {lru: LRU, hypr: clock}"),
        [("13:61", "undefined-name", "labels: there is nothing called `hypr`", "did you mean `hyper`?")],
    ),
    "a label of a build's family": (
        BASE + table("columns: build, labels: {rocksdb: RocksDB}"),
        [("9:67", "undefined-name", "labels: there is nothing called `rocksdb`", "did you mean `rocksdb-7.8.3`?")],
    ),
    "a label of a metric that there is not": (
        BASE + table("metrics: [qps, p99_us], labels: {p99_usec: p99}"),
        [("9:75", "undefined-name", "labels: there is nothing called `p99_usec`", "did you mean `p99_us`?")],
    ),
    "a label of two lines": (
        BASE + table('labels: {readww: "a\\nb"}'),
        [("9:59", "control-character", "`readww`: a name is one line", "")],
    ),
    "a label of nothing": (
        BASE + table('labels: {readww: ""}'),
        [("9:59", "out-of-range", "labels: `readww` is called nothing", "")],
    ),
    "labels that are a list": (
        BASE + table("labels: [readww]"),
        [("9:50", "wrong-type", "`labels`: expected a map, found a list", "")],
    ),
    "a base of an axis that there is not": (
        BASE + SWEEP + table("base: {cach: lru}"),
        [("13:49", "undefined-name", "base: there is no axis `cach`", "did you mean `cache`?")],
    ),
    "a base at no cell of its axis": (
        BASE + SWEEP + table("base: {cache: lur}"),
        [("13:56", "undefined-name", "base: axis `cache` has no cell at `lur`", "did you mean `lru`?")],
    ),
    "a base that is several builds": (
        BASE + table("columns: build, base: {build: rocksdb}"),
        [
            (
                "9:72",
                "undefined-name",
                "base: axis `build` has no cell at `rocksdb`",
                "did you mean `rocksdb-7.8.3`?",
            )
        ],
    ),
    "a base of several labels": (
        BASE + SWEEP + table("base: {cache: [lru, hyper]}"),
        [("13:56", "wrong-type", "`cache`: expected text, found a list", "")],
    ),
    "counters in a table of another layout": (
        BASE + table("counters: [Handler_*]"),
        [("9:53", "wrong-type", "a table of this layout shows no `counters`", "`layout: counters` does")],
    ),
    "the largest of no counters": (
        BASE + "report: {tables: [{layout: counters, top: 5}]}\n",
        [("9:19", "missing-key", "`counters` is missing: `top` says how many of them are shown", "")],
    ),
    "a window without a unit": (
        LONG + table("window: 300"),
        [
            (
                "9:50",
                "wrong-unit",
                "window: expected a duration such as 30s, 30m or 2h, found `300`: say the unit",
                "",
            )
        ],
    ),
    "a window of which both ends are wrong": (
        LONG + table("window: [start, 5MiB]"),
        [
            ("9:51", "wrong-unit", "window: expected a duration such as 30s, 30m or 2h, found `start`", ""),
            ("9:58", "wrong-unit", "window: expected a duration such as 30s, 30m or 2h, found `5MiB`", ""),
        ],
    ),
    "a window that ends before it begins": (
        LONG + table("window: [5m, 60s]"),
        [
            (
                "9:55",
                "out-of-range",
                "window: it begins at `5m` and ends at `60s`",
                "from the start of a step: [FROM, TO]",
            )
        ],
    ),
    "a window before the step": (
        LONG + table("window: [-1m, 5m]"),
        [
            (
                "9:51",
                "out-of-range",
                "window: `-1m` is before the start of a step",
                "one duration alone is the end of it: `1m`, the last minute",
            )
        ],
    ),
    "a window of no time": (
        LONG + table("window: 0s"),
        [("9:50", "out-of-range", "window: `0s` holds nothing", "")],
    ),
    "a window of no entries": (
        LONG + table("window: []"),
        [("9:50", "out-of-range", "`window`: expected at least one entry, found an empty list", "")],
    ),
    "a window that is longer than every step": (
        LONG + table("window: 20m"),
        [("9:50", "out-of-range", "window: no step of the table lasts `20m`", "`fillseq` lasts longest: 10m00s")],
    ),
    "a window after the end of the step": (
        LONG.replace("[readwhilewriting]", "[readwhilewriting], duration: 5m")
        + table("window: [4m, 6m], where: {step: readww}"),
        [("9:55", "out-of-range", "window: no step of the table lasts `6m`", "`readww` lasts longest: 5m00s")],
    ),
    "a layout that there is not": (
        BASE + "report: {tables: [{layout: iostats}]}\n",
        [("9:28", "undefined-name", "there is no layout `iostats`", "did you mean `iostat`?")],
    ),
    "a layout that there is not, by its name alone": (
        BASE + "report: {tables: [vmstats]}\n",
        [("9:19", "undefined-name", "there is no layout `vmstats`", "did you mean `vmstat`?")],
    ),
    "a table without rows": (
        BASE + "report: {tables: [{title: a}]}\n",
        [
            (
                "9:19",
                "missing-key",
                "`rows` is missing",
                f"or `layout:`, one of {', '.join(LAYOUTS.names())}",
            )
        ],
    ),
    "a table without a title": (
        BASE + "report: {tables: [{rows: step}]}\n",
        [("9:19", "missing-key", "`title` is missing", "")],
    ),
    "a claim with a filter": (
        BASE + "claims: [{claim: a, expect: qps()|abs > 1}]\n",
        [
            (
                "9:29",
                "expression",
                "a claim is made of figures and numbers, + - * / **, comparisons, similar, stable, and, or, not",
                "for example qps(cache='best') >= 2 * qps(cache='lru')",
            )
        ],
    ),
}
