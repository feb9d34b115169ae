"""A repository of small commits, one of which makes a program slower, and two of which do not build."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

COMMITS = 64
BROKEN = 2
_PROGRAM = """#include <stdio.h>
#include <stdlib.h>
/* The sum of twelve uniform numbers is about normal. */
int main(int count, char **words) {{
  srand48(atol(words[1]) * 7919 + {seed});
  double sum = -6;
  for (int each = -9; each < 12; each++) sum += each < 0 ? 0 * drand48() : drand48();
  printf("ops=%.2f\\n", {rate} * (1 + 0.02 * sum));
  return {ends};
}}
"""


class Repository(NamedTuple):
    folder: Path
    change: int  # the first slower commit, from 0
    broken: frozenset[int]
    commits: tuple[str, ...]


def repository(folder: Path, dice: random.Random) -> Repository:
    """The ends build."""
    change = dice.randrange(1, COMMITS)
    broken = frozenset(dice.sample([each for each in range(1, COMMITS - 1) if each != change], BROKEN))
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    stream = "".join(_commit(each, change, broken, dice.randrange(2**31)) for each in range(COMMITS))
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=stream.encode(), check=True)
    listed = subprocess.run(
        ["git", "-C", str(folder), "rev-list", "--reverse", "main"], check=True, capture_output=True, text=True
    )
    return Repository(folder, change, broken, tuple(listed.stdout.split()))


def _commit(number: int, change: int, broken: frozenset[int], seed: int) -> str:
    rate = 100_000 / 1.05 if number >= change else 100_000
    text = _PROGRAM.format(seed=seed, rate=repr(float(rate)), ends="missing" if number in broken else "0")
    message = f"Change {number}"
    return (
        f"commit refs/heads/main\ncommitter A <a@host.example> {1_700_000_000 + 3600 * number} +0000\n"
        f"data {len(message)}\n{message}\n{'' if number else 'deleteall' + chr(10)}"
        f"M 100644 inline program.c\ndata {len(text)}\n{text}\n"
    )
