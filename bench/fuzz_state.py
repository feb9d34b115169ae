"""Damages files of an outputs/ and bundles of results, and runs commands over them: each ends with a sentence at most.

`python bench/fuzz_state.py --runs 20000 [--bundles 20000] [--seconds 1200]`"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "compiler")]
FAILED, INTERNAL = 3, "internal error"
WHOLE = ("", "{", "[]", "{}", "null", "3", '"x"', "[" * 100_000, '{"a":' * 100_000, "[" + "1" * 5000 + "]", "\0" * 99)
PARTS: tuple[Any, ...] = (None, [], {}, "x", -1, 1e300, True, [None], {"a": None}, "../../x", "9" * 30, [[1]], 2**70)
OFTEN = (["status"], ["plan"], ["results"], ["builds"], ["explain"])
SELDOM = (["report"], ["counters"], ["gc"], ["images"], ["query"])  # each takes longer
RARELY = 0.1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000, help="commands over a damaged outputs/")
    parser.add_argument("--bundles", type=int, default=20_000, help="imports of damaged bundles")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop at the latest, of each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        os.environ |= {"STEPGRID_SITE": "", "STEPGRID_LOOK": "0", "STEPGRID_HOST_LOCK": f"{folder}/lock"}
        made = _made(Path(folder, "made"))
        failed = _states(made, options.runs, options.seconds, chance)
        failed += _bundles(made, options.bundles, options.seconds, chance)
    return 1 if failed else 0


def _made(folder: Path) -> Path:
    """A checkout with results, a report and what was exported of it."""
    from stepgrid.cli import main as stepgrid
    from tests.cli import bundles, samples, worlds

    (folder / "outputs").mkdir(parents=True)
    (folder / "a.yaml").write_text(samples.SPEC + samples.REPORT)
    os.chdir(folder)
    worlds.put(samples.RATES)
    bundles.sealed(bundles.planned())
    with redirect_stdout(io.StringIO()):
        assert stepgrid(["report", "a.yaml"]) == 0
        assert stepgrid(["export", "a.yaml", "x.tar.gz"]) == 0
    return folder


def _states(made: Path, runs: int, seconds: float, chance: random.Random) -> int:
    work, end, found, done = made.with_name("work"), time.monotonic() + seconds, Counter[str](), 0
    while done < runs and time.monotonic() < end:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(made, work, symlinks=True)
        os.chdir(work)
        for path in _one_of_each(work):
            what = _damage(path, chance)
            for words in _commands(chance):
                found.update(_run([*words, "a.yaml"] if words[0] not in ("gc", "images", "query") else words, what))
                done += 1
            if path.is_file() and chance.random() < 0.5:  # else the next one comes on top
                shutil.copyfile(made / path.relative_to(work), path)
    return _told("commands over a damaged outputs/", done, found)


def _one_of_each(work: Path) -> Iterator[Path]:
    found = {
        (path.relative_to(work / "outputs").parts[0], path.name): path
        for path in sorted((work / "outputs").rglob("*"))
        if path.is_file()
    }
    yield from (path for (_, name), path in found.items() if name.endswith((".json", ".jsonl", ".parquet", ".csv")))


def _commands(chance: random.Random) -> Iterator[list[str]]:
    yield list(chance.choice(OFTEN))
    if chance.random() < RARELY:
        yield list(chance.choice(SELDOM))


def _damage(path: Path, chance: random.Random) -> str:
    """What was done to it."""
    if not path.is_file():
        return f"{path.name} is gone"
    content, way = path.read_bytes(), chance.choice(("cut", "whole", "bytes", "part", "part", "part"))
    if way == "part" and (changed := _other_part(content, chance)) is not None:
        path.write_bytes(changed)
    elif way == "bytes" and content:
        at = chance.randrange(len(content))
        path.write_bytes(content[:at] + chance.randbytes(3) + content[at + 3 :])
    elif way == "cut":
        path.write_bytes(content[: chance.randrange(len(content) + 1)])
    else:
        path.write_text(chance.choice(WHOLE))
    return f"{way} of {path.name}"


def _other_part(content: bytes, chance: random.Random) -> bytes | None:
    """JSON, or lines of it, of which one value is another one or gone."""
    try:
        lines = [json.loads(line) for line in content.decode().splitlines()]
    except ValueError:
        try:
            lines = [json.loads(content)]
        except ValueError:
            return None
    places = list(_places(chance.choice(lines))) if lines else []
    if not places:
        return None
    holder, key = chance.choice(places)
    if chance.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = chance.choice(PARTS)
    return "\n".join(map(json.dumps, lines)).encode() + b"\n"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _bundles(made: Path, runs: int, seconds: float, chance: random.Random) -> int:
    """The plain archive is damaged, so that most damages reach what is inside of it."""
    import gzip

    work, whole = made.with_name("other"), gzip.decompress((made / "x.tar.gz").read_bytes())
    end, found, done = time.monotonic() + seconds, Counter[str](), 0
    work.mkdir()
    os.chdir(work)
    while done < runs and time.monotonic() < end:
        (work / "x.tar.gz").write_bytes(_damaged_bytes(whole, chance))
        found.update(_run(["import", "x.tar.gz"], "a bundle"))
        assert {path.name for path in made.parent.iterdir()} <= {"made", "work", "other", "lock"}, "it wrote elsewhere"
        done += 1
        if done % 500 == 0:
            shutil.rmtree(work / "outputs", ignore_errors=True)
    return _told("imports of damaged bundles", done, found)


def _damaged_bytes(whole: bytes, chance: random.Random) -> bytes:
    content = bytearray(whole)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(content)), chance.choice((1, 3, 30, 512))
        put = chance.choice(
            (chance.randbytes(length), content[at : at + length] * 2, b"", b"../" * (length // 3), b"9" * length)
        )
        content[at : at + length] = put
    return bytes(content[: chance.randrange(1, len(content))] if chance.random() < 0.1 else content)


def _run(words: list[str], what: str) -> list[str]:
    """Where it ended with a traceback, or with what stands for one."""
    from stepgrid.cli import main as stepgrid
    from stepgrid.workflow import run_request

    run_request.requested_plan.cache_clear()
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            status = stepgrid(words)
        except SystemExit:
            return []
        except Exception:
            return [f"{words[0]} after {what}: {traceback.format_exc(limit=-2)}"]
    wrong = status == FAILED and INTERNAL in said.getvalue()
    return [next(line for line in said.getvalue().splitlines() if INTERNAL in line)] if wrong else []


def _told(what: str, done: int, found: Counter[str]) -> int:
    print(f"{done:,} {what}: {done - found.total():,} ended with a result or a sentence, {found.total()} did not")
    for text, count in found.most_common(20):
        print(f"  {count} x {text}")
    return found.total()


if __name__ == "__main__":
    sys.exit(main())
