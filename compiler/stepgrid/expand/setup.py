"""Setup of a step besides its options: launch, service, probes, collectors, and the files that its command reads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import json

from stepgrid.errors import StepgridError
from stepgrid.expand.axes import Point
from stepgrid.expand.builds import Build
from stepgrid.expand.clients import ClientRequest, Clients
from stepgrid.expand.options import ResolvedSettings
from stepgrid.expand.scope import PARAMS, STORAGE_ENGINE, UNSET, AlreadyReported, Name, Scope
from stepgrid.expand.service import mentioned_by_service, resolve_service
from stepgrid.expand.steps import STEADY, StepEntry
from stepgrid.language import files, site
from stepgrid.language.files import checksum, holds_data
from stepgrid.language.models import Launch, Spec, SpecCollector, SpecProbe
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Text, width
from stepgrid.model.plan import CLIENT, Json, Option, inner_texts, listed_texts, runs_already
from stepgrid.model.records import LaunchRequest, ProbeRequest, StepSetup, replace
from stepgrid.model.secret_variables import must_hide, seal
from stepgrid.plugins.collector import ENGINE_STATE
from stepgrid.plugins.driver import InputFiles, OptionFiles, Placeholders, StepFiles, find_on_path, possible_file_names
from stepgrid.plugins.engine import IndebtedEngine, WrittenOptions
from stepgrid.plugins.registry import client_engine, driver, engine, input_files, runs_on, step_files
from stepgrid.plugins.server import RevisedStorage


class InputFile(NamedTuple):
    """A file that a step's command reads where it lies."""

    path: str
    checksum: str


class OptionFile(NamedTuple):
    """An option whose value may name files, and those that it names."""

    option: str
    path: str
    where: Location
    inputs: Mapping[str, InputFile]
    is_written: bool  # by the engine


class ResolvedSetup(NamedTuple):
    values: StepSetup
    client: Build | None = None  # of the step: its id is known when its source is
    files: Mapping[str, str] = {}  # name in the step's folder -> text

    def observed(self, collector: Mapping[str, Json]) -> ResolvedSetup:
        """Add a collector that no spec declares, and leave out those that it does: they cost time, too."""
        return self._replace(values=replace(self.values, collectors=(collector,)))

    def with_files(self, key: Literal["inputs", "named"], inputs: Mapping[str, InputFile]) -> ResolvedSetup:
        """Add files that its command reads where they lie: their checksums, and their paths under a key."""
        if not inputs:
            return self
        checksums = {**self.values.files, **{name: entry.checksum for name, entry in inputs.items()}}
        paths = {name: entry.path for name, entry in inputs.items()}
        values = replace(self.values, files=checksums)
        if key == "inputs":
            return self._replace(values=replace(values, inputs={**values.inputs, **paths}))
        return self._replace(values=replace(values, named={**values.named, **paths}))

    def attaching(self, client: Build | None, texts: Mapping[str, str]) -> ResolvedSetup:
        """Add what the step brings along."""
        if not texts:
            return self._replace(client=client)
        checksums = {name: files.digest(text.encode()) for name, text in texts.items()}
        return ResolvedSetup(replace(self.values, files=checksums), client, texts)


def storage_engine(build: Build, scope: Scope) -> str:
    """Find the storage engine of a server: the param of that name, else the engine's default."""
    value, _ = scope.look_up(PARAMS, STORAGE_ENGINE)
    return engine(build.engine).default_storage_engine if value is UNSET else str(value)


def _storage_revision(build: Build, storage_engine: str) -> int:
    """Return the revision of a server's configuration as far as what is measured goes by it."""
    kind = engine(build.engine)
    if not isinstance(kind, RevisedStorage) or runs_already(build.source):
        return 0
    return kind.storage_revisions.get(storage_engine, 0)


def option_files(build: Build, options: Mapping[str, Option], spec_files: SpecFiles) -> list[OptionFile]:
    """Find the files that options name."""
    kind = engine(build.engine)
    patterns = kind.written_options if isinstance(kind, WrittenOptions) else ()
    return [
        spec_files.option_file(name, option, any(fnmatchcase(name, pattern) for pattern in patterns))
        for name, option in options.items()
        if isinstance(option.value, str)
    ]


