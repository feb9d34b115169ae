"""What steps feel of what came before them: the same four db_bench steps after different things.

`.venv/bin/python bench/conditions.py [--rounds 12] [--seconds 3] [--keys 200k] [--only NAMES]`, on a host that does
nothing else: a quarter of a minute a condition and round, half where a database is loaded. Every round runs each
condition once, in an order of chance, and compares it with another one of the same round."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import script  # noqa: E402  # the checkout's own
from bench.overhead_run import again, parent, prepared  # noqa: E402
from bench.ratios import ratio  # noqa: E402
from bench.spent import spent  # noqa: E402

Rates = Mapping[str, float]
SETTLED, IDLE = 30.0, 20.0  # seconds


class Bench:
    """The loaded database, a script of the load and one of the steps."""

    def __init__(self, folder: Path, seconds: int, keys: str) -> None:
        self.folder, self.runs = folder, 0
        self.own = folder  # the database that was loaded last
        self.place = prepared(folder / "checkout", seconds, keys)
        self.warm = prepared(folder / "checkout", seconds, keys, "start: warm\n", "warm.yaml")
        self.steps = script.write(folder / "steps.sh", self.place)
        self.load = script.write(folder / "load.sh", parent(self.place))
        self.nothing = folder / "nothing"
        self.nothing.mkdir()

    def measured(self, loaded: Path) -> Rates:
        """By the script, from this database."""
        folder = self._folder()
        os.sync()
        return script.read(folder, spent(["sh", str(self.steps), str(loaded), str(folder)], folder), self.place).rates

    def loaded(self) -> Path:
        """A database of its own, made now."""
        folder = self._folder()
        spent(["sh", str(self.load), str(self.nothing), str(folder)], folder)
        self.own = folder / "data"
        return self.own

    def _folder(self) -> Path:
        self.runs += 1
        folder = self.folder / f"run-{self.runs}"
        folder.mkdir()
        return folder

    def clear(self) -> None:
        for folder in self.folder.glob("run-*"):
            rmtree(folder) if folder.is_dir() else folder.unlink()


def _script(bench: Bench) -> Rates:
    return bench.measured(bench.place.image)


def _stepgrid(bench: Bench) -> Rates:
    os.sync()
    return again(bench.place).rates


def _fresh(bench: Bench) -> Rates:
    return bench.measured(bench.loaded())


def _once_more(bench: Bench) -> Rates:
    return bench.measured(bench.own)


def _fresh_settled(bench: Bench) -> Rates:
    loaded = bench.loaded()
    os.sync()
    time.sleep(SETTLED)
    return bench.measured(loaded)


def _after_a_load(bench: Bench) -> Rates:
    bench.loaded()
    return _script(bench)


def _cold(bench: Bench) -> Rates:
    os.sync()
    for path in bench.place.image.iterdir():
        _forget_pages(path)
    return _script(bench)


def _warm(bench: Bench) -> Rates:
    os.sync()
    for path in bench.place.image.iterdir():
        path.read_bytes()
    return _script(bench)


def _stepgrid_warm(bench: Bench) -> Rates:
    os.sync()
    return again(bench.warm).rates


def _idle(bench: Bench) -> Rates:
    time.sleep(IDLE)
    return _script(bench)


class Condition(NamedTuple):
    what: str
    run: Callable[[Bench], Rates]
    base: str = "script"
    follows: str = ""  # the condition that it comes right after


CONDITIONS: Mapping[str, Condition] = {
    "script": Condition("a script, from the loaded database as it has been there for a while", _script),
    "stepgrid": Condition("`stepgrid run`, from the same", _stepgrid),
    "fresh": Condition("a database that was loaded just before, as without sharing", _fresh),
    "second": Condition("the same database, used a second time", _once_more, "fresh", "fresh"),
    "third": Condition("and a third time", _once_more, "fresh", "second"),
    "settled": Condition(f"a database that was loaded {SETTLED:.0f} s before", _fresh_settled),
    "after": Condition("the old database, another one was loaded just before", _after_a_load),
    "cold": Condition("the old database, none of it in the page cache", _cold),
    "idle": Condition(f"the old database, after {IDLE:.0f} s of nothing", _idle),
    "warm": Condition("the old database, all of it read before", _warm),
    "stepgrid-warm": Condition("`stepgrid run` with `start: warm`", _stepgrid_warm, "warm"),
}


def main() -> None:
    asked = _asked()
    names = asked.only.split(",") if asked.only else list(CONDITIONS)
    with tempfile.TemporaryDirectory(prefix="stepgrid-conditions-") as name:
        bench = Bench(Path(name).resolve(), asked.seconds, asked.keys)
        rounds = [_round(bench, names, index) for index in range(asked.rounds)]
    _report(names, rounds, asked)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What steps feel of what came before them.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=3, help="of each step")
    parser.add_argument("--keys", default="200k")
    parser.add_argument("--only", help=f"of {','.join(CONDITIONS)}")
    return parser.parse_args()


def _round(bench: Bench, names: Sequence[str], index: int) -> Mapping[str, Rates]:
    found = {}
    bench.clear()
    for name in _ordered(names, index):
        found[name] = CONDITIONS[name].run(bench)
        told = ", ".join(f"{step} {rate:.0f}" for step, rate in found[name].items())
        print(f"round {index + 1}, {name}: {told}", file=sys.stderr, flush=True)
    return found


def _ordered(names: Sequence[str], index: int) -> Iterator[str]:
    first = [name for name in names if CONDITIONS[name].follows not in names]
    for name in random.Random(index).sample(first, len(first)):
        yield name
        while (after := next((each for each in names if CONDITIONS[each].follows == name), None)) is not None:
            yield after
            name = after


def _report(names: Sequence[str], rounds: Sequence[Mapping[str, Rates]], asked: argparse.Namespace) -> None:
    print(f"{len(rounds)} rounds, steps of {asked.seconds} s, {asked.keys} keys, {os.cpu_count()} processors")
    print("QPS beside that of another condition of the same round: median [95 % interval]")
    for name in names:
        what, base = CONDITIONS[name].what, CONDITIONS[name].base
        if name != base and base in names:
            print(f"\n{name} / {base}: {what}")
            _ratios([(each[name], each[base]) for each in rounds])


def _ratios(pairs: Sequence[tuple[Rates, Rates]]) -> None:
    steps = list(pairs[0][0])
    ratios = [[rates[step] / base[step] for step in steps] for rates, base in pairs]
    for index, step in enumerate(steps):
        print(f"  {step:20}{ratio([[each[index]] for each in ratios])}")
    print(f"  {'all':20}{ratio(ratios)}")


def _forget_pages(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
