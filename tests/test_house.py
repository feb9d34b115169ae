"""What import-linter cannot hold: what is pure writes nothing, and the core names no plug-in."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.plugins.registry import DRIVERS, ENGINES
from tests import house_rules

ROOT = Path(__file__).resolve().parents[1]
PURE = ("model", "language", "expand", "lint", "plan")
WRITES = {"mkdir", "rename", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text"}
AUDITED = """
import sys
from stepgrid.plugins import registry
from stepgrid.plan.assembly import check_scales, compile_spec
from stepgrid.language.problems import Problems
from tests.conftest import HOST

def look(event, arguments):
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if writes or event.split(".")[0] in ("socket", "subprocess", "urllib") or event in BARRED:
        print(event, arguments[:1], file=sys.stderr)
        sys.exit(1)

BARRED = {"os.exec", "os.fork", "os.mkdir", "os.posix_spawn", "os.remove", "os.rename", "os.rmdir", "os.symlink",
          "os.system", "os.truncate"}
sys.addaudithook(look)
for path in sys.argv[1:]:
    plan = compile_spec(path, None, HOST)
    check_scales(path, HOST, Problems(), base=plan)
"""


def test_what_is_pure_writes_nothing():
    found = [
        module.at(node, node.attr).text
        for module in house_rules.product()
        if module.home in PURE
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr in WRITES
    ]
    assert found == []


@pytest.mark.parametrize("spec", ["quickstart.yaml", "servers.yaml", "posts/2024-11-rocksdb-lru-vs-hyperclock.yaml"])
def test_a_spec_is_compiled_without_a_process_a_connection_or_a_write(spec):
    command = [sys.executable, "-B", "-c", AUDITED, str(ROOT / "specs" / spec)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "STEPGRID_SITE": ""}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_core_names_no_engine_and_no_kind():
    """Each holds what is known of it; words that mean something else, too, are not looked for."""
    names = {*ENGINES.built_in(), *DRIVERS.built_in()} - {"command", "program", "sql"}
    found = [
        module.at(node, str(node.value)).text
        for module in house_rules.product()
        if module.name.split(".")[0] == "stepgrid"
        for node in module.nodes
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert found == []


def test_only_the_store_knows_the_paths_below_outputs():
    modules = list(house_rules.product())
    joins = [
        (module, node)
        for module in modules
        if module.path.is_relative_to(ROOT / "compiler/stepgrid")
        for node in module.nodes
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant)
    ]
    own = [(module, node) for module, node in joins if module.home == "store"]
    folders = {node.right.value for _, node in own if ast.unparse(node.left) in ("self.root", "self.data")}
    assert {"results", "plans", "images"} <= folders
    outside = [module.at(node, node.right.value).text for module, node in joins if module.home != "store"
               and node.right.value in {*folders, "outputs"}]  # fmt: skip
    assert outside == []


def test_every_module_says_what_it_is():
    assert [module.name for module in house_rules.product() if not ast.get_docstring(module.tree)] == []


@pytest.mark.parametrize("rule", house_rules.RULES)
def test_breaks_of_a_rule_of_the_house_only_become_fewer(rule):
    allowed = house_rules.exceptions().get(rule, {})
    worse = {home: count for home, count in house_rules.counts(rule).items() if count > allowed.get(home, 0)}
    places = [place.text for place in house_rules.RULES[rule].places() if place.home in worse]
    assert not worse, "\n".join([f"{rule}: {house_rules.RULES[rule].mend}", *places])
