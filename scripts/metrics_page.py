"""docs/reference/metrics.md, made from the table of metrics."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.metrics import Metric
from stepgrid.plugins.metrics import METRICS, SECTIONS


def page() -> str:
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Metrics"
    yield ""
    yield "Made by `python -m scripts.metrics_page > docs/reference/metrics.md`; a test keeps it so."
    yield ""
    yield "A figure that an output does not hold is missing, never 0. B, KiB, MiB and GiB are powers of 1024."
    yield "A percentile that fewer than 10 operations lie beyond is missing, too: p99 needs 1,000, p99.99 100,000."
    yield "The 99th percentile of one second and that of readings (`durable_lag_p99_us`) are under this rule, too; only"
    yield "one that a command reports as a figure of its own is not."
    yield "A figure that needs samples within the step, one a second, is absent where less than 2 s were measured:"
    yield "CPU is then the kernel's count of the whole step."
    yield "*Published* is the column of published tables that holds the same figure, by layout."
    for title, metrics in SECTIONS.items():
        yield from (
            "",
            f"## {title}",
            "",
            "| metric | unit | better | what it is | window | published |",
            "|" + "---|" * 6,
        )
        yield from (_row(METRICS[metric.name]) for metric in metrics)


def _row(metric: Metric) -> str:
    cells = (
        f"`{metric.name}`",
        metric.unit,
        metric.better or "",
        metric.definition,
        metric.window,
        ", ".join(f"{layout} `{column}`" for layout, column in metric.legacy.items()),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(page())
