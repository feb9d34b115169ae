"""What a db_bench that was just made can do: asked of the program, not of the build system."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from stepgrid.build.error import BuildError
from stepgrid.build.programs import absolute
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

_SECONDS = 60.0
_ALGORITHMS = frozenset({"snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd", "xpress"})
_ASKED = ("--benchmarks=fillseq", "--num=10", "--compression_type=none")


class Probe(NamedTuple):
    """What the library in a db_bench says of itself."""

    version: str | None
    compressions: list[Json]  # sorted


def probe(order: Order, argv: Sequence[str]) -> Probe:
    folder = order.folder / "probe"
    done = order.commands.run([*absolute(order.folder, argv), *_ASKED, f"--db={folder}"], _SECONDS)
    log = folder / "LOG"
    if done.status or not log.is_file():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise BuildError(f"the new db_bench does not run: {said[-1] if said else f'exit status {done.status}'}")
    text = log.read_text(encoding="utf-8", errors="replace")
    shutil.rmtree(folder)
    version = re.search(r"RocksDB version: (\d+(?:\.\d+)+)", text)
    return Probe(version[1] if version else None, [*supported(text)])


def supported(log: str) -> list[str]:
    """From the LOG of a database: `kZSTD supported: 1`, `Snappy supported: 1` in old ones."""
    found = re.findall(r"^(?:.*\s)?k?(\w+?)(?:Compression)? supported: 1\s*$", log, re.MULTILINE)
    return sorted({name.lower() for name in found if name != "ZSTDNotFinal"} & _ALGORITHMS)
