"""The suite, run on the plug-ins that come with stepgrid, and on one that is wrong."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import stepgrid_conformance as conformance
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, ENGINES, LAYOUTS
from stepgrid_published.importer import IMPORTERS

ALL = {"engine": ENGINES, "driver": DRIVERS, "collector": COLLECTORS, "layout": LAYOUTS, "importer": IMPORTERS}
WRONG = """\
from stepgrid_databases.engines.program import AnyProgram

class Wrong(AnyProgram):
    name = "another"
    kinds = ("command", "nosuch")
    default_storage_engine = "x"

    def capabilities(self):
        return {"a b"}

    def rules(self, spec):
        return []

    def serve(self, home): ...

ENGINE = Wrong()
"""


def suite(folder, *words):
    command = [sys.executable, "-m", "stepgrid_conformance", "-q", "-p", "no:cacheprovider", "--tb=line"]
    done = subprocess.run(
        [*command, *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_all_built_in_ones_conform(tmp_path):
    words = [word for kind, registry in ALL.items() for name in registry.names() for word in (f"--{kind}", name)]
    said = suite(tmp_path, *words)
    assert "failed" not in said, said
    assert " passed" in said, said


def test_one_that_is_wrong_is_told_each_fault(tmp_path):
    info = tmp_path / "wrong-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[stepgrid.engines]\nwrong = wrong_engine:ENGINE\n")
    (tmp_path / "wrong_engine.py").write_text(WRONG)
    said = suite(tmp_path, "--engine", "wrong")
    for fault in (
        "has serve, and no stop, socket, port, user, database",
        "`capabilities` does not take (version)",
        "`rules` does not take ()",
        "`name` is another, the entry point is wrong: give both the same name",
        "kinds of steps that are not installed: nosuch",
        "`default_storage_engine` is x: none of its `storage_engines`",
    ):
        assert fault in said, said


def test_each_fault_is_a_sentence():
    """But for what only tells mypy that something is there."""
    for path in Path(conformance.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert) and not ast.unparse(node.test).endswith(" is not None"):
                told = node.msg is not None or "approx" in ast.unparse(node.test)  # pytest lists what differs
                assert told, f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def test_one_that_is_not_installed_says_how(tmp_path):
    said = suite(tmp_path, "--engine", "velkay")
    assert "engine `velkay` is not installed; `pip install PACKAGE` adds one (docs/guides/plugins.md)" in said
