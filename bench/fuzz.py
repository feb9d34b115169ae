"""Gives readers of what others wrote damaged inputs, guided by the code that each one reaches (libFuzzer, by atheris).

`python bench/fuzz.py FAMILY --runs 1000000` (`make fuzz` does all). It ends at the first input that a reader meets with
anything but what it may say, and names the file that holds this input; else it says how many there were."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
MEMORY = "/dev/shm"
SECONDS, MEGABYTES = 10, 2048  # of one input
sys.path[:0] = [str(ROOT), str(ROOT / "compiler")]


def main() -> None:
    import atheris

    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="stepgrid-fuzz-", dir=MEMORY if Path(MEMORY).is_dir() else None))
    with atheris.instrument_imports(include=["stepgrid"]):
        from bench.fuzz_targets import targets

        target = targets(folder)[options.family]
        for seed in sorted(
            (CORPUS / options.family).iterdir()
        ):  # plug-ins and what they import, each when it is needed
            with suppress(Exception):
                target.look(seed.read_bytes())

    def once(content: bytes) -> None:
        with suppress(*target.allowed):
            target.look(content)

    found = folder / "corpus"
    found.mkdir()
    bounds = [
        f"-max_len={target.largest}",
        f"-timeout={SECONDS}",
        f"-rss_limit_mb={MEGABYTES}",
        f"-runs={options.runs}",
    ]
    places = [str(found), str(CORPUS / options.family)]
    bounds += [f"-max_total_time={options.seconds}"] if options.seconds else []
    more = ["-print_final_stats=1", f"-seed={options.seed}", f"-artifact_prefix={options.keep}/"]
    atheris.Setup([sys.argv[0], *bounds, *more, *places], once)
    atheris.Fuzz()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=sorted(path.name for path in CORPUS.iterdir()))
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs (1,000,000)")
    parser.add_argument("--seconds", type=int, default=0, help="when to stop at the latest (never)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default=".", help="the folder for an input that failed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
