"""The folder that is handed over: repro.sh, which needs sh and the engine's programs, its files, and a README."""

from __future__ import annotations

import math
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from stepgrid.host import files
from stepgrid.model.plan import Command, PlannedStage, PlannedStep, Value, runs_already
from stepgrid.model.records import Json, LaunchRequest
from stepgrid.model.secret_variables import is_digest
from stepgrid.model.table import group
from stepgrid.model.units import counted, duration
from stepgrid.plugins.driver import Context, RefusedError, absolute_inputs
from stepgrid.plugins.registry import driver, server_engine
from stepgrid.plugins.server import Access, RoleMaker, ServerEngine, ServerHome, templates
from stepgrid.run.attempt import InstalledBuild
from stepgrid.run.server_process import storage_engine
from stepgrid.summarize.formats import escape_markdown
from stepgrid_investigate.repro.finding import CPU, OPERATIONS, ReproArm, ReproError, ReproFinding, printed_figures
from stepgrid_page.folders import fill_folder

SCRIPT, README, BIN = "repro.sh", "README.md", "bin"
PREFIX = "STEPGRID_"  # of each variable of the environment that the script reads
ROUNDS = 6  # of both arms: all six on one side of 1 by chance happens once in 32 times
PLACES = 100_000  # a ratio of 1, as the shell counts
_ROOT = "/STEPGRID"  # begins a path that stands for a variable of the script
_VARIABLE = re.compile(rf"{_ROOT}/(\w+)", re.ASCII)
_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SOCKET_PATH = 107  # letters that a kernel takes
_WIDTH = 118
_PASSWORD = "repro"  # of a server that only its owner can reach


class Repro(Struct, frozen=True):
    """A script, as values."""

    finding: ReproFinding
    arms: tuple[ReproArm, ReproArm]
    rounds: int
    seconds: float  # of all rounds, estimated or as measured
    reductions: tuple[str, ...] = ()  # steps, options and sizes of the spec that it does without

    @property
    def commands(self) -> int:
        return len(self.arms[1].steps)


class Folder(Struct):
    """Files of a folder before they are written."""

    texts: dict[str, str] = {}  # path in the folder -> text
    copies: dict[str, Path] = {}
    programs: dict[str, ScriptProgram] = {}  # by the variable that names it
    socket: str | None = None  # of a server

    def fill(self, path: Path) -> None:
        for name, text in self.texts.items():
            files.make_folder((path / name).parent)
            files.write_text(path / name, text)
            if text.startswith("#!"):
                (path / name).chmod(0o755)
        for name, source in self.copies.items():
            files.make_folder((path / name).parent)
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, path / name)


class ScriptProgram(NamedTuple):
    words: tuple[str, ...]  # that start it
    owner: str = ""  # the arm that has a build of its own

    @property
    def name(self) -> str:
        return Path(self.words[-1]).name


def write(repro: Repro, path: Path) -> None:
    fill_folder(path, render(repro).fill)


def render(repro: Repro) -> Folder:
    folder, finding = Folder(), repro.finding
    bodies = [_ArmWriter(arm, repro.arms, folder).text() for arm in repro.arms]
    is_cpu, ratio = finding.metric.name == CPU, finding.interval.ratio
    texts = printed_figures(repro.arms[1].steps[-1])[OPERATIONS if is_cpu else finding.metric.name]
    environment = templates("repro")
    folder.texts[SCRIPT] = environment.get_template(f"{SCRIPT}.j2").render(
        head="\n".join(f"# {one_line(line)}".rstrip() for line in _head(repro, folder, bodies)),
        programs="\n".join(_program_lines(folder, bodies)),
        builds={}
        if all(not program.owner for program in folder.programs.values())
        else {arm.letter: [shlex.quote(one_line(line)) for line in arm.build_lines()] for arm in repro.arms},
        rounds=repro.rounds,
        arms="\n\n".join(bodies),
        glob="*".join(f'"{_escape(text)}"' if text else "" for text in texts),
        cpu=is_cpu,
        server=folder.socket is not None,
        writes=any("\n    write " in body for body in bodies),
        socket=folder.socket,
        places=PLACES,
        metric=shlex.quote(finding.metric.title),
        expected=finding.expected,
        decided=finding.is_difference,
        most_letters=_SOCKET_PATH - len(f"/{folder.socket}"),
        half=round(math.sqrt(ratio) * PLACES),
        sign="-lt" if ratio < 1 else "-gt",
    )
    folder.texts[README] = environment.get_template(f"{README}.j2").render(
        repro=repro,
        finding=finding,
        variables=[f"{PREFIX}{name}" for name in _used(folder, bodies)][:2],
        length=f"about {duration(repro.seconds)}",
        differences=_differences(repro),
        common=", ".join(_common_settings(repro)),
        loads=counted(finding.interval.loads, "round" if repro.reductions else "load"),
        omissions=list(_omissions(repro)),
        rounds=repro.rounds,
        script=SCRIPT,
        line=one_line,
        cell=lambda text: escape_markdown(one_line(str(text))),
    )
    return folder


