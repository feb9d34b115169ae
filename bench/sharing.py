"""What sharing loads saves: the LRU-vs-hyperclock sweep at smoke, with it and with `share: false`.

`.venv/bin/python bench/sharing.py [--rounds 2] [--keys 200k] [--library] [--only EXPR]`: 16 cells, a load for each of
two fanouts against one for each cell; about five minutes a round. The arms take turns: shared, unshared; unshared,
shared. Both use the same build, made before: Debian's db_bench, or the library that the spec names (`--library`)."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.ratios import ratio  # noqa: E402  # the checkout's own
from bench.sharing_run import Arm, build, measured  # noqa: E402

SPEC = str(ROOT / "specs/posts/2024-11-rocksdb-lru-vs-hyperclock.yaml")
DEBIAN = ["builds.rocksdb.version=9.10.0", "builds.rocksdb.source={debian: rocksdb-tools, suite: trixie}"]
UNSHARED = "share=false"


def main() -> None:
    asked = _asked()
    sets = [f"params.keys={asked.keys}", *([] if asked.library else DEBIAN)]
    arguments = [SPEC, "--scale", "smoke", *(f"--set={value}" for value in sets)]
    arguments += [f"--only={asked.only}"] if asked.only else []
    rounds = []
    with tempfile.TemporaryDirectory(prefix="stepgrid-sharing-") as name:
        folder = Path(name).resolve() / "checkout"
        build(folder, [SPEC, "--scale", "smoke", *(f"--set={value}" for value in sets)])
        for index in range(asked.rounds):
            rounds.append(_round(folder, arguments, index))
            print(f"round {index + 1}: {_told(rounds[-1])}", file=sys.stderr, flush=True)
    _report(rounds, sets)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What sharing loads saves.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--library", action="store_true", help="the spec's own build, which needs RocksDB's source")
    parser.add_argument("--keys", default="200k", help="of the load")
    parser.add_argument("--only", help="some of the cells")
    return parser.parse_args()


def _round(folder: Path, arguments: Sequence[str], index: int) -> tuple[Arm, Arm]:
    if index % 2:
        unshared = measured(folder, [*arguments, f"--set={UNSHARED}"])
        return measured(folder, arguments), unshared
    shared = measured(folder, arguments)
    return shared, measured(folder, [*arguments, f"--set={UNSHARED}"])


def _told(arms: tuple[Arm, Arm]) -> str:
    return f"shared {arms[0].took.seconds:.0f} s, unshared {arms[1].took.seconds:.0f} s"


def _report(rounds: Sequence[tuple[Arm, Arm]], sets: Sequence[str]) -> None:
    shared, unshared = rounds[0]
    print(f"{Path(SPEC).name} at smoke, {', '.join(sets)}: {len(shared.rates)} cells, {len(rounds)} rounds")
    print(f"{os.cpu_count()} processors\n\n{'':24}{'shared':>10}{'unshared':>10}   unshared / shared")
    for name, arms in (
        ("wall, s", [(a.took.seconds, b.took.seconds) for a, b in rounds]),
        ("CPU, s", [(a.took.cpu, b.took.cpu) for a, b in rounds]),
        ("loading, s", [(a.loading, b.loading) for a, b in rounds]),
        ("loads", [(a.loads, b.loads) for a, b in rounds]),
        ("images, MB", [(a.images / 1e6, b.images / 1e6) for a, b in rounds]),
    ):
        print(_row(name, arms))
    print(f"\nloads avoided: {unshared.loads - shared.loads} of {unshared.loads}")
    _rates(rounds)


def _row(name: str, arms: Sequence[tuple[float, float]]) -> str:
    found = [median(each) for each in zip(*arms, strict=True)]
    quotient = f"{median(b / a for a, b in arms):8.2f}" if all(a for a, _ in arms) else ""
    return f"{name:24}{found[0]:10.0f}{found[1]:10.0f}{quotient}"


def _rates(rounds: Sequence[tuple[Arm, Arm]]) -> None:
    """A cell of both arms is a pair, with the same seeds; but the cells of an arm share its minutes: the unit is a
    round."""
    ratios = [[shared.rates[cell] / unshared.rates[cell] for cell in shared.rates] for shared, unshared in rounds]
    each = ", ".join(f"{median(found):.2f}" for found in ratios)
    print(f"QPS, shared / unshared: median of a round's {len(ratios[0])} pairs {each}; of all {ratio(ratios)}")


if __name__ == "__main__":
    main()
