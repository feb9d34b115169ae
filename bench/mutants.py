"""Mutants: one operator, number or statement of a module is changed, and the tests that belong to it must fail.

`python bench/mutants.py [--fast] [--count N] [--seed N] [--seconds N] [--of TEXT] [--show] FILE` tries N mutants of
the modules of MODULES (those of a seed are always the same), and appends a line of JSON for each to FILE; what has a
line there is not tried again, so that it goes on where `--seconds` stopped it. It ends with the mutants that survived.
`--fast` runs only the fast tests; a mutant that survives them is tried by the slow ones when `--fast` is not given.
`--show` only lists the mutants. All tests run once, which tells the functions that each calls (kept beside FILE:
remove it when tests have changed). A mutant exists in the memory of a fork. It is killed by a test that fails alone
with the mutant and passes alone without it.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "compiler" / "stepgrid"
VERDICTS = (
    "tests/summarize/statistics/test_verdicts.py",
    "tests/summarize/test_reports.py",
    "tests/summarize/comparisons",
    "tests/summarize",
    "tests/judge",
    "tests/answers",
)
MODULES: Mapping[str, tuple[str, ...]] = {  # subject and module, and the tests that belong to it, most telling first
    "expand": (
        "tests/expand",
        "tests/language/test_problems.py",
        "tests/plan",
        "tests/lint",
        "tests/layouts",
        "tests/engines/test_program.py",
        "tests/investigate/test_designs.py",
    ),
    "plan/identity.py": ("tests/plan", "tests/expand", "tests/cli/test_site.py"),
    "plan/stage_tree.py": ("tests/plan", "tests/expand"),
    "plan/actions.py": ("tests/plan", "tests/store"),
    "store/status.py": ("tests/store", "tests/plan", "tests/run/test_redo.py", "tests/cli/status"),
    "summarize/statistics/verdicts.py": VERDICTS,
    "summarize/comparisons/judgement.py": VERDICTS,
}
SHARES = {"expand": 80, "plan/identity.py": 15, "plan/stage_tree.py": 25, "plan/actions.py": 15, "store/status.py": 25}
OTHERS = 20  # of 200, for each module that SHARES does not name
MOST_TESTS = 1000  # for a mutant
MOST_CPU_S = 30  # beyond three times what its tests take: one that never ends fails, too
MOST_BYTES = 4 * 2**30  # of address space: one that fills the memory fails, too
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
    tests: int
    seconds: float
    fast: bool
    test: str  # that killed it


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
    functions = list(functions_of(file))
    skipped = {id(part) for node in ast.walk(tree) for part in _annotations(node)}
    for place, node in enumerate(ast.walk(tree)):
        change = None if id(node) in skipped else mutate(node)
        line = getattr(node, "lineno", 0)
        if change and any(first < line <= last for first, last in functions):
            text = " ".join(change[0].split())
            yield Mutant(str(file.relative_to(ROOT)), place, line, text[:100])


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


def apply(mutant: Mutant) -> bool:
    """Give the function that has the mutant's node the code of the mutant; False where no function is loaded."""
    file = ROOT / mutant.path
    tree = ast.parse(file.read_text(encoding="utf-8"))
    target = next(node for place, node in enumerate(ast.walk(tree)) if place == mutant.place)
    codes = dict(_codes(compile(ast.fix_missing_locations(Mutation(target).visit(tree)), str(file), "exec")))
    changed = False
    for function in gc.get_objects():
        if isinstance(function, _lru_cache_wrapper) and function.__module__.startswith("stepgrid"):
            function.cache_clear()  # the first run has filled it
        if not isinstance(function, FunctionType):
            continue
        code = function.__code__
        new = codes.get((code.co_qualname, code.co_firstlineno))
        if code.co_filename == str(file) and new is not None and new.co_freevars == code.co_freevars:
            function.__code__ = new
            changed = True
    return changed


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes(constant)


