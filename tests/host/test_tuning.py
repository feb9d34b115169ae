"""`noise: fix` on a machine made of files: set, put back, and put back for one that was killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host import sysfs, tuning
from stepgrid.host.locks import HOST_LOCK_OVERRIDE, host_lock
from stepgrid.host.processes.signals import Interrupted
from stepgrid.host.tuning import fixed, restore
from tests.run.machine import CPU, make, settings

BEFORE = {
    "scaling_governor": "powersave",
    "no_turbo": "0",
    "control": "on",
    "enabled": "[always] madvise never",
    "run": "1",
    **dict.fromkeys(("numa_balancing", "timer_migration", "soft_watchdog"), "1"),
    **{f"state{n} disable": "0" for n in (1, 2, 3)},
    "30 smp_affinity_list": "0",
    "31 smp_affinity_list": "0-3",
    "32 smp_affinity_list": "3",
    "randomize_va_space": "0",
    "boot_id": "6f1a",
}
MEANWHILE = {
    **BEFORE,
    "scaling_governor": "performance",
    "no_turbo": "1",
    "enabled": "madvise",
    **dict.fromkeys(("run", "numa_balancing", "timer_migration", "soft_watchdog"), "0"),
    "state3 disable": "1",
    "31 smp_affinity_list": "0-1",
    "32 smp_affinity_list": "0-1",
}
AFTER = {**BEFORE, "enabled": "always"}  # as it was written; a kernel would show the choice again
KERNEL_SWITCHES = (
    "sys/kernel/mm/ksm/run",
    *(f"proc/sys/kernel/{name}" for name in ("numa_balancing", "timer_migration", "soft_watchdog")),
)
SCRIPT = Path(__file__).parents[1] / "run" / "machine.py"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", make(tmp_path / "root"))
    return tmp_path / "root"


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.setenv(HOST_LOCK_OVERRIDE, str(tmp_path / "lock"))
    return tmp_path / "lock"


def test_set_while_it_measures_and_put_back(root, lock):
    with fixed(lock) as done:
        assert settings(root) == MEANWHILE
        assert tuning.has_record(lock)
    assert settings(root) == AFTER
    assert not tuning.has_record(lock)
    assert done.to_json() == {
        "set": {
            "governor": {"before": ["powersave"], "after": "performance", "files": 4},
            "turbo": {"before": ["0"], "after": "1", "files": 1},
            "thp": {"before": ["always"], "after": "madvise", "files": 1},
            "numa balancing": {"before": ["1"], "after": "0", "files": 1},
            "ksm": {"before": ["1"], "after": "0", "files": 1},
            "timer migration": {"before": ["1"], "after": "0", "files": 1},
            "soft watchdog": {"before": ["1"], "after": "0", "files": 1},
            "idle states": {"before": ["0"], "after": "1", "files": 1},
            "irqs": {"before": ["0-3", "3"], "after": "0-1", "files": 2},
        }
    }


def test_put_back_when_it_is_stopped(root, lock):
    with pytest.raises(Interrupted), fixed(lock):
        raise Interrupted(signal.SIGTERM)
    assert settings(root) == AFTER


def test_what_is_as_it_should_be_is_left_alone(root, lock):
    make(root, dict.fromkeys((f"{CPU}/cpu{n}/cpufreq/scaling_governor" for n in range(4)), "performance"))
    make(root, {f"{CPU}/intel_pstate/no_turbo": "1", "sys/kernel/mm/transparent_hugepage/enabled": "always [never]"})
    make(root, dict.fromkeys(KERNEL_SWITCHES, "0"))
    make(root, {f"{CPU}/cpu0/cpuidle/state3/disable": "1", f"{CPU}/isolated": ""})
    with fixed(lock) as done:
        assert not tuning.has_record(lock)
    assert done.to_json() == {"set": {}}


def test_a_kernel_that_does_not_take_it(root, lock, monkeypatch):
    (root / f"{CPU}/intel_pstate/no_turbo").unlink()
    (root / f"{CPU}/cpufreq").mkdir()
    (root / f"{CPU}/cpufreq/boost").write_text("1")
    real = sysfs.write

    def write(path, value):
        if path.endswith("boost"):
            raise PermissionError(1, "Operation not permitted")
        real(path, value if "governor" not in path else "ondemand")

    monkeypatch.setattr(sysfs, "write", write)
    with fixed(lock) as done:
        pass
    assert set(done.to_json()["set"]).isdisjoint({"governor", "turbo"})
    governor = f"governor: /{CPU}/cpu0/cpufreq/scaling_governor: it says ondemand after performance was written"
    assert done.refused[0] == governor
    assert done.refused[4] == f"turbo: /{CPU}/cpufreq/boost: Operation not permitted"


@pytest.fixture
def killed(root, lock):
    """A process that had set everything, and was killed with SIGKILL."""
    env = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2] / "compiler"), HOST_LOCK_OVERRIDE: str(lock)}
    owner = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(root), str(lock)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip
    assert owner.stdout.readline() == "fixed\n"
    owner.kill()
    owner.communicate()
    assert settings(root) == MEANWHILE
    return owner.pid


@pytest.mark.parametrize("shared", [True, False])
def test_who_gets_the_lock_next_puts_it_back(root, lock, killed, capsys, shared):
    record = json.loads(tuning.record_path(lock).read_text())
    assert (record["pid"], record["boot"], len(record["before"])) == (killed, "6f1a", 13)
    with host_lock(shared=shared):
        assert settings(root) == AFTER
    assert not tuning.has_record(lock)
    said = capsys.readouterr().err
    assert said.startswith("settings of a run that was killed are put back: 13 files, such as /proc/irq/32/")


def test_the_next_fix_starts_from_what_the_host_had(root, lock, killed):
    with host_lock(shared=False), fixed(lock) as done:
        assert settings(root) == MEANWHILE
        assert done.to_json()["set"]["governor"]["before"] == ["powersave"]
    assert settings(root) == AFTER


def test_a_new_start_of_the_machine_has_put_it_back_already(root, lock, killed):
    make(root, {"proc/sys/kernel/random/boot_id": "77aa\n"})
    with host_lock(shared=True):
        assert settings(root)["scaling_governor"] == "performance"
    assert not tuning.has_record(lock)


def test_only_known_files_and_values_are_put_back(root, lock):
    make(root, {"etc/passwd": "root"})
    before = {
        "etc/passwd": "x",
        "../outside": "x",
        f"{CPU}/intel_pstate/no_turbo": "0; rm",
        f"{CPU}/cpu0/cpufreq/scaling_governor": "userspace",
    }
    tuning.record_path(lock).write_text(json.dumps({"boot": "6f1a", "pid": 1, "before": before}))
    assert restore(lock) == ([f"{CPU}/cpu0/cpufreq/scaling_governor"], [])
    assert (root / "etc/passwd").read_text() == "root"


@pytest.mark.parametrize("text", ["", "[]", '{"boot": "6f1a"}', '{"boot": "6f1a", "before": [1]}'])
def test_half_a_record_is_of_one_that_had_not_begun(root, lock, text):
    tuning.record_path(lock).write_text(text)
    assert restore(lock) == ([], [])
    assert not tuning.has_record(lock)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
def test_the_record_of_another_user_is_neither_believed_nor_overwritten(root, lock):
    record = tuning.record_path(lock)
    record.write_text(json.dumps({"boot": "6f1a", "before": {f"{CPU}/intel_pstate/no_turbo": "1"}}))
    os.chown(record, 65534, 65534)
    with host_lock(shared=False), fixed(lock) as done:
        assert settings(root) == BEFORE
    assert done.refused == (f"nothing was set: {record} is of a run that was killed: sudo stepgrid doctor --restore",)
    assert record.exists()


def test_without_a_record_nothing_is_set(root, tmp_path):
    nowhere = tmp_path / "no" / "lock"
    with fixed(nowhere) as done:
        assert settings(root) == BEFORE
    assert done.refused[0].endswith("cannot be written: No such file or directory")
