"""The packages of packages/examples in an environment of their own: a sweep, their tests, the conformance suite.

No file of stepgrid knows of them: they are found by their entry points.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.integration.conftest import ROOT
from tests.needs import needs

EXAMPLES = ROOT / "packages" / "examples"
PIP = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
VALKEY = ("--engine", "valkey", "--driver", "valkey_benchmark")


def python(folder, *packages):
    """Of a new environment that has all of this one, and the packages."""
    run(Path(sys.executable), "-m", "venv", "--without-pip", str(folder))
    made = folder / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    ours = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (folder / "lib" / version / "site-packages" / "ours.pth").write_text(ours)
    run(made, "-m", "pip", *PIP, *map(str, packages))
    return made


def run(program, *words, **env):
    done = subprocess.run(
        [program, *words], cwd=ROOT, env={**os.environ, "STEPGRID_SITE": "", **env}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs("apt")
@pytest.mark.nightly  # LMDB's below conforms each time
def test_an_example_is_measured_by_its_own_package(tmp_path):
    package, sweep = EXAMPLES / "valkey", tmp_path / "sweep"
    sweep.mkdir()
    own = python(tmp_path / "venv", package)
    quiet = ("-p", "no:cacheprovider", "-q")
    run(own, "-m", "pytest", *quiet, str(package), SWEEP_FOLDER=str(sweep))
    spec = ("--spec", str(package / "valkey.yaml"), "--scale", "smoke", "--folder", str(sweep))
    samples = ("--samples", str(package / "tests" / "samples"))
    said = run(own, "-m", "stepgrid_conformance", *quiet, *VALKEY, *samples, *spec)
    assert " passed" in said
    assert "failed" not in said


@needs("pip")
def test_an_engine_in_a_wheel_has_every_part(tmp_path):
    """A command, a rule, durability, counters by name, a collector with a setting of its own, a layout."""
    own, spec, folder = (
        python(tmp_path / "venv", EXAMPLES / "lmdb"),
        str(EXAMPLES / "lmdb" / "lmdb.yaml"),
        tmp_path / "sweep",
    )
    folder.mkdir()

    def stepgrid(*words):
        done = subprocess.run([own, "-m", "stepgrid.cli", *words], cwd=folder, capture_output=True, text=True)
        return done.stdout + done.stderr

    assert ": fine; " in stepgrid("check", spec)
    assert "the engine brings no `starting.yaml`" in stepgrid("new", "lmdb")
    assert "lmdb-map-small" in stepgrid("check", spec, "--set", "params.keys=50M")
    other = stepgrid("check", spec, "--set", "collectors=[{collector: lmdb_map, settings: {colour: 1}}]")
    assert "`colour` is no setting of lmdb_map" in other
    assert stepgrid("lmdb-size", "1M", "100") == "190.7 MiB\n"
    plugins = ("--engine", "lmdb", "--driver", "lmdb", "--collector", "lmdb_map", "--layout", "lmdb_tree")
    words = (*plugins, "--spec", spec, "--folder", str(folder))
    assert " passed" in run(own, "-m", "stepgrid_conformance", "-p", "no:cacheprovider", "-q", *words)
    assert "3       2.5  false" in stepgrid("report", spec, "--table", "LMDB trees: reads")
    assert stepgrid("report", spec, "--format", "brief").startswith("# LMDB: durable commits\n\n- ")
    sql = "SELECT min(found_pct) AS found, count(lmdb_mapped_kb) > 0 AS mapped FROM steps WHERE measured"
    assert stepgrid("query", spec, sql).split()[-2:] == ["100", "true"]