class SetupResolver:
    """Resolves the setup of a step under one build; what no choice changes is computed once."""

    def __init__(self, entry: StepEntry, build: Build, spec: Spec, spec_files: SpecFiles, clients: Clients) -> None:
        self._entry, self._build, self._files, self._clients = entry, build, spec_files, clients
        self._spec_launch, self._spec_start = _launch_values(spec.launch), spec.start
        self._attaching, self._reading, kind = step_files(entry.kind), input_files(entry.kind), driver(entry.kind)
        self._option_reader = kind if isinstance(kind, OptionFiles) else None
        self._client_engine = client_engine(entry.kind) if runs_on(entry.kind, build.engine) else None
        self.needs_settings = bool(client_engine(entry.kind) or self._attaching or self._reading)
        self._is_server = engine(build.engine).server
        probes = [probe for probe in spec.probes if takes_probe(build, probe)]
        collectors = [_collector_values(item) for item in spec.collectors if is_observed(item, entry)]
        server: object = engine(build.engine)
        has_asker = any(item.get("collector") == ENGINE_STATE for item in collectors)
        if entry.is_to_be_steady and isinstance(server, IndebtedEngine) and not has_asker:
            collectors.append({"name": ENGINE_STATE, "collector": ENGINE_STATE})
        self._constant = (
            StepSetup(timing=entry.timing)
            if entry.timing
            else StepSetup(
                before=tuple(_probe_request(probe) for probe in probes if is_timed(entry, probe.before)),
                after=tuple(_probe_request(probe) for probe in probes if is_timed(entry, probe.after)),
                collectors=tuple(collectors),
                until=STEADY if entry.is_to_be_steady else None,
                search=entry.search.to_json() if entry.search is not None else {},
            )
        )
        self._bases: dict[Any, tuple[ResolvedSetup, Mapping[str, InputFile]]] = {}  # without a service

    def axes(self, points: Iterable[tuple[int, Point]]) -> Iterator[int]:
        """List the axes whose points set something here."""
        return (axis for axis, point in points if point.launch is not None or point.start is not None)

    def names(self) -> Iterator[Name]:
        """List the names that it may look at."""
        yield STORAGE_ENGINE, ""
        yield from mentioned_by_service(self._build)

    def resolve(self, points: Sequence[Point], scope: Scope, settings: ResolvedSettings | None) -> ResolvedSetup:
        base, named = self._base(points, scope)
        inputs: Mapping[str, InputFile] = {}
        attached: Mapping[str, str] = {}
        client: Build | None = None
        if settings is not None:
            attached = self._files.attached(self._attaching, self._entry, settings) if self._attaching else {}
            inputs = self._files.inputs(self._reading, self._entry, settings) if self._reading else {}
            client = self._client(settings)
            env = base.values.launch.env
            named = {**self._files.libraries(client.source, env), **named} if client is not None else named
            if self._reading:
                named = {**named, **self._files.named_by_settings(self._reading, self._entry, settings, env)}
            named = {name: entry for name, entry in named.items() if name not in inputs and name not in attached}
        setup = base.attaching(client, attached).with_files("inputs", inputs).with_files("named", named)
        return setup._replace(values=self._files.share(setup.values))

    def with_option_files(
        self, setup: ResolvedSetup, settings: ResolvedSettings, option_files: Sequence[OptionFile]
    ) -> ResolvedSetup:
        """Add files that options name, without those that a step of this spec writes before."""
        named: dict[str, InputFile] = {}
        read = self._option_reader.read_options(settings.values) if self._option_reader else ()
        for file in option_files:
            if file.option in read:
                self._files.require(file)
            if file.is_written and file.option not in read:
                self._files.written.add(file.path)
            elif file.path not in self._files.written:
                named |= file.inputs
        return setup.with_files("named", named)

    def _base(self, points: Sequence[Point], scope: Scope) -> tuple[ResolvedSetup, Mapping[str, InputFile]]:
        """Resolve a setup without files of its settings, and find the files that it names."""
        patches = tuple([point for point in points if point.launch is not None or point.start is not None])
        engine_name = storage_engine(self._build, scope) if self._is_server else None
        service = resolve_service(self._build, scope)
        key = (patches, engine_name)
        if not service and key in self._bases:
            return self._bases[key]
        launch = dict(self._spec_launch)
        secrets = {*listed_texts(launch.get("secret"))}
        for point in patches:
            launch |= _launch_values(point.launch)
            secrets |= {*listed_texts(launch.get("secret"))}
        launch.pop("secret", None)
        if self._entry.cpus is not None:
            launch["cpus"] = str(self._entry.cpus)
        request = LaunchRequest(**launch)  # type: ignore[arg-type]  # as its model has checked
        setup = replace(
            self._constant,
            launch=request,
            start=next((point.start for point in reversed(patches) if point.start is not None), self._spec_start),
            storage_engine=engine_name,
            storage_revision=_storage_revision(self._build, engine_name or ""),
            service=service,
        )
        libraries = self._files.libraries(self._build.source, request.env)
        named = {**libraries, **self._files.named_by_setup(setup, secrets)}
        if service is not None:
            setup = replace(setup, service=replace(service, env=seal(service.env, secrets)))
        setup = replace(setup, launch=replace(request, env=seal(request.env, secrets)))
        self._bases[key] = ResolvedSetup(setup), named
        return self._bases[key]

    def _client(self, settings: ResolvedSettings) -> Build | None:
        if self._client_engine is None or settings.values[CLIENT] is None:
            return None
        entry, at = self._entry, settings.values.at.get(CLIENT)
        where = entry.where if at is None else Location.read(at)
        name = str(settings.values[CLIENT])
        return self._clients.find(ClientRequest(name, self._client_engine, entry.base, where, at is not None))


