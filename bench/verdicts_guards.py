"""Rules of the expected noise, each taken away: what the simulated tables lose without it.

`.venv/bin/python bench/verdicts_guards.py [--tables 1600]`: some minutes on one core. A row is a kind of noise, loads
and arms; its columns are the rule in use, plain limma (prior variance and degrees of freedom of all comparisons of a
report, no rule of our own) and the rules of `confidence_intervals.py` with one constant that does nothing. A row is
printed where one of them is worse by more than three points."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.special import digamma, polygamma  # noqa: E402

from bench import verdicts_rows  # noqa: E402  # the checkout's own
from stepgrid.summarize.statistics import confidence_intervals as intervals  # noqa: E402

POINTS = 0.03
WITHOUT: Mapping[str, Mapping[str, float]] = {
    "in use": {},
    "UNSURE": {"UNSURE": 0.0},
    "LITTLE": {"LITTLE": 0.0},
    "OFTEN": {"OFTEN": 0.0},
    "CAUTION": {"CAUTION": 0.0},
    "OUTLIER": {"OUTLIER": 0.0},
}
LIMMA = "plain limma"


def limma(spreads: intervals.Spreads) -> intervals.Moderated:
    """Smyth 2004: moments of the logarithms of all variances give the prior."""
    variance, freedom = np.maximum(spreads.variance, intervals.FLOOR), spreads.freedom
    logs = np.log(variance) - digamma(freedom / 2) + np.log(freedom / 2)
    total = float(freedom.sum())
    scatter = logs.var(ddof=1) - polygamma(1, freedom / 2).mean() if len(logs) > 1 else 0.0
    if scatter > 0:
        half = intervals._freedom_of_spread(scatter) / 2
        prior, expected = 2 * half, np.exp(logs.mean() + digamma(half) - np.log(half))
    else:
        prior, expected = intervals.MANY, (variance * freedom).sum() / total
    moderated = (prior * expected + freedom * variance) / (prior + freedom)
    posterior = np.minimum(prior + freedom, total)
    weight = posterior - freedom
    return intervals.Moderated(moderated, posterior, weight**2 / np.maximum(total * posterior, 1e-9))


@contextmanager
def replaced(**values: object) -> Iterator[None]:
    before = {name: getattr(intervals, name) for name in values}
    for name, value in values.items():
        setattr(intervals, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(intervals, name, value)


def losses(row: verdicts_rows.Row, other: verdicts_rows.Row) -> list[str]:
    """Name the shares that are worse without a rule; more than 95 % of covered tables are not missed."""
    names, signs = ("different", "2 % apart", "covered", "same", "5 % found"), (1, 1, -1, -1, -1)
    used = (*row[:2], min(row.covered, 0.95), *row[3:])
    texts = []
    for name, sign, with_rule, without in zip(names, signs, used, other, strict=True):
        if sign * (without - with_rule) > POINTS:
            texts.append(f"{name} {100 * without:.0f} ({100 * with_rule:.0f})")
    return texts


def rows(tables: int) -> Iterator[str]:
    for kind, loads, arms in verdicts_rows.settings():
        with replaced():
            used = verdicts_rows.row(kind, loads, arms, tables)
        for name, values in WITHOUT.items():
            if values:
                with replaced(**values):
                    found = losses(used, verdicts_rows.row(kind, loads, arms, tables))
                if found:
                    yield f"{kind:24} {loads:2} loads, {arms:2} arms, without {name}: {', '.join(found)}"
        with replaced(moderated=limma):
            if found := losses(used, verdicts_rows.row(kind, loads, arms, tables)):
                yield f"{kind:24} {loads:2} loads, {arms:2} arms, {LIMMA}: {', '.join(found)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="What each rule of the expected noise is for.")
    parser.add_argument("--tables", type=int, default=1600)
    for line in rows(parser.parse_args().tables):
        print(line, flush=True)


if __name__ == "__main__":
    main()
