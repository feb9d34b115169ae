"""Two versions of stepgrid on one outputs/: an older one begins and another goes on, both ways, and both at once.

`python bench/versions.py COMMIT …`: older commits of this repository. No result may be lost, what one version
has measured is measured again by another only under another id, and no command ends with a traceback."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "compiler")]

from bench.failing_writes import SPEC  # noqa: E402
from bench.forked_runs import LONGEST  # noqa: E402
from bench.power_cut import COMMAND  # noqa: E402

DONE, ALL = 0, 3


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("commits", nargs="+", metavar="COMMIT")
    wrong = 0
    for commit in options.parse_args().commits:
        with tempfile.TemporaryDirectory(prefix="stepgrid-versions-") as folder:
            older = _tree(Path(folder), commit)
            for name, case in CASES.items():
                found = list(case(Checkout(Path(folder, name)), older, ROOT))
                print(f"{commit}, {name}: {'; '.join(found) or 'fine'}", flush=True)
                wrong += bool(found)
    return 1 if wrong else 0


def _tree(folder: Path, commit: str) -> Path:
    """Its files, without its history."""
    target = folder / "older"
    target.mkdir()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(target)], input=packed.stdout, check=True)
    return target


class Checkout:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "a.yaml").write_text(SPEC)
        self.folder, self.said = folder, folder / "said"

    def start(self, version: Path) -> subprocess.Popen[bytes]:
        own = {"STEPGRID_HOST_LOCK": str(self.folder / "lock"), "STEPGRID_LOOK": "0", "STEPGRID_SITE": ""}
        env = {**os.environ, "PYTHONPATH": str(version / "compiler"), **own}
        with self.said.open("ab") as said:
            return subprocess.Popen(COMMAND, cwd=self.folder, env=env, stdout=said, stderr=said, start_new_session=True)

    def run(self, version: Path) -> int:
        return self.start(version).wait(LONGEST)

    def results(self) -> set[str]:
        return {
            str(path.parent.relative_to(self.folder)) for path in self.folder.glob("outputs/results/s-*/*/result.json")
        }

    def traces(self) -> Iterator[str]:
        for line in self.said.read_text(errors="replace").splitlines():
            if line.startswith("Traceback") or "internal error" in line:
                yield line


def _again(checkout: Checkout, first: Path, second: Path) -> Iterator[str]:
    if status := checkout.run(first):
        yield f"the first ended with {status}"
    before = checkout.results()
    if status := checkout.run(second):
        yield f"the second ended with {status}"
    yield from _lost(checkout, before)
    yield from checkout.traces()


def _goes_on(checkout: Checkout, first: Path, second: Path) -> Iterator[str]:
    """The first is killed when it has measured something."""
    run, end = checkout.start(first), time.monotonic() + LONGEST
    while not checkout.results() and run.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(run.pid, 9)
    run.wait()
    time.sleep(0.5)  # its jobs notice
    before = checkout.results()
    if status := checkout.run(second):
        yield f"the second ended with {status}"
    yield from _lost(checkout, before)
    yield from checkout.traces()


def _at_once(checkout: Checkout, first: Path, second: Path) -> Iterator[str]:
    one = checkout.start(first)
    time.sleep(0.7)
    status, other = checkout.run(second), one.wait(LONGEST)
    if DONE not in (status, other):
        yield f"both ended with {other} and {status}"
    if DONE not in (status, other := checkout.run(second)):
        yield f"the next ended with {other}"
    yield from _lost(checkout, set())
    yield from checkout.traces()


def _lost(checkout: Checkout, before: set[str]) -> Iterator[str]:
    now = checkout.results()
    yield from (f"{each} is lost" for each in sorted(before - now))
    if len(now) < ALL:
        yield f"{len(now)} results of {ALL} stages"
    if len(now) > ALL and {Path(each).parent for each in now} == {Path(each).parent for each in before}:
        yield f"{len(now) - ALL} results were measured again"


def _back(case: Callable[[Checkout, Path, Path], Iterator[str]]) -> Callable[[Checkout, Path, Path], Iterator[str]]:
    return lambda checkout, older, newer: case(checkout, newer, older)


CASES = {
    "finished by the older, then this one": _again,
    "finished by this one, then the older": _back(_again),
    "killed in the older, then this one": _goes_on,
    "killed in this one, then the older": _back(_goes_on),
    "the older and this one at once": _at_once,
}

if __name__ == "__main__":
    sys.exit(main())
