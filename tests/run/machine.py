"""A machine that is not here: files of /proc and /sys in a folder. As a script it measures in one.

python machine.py ROOT LOCK: sets what makes noise, says so, and waits to be killed.
"""

import sys
from pathlib import Path

from stepgrid.host import sysfs

CPU = "sys/devices/system/cpu"
SERVER = {
    **{f"{CPU}/cpu{n}/cpufreq/scaling_governor": "powersave\n" for n in range(4)},
    **{f"{CPU}/cpu{n}/cpufreq/scaling_available_governors": "performance powersave\n" for n in range(4)},
    f"{CPU}/intel_pstate/no_turbo": "0\n",
    f"{CPU}/smt/control": "on\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "sys/kernel/mm/ksm/run": "1\n",
    "proc/sys/kernel/numa_balancing": "1\n",
    "proc/sys/kernel/timer_migration": "1\n",
    "proc/sys/kernel/soft_watchdog": "1\n",
    **{f"{CPU}/cpu0/cpuidle/state{n}/latency": f"{us}\n" for n, us in ((1, 2), (2, 10), (3, 133))},
    **{f"{CPU}/cpu0/cpuidle/state{n}/disable": "0\n" for n in (1, 2, 3)},
    f"{CPU}/online": "0-3\n",
    f"{CPU}/isolated": "2-3\n",
    "proc/irq/30/smp_affinity_list": "0\n",
    "proc/irq/31/smp_affinity_list": "0-3\n",
    "proc/irq/32/smp_affinity_list": "3\n",
    "proc/sys/kernel/randomize_va_space": "0\n",
    "proc/sys/kernel/random/boot_id": "6f1a\n",
}


def make(root, files=None):
    for name, text in (SERVER if files is None else files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def settings(root):
    """What a kernel would say: a file has what was written last, without the brackets of a choice."""
    facts = ("available", "/cpu3/", "/latency", "/online", "/isolated")
    names = [name for name in SERVER if not any(fact in name for fact in facts)]
    short = {name: name.rpartition("/")[2] for name in names}
    short |= {name: " ".join(name.split("/")[-2:]) for name in names if "/irq/" in name or "/cpuidle/" in name}
    return {short[name]: (root / name).read_text().strip() for name in names}


if __name__ == "__main__":
    from stepgrid.host.locks import host_lock
    from stepgrid.host.tuning import fixed

    sysfs.ROOT = Path(sys.argv[1])
    with host_lock(shared=False), fixed(Path(sys.argv[2])):
        print("fixed", flush=True)
        sys.stdin.read()
