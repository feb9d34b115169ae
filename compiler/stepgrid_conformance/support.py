"""Parts that the suite's tests share: checks of protocols, samples of outputs, and a spec that is run for real."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from stepgrid.lint.rule import RuleProvider

KINDS = ("engine", "driver", "collector", "layout", "importer")
NAMED = "list them in the plug-in's `metrics()`"


def refuse(fault: str, names: Iterable[object], hint: str = "") -> None:
    """Fail with a sentence that lists the names, if there are any."""
    if text := ", ".join(map(str, names)):
        pytest.fail(f"{fault}: {text}{f'; {hint}' if hint else ''}", pytrace=False)


def refuse_imports(statement: str, modules: Iterable[str], hint: str) -> None:
    """Fail if a statement, run in a process of its own, imports one of the modules."""
    program = f"import sys; {statement}; print(*[name for name in {tuple(modules)} if name in sys.modules])"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    refuse("it imports", process.stdout.split(), hint)


def check(plugin: object, *protocols: Any) -> None:
    """Fail with a line for each protocol that a plug-in has in part, and for each wrong signature."""
    if messages := list(_protocol_faults(plugin, protocols)):
        pytest.fail("\n".join(messages), pytrace=False)


def optional(module: ModuleType) -> Iterator[Any]:
    """Yield the protocols of a module that a plug-in may have."""
    for value in vars(module).values():
        is_local = isinstance(value, type) and value.__module__ == module.__name__
        if is_local and getattr(value, "_is_runtime_protocol", False):
            yield value


def check_rules(plugin: object) -> None:
    for rule in plugin.rules() if isinstance(plugin, RuleProvider) else ():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.code), (
            f"the rule's code is {rule.code}: use small letters and digits, in words with hyphens between them"
        )
        assert rule.summary, f"rule {rule.code} has no summary"
        assert callable(rule.check), f"rule {rule.code}: `check` is no function"


def _protocol_faults(plugin: object, protocols: Iterable[Any]) -> Iterator[str]:
    """Report a part of a protocol only where its names belong to no protocol that the plug-in has completely."""
    names_by_protocol = {
        protocol: [name for name in {**protocol.__annotations__, **vars(protocol)} if not name.startswith("_")]
        for protocol in protocols
    }
    complete = [
        protocol for protocol, names in names_by_protocol.items() if all(hasattr(plugin, name) for name in names)
    ]
    used = {name for protocol in complete for name in names_by_protocol[protocol]}
    for protocol, names in names_by_protocol.items():
        present = [name for name in names if hasattr(plugin, name)]
        if protocol not in complete and any(callable(getattr(protocol, name, None)) for name in {*present} - used):
            missing = ", ".join(name for name in names if name not in present)
            yield f"has {', '.join(present)}, and no {missing}: it is no {protocol.__name__} ({protocol.__module__})"
        yield from (fault for name in present if (fault := _signature_fault(plugin, protocol, name)))


def _signature_fault(plugin: object, protocol: Any, name: str) -> str | None:
    method = vars(protocol).get(name)
    if not inspect.isfunction(method):
        return None
    parameters = [parameter for parameter in inspect.signature(method).parameters if parameter != "self"]
    try:
        inspect.signature(getattr(plugin, name)).bind(*parameters)
    except TypeError as error:
        return f"`{name}` does not take ({', '.join(parameters)}): {error}"
    return None


class OutputSample(NamedTuple):
    """An output that a plug-in must read: FOLDER/NAME/CASE has a step's files, settings.json and expected.json."""

    plugin: str
    folder: Path

    @property
    def title(self) -> str:
        return f"{self.plugin}-{self.folder.name}"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings as the spec says them; a collector or importer has none."""
        return self._read("settings.json")

    @property
    def expected(self) -> Mapping[str, float]:
        return self._read("expected.json")

    def skip_unless(self, plugin: str) -> None:
        if self.plugin != plugin:
            pytest.skip(f"a sample of {self.plugin}")

    def _read(self, name: str) -> Mapping[str, Any]:
        path = self.folder / name
        values: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return values


def samples(folder: Path | None, names: Iterable[str]) -> Iterator[OutputSample]:
    for name in names if folder else ():
        assert folder is not None
        yield from (OutputSample(name, path) for path in sorted((folder / name).glob("*")) if path.is_dir())


class SweepStep(NamedTuple):
    kind: str
    folder: Path
    settings: Mapping[str, Any]


class Sweep(NamedTuple):
    """A spec that uses a plug-in and was run: what its builds, servers and steps left."""

    spec: Path
    scale: str | None
    folder: Path

    def stepgrid(self, command: str) -> str:
        words = [command, str(self.spec), *(("--scale", self.scale) if self.scale else ())]
        return self._python("-m", "stepgrid.cli", *words)

    def ids(self, seed: str) -> list[str]:
        """Compute the ids of its builds and stages in another process."""
        program = (
            "import sys, stepgrid; plan = stepgrid.load(sys.argv[1], scale=sys.argv[2] or None).plan(); "
            "print(*sorted(node.id for node in (*plan.builds, *plan.stages)))"
        )
        return self._python("-c", program, str(self.spec), self.scale or "", PYTHONHASHSEED=seed).split()

    def _python(self, *words: str, **env: str) -> str:
        process = subprocess.run(
            [sys.executable, *words], cwd=self.folder, env={**os.environ, **env}, capture_output=True, text=True
        )
        output = process.stdout + process.stderr
        if process.returncode:
            pytest.fail(f"exit status {process.returncode}: {' '.join(words)}\n{output}")
        return output

    def builds(self, engine: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield folder and record."""
        for path in sorted(self.folder.glob("outputs/builds/*/build.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["engine"] == engine:
                yield path.parent, record

    def servers(self, engine: str) -> Iterator[tuple[Path, list[Mapping[str, Any]]]]:
        """Yield attempts of results whose build is of the engine, with their journals."""
        builds = {record["id"] for _, record in self.builds(engine)}
        for path in sorted(self.folder.glob("outputs/results/*/*/attempt.json")):
            journal = (path.parent / "journal.jsonl").read_text(encoding="utf-8").splitlines()
            if json.loads(path.read_text(encoding="utf-8"))["build"] in builds:
                yield path.parent, [json.loads(line) for line in journal]

    def steps(self, kind: str) -> Iterator[SweepStep]:
        """Yield all that were measured."""
        from stepgrid.plan import plan_file

        plans = [plan_file.read(path.parent) for path in self.folder.glob("outputs/plans/*/plan.jsonl")]
        stages = {stage.id: stage for plan in plans for stage in plan.stages}
        for result in sorted(self.folder.glob("outputs/results/*/*")):
            stage = stages.get(result.parent.name)
            for index, step in enumerate(stage.steps if stage else ()):
                if step.kind == kind:
                    yield from (SweepStep(kind, folder, step.settings) for folder in result.glob(f"steps/{index}-*"))