def _used(folder: Folder, bodies: Sequence[str]) -> list[str]:
    return [name for name in folder.programs if any(f"${{{name}}}" in body for body in bodies)]


def _head(repro: Repro, folder: Folder, bodies: Sequence[str]) -> Iterator[str]:
    finding = repro.finding
    yield f"{finding.title}: {finding.step}, written by `stepgrid repro` from {finding.spec}"
    yield ""
    for arm in repro.arms:
        yield f"{arm.letter}: {arm.name}, {arm.build}"
    verdict = f", {finding.verdict}" if finding.verdict else ""
    yield f"{finding.metric.title} of B / A: {finding.expected}{verdict}, in {counted(finding.interval.loads, 'load')}"
    for difference in _differences(repro):
        yield f"differs: {difference.name}: {difference.base} / {difference.arm}"
    yield ""
    used = _used(folder, bodies)
    tools = "" if folder.socket is None else ", cat chmod env id mkdir mktemp rm sleep, and an ordinary user"
    yield f"Needs sh and {'the program' if len(used) == 1 else 'the programs'} below{tools}."
    yield f"  sh {SCRIPT}    {counted(repro.rounds, 'round')} of both arms by turns"
    yield "It reads these variables of the environment, and no others:"
    yield f"  {PREFIX}ROUNDS    rounds ({repro.rounds})"
    yield f"  {PREFIX}WORK      databases go to a new folder in this one, removed at the end (where this script is)"
    yield from (f"  {secret_variable(name)}    the value of {name}, a secret" for name in secret_digests(repro))
    yield from (f"  {PREFIX}{name:9} path of {folder.programs[name].name}" for name in used)
    yield "Exit status: 0 reproduced, 1 not reproduced, 2 a command failed, or a program is missing."


def _program_lines(folder: Folder, bodies: Sequence[str]) -> Iterator[str]:
    """Set each program that is used; one that both arms share is set once, and may come from PATH."""
    used = _used(folder, bodies)
    for name in used:
        program = folder.programs[name]
        words = list(map(shlex.quote, program.words))
        first = next((other for other in used if folder.programs[other] == program), name)
        yield f"{name}=${{{PREFIX}{name}:-}}"
        if first != name:
            yield f'[ -n "${name}" ] || {name}=${first}'
            yield f'[ -x "${name}" ] || fail "{PREFIX}{name} is no program: ${name}"'
            continue
        start = words[0] if len(words) == 1 else f"$HERE/{BIN}/{name}"
        files_of_it = [word for word in program.words if word.startswith("/") and ":" not in word]
        is_here = " && ".join([f"[ -x {words[0]} ]", *(f"[ -e {shlex.quote(word)} ]" for word in files_of_it[1:])])
        yield f'[ -n "${name}" ] || {{ {is_here} && {name}={start}; }} || {name}='
        if not program.owner:
            substitution = f'{name}=$(command -v {shlex.quote(program.name)}) && substitute {words[-1]} "${name}"'
            yield f'[ -n "${name}" ] || {{ {substitution}; }} || {name}='
        yield f'[ -n "${name}" ] || lack {name} {words[-1]} {program.owner}'.rstrip()
        yield f'[ -x "${name}" ] || fail "{PREFIX}{name} is no program: ${name}"'
        if len(words) > 1:
            folder.texts[f"{BIN}/{name}"] = f'#!/bin/sh\nexec {" ".join(words)} "$@"\n'
    for name in (name for name in used if folder.programs[name].owner == "A"):
        other = f"B{name[1:]}"
        if other in used and folder.programs[other].owner:
            sentence = f"both arms would run one file, ${name}: name two by {PREFIX}{name} and {PREFIX}{other}"
            yield f'! [ "${name}" -ef "${other}" ] || fail "{sentence}"'


