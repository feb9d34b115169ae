"""The codes that the source can report: what stands as the code in `….add(code, where, …)` and `….warn(…)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COLLECTORS = ("problems", "_problems", "found")


def reported() -> dict[str, set[str]]:
    """Code -> the files that report it."""
    from compiler.lint.registry import RULES

    codes: dict[str, set[str]] = {rule.code: {"lint"} for rule in RULES}
    for path in sorted((ROOT / "compiler").rglob("*.py")):
        for code in _in_file(path):
            codes.setdefault(code, set()).add(path.name)
    return codes


def _in_file(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("add", "warn"):
            holder = node.func.value
            name = holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")
            if name in _COLLECTORS and len(node.args) >= 3:
                found = set(_texts(node.args[0], tree))
                assert found or path.parts[-2] == "lint", f"{path.name}:{node.lineno}: which code is this?"
                yield from found


def _texts(node: ast.expr, tree: ast.Module) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body, tree), *_texts(node.orelse, tree))
    elif isinstance(node, ast.Name):
        for other in ast.walk(tree):
            if isinstance(other, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.id for t in other.targets):
                yield from _texts(other.value, tree)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        called = next(f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name == node.func.id)
        for inner in ast.walk(called):
            if isinstance(inner, ast.Return) and inner.value is not None:
                yield from _texts(inner.value, tree)