def functions_of(file: Path) -> Iterator[tuple[int, int]]:
    """First and last line of each function that stands in a module or class: inner ones are parts of theirs."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for body in [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield first, node.end_lineno or first


def sample(count: int, seed: int) -> list[tuple[Mutant, tuple[str, ...]]]:
    chosen = []
    for name, tests in MODULES.items():
        files = sorted((CORE / name).glob("*.py")) if (CORE / name).is_dir() else [CORE / name]
        possible = [mutant for file in files for mutant in mutants_of(file)]
        share = min(len(possible), round(SHARES.get(name, OTHERS) * count / 200))
        picked = random.Random(f"{seed} {name}").sample(possible, share)
        chosen += [(mutant, tests) for mutant in picked]
    return chosen


class Calls(msgspec.Struct):
    """The time of a test, and functions that it calls, by file and first line."""

    seconds: float
    functions: set[tuple[str, int]]


class Loop:
    """In place of pytest's loop: all tests once, and which functions each calls; then each mutant in a fork."""

    def __init__(self, chosen: Sequence[Mutant], file: Path, until: float, fast: bool) -> None:
        self.chosen, self.file, self.until, self.fast = chosen, file, until, fast
        self.calls: dict[str, Calls] = {}
        self.survived = {name for name, attempt in attempts_of(file).items() if attempt.fast}
        self.fast_calls: dict[str, Calls] = {}  # of the tests that these have survived
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        fast, slow = self.file.with_suffix(".fast-calls"), self.file.with_suffix(".calls")
        store = fast if self.fast else slow
        if self.survived and not self.fast and fast.exists():
            self.fast_calls = msgspec.json.decode(fast.read_bytes(), type=dict[str, Calls])
        if store.exists():
            self.calls = msgspec.json.decode(store.read_bytes(), type=dict[str, Calls])
        else:
            self._record_calls(session)
            store.write_bytes(msgspec.json.encode(self.calls))
            os.execv(sys.executable, sys.orig_argv)  # forks would inherit the threads of all these tests
        for mutant in self.chosen:
            if time.monotonic() > self.until:
                break
            self._try(session, mutant)
        return True

    def _record_calls(self, session: pytest.Session) -> None:
        files = {str(ROOT / mutant.path) for mutant in self.chosen}
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            seen: set[tuple[str, int]] = set()

            def trace(frame: FrameType, _event: str, _value: object, seen: set[tuple[str, int]] = seen) -> None:
                code = frame.f_code
                if code.co_filename in files:
                    seen.add((code.co_filename, code.co_firstlineno))

            began = time.process_time()
            self.failed = False
            sys.settrace(trace)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            sys.settrace(None)
            if not self.failed:
                self.calls[item.nodeid] = Calls(time.process_time() - began, seen)

    def _try(self, session: pytest.Session, mutant: Mutant) -> None:
        items = self._items_for(session, mutant)
        began = time.monotonic()
        test = self._killer(session, items, mutant)
        seconds = round(time.monotonic() - began, 1)
        attempt = Attempt(mutant.name, bool(test), len(items), seconds, self.fast, test)
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(msgspec.to_builtins(attempt)) + "\n")

    def _items_for(self, session: pytest.Session, mutant: Mutant) -> list[pytest.Item]:
        """Those that call the function, of each test function the fastest row first; at most MOST_TESTS."""
        file = str(ROOT / mutant.path)
        inside = [(first, last) for first, last in functions_of(ROOT / mutant.path) if first <= mutant.line <= last]
        items = [
            item
            for item in session.items
            if item.nodeid in self.calls
            and not (mutant.name in self.survived and item.nodeid in self.fast_calls)
            and any(
                name == file and any(first <= line <= last for first, last in inside)
                for name, line in self.calls[item.nodeid].functions
            )
        ]
        rows: Counter[str] = Counter()
        ranks = {}
        for item in sorted(items, key=lambda item: self.calls[item.nodeid].seconds):
            ranks[item.nodeid] = rows[item.nodeid.partition("[")[0]], self.calls[item.nodeid].seconds
            rows[item.nodeid.partition("[")[0]] += 1
        return sorted(items, key=lambda item: ranks[item.nodeid])[:MOST_TESTS]

    def _killer(self, session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant) -> str:
        """The first test that fails alone with the mutant and passes alone without it; "" where none does."""
        while items:
            failed = self._first_failure(session, items, mutant)
            if failed is None:
                return ""
            alone = items[failed : failed + 1]
            if self._first_failure(session, alone, None) is not None:
                del self.calls[alone[0].nodeid]  # for all mutants of this run
            elif self._first_failure(session, alone, mutant) is not None:
                return alone[0].nodeid
            items = items[failed + 1 :]
        return ""

    def _first_failure(
        self, session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant | None
    ) -> int | None:
        """The place of the first of these tests that fails in a fork."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self._run_all(session, items, mutant, writer)
            finally:
                os._exit(2)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        begun = os.read(reader, MOST_TESTS + 1)
        os.close(reader)
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, 1, -signal.SIGXCPU, -signal.SIGKILL):
            raise SystemExit(f"{mutant and mutant.name}: its fork ended with {code}, which says nothing of the tests")
        return len(begun) - 1 if code else None

    def _run_all(
        self, session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant | None, writer: int
    ) -> None:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        most = MOST_CPU_S + round(3 * sum(self.calls[item.nodeid].seconds for item in items))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        if mutant and not apply(mutant):
            os._exit(0)
        for item in items:
            os.write(writer, b".")
            self.failed = False
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.failed:
                os._exit(1)
        os._exit(0)


def attempts_of(file: Path) -> dict[str, Attempt]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {attempt.name: attempt for attempt in (msgspec.json.decode(line, type=Attempt) for line in lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--of", default="", metavar="TEXT", help="only modules whose path has this text")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    chosen = [entry for entry in sample(arguments.count, arguments.seed) if arguments.of in entry[0].path]
    if arguments.show:
        print(*(mutant.name for mutant, _ in chosen), sep="\n")
        return
    until = time.monotonic() + arguments.seconds
    os.chdir(ROOT)
    os.environ["CI"] = "1"  # hypothesis takes the same examples each time (tests/conftest.py)
    attempts = attempts_of(arguments.file)
    done = {name for name, attempt in attempts.items() if attempt.killed or arguments.fast or not attempt.fast}
    left = [(mutant, tests) for mutant, tests in chosen if mutant.name not in done]
    if left:
        loop = Loop([mutant for mutant, _ in left], arguments.file, until, arguments.fast)
        folders = sorted({test for _, tests in left for test in tests})
        pytest.main(
            ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *["--fast"] * arguments.fast, *folders], plugins=[loop]
        )
    attempts = attempts_of(arguments.file)
    tried = [attempts[mutant.name] for mutant, _ in chosen if mutant.name in attempts]
    survivors = [attempt.name for attempt in tried if not attempt.killed]
    print(*survivors, f"{len(survivors)} of {len(tried)} survive, {len(chosen) - len(tried)} are left", sep="\n")


if __name__ == "__main__":
    main()
