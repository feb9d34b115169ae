"""What this host is: stable facts for identity, everything else for the record, and where a spec disagrees."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.host import devices, sysfs
from stepgrid.model.number_format import size
from stepgrid.model.site import Site

FIRST_CPU = 8192  # bytes of /proc/cpuinfo: on a large host all of it takes long
COMPARED = ("cpu", "cores", "smt")
COMPARED_STORAGE = ("device", "filesystem", "max_sectors_kb")


def here(outputs: Path, site: Site) -> dict[str, Any]:
    """Of this host, with the storage that databases are on."""
    return hardware(Path(site.data or outputs), site.device)


def hardware(path: Path, device: str | None = None) -> dict[str, Any]:
    """Stable facts only: never the kernel, free space or text that an update may change."""
    topology = _topology()
    return _known(
        cpu=_cpuinfo("model name") or _cpuinfo("cpu model") or _cpuinfo("CPU part"),
        **topology,
        memory=_memory(),
        architecture=platform.machine(),
        storage=_storage(path, device),
    )


def facts(path: Path, device: str | None = None) -> dict[str, Any]:
    """What may differ from run to run, for the record; a fact that cannot be read is absent."""
    cpu0 = "sys/devices/system/cpu/cpu0/cpufreq"
    release = _release()
    return _known(
        hostname=platform.node(),
        kernel=platform.release(),
        os=release.get("PRETTY_NAME"),
        microcode=_cpuinfo("microcode"),
        governor=sysfs.text(f"{cpu0}/scaling_governor"),
        frequency_driver=sysfs.text(f"{cpu0}/scaling_driver"),
        turbo=_turbo(),
        smt=sysfs.text("sys/devices/system/cpu/smt/control"),
        transparent_hugepages=sysfs.chosen("sys/kernel/mm/transparent_hugepage/enabled"),
        numa_nodes=len([n for n in sysfs.names("sys/devices/system/node") if re.fullmatch(r"node\d+", n)]) or None,
        swap_bytes=sysfs.memory("SwapTotal"),
        load_average=_load(),
        uptime=_uptime(),
        **_storage_facts(path, device),
    )


def mismatch(declared: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    """A sentence for each declared fact that this host contradicts; facts that it cannot tell count as contradicted."""
    sentences = [_differs(name, declared.get(name), actual.get(name)) for name in COMPARED]
    sentences.append(_memory_differs(declared.get("memory"), actual.get("memory")))
    said, found = declared.get("storage") or {}, actual.get("storage") or {}
    sentences += [_differs(name, said.get(name), found.get(name)) for name in COMPARED_STORAGE]
    return [sentence for sentence in sentences if sentence]


def _differs(name: str, said: Any, found: Any) -> str | None:
    if said is None or _plain(said) == _plain(found):
        return None
    return f"{name}: the spec says {_show(said)}, this host {_has(found)}"


def _memory_differs(said: Any, found: Any) -> str | None:
    if said is None or (found is not None and abs(float(said) - found) <= 0.1 * float(said)):
        return None
    shown = None if found is None else size(found)
    return f"memory: the spec says {size(float(said))}, this host {_has(shown)}"


def _plain(value: Any) -> str:
    return " ".join(_show(value).casefold().split())


def _show(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _has(found: Any) -> str:
    return "does not say" if found is None else f"has {_show(found)}"


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _cpuinfo(key: str) -> str | None:
    found = re.search(rf"^{re.escape(key)}\s*: (.*)$", sysfs.text("proc/cpuinfo", FIRST_CPU) or "", re.MULTILINE)
    return found[1].strip() if found else None


def _topology() -> dict[str, Any]:
    """Sockets, physical cores and threads of the processors that are online."""
    base = "sys/devices/system/cpu"
    processors = [name for name in sysfs.names(base) if re.fullmatch(r"cpu\d+", name)]
    pairs = [_place(f"{base}/{name}/topology") for name in processors]
    online = [(package, core) for package, core in pairs if package is not None and core is not None]
    if not online:
        return {"threads": os.cpu_count()}
    cores = len({core for _, core in online})
    return {"sockets": len({p for p, _ in online}), "cores": cores, "threads": len(online), "smt": len(online) > cores}


def _place(topology: str) -> tuple[str | None, str | None]:
    """(socket, the threads of its core): the second file had another name before Linux 5.3."""
    core = sysfs.text(f"{topology}/core_cpus_list") or sysfs.text(f"{topology}/thread_siblings_list")
    return sysfs.text(f"{topology}/physical_package_id"), core


def _memory() -> int | None:
    total = sysfs.memory("MemTotal")
    return None if total is None else round(total / 2**30) * 2**30


def _storage(path: Path, device: str | None) -> dict[str, Any]:
    at, name = devices.mount(path), devices.device(path, device)
    return _known(
        device=name,
        kind=devices.kind(name) if name else "unknown",
        filesystem=at.filesystem if at else None,
        max_sectors_kb=sysfs.number(f"sys/class/block/{name}/queue/max_sectors_kb") if name else None,
    )


def _storage_facts(path: Path, device: str | None) -> dict[str, Any]:
    at, name = devices.mount(path), devices.device(path, device)
    queue = f"sys/class/block/{name}/queue"
    return _known(
        mount_options=at.options if at else None,
        scheduler=sysfs.chosen(f"{queue}/scheduler"),
        read_ahead_kb=sysfs.number(f"{queue}/read_ahead_kb"),
        max_sectors_kb=sysfs.number(f"{queue}/max_sectors_kb"),
        devices=devices.members(name) if name else None,
        free_bytes=_free(path),
    )


def _free(path: Path) -> int | None:
    try:
        found = os.statvfs(devices.existing(path))
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def _turbo() -> bool | None:
    disabled = sysfs.number("sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = sysfs.number("sys/devices/system/cpu/cpufreq/boost")
    return not disabled if disabled is not None else None if boost is None else bool(boost)


def _load() -> list[float] | None:
    words = (sysfs.text("proc/loadavg") or "").split()
    return [float(word) for word in words[:3]] or None


def _uptime() -> float | None:
    words = (sysfs.text("proc/uptime") or "").split()
    return float(words[0]) if words else None


def _release() -> dict[str, str]:
    pairs = (line.partition("=") for line in (sysfs.text("etc/os-release") or "").splitlines())
    return {name: value.strip('"') for name, _, value in pairs}
