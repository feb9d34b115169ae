"""What is looked at before a measured stage: on this host, and on machines made of files."""

import os

import pytest

from stepgrid.host import activity, sysfs, tuning
from stepgrid.host import noise as noise_module
from stepgrid.host.activity import Activity, ActivityReading, Process
from stepgrid.host.noise import Inspection, look, memory_findings, quiet, timer_findings, warning
from stepgrid.model.records import OK, UNKNOWN, WARNING, HostFinding, replace
from stepgrid.model.site import Site
from stepgrid.store.attempts import attempt_record
from tests.run.machine import CPU, make, settings

OURS = Process(os.getpid(), 1, "python", 5.0)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    return tmp_path


def _by_name(findings):
    return {each.name: each for each in findings}


def _told(findings):
    return {each.name: (each.severity, each.text) for each in findings}


def test_settings_of_a_server_as_it_comes(root):
    make(root)
    found = _by_name(tuning.setting_findings())
    assert {name: (each.severity, each.text) for name, each in found.items()} == {
        "governor": (WARNING, "powersave"),
        "turbo": (WARNING, "on"),
        "thp": (WARNING, "always"),
        "smt": (OK, "on"),
        "aslr": (WARNING, "0"),
        "numa balancing": (WARNING, "on"),
        "ksm": (WARNING, "on"),
        "timer migration": (WARNING, "on"),
        "soft watchdog": (WARNING, "on"),
        "idle states": (WARNING, "deep ones are on"),
        "irqs": (WARNING, "0-3, 3"),
    }
    assert [each.mend for each in found.values()] == [
        f"echo performance | sudo tee /{CPU}/cpu*/cpufreq/scaling_governor",
        f"echo 1 | sudo tee /{CPU}/intel_pstate/no_turbo",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        "",
        "sudo sysctl kernel.randomize_va_space=2",
        "sudo sysctl kernel.numa_balancing=0",
        "echo 0 | sudo tee /sys/kernel/mm/ksm/run",
        "sudo sysctl kernel.timer_migration=0",
        "sudo sysctl kernel.soft_watchdog=0",
        "sudo cpupower idle-set -D 10",
        "for f in /proc/irq/*/smp_affinity_list; do echo 0-1 | sudo tee $f; done",
    ]


def test_what_cannot_be_read_is_unknown_and_never_fine(root):
    everything = [
        *tuning.setting_findings(),
        *memory_findings(["md2"]),
        *timer_findings([]),
        *activity.process_findings({}, []),
        *activity.activity_findings(activity.observe(0.01, ["md2"]), 2, ["md2"]),
    ]
    assert {each.name for each in everything if each.severity != UNKNOWN} == set()
    assert len(everything) == 29


def _between(first, last, **host):
    """A second in which the processors did what is said, in seconds."""
    idle = {"user": 0.0, "nice": 0.0, "system": 0.0, "idle": 0.0, "iowait": 0.0, "irq": 0.0, "softirq": 0.0}
    cpu = {"cpu": {**idle, "steal": 0.0}, "paging": {"swapped_in": 0, "swapped_out": 0}}
    then = {"cpu": {**idle, "steal": 0.0, **host.pop("cpu", {})}, "paging": {**cpu["paging"], **host.pop("paging", {})}}
    devices = {"vda": {"busy_ms": 100, "reads": 5, "writes": 5}}
    moved = {"vda": {**devices["vda"], **host.pop("vda", {})}}
    return Activity(
        ActivityReading(10.0, {**cpu, "devices": devices}, first, {"throttles": 3.0, "celsius": 50.0}),
        ActivityReading(11.0, {**then, "devices": moved}, last, {"throttles": 3.0, "celsius": 50.0, **host}),
    )


def test_others_at_work(root):
    compiler = Process(71, 1, "cc1plus", 9.0)
    first = {OURS.pid: OURS, 71: compiler}
    last = {OURS.pid: OURS._replace(cpu=5.5), 71: compiler._replace(cpu=9.9), 72: Process(72, 71, "as", 0.1)}
    busy = {"cpu": {"user": 1.6, "idle": 0.3, "steal": 0.1}, "vda": {"busy_ms": 400, "writes": 65}}
    found = _told(activity.activity_findings(_between(first, last, **busy, throttles=5.0, celsius=96.0), 2, ["vda"]))
    assert found == {
        "cpu": (WARNING, "others used 110 % of a core; busiest: cc1plus (71) 90 %, as (72) 10 %"),
        "steal": (WARNING, "other virtual machines took 10 % of a core"),
        "device vda": (WARNING, "vda was busy for 30 % of the time (0 r/s, 60 w/s)"),
        "swapping": (OK, "none"),
        "throttling": (WARNING, "slowed down 2 times just now"),
        "temperature": (WARNING, "96 °C"),
    }


