"""Mutants: one operator, number or statement of a module is changed, and the tests that belong to it must fail.

`python bench/mutants.py [--count N] [--seed N] [--seconds N] [--show] FILE` tries N mutants of the modules of MODULES
(those of a seed are always the same) and appends a line of JSON for each to FILE; what has a line there is not tried
again, so that it goes on where `--seconds` stopped it. It ends with the mutants that survived. `--show` only lists
the mutants. A mutant exists in the memory of one process: no file is changed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "compiler" / "stepgrid"
VERDICTS = (
    "tests/summarize/statistics/test_verdicts.py",
    "tests/summarize/test_reports.py",
    "tests/summarize/comparisons",
)
MODULES: Mapping[str, tuple[str, ...]] = {  # subject and module, and the tests that belong to it, most telling first
    "expand": ("tests/expand", "tests/language/test_problems.py", "tests/plan", "tests/lint", "tests/layouts"),
    "plan/identity.py": ("tests/plan", "tests/expand"),
    "plan/stage_tree.py": ("tests/plan", "tests/expand"),
    "plan/actions.py": ("tests/plan", "tests/store"),
    "store/status.py": ("tests/store", "tests/plan", "tests/run/test_redo.py"),
    "summarize/statistics/verdicts.py": VERDICTS,
    "summarize/comparisons/judgement.py": VERDICTS,
}
SHARES = {"expand": 80, "plan/identity.py": 15, "plan/stage_tree.py": 25, "plan/actions.py": 15, "store/status.py": 25}
OTHERS = 20  # of 200, for each module that SHARES does not name
MOST_CPU_S = 120  # one that never ends fails, too
SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


class Mutant(msgspec.Struct, frozen=True):
    path: str
    place: int  # of its node in the order of ast.walk
    line: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}: {self.text} [{self.place}]"


class Attempt(msgspec.Struct, frozen=True):
    name: str
    killed: bool
    seconds: float


def mutate(node: ast.AST) -> tuple[str, ast.AST] | None:
    """The change of a node in a few words, and the node that stands for it."""
    match node:
        case ast.Compare(left, [operator, *more], comparators) if type(operator) in SWAPPED:
            other = SWAPPED[type(operator)]()
            return f"{ast.unparse(node)} with {type(other).__name__}", ast.Compare(left, [other, *more], comparators)
        case ast.BoolOp(operator, values):
            return f"{ast.unparse(node)} with the other word", ast.BoolOp(SWAPPED[type(operator)](), values)
        case ast.BinOp(left, operator, right) if type(operator) in SWAPPED and not _is_text(left):
            other = SWAPPED[type(operator)]()
            return f"{ast.unparse(node)} with {type(other).__name__}", ast.BinOp(left, other, right)
        case ast.UnaryOp(ast.Not(), operand):
            return f"{ast.unparse(node)} without not", operand
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return f"{value} + 1", ast.Constant(value + 1)
        case ast.Return(ast.AST() as value) if ast.unparse(value) != "None":
            return f"return None for {ast.unparse(value)}", ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise() | ast.Continue():
            return f"without {ast.unparse(node)}", ast.Pass()
    return None


def _is_text(node: ast.AST) -> bool:
    """Or a name of a prefix: to subtract from it is an error of types, which any test finds."""
    return (
        isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str) or "PREFIX" in ast.dump(node)
    )


def mutants_of(file: Path) -> Iterator[Mutant]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped = {id(part) for node in ast.walk(tree) for part in _annotations(node)}
    for place, node in enumerate(ast.walk(tree)):
        change = None if id(node) in skipped else mutate(node)
        if change:
            text = " ".join(change[0].split())
            yield Mutant(str(file.relative_to(ROOT)), place, getattr(node, "lineno", 0), text[:100])


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("annotation", "returns"):
        if part := getattr(node, name, None):
            yield from ast.walk(part)
    match node:
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) as value):
            yield from ast.walk(value)


class Mutation(ast.NodeTransformer):
    def __init__(self, target: ast.AST) -> None:
        self.target = target

    def visit(self, node: ast.AST) -> ast.AST:
        change = mutate(node) if node is self.target else None
        return ast.copy_location(change[1], node) if change else self.generic_visit(node)


def mutated_code(mutant: Mutant) -> object:
    file = ROOT / mutant.path
    tree = ast.parse(file.read_text(encoding="utf-8"))
    target = next(node for place, node in enumerate(ast.walk(tree)) if place == mutant.place)
    return compile(ast.fix_missing_locations(Mutation(target).visit(tree)), str(file), "exec", dont_inherit=True)


def sample(count: int, seed: int) -> list[tuple[Mutant, tuple[str, ...]]]:
    chosen = []
    for name, tests in MODULES.items():
        files = sorted((CORE / name).glob("*.py")) if (CORE / name).is_dir() else [CORE / name]
        possible = [mutant for file in files for mutant in mutants_of(file)]
        share = min(len(possible), round(SHARES.get(name, OTHERS) * count / 200))
        picked = random.Random(f"{seed} {name}").sample(possible, share)
        chosen += [(mutant, tests) for mutant in picked]
    return chosen


def is_killed(mutant: Mutant, tests: tuple[str, ...]) -> bool:
    """Run the tests in a fork, which loads the mutant in place of its module."""
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
        status = 1
        try:
            status = _pytest(mutant, tests)
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status != 0


def _pytest(mutant: Mutant, tests: tuple[str, ...]) -> int:
    import pytest

    code, file = mutated_code(mutant), str(ROOT / mutant.path)
    whole = SourceFileLoader.get_code
    SourceFileLoader.get_code = (  # type: ignore[method-assign, assignment]
        lambda loader, name: code if loader.get_filename(name) == file else whole(loader, name)
    )
    return int(pytest.main(["-x", "-q", "--fast", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))


def preload() -> None:
    """Import for all forks what is not ours: the rest is loaded by each of them, with its mutant."""
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401

    import stepgrid.cli
    import stepgrid.pipeline
    import stepgrid.summarize.report_files  # noqa: F401

    for name in [name for name in sys.modules if name.partition(".")[0].startswith("stepgrid")]:
        del sys.modules[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    chosen = sample(arguments.count, arguments.seed)
    if arguments.show:
        print(*(mutant.name for mutant, _ in chosen), sep="\n")
        return
    os.chdir(ROOT)
    os.environ["CI"] = "1"  # hypothesis takes the same examples each time (tests/conftest.py)
    lines = arguments.file.read_text(encoding="utf-8").splitlines() if arguments.file.exists() else []
    attempts = {attempt.name: attempt for attempt in (msgspec.json.decode(line, type=Attempt) for line in lines)}
    preload()
    began = time.monotonic()
    for mutant, tests in chosen:
        if mutant.name in attempts:
            continue
        if time.monotonic() - began > arguments.seconds:
            break
        start = time.monotonic()
        attempt = Attempt(mutant.name, is_killed(mutant, tests), round(time.monotonic() - start, 1))
        attempts[mutant.name] = attempt
        with arguments.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(msgspec.to_builtins(attempt)) + "\n")
    done = [attempts[mutant.name] for mutant, _ in chosen if mutant.name in attempts]
    survivors = [attempt.name for attempt in done if not attempt.killed]
    print(*survivors, f"{len(survivors)} of {len(done)} survive, {len(chosen) - len(done)} are left", sep="\n")


if __name__ == "__main__":
    main()