def one_line(text: str) -> str:
    """Write a text that must not end its line, such as a comment."""
    return _LINE_BREAKS.sub(" ", text)


class Difference(NamedTuple):
    name: str
    base: str
    arm: str
    steps: str = ""


def _settings(step: PlannedStep) -> dict[str, Json]:
    return {**step.settings, **{name: option.value for name, option in step.options.items()}}


def _differences(repro: Repro) -> list[Difference]:
    base, arm = repro.arms
    differences = [Difference("build", base.build, arm.build)] if base.build != arm.build else []
    changes = []
    for one, other in zip(base.steps, arm.steps, strict=False):
        before, after = _settings(one), _settings(other)
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                changes.append(((name, str(before.get(name, "unset")), str(after.get(name, "unset"))), other.name))
    return [*differences, *(Difference(*change, ", ".join(names)) for change, names in group(changes).items())]


def _common_settings(repro: Repro) -> Iterator[str]:
    """List the options and plain settings that the measured step has alike in both arms."""
    before, after = (_settings(arm.steps[-1]) for arm in repro.arms)
    for name, value in after.items():
        if before.get(name) == value and isinstance(value, str | int | float):
            yield escape_markdown(one_line(f"{name} {value}"))


def _omissions(repro: Repro) -> Iterator[str]:
    for name in repro.arms[1].waits:
        yield f"`{name}`: stepgrid waited until engine and device were idle"
    setups = [step.setup for step in repro.arms[1].steps]
    if any(setup.start for setup in setups):
        yield "the state of the page cache at the start of a step"
    if any(setup.before or setup.after for setup in setups):
        yield "probes, whose statements ran before and after steps"
    for name in dict.fromkeys(
        name for step in repro.arms[1].steps for name in step.setup.launch.to_json() if name not in ("cpus", "env")
    ):
        yield f"`launch: {name}`"


# Commands of an arm, as functions of the script


