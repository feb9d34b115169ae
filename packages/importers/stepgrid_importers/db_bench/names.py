"""What the names of files and folders of published results say: workload, run, build, and which builds a cut is of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

REPORT, SUMMARY = "report.tsv", "summary.tsv"
WORKLOAD = "res."

_CUT = re.compile(r"sum(?P<set>\d*)\.(?!abs[01]\.)(?:(?P<name>.+)\.)?txt")
_BUILD = re.compile(r"[\d.]*\d(?:\.(?P<variant>.+))?")


# what is made of summaries; what benchmark.sh leaves beside a log; the engine's own log
_ASIDE = re.compile(
    r"csum\d*\..+|sum\.abs[01]\..+|fmt\..+\.abs[01]\.[ct]sv|rel\d*\..+\.csv|abs\d*\..+\.tsv|.+\.sdev"
    r"|benchmark_.+\.log\..+|schedule\.txt|LOG(\.old\..+)?"
)


class SplitName(NamedTuple):
    name: str  # empty: of `sum.txt`
    set: str = ""  # `2` of sum2.iobuf.gcc.txt: the same with another base


def cut(name: str) -> SplitName | None:
    """`sum.iobuf.gcc.txt` is iobuf.gcc."""
    found = _CUT.fullmatch(name)
    return SplitName(found["name"] or "", found["set"]) if found else None


def aside(name: str) -> bool:
    return _ASIDE.fullmatch(name) is not None


def workload(folder: Path) -> str:
    """Of the folder res.WORKLOAD that it is in, else its own name."""
    whole = folder.resolve()
    named = (part.name[len(WORKLOAD) :] for part in (whole, *whole.parents) if part.name.startswith(WORKLOAD))
    return next(named, whole.name)


def of_report(path: str) -> tuple[str, str]:
    """Run and build: `bm.lc.nt1.d0/6.29.gcc/report.tsv`."""
    run, build, _ = ("", "", *path.split("/"))[-3:]
    return run, build


def variants(builds: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Which builds (from 0) are of one variant, as `gcc` of 6.29.gcc; the empty one stands for all of them."""
    found: dict[str, list[int]] = {}
    for index, build in enumerate(builds):
        match = _BUILD.fullmatch(build)
        found.setdefault((match["variant"] if match else None) or "", []).append(index)
    return found if len(found) > 1 and "" not in found else {"": range(len(builds))}


def workload_of_cuts(cuts: Sequence[str], builds: Sequence[str]) -> str | None:
    """Of the first that is named after a variant of these builds."""
    endings = [f".{variant}" for variant in variants(builds) if variant]
    return next((name.removesuffix(end) for name in cuts for end in endings if name.endswith(end)), None)
