"""Cases of a test as data, in YAML files beside it, and what comes of them as lines of a golden text."""

from pathlib import Path

import yaml

MOST = 9  # lines of one sort


def cases(path):
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def rows(test, name):
    """Rows of a parametrized test of this file, from the YAML beside it."""
    path = Path(test)
    text = path.with_name(f"{path.stem.removeprefix('test_')}_rows.yaml").read_text(encoding="utf-8")
    return yaml.load(text, yaml.CSafeLoader)[name]


def write_files(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def few(lines):
    all_lines = list(lines)
    left_out = len(all_lines) - MOST
    return [*all_lines[: MOST - 1], f"  … {left_out} more", all_lines[-1]] if left_out > 0 else all_lines


def numbers(values):
    texts = (f"{value:.10g}" if isinstance(value, float) else str(value) for value in values.values())
    return ", ".join(map(" ".join, zip(values, texts, strict=True)))


def figure_lines(figures):
    yield from (f"  {name} {value:.10g}" for name, value in sorted(figures.metrics.items()))
    yield from (f"  fact {name}: {text}" for name, text in figures.facts.items())
    yield from (f"  warning: {text}" for text in figures.warnings)
    yield from few(f"  at {second:g} s: {rate:.10g} operations/s" for second, rate in figures.qps)
    yield from few(f"  p99 at {second:g} s: {latency:.10g} us" for second, latency in figures.p99)
    yield from few(f"  {rate}" for rate in figures.rates)
    for histogram in figures.histograms:
        buckets = list(zip(histogram.least, histogram.most, histogram.operations, strict=True))
        yield f"  histogram {histogram.operation!r}: {sum(histogram.operations)} operations"
        yield from few(f"    {low:.6g} to {high:.6g} us: {count}" for low, high, count in buckets)
    for name in ("levels", "latencies", "file_reads"):
        yield from few(f"  {name}: {numbers(row)}" for row in getattr(figures, name))
    if figures.counters:
        yield f"  {len(figures.counters)} counters, in sum {sum(figures.counters.values()):.10g}"
        yield from few(f"    {name} {value:.10g}" for name, value in sorted(figures.counters.items()))
    yield from [f"  measured: {figures.window}"] if figures.window else []
