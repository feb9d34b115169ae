"""A hundred seeded kill -9 over small real sweeps: `.venv/bin/python bench/chaos.py [--kills 100] [--seed 1]`.

Each sweep begins with nothing, not even a build, and takes a few blows. Before the next one everything must be as a
run leaves it that nobody disturbed: else it says what is not, and ends with exit status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.havoc import KILL, SPEC, TWO, Checkout, Havoc, Length  # the checkout's own
from bench.remains import remains

BLOWS = 12  # of one sweep


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    folder = Path(tempfile.mkdtemp(prefix="stepgrid-chaos-"))
    spec = Path(given.spec).read_text(encoding="utf-8") if given.spec else SPEC
    length = undisturbed(folder / "undisturbed", spec)
    print(f"seed {given.seed}; undisturbed: {length.results} results in {length.seconds:.0f} s", flush=True)
    wrong, figures = _sweeps(folder, spec, length, given.kills, random.Random(given.seed))
    print(figures)
    print("\n".join(wrong) if wrong else "nothing was lost, repeated or left behind")
    if wrong:
        print(f"kept: {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if wrong else 0


def undisturbed(folder: Path, spec: str) -> Length:
    checkout = Checkout(folder)
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    began = time.monotonic()
    if status := checkout.finish():
        raise SystemExit(f"the undisturbed run failed with exit status {status}: {folder / 'screen'}")
    return Length(time.monotonic() - began, checkout.results)


def _sweeps(folder: Path, spec: str, length: Length, kills: int, dice: random.Random) -> tuple[list[str], str]:
    struck: Counter[tuple[str, str]] = Counter()
    done: list[Checkout] = []
    wrong: list[str] = []
    while _killed(struck) < kills and not wrong:
        checkout = Checkout(folder / f"sweep-{len(done) + 1}")
        (checkout.folder / "spec.yaml").write_text(spec, encoding="utf-8")
        print(f"sweep {len(done) + 1}, {_killed(struck)} kills so far", flush=True)
        havoc = Havoc(checkout, length, min(BLOWS, max(kills - _killed(struck), 3)), dice)
        havoc.run()
        struck += havoc.struck
        done.append(checkout)
        wrong = remains(checkout.folder, folder / "undisturbed")
    return wrong, _figures(struck, done, length)


def _killed(struck: Counter[tuple[str, str]]) -> int:
    return sum(count for (way, _), count in struck.items() if way in (KILL, TWO))


def _figures(struck: Counter[tuple[str, str]], done: Sequence[Checkout], length: Length) -> str:
    runs, results = sum(checkout.runs for checkout in done), sum(checkout.results for checkout in done)
    ended, seconds = _attempts(done)
    lines = [f"{way:24}{victim:20}{count:4}" for (way, victim), count in sorted(struck.items())]
    lines += [
        f"{_killed(struck)} kills over {len(done)} sweeps of {length.results} stages, {runs} runs of the plain command",
        f"{results} results; attempts that were no result: {dict(sorted(ended.items()))}",
        f"{(results + ended.total()) / results:.2f} attempts per stage, builds included; {seconds:.0f} s lost in them, "
        f"of {len(done) * length.seconds:.0f} s that the sweeps take undisturbed",
    ]
    return "\n".join(lines)


def _attempts(done: Sequence[Checkout]) -> tuple[Counter[str], float]:
    """How they ended, and how long they had been at work."""
    ended: Counter[str] = Counter()
    seconds = 0.0
    for checkout in done:
        for failure in (checkout.folder / "outputs").glob("attempts/*/*/failure.json"):
            ended[json.loads(failure.read_text(encoding="utf-8"))["status"]] += 1
            seconds += _worked(failure.parent)
    return ended, seconds


def _worked(attempt: Path) -> float:
    """From its name, which is its time, to the last that was written about it by itself."""
    written = [path.stat().st_mtime for path in attempt.rglob("*") if path.is_file() and path.name != "failure.json"]
    began = datetime.strptime(f"{attempt.name}+0000", "%Y%m%dT%H%M%S.%fZ%z").timestamp()
    return max(max(written, default=began) - began, 0.0)


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=100, help="kill -9 in all (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments and the victims")
    parser.add_argument("--spec", help="another sweep, whose builds are found without a folder of its own")
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
