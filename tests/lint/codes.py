"""The codes that the source can report: what stands as the code in `….add(code, where, …)` and `….warn(…)`."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COLLECTORS = ("problems", "_problems", "found")


def reported():
    """Code -> the files that report it."""
    from stepgrid.lint.spec_rules import all_rules

    codes = {rule.code: {"lint"} for rule in all_rules()}
    for path in sorted((ROOT / "compiler").rglob("*.py")):
        for code in _in_file(path):
            codes.setdefault(code, set()).add(path.name)
    return codes


def _in_file(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        code = call.args[0]
        if not _reports(call) or (isinstance(code, ast.Attribute) and code.attr == "code"):
            continue  # a Rule's or a Fault's own: found where that is made
        found = set(_texts(code, tree))
        assert found, f"{path.name}:{call.lineno}: which code is this?"
        yield from found


def _reports(call):
    if isinstance(call.func, ast.Name):
        return call.func.id in ("SourceFault", "OptionFault") and len(call.args) > 2  # of a source: code, key, message
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("add", "warn") or len(call.args) < 3:
        return False
    holder = call.func.value
    return (holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")) in _COLLECTORS


def _texts(node, tree):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for inner in _leading_to(node, tree):
        yield from _texts(inner, tree)


def _leading_to(node, tree):
    """What an expression may be: each side of a choice, entries of a table, what a name was given."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp | ast.Dict):
        return list(node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return [node.func.value]
    if isinstance(node, ast.Name):
        given = [one for one in ast.walk(tree) if isinstance(one, ast.Assign)]
        return [one.value for one in given if any(getattr(target, "id", "") == node.id for target in one.targets)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        called = next(one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == node.func.id)
        return [one.value for one in ast.walk(called) if isinstance(one, ast.Return) and one.value is not None]
    return []