class _ArmWriter(Struct):
    arm: ReproArm
    arms: tuple[ReproArm, ReproArm]
    folder: Folder
    lines: list[str] = []
    documents: dict[str, str] = {}  # that the script has written so far

    def text(self) -> str:
        number = 0
        for position, stage in enumerate(self.arm.stages):
            home = self._begin_server(stage, is_first=position == 0)
            for step in stage.steps:
                number += 1
                name = f"{number}-{re.sub(r'[^A-Za-z0-9_.-]', '_', step.name)}"
                self._add_step(stage, step, name, home)
            if home:
                self.lines.append(f"stop {server_of(stage, self.arm).stop.name.removeprefix('SIG')}")
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"run_{self.arm.letter}() {{ # {one_line(self.arm.name)}\n{body}\n}}"

    def _add_step(self, stage: PlannedStage, step: PlannedStep, name: str, home: ServerHome | None) -> None:
        inputs = {word: self._copy(path) for word, path in absolute_inputs(step.setup).items()}
        client = self.arm.builds[step.client] if step.client else None
        context = Context(
            programs=self._programs(stage, step),
            version=self.arm.builds[stage.build].version,
            data=Path(f"{_ROOT}/DATA"),
            folder=Path(f"{_ROOT}/HERE/steps/{name}"),
            seed=step.seed,
            server=home.access if home else None,
            client_version=client.version if client else None,
            inputs=inputs,
        )
        command = _command(step, context, is_first=step is self.arm.steps[0])
        self.folder.texts[f"steps/{name}/.keep"] = ""
        self._add_files({**step.files, **command.files}, f"steps/{name}", command.secrets)
        self.lines += self._call(f"run {name}", _launched(command, step.setup.launch))

    def _programs(self, stage: PlannedStage, step: PlannedStep | None = None) -> dict[str, tuple[str, ...]]:
        builds = [(stage.build, self.arm.letter)]
        if step and step.client:
            is_common = all(step.client in arm.builds for arm in self.arms)
            builds.append((step.client, "" if is_common else self.arm.letter))
        words: dict[str, tuple[str, ...]] = {}
        for build, letter in builds:
            programs = self.arm.builds[build].programs
            for name, prefix in programs.items():
                is_only = len(programs) == 1 and build == stage.build
                program = ScriptProgram(tuple(prefix), "" if all(build in arm.builds for arm in self.arms) else letter)
                words[name] = (f"{_ROOT}/{self._variable(letter, '' if is_only else name, program)}",)
        return words

    def _variable(self, letter: str, name: str, program: ScriptProgram) -> str:
        """Name the variable of a program; two whose names differ in other letters than these are numbered."""
        word = re.sub(r"[^A-Z0-9]", "_", name.upper())
        first = variable = "_".join(filter(None, (letter or "CLIENT", word)))
        numbers = count(2)
        while self.folder.programs.setdefault(variable, program) != program:
            variable = f"{first}_{next(numbers)}"
        return variable

    def _copy(self, path: str) -> str:
        name = f"inputs/{Path(path).name}"
        if self.folder.copies.setdefault(name, Path(path)) != Path(path):
            raise ReproError(f"two files are named {Path(path).name}: {self.folder.copies[name]} and {path}")
        return f"{_ROOT}/HERE/{name}"

    def _add_files(self, texts: Mapping[str, str], folder: str, anew: Sequence[str] = ()) -> None:
        """Put files beside the script; those with its paths, or that their program removes, are written by it."""
        for name, text in texts.items():
            if _ROOT not in text and name not in anew:
                self.folder.texts[f"{folder}/{name}"] = text
                continue
            path = _word(name if _ROOT in name else f"{_ROOT}/HERE/{folder}/{name}")
            if name not in anew and self.documents.get(path) == text:
                continue
            self.documents[path] = text
            document = _VARIABLE.sub(r"${\1}", re.sub(r"([\\$`])", r"\\\1", text)).rstrip()
            end = "END"
            while end in document.splitlines():  # of its own: what follows is no part of the document
                end += "_"
            self.lines.append(f"write {path} <<{end}\n{document}\n{end}")

    def _call(self, function: str, command: Command) -> Iterator[str]:
        environment = [_assignment(name, value) for name, value in command.env.items()]
        words = [function, *(["env", *environment] if environment else []), *map(_word, command.argv)]
        line, indent = words[0], "    "
        for word in words[1:]:
            if len(line) + len(word) > _WIDTH - 10:
                yield f"{line} \\"
                line = indent
            line = f"{line} {word}" if line != indent else f"{indent}{word}"
        yield line

    # its server

    def _begin_server(self, stage: PlannedStage, is_first: bool) -> ServerHome | None:
        build = self.arm.builds[stage.build]
        if stage.steps[0].setup.service or runs_already(build.record.source):
            raise ReproError(f"{stage.title}: a script starts no server that the spec declares, or that ran before")
        if server_engine(build.record.engine) is None:
            return None
        server, home = server_of(stage, self.arm), self._home(stage, build)
        self.folder.socket = server.socket
        folder = f"server/{self.arm.letter}"
        inputs = {word: self._copy(path) for word, path in absolute_inputs(stage.steps[0].setup).items()}
        options = _options(stage.steps[0], inputs)
        try:
            self._add_files(server.configuration(home, options), folder)
            commands = [*(server.initialize(home) if is_first else ()), *server.prepare(home)]
            if is_first and isinstance(server, RoleMaker):
                commands.append(server.make_role(home))
            for command in commands:
                self._add_files(command.files, folder)
                self.lines += self._call("prepare", command)
            command = server.serve(home)
        except LookupError as error:
            raise ReproError(f"{stage.title}: the server cannot be set up: {error}") from None
        self._add_files(command.files, folder, command.secrets)
        self.lines += self._call("start", _launched(command, stage.steps[0].setup.launch))
        return home

    def _home(self, stage: PlannedStage, build: InstalledBuild) -> ServerHome:
        server, folder = server_of(stage, self.arm), Path(f"{_ROOT}/HERE/server/{self.arm.letter}")
        sockets = Path(f"{_ROOT}/SOCKETS")
        access = Access(
            engine=build.record.engine,
            sockets=sockets,
            socket=sockets / server.socket,
            port=server.port,
            user=server.user,
            password=_PASSWORD,
            database=server.database,
            storage_engine=storage_engine(build.record.engine, stage),
        )
        facts = build.record.facts
        tables = facts.get("system tables")
        folders = {"system tables": self.arm.folder / str(tables)} if tables else {}
        programs = self._programs(stage)
        scratch = Path(f"{_ROOT}/WORK/scratch")
        data = Path(f"{_ROOT}/DATA")
        return ServerHome(programs, build.version, data, folder, access, scratch, folders, account=f"{_ROOT}/ACCOUNT")