def _launch_values(launch: Launch | None) -> dict[str, Json]:
    return {} if launch is None else launch.model_dump(mode="json", exclude_defaults=True)


# Probes and collectors


def is_timed(entry: StepEntry, patterns: Iterable[str]) -> bool:
    """Decide if a probe whose steps have these patterns is timed at a step; a name may have brackets in it."""
    names = (entry.name, entry.base)
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns for name in names)


def takes_probe(build: Build, probe: SpecProbe) -> bool:
    """Decide if a probe suits a build: SQL is for servers."""
    return probe.sql is None or engine(build.engine).server


def is_observed(collector: SpecCollector, entry: StepEntry) -> bool:
    """Decide if a collector observes a step: without `steps` it observes everything that is measured."""
    if not collector.steps:
        return entry.flag("measured", True)
    return entry.name in collector.steps or entry.base in collector.steps


def _probe_request(probe: SpecProbe) -> ProbeRequest:
    """Write a probe for the plan; a single name of counters is no list, for the sake of earlier ids."""
    counters = tuple(map(str, probe.counters))
    sql, command = None if probe.sql is None else str(probe.sql), tuple(map(str, probe.command or ()))
    names = counters[0] if len(counters) == 1 else counters
    return ProbeRequest(name=str(probe.name), sql=sql, command=command, counters=names)


def _collector_values(collector: SpecCollector) -> dict[str, Json]:
    """Write a collector for the plan and identity."""
    model = collector.model_dump(mode="json", exclude_defaults=True, exclude={"steps", "settings"})
    return {
        name: [*map(str, value)] if isinstance(value, list | tuple) else str(value) if isinstance(value, str) else value
        for name, value in {**collector.settings, **model}.items()
    }


# Files: texts that steps bring along, which are read while the spec is planned (jobs never read the spec), and files
# that commands read where they lie. Identity has their contents, the plan their paths

LARGEST = 1 << 20  # bytes
_NO_VARIABLES: Mapping[str, Json] = {}


