"""The real iostat and vmstat beside the sampler: what they say, by the names of their columns."""

import json
import subprocess
from statistics import fmean
from typing import NamedTuple


class Column(NamedTuple):
    mean: float
    spread: float  # between its smallest and its largest value
    rows: int


def iostat(program, device, seconds):
    """Without the report since boot; in MiB."""
    return [str(program), "-o", "JSON", "-y", "-x", "-m", "-d", device, "1", str(seconds)]


def vmstat(program, seconds):
    """One header; the first line is since boot."""
    return [str(program), "-n", "1", str(seconds + 1)]


def start(argv):
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env={"LC_ALL": "C", "S_TIME_FORMAT": "ISO"})


def iostat_columns(text, device):
    """Waiting times and sizes: of the seconds with requests, since one without has none."""
    (host,) = json.loads(text)["sysstat"]["hosts"]
    rows = [disk for each in host["statistics"] for disk in each["disk"] if disk["disk_device"] == device]
    names = [name for name in rows[0] if name != "disk_device"]
    return {name: _column(row[name] for row in rows if _asked(row, name)) for name in names}


def vmstat_columns(text):
    _, names, _since_boot, *lines = text.splitlines()
    rows = [dict(zip(names.split(), map(float, line.split()), strict=True)) for line in lines]
    return {name: _column(row[name] for row in rows) for name in rows[0]}


def _asked(row, name):
    kind, _, what = name.partition("_")
    if what == "await" or name.endswith("areq-sz"):
        return bool(row[f"{kind[0]}/s"])
    return True


def _column(values):
    found = list(values) or [0.0]
    return Column(fmean(found), max(found) - min(found), len(found))
