"""A finding of RocksDB as a script, in a root folder that holds nothing but a shell and db_bench."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.record import programs
from tests.integration.conftest import Lab
from tests.needs import needs

pytestmark = [pytest.mark.integration, pytest.mark.nightly, needs("dash", "ldd", "chroot")]
RATIO = re.compile(r"round (\d): cpu_us_per_op A (\d+\.\d{3}) B (\d+\.\d{3}), B/A (\d+\.\d{3})")


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot takes root")
def test_in_an_empty_root(lab: Lab, tmp_path: Path) -> None:
    run = lab.run()
    assert run.returncode == 0, run.stderr
    words = ("bits=large", "--step", "readrandom", "--metric", "cpu_us_per_op", "-o", str(tmp_path / "root" / "repro"))
    run = lab.execute(lab.argv("repro", "spec.yaml", *words))
    assert run.returncode == 0, run.stderr
    build = next((lab.folder / "outputs" / "builds").iterdir())
    root, prefix = tmp_path / "root", programs(build)["db_bench"]
    shutil.rmtree(root / "repro" / "bin")  # its paths are those of this machine
    shutil.copytree(build / "prefix", root / "prefix", symlinks=True)
    copy_with_libraries(Path(str(shutil.which("dash"))), root, "bin/sh")
    inner = " ".join(word.replace(str(build.resolve() / "prefix"), "/prefix") for word in prefix)
    (root / "db_bench").write_text(f'#!/bin/sh\nexec {inner} "$@"\n')
    (root / "db_bench").chmod(0o755)
    argv = [str(shutil.which("chroot")), str(root), "/bin/sh", "/repro/repro.sh"]
    process = subprocess.run(
        argv,
        env={"STEPGRID_A": "/db_bench", "STEPGRID_ROUNDS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.stderr == ""
    lines = process.stdout.splitlines()
    rounds = [match.groups() for match in map(RATIO.fullmatch, lines) if match]
    assert [number for number, *_ in rounds] == ["1", "2"]
    for _, base, arm, ratio in rounds:
        assert float(arm) / float(base) == pytest.approx(float(ratio), abs=0.001)
    mean = float(lines[2].removeprefix("B/A ").partition(",")[0])
    ratios = [float(ratio) for *_, ratio in rounds]
    assert mean == pytest.approx((ratios[0] * ratios[1]) ** 0.5, abs=0.002)
    assert process.returncode == (1 if lines[3].startswith("not") else 0)


def copy_with_libraries(program: Path, root: Path, name: str) -> None:
    listing = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    for path in re.findall(r"(/\S+)", listing):
        (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path[1:])
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(program, root / name)