def server_of(stage: PlannedStage, arm: ReproArm) -> ServerEngine:
    server = server_engine(arm.builds[stage.build].record.engine)
    assert server is not None
    return server


def _options(step: PlannedStep, inputs: Mapping[str, str]) -> Mapping[str, Value]:
    """Replace files that options name by their copies."""
    return {name: inputs.get(str(option.value), option.value) for name, option in step.options.items()}


def _command(step: PlannedStep, context: Context, is_first: bool) -> Command:
    """Make a command; a first one, which finds an empty folder, is refused if it needs a database."""
    kind, options = driver(step.kind), _options(step, context.inputs)
    try:
        if is_first:
            with tempfile.TemporaryDirectory() as empty:
                kind.command(step.settings, options, context._replace(data=Path(empty)))  # type: ignore[attr-defined]
        command: Command = kind.command(step.settings, options, context)  # type: ignore[attr-defined]
    except (LookupError, ValueError, AttributeError, RefusedError) as error:
        raise ReproError(f"step `{step.name}`: no command of a `{step.kind}` can be made: {error}") from None
    if "stepgrid" in " ".join(command.argv[:3]).replace(_ROOT, ""):
        raise ReproError(f"step `{step.name}`: a `{step.kind}` is run by stepgrid itself, not by a program")
    return command


def _launched(command: Command, launch: LaunchRequest) -> Command:
    """Add what a script can do of `launch:`."""
    prefix = ("taskset", "-c", launch.cpus) if launch.cpus else ()
    return Command((*prefix, *command.argv), {**command.env, **launch.env})


# Words of the shell


def _word(text: str) -> str:
    """Quote a word, with variables in place of their paths."""
    if _ROOT not in text:
        return shlex.quote(text)
    text = _VARIABLE.sub(r"${\1}", _escape(text))
    return f'"{text}"'


def _assignment(name: str, value: str) -> str:
    """Set a variable; the value of a secret comes from whoever runs the script."""
    if is_digest(value):
        return f'"{name}=${{{secret_variable(name)}:?the value of {name}, which no script has}}"'
    return _word(f"{name}={value}")


def secret_variable(name: str) -> str:
    return f"{PREFIX}{re.sub(r'[^A-Za-z0-9_]', '_', name)}"


def secret_digests(repro: Repro) -> dict[str, str]:
    """Map variables that are secrets to their digests, which must be the same in both arms."""
    pairs = {
        (pair[0], str(pair[1]))
        for arm in repro.arms
        for step in arm.steps
        for pair in step.setup.variables
        if is_digest(pair[1])
    }
    if len(digests := dict(sorted(pairs))) < len(pairs):
        raise ReproError("a variable that is a secret has several values, and a script takes one of them")
    return digests


def _escape(text: str) -> str:
    return re.sub(r'([\\$`"])', r"\\\1", text)