def test_a_quiet_host_and_what_a_large_one_may_do_beside(root):
    found = activity.activity_findings(_between({7: OURS}, {7: OURS}, cpu={"user": 0.08}), 2, ["vda"])
    assert {each.severity for each in found} == {OK}
    little = _between({7: OURS}, {7: OURS}, cpu={"user": 0.5})
    severities = [next(activity.activity_findings(little, cpus, [])).severity for cpus in (2, 48)]
    assert severities == [WARNING, OK]


def test_processes_that_are_known_to_disturb(root):
    make(
        root,
        {
            "proc/30/cmdline": "python\0-m\0stepgrid.pipeline\0run-stage\0p\0s",
            "proc/31/cmdline": "python\0-m\0stepgrid.pipeline\0build\0p\0b",
        },
    )
    make(root, {"proc/locks": "1: FLOCK ADVISORY WRITE 9 fe:00:1 0 EOF\n1: -> FLOCK ADVISORY WRITE 31 fe:00:1 0 EOF\n"})
    names = {10: "cron", 20: "cc1plus", 21: "updatedb.plocat", 22: "snapd", 30: "python", 31: "python"}
    found = {pid: Process(pid, 1, name, 0.0) for pid, name in names.items()}
    found |= {11: Process(11, 10, "cron", 0.0), 12: Process(12, 11, "sh", 0.0), OURS.pid: OURS}
    found[40] = Process(40, OURS.pid, "ld", 0.0)  # a program of our own
    assert _told(activity.process_findings(found, [])) == {
        "builds": (WARNING, "cc1plus (20)"),
        "services": (WARNING, "updatedb.plocat (21)"),
        "cron jobs": (WARNING, "sh (12)"),
        "other runs": (WARNING, "python (30)"),  # the other one waits for the host
    }
    assert _told(activity.process_findings(found, [found[22]]))["services"][1] == "updatedb.plocat (21), snapd (22)"


def test_memory_and_raid(root):
    meminfo = "MemTotal: 8388608 kB\nMemAvailable: 2097152 kB\nSwapTotal: 4194304 kB\nSwapFree: 3145728 kB\n"
    make(root, {"proc/meminfo": meminfo, "proc/loadavg": "0.08 0.18 0.62 1/97 2\n"})
    make(root, {"sys/class/block/md2/md/sync_action": "check\n"})
    found = _by_name(memory_findings(["md2", "nvme0n1"]))
    assert {name: (each.severity, each.text) for name, each in found.items()} == {
        "memory": (WARNING, "2 GiB of 8 GiB free"),
        "swap": (WARNING, "1 GiB of 4 GiB in use"),
        "reclaim": (UNKNOWN, "this host does not say"),
        "load": (OK, "0.08, 0.18, 0.62 over 1, 5 and 15 minutes"),
        "raid md2": (WARNING, "check"),
    }
    assert found["raid md2"].mend == "echo idle | sudo tee /sys/block/md2/md/sync_action"


def test_a_kernel_that_takes_unread_pages_out_of_memory(root):
    """DAMON, of which all but root see only that it is there."""
    damon = "sys/kernel/mm/damon/admin/kdamonds"
    make(root)
    assert _told(memory_findings([]))["reclaim"] == (OK, "only when memory is short")
    action = f"{damon}/0/contexts/0/schemes/0/action"
    make(root, {f"{damon}/nr_kdamonds": "1\n", f"{damon}/0/state": "on\n", action: "stat\n"})
    assert _told(memory_findings([]))["reclaim"][0] == OK
    make(root, {action: "pageout\n"})
    found = _by_name(memory_findings([]))["reclaim"]
    assert (found.severity, found.text) == (WARNING, "DAMON takes what nobody reads out of memory")
    assert found.mend == f"`start: warm` in the spec, or echo off | sudo tee /{damon}/*/state"
    make(root, {f"{damon}/0/state": "off\n"})
    assert _told(memory_findings([]))["reclaim"][0] == OK
    make(root, {"sys/module/damon_reclaim/parameters/enabled": "Y\n"})
    assert _told(memory_findings([]))["reclaim"][0] == WARNING
    (root / "sys/module/damon_reclaim/parameters/enabled").unlink()
    for name in (f"{damon}/0/state", action):  # as where they may not be read
        (root / name).unlink()
        (root / name).mkdir()
    said = "DAMON is at work; root may read whether it takes what nobody reads out of memory"
    assert _told(memory_findings([]))["reclaim"] == (WARNING, said)


