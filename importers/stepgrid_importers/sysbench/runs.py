"""Directories of runs: a build's microbenchmarks, each with the output of sysbench, iostat and vmstat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.drivers.sysbench.output import Summary, parse, summary
from stepgrid.drivers.sysbench.output import failure as fatal
from stepgrid.model.figures import Figures, ParseError
from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import iostat, text_files, vmstat
from stepgrid_importers.shared.iostat import Iostat
from stepgrid_importers.shared.vmstat import Vmstat
from stepgrid_importers.sysbench import met_file, names
from stepgrid_importers.sysbench.met_file import Cells
from stepgrid_importers.sysbench.names import Test

OUTPUT, IO, VM, MET = "sb.o.", "sb.io.", "sb.vm.", "sb.met."
BENCHMARK = ".range"


@dataclass(frozen=True, slots=True)
class Output:
    """Of sysbench: its figures, or why it has none."""

    command: str
    figures: Figures
    report: Summary | None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
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
    cells = {} if met is None or whole else met_file.parse(met, paths[MET], faults)
    content = texts.get(OUTPUT, "")
    if content is None:
        return None
    output = _output(content, paths[OUTPUT], faults) if OUTPUT in paths else _of_met(test, cells)
    if output is None:
        return None
    return Run(
        directory.resolve().name,
        test,
        output,
        None if io is None else iostat.parse(io, paths[IO], faults),
        None if vm is None else vmstat.parse(vm, paths[VM], faults),
        met,
        cells,
        tuple(paths[kind] for kind in (OUTPUT, IO, VM, MET) if kind in paths and (kind != MET or cells)),
        paths.get(OUTPUT, paths.get(MET, directory)).stat().st_mtime,
    )


def _of_met(test: Test, cells: Cells) -> Output | None:
    """Where the output of sysbench was not published, its rate still is."""
    if met_file.RATE not in cells:
        return None
    name = "scan_rate" if test.scans else "qps"
    return Output("", Figures({name: float(cells[met_file.RATE])}), None)


def _output(content: str, path: Path, faults: Faults) -> Output | None:
    """A run that failed is a result of its own; an output that is none is a fault."""
    lines = content.split("\n")
    command = next((line for line in lines if "--table" in line or "--threads" in line), "")
    if said := fatal(content):
        return Output(command, Figures({}), None, f"sysbench failed: {said}")
    try:
        return Output(command, parse(content), summary(content))
    except ParseError as error:
        last = max((number for number, line in enumerate(lines, 1) if line.strip()), default=1)
        faults.add(path, last, f"{error}: the output ends here", lines[last - 1])
        return None


def published(run: Run) -> Sequence[str]:
    """The figures of the device in the summary that lies beside: samples, r/s, rMB/s, w/s, wMB/s … o/s."""
    lines = (run.met or "").split("\n")
    cells = lines[2].split("\t") if len(lines) > 2 and lines[1].startswith("samp\tr/s") else []
    return cells if all(map(met_file.is_number, cells)) else ()