class FileError(StepgridError):
    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class SpecFiles:
    """Files of a spec, each read once."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self._spec, self._yaml_files, self._problems = document.path, frozenset(document.files), problems
        self._spec_folder = Path(self._spec).parent
        self._root = os.path.realpath(self._spec_folder).rstrip("/")
        self.written: set[str] = set()  # paths that options of steps name for the engine to write
        self._paths: dict[str, str] = {}  # by names in the spec
        self._texts: dict[str, str] = {}
        self._checksums: dict[tuple[str, bool], str | None] = {}
        self._programs: dict[Any, str | None] = {}  # of PATH
        self._option_files: dict[tuple[str, Option, bool], OptionFile] = {}
        self._setups: dict[bytes, StepSetup] = {}
        self._libraries: dict[Any, Mapping[str, InputFile]] = {}
        self._folder_links: dict[str, Sequence[str]] = {}

    def share(self, setup: StepSetup) -> StepSetup:
        """Return one object for equal setups: most steps have the same."""
        return self._setups.setdefault(json.encode(setup, enc_hook=id), setup)  # a secret is equal to itself alone

    def attached(self, plugin: StepFiles, entry: StepEntry, settings: ResolvedSettings) -> Mapping[str, str]:
        """Read the texts that a step brings along, by their names in its folder."""

        def read(name: str) -> str:
            where, quoted = _setting_location(name, entry, settings)
            path = str(self._folder(where) / name)
            try:
                if not site.may_read(path, self._spec):
                    raise FileError("file-outside", site.outside_message(path), site.OUTSIDE_HINT)
                if path not in self._texts:
                    self._texts[path] = _read_text(path)
            except FileError as error:
                self._problems.add(error.code, where, str(error), error.hint, quoted)
                raise AlreadyReported(str(error)) from None
            names.append(name)
            return self._texts[path]

        names: list[str] = []
        try:
            return plugin.files(settings.values, read)
        except ValueError as error:  # what a file says is not what it should
            settings_named = (name for name in settings.values.at if f"`{name}`" in str(error))
            where, quoted = _setting_location(names[-1] if names else next(settings_named, ""), entry, settings)
            self._problems.add("wrong-setting", where, str(error), width=quoted)
            raise AlreadyReported(str(error)) from None

    def inputs(self, plugin: InputFiles, entry: StepEntry, settings: ResolvedSettings) -> Mapping[str, InputFile]:
        """Find the files that a command's words name, and those that it lists, by their names in the spec."""
        inputs: dict[str, InputFile] = {}
        for word in plugin.words(settings.values):
            path = self._setting_path(word, entry, settings)
            if (item := self._input(path)) is not None:
                inputs[word] = item
            elif hint := _missing_file(word, path):
                texts = (text for link in reversed(entry.links) for text in inner_texts(link.model_extra or {}))
                locations = (text.where for text in texts if isinstance(text, Text) and text == word)
                where = next(locations, None) or _setting_location(word, entry, settings)[0]
                self._problems.add("file-not-found", where, f"there is no file `{path}`", hint, len(word))
        for name in plugin.listed(settings.values):
            inputs[name] = self._listed_input(name, entry, settings)
        return inputs

    def named_by_settings(
        self, plugin: InputFiles, entry: StepEntry, settings: ResolvedSettings, env: Mapping[str, Json]
    ) -> dict[str, InputFile]:
        """Find programs of PATH, files that are named in any other way, and targets of links in listed folders."""
        entries: dict[str, InputFile] = {}
        for setting in _word_settings(entry.kind):
            words = settings.values.get(setting)
            if isinstance(words, list):
                texts = [str(word) for word in words]
                entries |= self._named_by_words(texts, lambda name: self._setting_path(name, entry, settings), env)
        for name in (*plugin.listed(settings.values), *entries):
            entries |= self._link_targets(name, self._setting_path(name, entry, settings))
        return entries

    def named_by_setup(self, setup: StepSetup, secrets: Collection[str]) -> dict[str, InputFile]:
        """Find files that `launch.env`, a service, probes and collectors name."""
        service, env = setup.service, setup.launch.env
        texts = [
            text
            for name, text in setup.variables  # what is looked for is noted: no secret that is no path
            if not must_hide(name, secrets) or os.path.exists(self._spec_path(text))  # noqa: PTH110 - of any length
        ]
        entries = self._named_by_words(["", *texts], self._spec_path)
        if service is not None:
            entries |= self._named_by_words(service.argv, self._spec_path, service.env or env)
        requests = (service.ready, service.stop) if service else ()
        commands = [request.command for request in (*requests, *setup.before, *setup.after)]
        for words in (*commands, *(collector.get("command") for collector in setup.collectors)):
            entries |= self._named_by_words([*map(str, words or ())], self._spec_path, env)
        return entries

    def option_file(self, name: str, option: Option, is_written: bool) -> OptionFile:
        key = (name, option, is_written)
        if key not in self._option_files:
            where, text = Location.read(option.where), str(option.value)
            inputs = self._named_by_words(["", text], lambda word: self._path(word, where))
            self._option_files[key] = OptionFile(name, self._path(text, where), where, inputs, is_written)
        return self._option_files[key]

    def require(self, file: OptionFile) -> None:
        """Report an option whose file is missing, unless a step before writes it."""
        if file.inputs or file.path in self.written:
            return
        message = f"option `{file.option}`: there is no file `{file.path}`"
        self._problems.add("file-not-found", file.where, message, width=len(file.option))
        raise AlreadyReported(file.option)

    def libraries(self, source: Mapping[str, Json], env: Mapping[str, Json]) -> Mapping[str, InputFile]:
        """Find shared libraries of a system's program, which an upgrade replaces below it."""
        name = str(source.get("system", ""))
        folders = tuple(filter(None, str(env.get("LD_LIBRARY_PATH", "")).split(":")))
        if (name, folders) not in self._libraries:
            program = name if "/" in name else self._program(name)
            paths = files.shared_libraries(program, folders) if program else {}
            inputs = {library: self._input(path) for library, path in paths.items()}
            self._libraries[name, folders] = {library: item for library, item in inputs.items() if item is not None}
        return self._libraries[name, folders]

    def _named_by_words(
        self, words: Sequence[str], resolve: Callable[[str], str], env: Mapping[str, Json] = _NO_VARIABLES
    ) -> dict[str, InputFile]:
        """Find folders only by a path below the spec's, which holds the results, too: `data` is a plain word."""
        entries: dict[str, InputFile] = {}
        program = self._program(words[0], env.get("PATH")) if words else None
        if program and (item := self._input(program)) is not None:
            files.record_program(words[0], item.checksum)
            entries[words[0]] = item
        for name in possible_file_names(words):
            path = resolve(name)
            is_below = "/" in name and not name.startswith("/") and os.path.realpath(path).startswith(f"{self._root}/")
            if (item := self._input(path, only_files=not is_below)) is not None:
                entries[name] = item
        return entries

    def _program(self, name: str, folders: Json = None) -> str | None:
        if (name, folders) not in self._programs:
            self._programs[name, folders] = find_on_path(name, None if folders is None else str(folders))
        return self._programs[name, folders]

    def _link_targets(self, name: str, folder: str) -> Mapping[str, InputFile]:
        """Find the targets of links in a folder: its checksum has their paths, not what is there."""
        entries: dict[str, InputFile] = {}
        for link in self._links(folder):
            target = os.path.realpath(os.path.join(folder, link))  # noqa: PTH118 - an import less
            if (item := self._input(target, only_files=not site.may_read(target, self._spec))) is not None:
                entries[f"{name.rstrip('/')}/{link}"] = item
        return entries

    def _links(self, folder: str) -> Sequence[str]:
        if folder not in self._folder_links:
            is_folder = os.path.isdir(folder)  # noqa: PTH112 - an import less
            self._folder_links[folder] = files.tree_links(Path(folder)) if is_folder else ()
        return self._folder_links[folder]

    def _listed_input(self, name: str, entry: StepEntry, settings: ResolvedSettings) -> InputFile:
        where, quoted = _setting_location(name, entry, settings)
        path = self._path(name, where)
        if not site.may_read(path, self._spec):  # a folder may be all of the disk
            self._problems.add("file-outside", where, site.outside_message(path), site.OUTSIDE_HINT, quoted)
            raise AlreadyReported(name)
        if (item := self._input(path, only_files=False)) is not None:
            return item
        folder = Path(path).parent
        names = [file.name for file in sorted(folder.iterdir())] if folder.is_dir() else []
        hint = nearest(Path(path).name, names) if names else ""
        self._problems.add("file-not-found", where, f"there is no file `{path}`", hint, quoted)
        raise AlreadyReported(name)

    def _spec_path(self, name: str) -> str:
        if name not in self._paths:
            self._paths[name] = os.path.normpath(self._spec_folder / name)
        return self._paths[name]

    def _setting_path(self, name: str, entry: StepEntry, settings: ResolvedSettings) -> str:
        if len(self._yaml_files) <= 1:
            return self._spec_path(name)
        return self._path(name, _setting_location(name, entry, settings)[0])

    def _path(self, name: str, where: Location) -> str:
        """Make a path relative to the file that names it, as those of patches are."""
        return os.path.normpath(self._folder(where) / name)

    def _folder(self, where: Location) -> Path:
        return Path(where.file if where.file in self._yaml_files else self._spec).parent

    def _input(self, path: str, only_files: bool = True) -> InputFile | None:
        """Compute a checksum; None if there is nothing to read."""
        key = (path, only_files)
        if key not in self._checksums:
            self._checksums[key] = _try_checksum(path, only_files)
        value = self._checksums[key]
        return None if value is None else InputFile(path, value)