def test_what_may_start_by_itself(root):
    wanted = "etc/systemd/system/timers.target.wants"
    make(root, {f"{wanted}/apt-daily.timer": "", f"{wanted}/systemd-tmpfiles-clean.timer": ""})
    make(root, {"etc/cron.daily/man-db": "", "etc/cron.d/.placeholder": ""})
    alone = [Process(9, 1, "bash", 0.0)]
    assert {each.severity for each in timer_findings(alone)} == {OK}
    running = [Process(pid, 0, name, 0.0) for pid, name in enumerate(("systemd", "cron", "irqbalance"), 1)]
    found = list(timer_findings(running))
    assert [(each.text, each.mend) for each in found] == [
        ("may start: apt-daily.timer", "sudo systemctl stop apt-daily.timer"),
        ("may start: cron.daily/man-db", "sudo systemctl stop cron"),
        ("moves interrupts between processors every 10 s", "sudo systemctl stop irqbalance"),
    ]


def test_what_goes_wrong_while_looking_fails_no_stage(tmp_path, monkeypatch):
    monkeypatch.setenv(activity.OVERRIDE, "0.01")
    monkeypatch.setattr(noise_module, "look", lambda *_: 1 / 0)
    with quiet(tmp_path, Site(), tmp_path / "lock", measured=True) as record:
        [found] = record.findings
    assert (found.severity, found.text) == (UNKNOWN, "ZeroDivisionError: division by zero")


@pytest.mark.parametrize("measured", [True, False])
def test_a_measured_stage_keeps_what_was_seen(checkout, stage, step, measured):
    checkout.plan(stage("s-load", replace(step("load"), measured=measured)))
    assert checkout.run("s-load", STEPGRID_LOOK="0.05").returncode == 0
    noise = attempt_record(checkout.store.result("s-load")).noise
    if not measured:
        assert noise is None
        return
    assert noise.seconds >= 0.05
    names = [each.name for each in noise.findings]
    assert {"cpu", "swapping", "builds", "memory", "governor", "timers", "settings"} <= {*names}
    assert len(names) == len({*names})
    assert noise.fixed is None


def test_a_stage_with_noise_fixed(root, monkeypatch):
    make(root)
    monkeypatch.setenv(activity.OVERRIDE, "0.01")
    with quiet(root, Site(noise="fix"), root / "lock", measured=True) as noise:
        assert settings(root)["scaling_governor"] == "performance"
    assert settings(root)["scaling_governor"] == "powersave"
    found = {each.name: each for each in noise.findings}
    assert (found["governor"].text, found["settings"].severity) == ("performance", OK)
    assert noise.fixed["set"]["governor"] == {"before": ["powersave"], "after": "performance", "files": 4}


@pytest.mark.parametrize(("noisy", "looks", "quiet"), [(0, 1, True), (1, 2, True), (2, 3, True), (9, 3, False)])
def test_what_is_over_after_a_moment_disturbs_nothing(root, tmp_path, monkeypatch, noisy, looks, quiet):
    """Such as the end of another measurement, whose lock was waited for."""
    done = []

    def seen(least, names, lock, first=None):
        done.append(least)
        cpu = HostFinding("cpu", WARNING, "others used 80 % of a core", travels=True)
        return Inspection(least, [cpu] if len(done) <= noisy else [])

    monkeypatch.setattr(noise_module, "inspect_host", seen)
    found = look(tmp_path, "none", tmp_path / "lock")
    assert len(done) == looks
    assert (warning(found.findings) is None) == quiet
