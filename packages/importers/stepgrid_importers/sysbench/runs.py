"""Directories of runs: a build's microbenchmarks, each with the output of sysbench, iostat and vmstat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from stepgrid.model.figures import Figures, ParseError
from stepgrid_databases.drivers.sysbench import output
from stepgrid_databases.drivers.sysbench.output import Summary
from stepgrid_importers.shared import iostat, text_files, vmstat
from stepgrid_importers.shared.iostat import KIB, Iostat
from stepgrid_importers.shared.vmstat import Vmstat
from stepgrid_importers.sysbench import names
from stepgrid_importers.sysbench.names import Test
from stepgrid_published.importer import Faults

Cells: TypeAlias = Mapping[str, str]  # by head, as they stand

OUTPUT, IO, VM, MET = "sb.o.", "sb.io.", "sb.vm.", "sb.met."
BENCHMARK = ".range"


class Output(Struct, frozen=True):
    """Of sysbench: its figures, or why it has none."""

    command: str
    figures: Figures
    report: Summary | None
    failure: str | None = None


class Run(Struct, frozen=True):
    directory: str
    test: Test
    output: Output
    io: Iostat | None
    vm: Vmstat | None
    met: str | None  # the published summary, where it lies beside
    cells: Cells  # of that, where iostat or vmstat is not there
    files: tuple[Path, ...]
    when: float  # the summaries are in this order


def directories(folder: Path) -> list[Path]:
    """The folder itself, or those in it that hold runs, by name."""
    inside = sorted(each for each in folder.iterdir() if each.is_dir())
    return [each for each in (folder, *inside) if any(path.name.startswith((OUTPUT, MET)) for path in each.iterdir())]


def runs(directory: Path, faults: Faults) -> Iterator[Run]:
    files = {text_files.plain(path.name): path for path in sorted(directory.iterdir()) if path.is_file()}
    tests = dict.fromkeys(test for name, path in files.items() if (test := _test(name, path, faults)))
    yield from (found for test in tests if (found := _run(directory, test, files, faults)) is not None)


def _test(name: str, path: Path, faults: Faults) -> Test | None:
    """None of what housekeeping said."""
    kind = next((kind for kind in (OUTPUT, MET) if name.startswith(kind) and BENCHMARK in name), None)
    test = names.test(name) if kind else None
    if kind and test is None:
        faults.add(path, None, f"its name says no test: {kind}TEST.rangeN.pkN.dopN was expected")
    return test


def _run(directory: Path, test: Test, files: Mapping[str, Path], faults: Faults) -> Run | None:
    paths = {kind: files[kind + test.suffix] for kind in (OUTPUT, IO, VM, MET) if kind + test.suffix in files}
    read = {kind: text_files.read(path, faults) for kind, path in paths.items()}
    texts = {kind: None if content is None else text_files.readable(content) for kind, content in read.items()}
    io, vm, met = texts.get(IO), texts.get(VM), texts.get(MET)
    whole = {OUTPUT, IO, VM} <= paths.keys()
    cells = {} if met is None or whole else parse_met(met, paths[MET], faults)
    content = texts.get(OUTPUT, "")
    if content is None:
        return None
    printed = _output(content, paths[OUTPUT], faults) if OUTPUT in paths else _of_met(test, cells)
    if printed is None:
        return None
    return Run(
        directory.resolve().name,
        test,
        printed,
        None if io is None else iostat.parse(io, paths[IO], faults),
        None if vm is None else vmstat.parse(vm, paths[VM], faults),
        met,
        cells,
        tuple(paths[kind] for kind in (OUTPUT, IO, VM, MET) if kind in paths and (kind != MET or cells)),
        paths.get(OUTPUT, paths.get(MET, directory)).stat().st_mtime,
    )


def _of_met(test: Test, cells: Cells) -> Output | None:
    """Where the output of sysbench was not published, its rate still is."""
    if RATE not in cells:
        return None
    name = "scan_rate" if test.scans else "qps"
    return Output("", Figures({name: float(cells[RATE])}), None)


def _output(content: str, path: Path, faults: Faults) -> Output | None:
    """A run that failed is a result of its own; an output that is none is a fault."""
    lines = content.split("\n")
    command = next((line for line in lines if "--table" in line or "--threads" in line), "")
    if said := output.failure(content):
        return Output(command, Figures({}), None, f"sysbench failed: {said}")
    try:
        return Output(command, output.parse(content), output.summary(content))
    except ParseError as error:
        last = max((number for number, line in enumerate(lines, 1) if line.strip()), default=1)
        faults.add(path, last, f"{error}: the output ends here", lines[last - 1])
        return None


def published(run: Run) -> Sequence[str]:
    """The figures of the device in the summary that lies beside: samples, r/s, rMB/s, w/s, wMB/s … o/s."""
    lines = (run.met or "").split("\n")
    cells = lines[2].split("\t") if len(lines) > 2 and lines[1].startswith("samp\tr/s") else []
    return cells if all(map(is_number, cells)) else ()


# A published sb.met as figures of a run, where the output of iostat or vmstat that it is made of was not published

RATE = "o/s"
NOTE = "figures of sb.met, rounded as it prints them; CPU and context switches count vmstat's banner lines"

_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_DISK: Mapping[str, tuple[str, str, float]] = {  # metric -> column per second, column per operation, one of it in ours
    "device_reads_per_s": ("r/s", "r/o", 1),
    "device_read_mb_per_s": ("rMB/s", "rKB/o", 1 / KIB),
    "device_writes_per_s": ("w/s", "", 1),
    "device_write_mb_per_s": ("wMB/s", "wKB/o", 1 / KIB),
}
_HOST: Mapping[str, tuple[str, str, float]] = {
    "context_switches_per_s": ("cs/s", "cs/o", 1),
    "host_cpu_busy_pct": ("cpu/s", "cpu/o", 1),
}
_PER_OPERATION: Mapping[str, tuple[str, float]] = {
    "reads_per_op": ("device_reads_per_s", 1),
    "read_kb_per_op": ("device_read_mb_per_s", KIB),
    "writes_per_op": ("device_writes_per_s", 1),
    "write_kb_per_op": ("device_write_mb_per_s", KIB),
    "context_switches_per_op": ("context_switches_per_s", 1),
}


def parse_met(text: str, path: Path, faults: Faults) -> Cells:
    """Each line of heads, and the cells of the line below it."""
    found: dict[str, str] = {}
    lines = text_files.all_lines(text)
    for at, line in enumerate(lines, 1):
        if line.startswith("samp"):
            heads, cells = line.split(), lines[at].split() if at < len(lines) else []
            if len(cells) == len(heads) and all(map(is_number, cells)):
                found |= dict(zip(heads, cells, strict=True))
            else:
                said = f"{len(heads)} figures were expected here, as the head above names them"
                faults.add_unknown(path, at + 1, said, "\t".join(cells))
    if RATE not in found:
        faults.add_unknown(path, None, f"a line of heads with {RATE}, and figures below it were expected")
    return found


def is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def disk_figures(cells: Cells) -> dict[str, float]:
    return dict(_figures(cells, _DISK))


def host_figures(cells: Cells) -> dict[str, float]:
    return dict(_figures(cells, _HOST))


def per_operation(metrics: Mapping[str, float], rate: float) -> dict[str, float]:
    """By the operations that our `qps` counts: of a scan sb.met counts thousands of rows."""
    return {
        name: metrics[per_second] * unit / rate
        for name, (per_second, unit) in _PER_OPERATION.items()
        if rate and per_second in metrics
    }


def _figures(cells: Cells, columns: Mapping[str, tuple[str, str, float]]) -> Iterator[tuple[str, float]]:
    """Of the two columns that tell a rate the one that is rounded less."""
    rate = float(cells.get(RATE, "0"))
    for metric, (per_second, per_operation_, unit) in columns.items():
        found = [(_half_a_digit(cells[per_second]), float(cells[per_second]))] if per_second in cells else []
        if rate and per_operation_ in cells:
            factor = rate * unit
            found.append((_half_a_digit(cells[per_operation_]) * factor, float(cells[per_operation_]) * factor))
        if found:
            yield metric, min(found)[1]


def _half_a_digit(cell: str) -> float:
    decimals = len(cell.partition(".")[2])
    return 0.5 / float(10**decimals)
