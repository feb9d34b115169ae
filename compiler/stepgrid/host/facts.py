"""Facts of this host: stable ones for identity, all others for the record, and where a spec's machines differ."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from stepgrid.host import cluster_job, disk, sysfs
from stepgrid.host.counters import CPUS
from stepgrid.model.plan import HardwareFacts, Value
from stepgrid.model.records import Json, convert_record
from stepgrid.model.site import Site
from stepgrid.model.units import size

FIRST_CPU = 8192  # bytes of /proc/cpuinfo: on a large host all of it takes long
COMPARED = ("cpu", "cores", "smt")
COMPARED_STORAGE = ("device", "filesystem", "max_sectors_kb")
UNNAMED = "the site file's `slurm: machines` has no entry for it"

Machines = Mapping[str, Mapping[str, Json]]


def host_hardware(outputs: Path, site: Site) -> dict[str, Json]:
    """Describe this host with the storage that databases are on."""
    return hardware(Path(site.data or outputs), site.device)


def hardware(path: Path, device: str | None = None) -> dict[str, Json]:
    """Collect stable facts only: never the kernel, free space or text that an update may change."""
    mount, name, memory = disk.mount(path), disk.device(path, device), sysfs.memory("MemTotal")
    storage = _without_none(
        device=name,
        kind=disk.kind(name) if name else "unknown",
        filesystem=mount.filesystem if mount else None,
        max_sectors_kb=sysfs.number(f"sys/class/block/{name}/queue/max_sectors_kb") if name else None,
    )
    return _without_none(
        cpu=_cpuinfo("model name") or _cpuinfo("cpu model") or _cpuinfo("CPU part"),
        **_topology(),
        memory=None if memory is None else round(memory / 2**30) * 2**30,
        architecture=platform.machine(),
        storage=storage,
    )


def facts(path: Path, device: str | None = None) -> dict[str, Json]:
    """Collect what may differ from run to run, for the record; a fact that cannot be read is absent."""
    release_lines = (sysfs.text("etc/os-release") or "").splitlines()
    release = {name: value.strip('"') for name, _, value in (line.partition("=") for line in release_lines)}
    load, uptime = ((sysfs.text(f"proc/{name}") or "").split() for name in ("loadavg", "uptime"))
    mount, name = disk.mount(path), disk.device(path, device)
    queue = f"sys/class/block/{name}/queue"
    return _without_none(
        hostname=platform.node(),
        kernel=platform.release(),
        os=release.get("PRETTY_NAME"),
        microcode=_cpuinfo("microcode"),
        governor=sysfs.text(f"{CPUS}/cpu0/cpufreq/scaling_governor"),
        frequency_driver=sysfs.text(f"{CPUS}/cpu0/cpufreq/scaling_driver"),
        turbo=_turbo(),
        smt=sysfs.text(f"{CPUS}/smt/control"),
        transparent_hugepages=sysfs.chosen("sys/kernel/mm/transparent_hugepage/enabled"),
        numa_nodes=len([n for n in sysfs.names("sys/devices/system/node") if re.fullmatch(r"node\d+", n)]) or None,
        swap_bytes=sysfs.memory("SwapTotal"),
        load_average=[float(word) for word in load[:3]] or None,
        uptime=float(uptime[0]) if uptime else None,
        mount_options=mount.options if mount else None,
        scheduler=sysfs.chosen(f"{queue}/scheduler"),
        read_ahead_kb=sysfs.number(f"{queue}/read_ahead_kb"),
        max_sectors_kb=sysfs.number(f"{queue}/max_sectors_kb"),
        devices=[*disk.members(name)] if name else None,
        free_bytes=_free(path),
    )


def differences(declared: Mapping[str, Json], actual: Mapping[str, Json]) -> list[str]:
    """List a sentence for each declared fact that this host contradicts, or cannot tell."""
    machine, host = (convert_record(values, HardwareFacts) for values in (declared, actual))
    sentences = [_difference(name, getattr(machine, name), getattr(host, name)) for name in COMPARED]
    if machine.memory is not None and (host.memory is None or abs(machine.memory - host.memory) > 0.1 * machine.memory):
        actual_size = None if host.memory is None else size(host.memory)
        sentences.append(_difference("memory", size(machine.memory), actual_size))
    storages = machine.storage, host.storage
    sentences += [_difference(name, *(getattr(storage, name) for storage in storages)) for name in COMPARED_STORAGE]
    return [sentence for sentence in sentences if sentence]


def _difference(name: str, declared: Value | None, actual: Value | None) -> str | None:
    declared_text, actual_text = _show(declared), _show(actual)
    if declared in (None, "") or declared_text.casefold().split() == actual_text.casefold().split():
        return None
    answer = "does not say" if actual in (None, "") else f"has {actual_text}"
    return f"{name}: the spec says {declared_text}, this host {answer}"


def _show(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _without_none(**values: Json) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}


def _cpuinfo(key: str) -> str | None:
    match = re.search(rf"^{re.escape(key)}\s*: (.*)$", sysfs.text("proc/cpuinfo", FIRST_CPU) or "", re.MULTILINE)
    return match[1].strip() if match else None


def _topology() -> dict[str, Json]:
    """Count sockets, physical cores and threads of the processors that are online."""
    pairs = []
    for name in sysfs.names(CPUS):
        if re.fullmatch(r"cpu\d+", name):
            folder = f"{CPUS}/{name}/topology"  # the threads of a core had another name before Linux 5.3
            core = sysfs.text(f"{folder}/core_cpus_list") or sysfs.text(f"{folder}/thread_siblings_list")
            pairs.append((sysfs.text(f"{folder}/physical_package_id"), core))
    online = [(package, core) for package, core in pairs if package is not None and core is not None]
    if not online:
        return {"threads": os.cpu_count()}
    cores = len({core for _, core in online})
    return {"sockets": len({p for p, _ in online}), "cores": cores, "threads": len(online), "smt": len(online) > cores}


def _free(path: Path) -> int | None:
    try:
        status = os.statvfs(disk.existing(path))
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def _turbo() -> bool | None:
    disabled, boost = sysfs.number(f"{CPUS}/intel_pstate/no_turbo"), sysfs.number(f"{CPUS}/cpufreq/boost")
    if disabled is not None:
        return not disabled
    return None if boost is None else bool(boost)


# A plan for several machines: which stages this host leaves to the others.


def foreign_machines(machines: Machines, path: Path, site: Site) -> dict[str, str]:
    """Map each of several machines that this host is not to where it differs."""
    if len(machines) < 2:
        return {}
    if cluster_job.active():
        return machines_without_nodes(machines, site)
    sentences = _differing_machines(machines, path, site)
    return {name: sentence for name, sentence in sentences.items() if sentence}


def machines_without_nodes(machines: Machines, site: Site) -> dict[str, str]:
    """List machines that the site file gives no nodes on the cluster; where it gives none at all, any may exist."""
    slurm = site.slurm
    if slurm is None:
        return {}
    return {
        name: UNNAMED
        for name, facts in machines.items()
        if slurm.job_request(name, bool(facts.get("declared"))) is None
    }


def hardware_contradiction(machines: Machines, path: Path, site: Site) -> str:
    """Say where this host differs from every machine of a plan; empty when it is one of them."""
    sentences = _differing_machines(machines, path, site)
    if not sentences or not all(sentences.values()):
        return ""
    lines = "\n".join(f"  {name}: {sentence}" for name, sentence in sentences.items())
    return f"this is not the hardware of the spec:\n{lines}"


def _differing_machines(machines: Machines, path: Path, site: Site) -> dict[str, str]:
    actual = host_hardware(path, site)
    return {name: machine_difference(machine, actual) for name, machine in machines.items()}


def machine_difference(machine: Mapping[str, Json], actual: Mapping[str, Json]) -> str:
    """Compare only what the spec declares; on a cluster, also the machine that compiled it."""
    if not machine.get("declared") and not cluster_job.active():
        return ""
    sentence = "; ".join(differences(machine, actual))
    if sentence and not machine.get("declared"):
        return f"`hardware: here` is the machine that started the run, and this node is another: {sentence}"
    return sentence


# The name under which a host goes in what this machine exports.

_PSEUDONYM = re.compile(r"host-[0-9a-f]{10}")
ADDRESSES = ("server_address", "client_address")  # of attempt.json, where clients run on another machine
CLIENT_ALIAS = "client_alias"  # that machine, as ssh knows it


def is_pseudonym(host: str) -> bool:
    return _PSEUDONYM.fullmatch(host) is not None


def pseudonym(host: str) -> str:
    """Derive the same for all that this machine exports, so that the results of one host stay together."""
    import hashlib
    import hmac

    if is_pseudonym(host):
        return host
    return f"host-{hmac.new(_secret(), host.encode(), hashlib.sha256).hexdigest()[:10]}"


@cache
def _secret() -> bytes:
    """Use a key that nobody else knows: the name of a host is too easily guessed for a mere checksum of it."""
    import secrets

    return (sysfs.text("etc/machine-id") or secrets.token_hex()).encode()
