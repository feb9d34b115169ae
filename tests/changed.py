"""Tests that belong to changed files: `python -m tests.changed [COMMIT]` prints their folders, for pytest.

The rule: compiler/stepgrid/PACKAGE, compiler/stepgrid_databases/KIND and compiler/stepgrid_investigate/PACKAGE have
their tests in tests/PACKAGE and tests/KIND (a plug-in's below it), a module of compiler/stepgrid_NAME in tests/NAME,
or where HOMES says; specs, docs, scripts and bench in the folder of their name; every change has tests/test_house.py.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = "tests/test_house.py"
HOMES = {  # whose tests stand beside those of another package
    "stepgrid_registries": "build",
    "clients": "drivers",
    "mysqld": "engines/mysqld",
    "postgres": "engines/postgres",
    "report": "page",
    "site": "page",
}
WITH_COMMANDS = ("inspect", "share")  # packages whose commands have scenes in tests/cli


def changed(since):
    """Files that differ from a commit, or that git does not know yet."""
    listed = [["git", "diff", "--name-only", since], ["git", "ls-files", "--others", "--exclude-standard"]]
    outputs = [subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout for argv in listed]
    return [line for output in outputs for line in output.splitlines()]


def tests_of(files):
    for file in files:
        parts = Path(file).parts
        if parts[0] == "tests" and parts[-1].startswith("test_") and (ROOT / file).exists():
            yield file
        elif parts[0] == "tests" and len(parts) > 2:
            yield _nearest(parts[1:-1])
        elif parts[0] == "compiler" and len(parts) > 3:
            yield _nearest((*parts[2:-1], Path(file).stem))
        elif parts[0] == "compiler" and len(parts) > 2:
            home = HOMES.get(parts[1], parts[1].removeprefix("stepgrid").removeprefix("_"))
            yield _nearest((home, Path(file).stem) if home else (Path(file).stem,))
            if home in WITH_COMMANDS:
                yield "tests/cli"
        elif parts[0] == "templates" and len(parts) > 2:
            yield _nearest((HOMES.get(parts[1], "drivers"),))
        elif parts[0] == "packages" and len(parts) > 1:
            yield _nearest(parts[1:2])
        elif parts[0] in ("specs", "docs", "scripts", "bench"):
            yield _nearest(parts[:1])


def _nearest(parts):
    """The deepest folder of tests that there is for a module, or its own file."""
    for count in range(len(parts), 0, -1):
        folder = ROOT.joinpath("tests", *parts[:count])
        if folder.is_dir():
            return str(folder.relative_to(ROOT))
        file = folder.with_name(f"test_{folder.name}.py")
        if file.is_file():
            return str(file.relative_to(ROOT))
    return ALWAYS


if __name__ == "__main__":
    print(*sorted({ALWAYS, *tests_of(changed(sys.argv[1] if len(sys.argv) > 1 else "origin/main"))}))