@cache
def _word_settings(kind: str) -> tuple[str, ...]:
    """List the settings that are words of a command."""
    plugin = driver(kind)
    if not isinstance(plugin, Placeholders):
        return ()
    return tuple(plugin.placeholders(()))


def _setting_location(name: str, entry: StepEntry, settings: ResolvedSettings) -> tuple[Location, int]:
    """Locate a setting by its name, or by that of a file in it, with the width of the name."""
    for setting, at in settings.values.at.items():
        if name == setting or name in inner_texts(settings.values.get(setting)):
            return Location.read(at), width(name)
    return entry.where, width(entry.base)


def _missing_file(word: str, path: str) -> str:
    """Find out whether a word is meant for a file beside the spec that is not there; return what is there instead.

    A program may write below its own folder: only a way out of it, or a name that is nearly right, is a mistake.
    """
    if "/" not in word or word.startswith(("/", "-")) or re.search(r"[\s=:]", word) or os.path.lexists(path):
        return ""
    folder, name = os.path.split(path)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []  # noqa: PTH112, PTH208
    is_meant = word.startswith("../") or get_close_matches(name, names, 1)
    return nearest(name, names) if names and is_meant else ""


def _read_text(path: str) -> str:
    file = Path(path)
    try:
        if not file.is_file():  # what is no plain file may wait for its writer
            raise FileError("file-not-found", f"there is no file `{path}`")
        content = files.head(path, LARGEST)
    except OSError as error:
        raise FileError("file-not-found", f"`{path}` cannot be read: {error.strerror}") from None
    files.record_file(path, content)
    if len(content) > LARGEST:
        raise FileError("too-large", f"the file `{path}` is larger than 1 MiB", "its text is part of every plan")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = f"byte 0x{content[error.start]:02x}"
        raise FileError("not-utf8", f"`{path}` is not UTF-8 text: {byte}", "save the file as UTF-8") from None


def _try_checksum(path: str, only_files: bool) -> str | None:
    try:
        if holds_data(path) or (os.path.isdir(path) and not only_files):  # noqa: PTH112 - an import less
            return checksum(path)
    except (OSError, ValueError):  # a name that no file can have
        pass
    if "\0" not in path:
        files.record_file(path, None)
    return None
