"""The pages of docs/problems: their examples, compiled as they stand."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec import convert

from stepgrid.build.pins import keep_apart
from stepgrid.expand.cells import expand
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, SpecError, _source, format_problems
from stepgrid.language.site import read_site
from stepgrid.language.spec_file import read_spec
from stepgrid.lint.spec_rules import check
from stepgrid.model.records import OptionInfo
from stepgrid.model.site import Site
from stepgrid.plan import checks
from stepgrid.plan.assembly import CompileContext, compile_spec
from stepgrid.workflow.host_plan import stand_in_differences

FOLDER = Path(__file__).resolve().parents[2] / "docs/problems"
HOST = {"cores": 8, "threads": 8, "smt": False, "memory": 32 * 2**30, "storage": {"max_sectors_kb": 1280}}
_BLOCK = re.compile(r"^```(\w+) *([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEC = "spec.yaml"


@dataclass(frozen=True)
class Example:
    kind: str  # wrong or right
    words: Mapping[str, str]  # scale=smoke encoding=latin-1 set=params.keys=1M
    files: Mapping[str, str]

    def problems(self, folder):
        """What is reported when it is compiled in a folder (the current one)."""
        for name, text in self.files.items():
            (folder / name).write_bytes(text.encode(self.words.get("encoding", "utf-8")))
        return problems_of(SPEC, self.words.get("scale"), [self.words["set"]] if "set" in self.words else [])


@dataclass(frozen=True)
class Page:
    code: str
    severity: str
    summary: str
    message: str
    examples: tuple[Example, ...]


def problems_of(path, scale=None, sets=()):
    problems = Problems()
    site = read_site("site.yaml", problems) if Path("site.yaml").exists() else Site()
    differs = stand_in_differences(site, HOST)
    try:
        document = read_spec(path, scale, problems, sets)
        if document is not None:
            lock = lock_file.read(path, Problems())
            document = document._replace(find_releases=lambda question: lock.versions.get(question.key, {}))
            check(document, expand(document, HOST, problems, differs=differs), problems)
        plan = compile_spec(
            path,
            scale,
            HOST,
            problems,
            CompileContext(
                sets=sets,
                differs=differs,
                no_power_cut="it needs root",
                keep_apart=partial(keep_apart, outputs=Path("outputs")),
            ),
        )
        for problem in _on_builds(plan):
            problems.append(problem)
    except SpecError as error:
        return list(error.problems)
    return problems.items


def _on_builds(plan):
    """Where the example brings what its builds say of themselves."""
    catalogue, record = (_json(Path(name)) for name in ("catalogue.json", "build.json"))
    catalogue = convert(catalogue, dict[str, OptionInfo] | None)
    wrong = checks.option_problems(plan, {build.id: catalogue for build in plan.builds}, tuple)
    programs = record["programs"] if record else None
    return [*wrong, *checks.program_problems(plan, {build.id: programs for build in plan.builds})]


def _json(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def shown(problems, code):
    _source.cache_clear()  # examples share the name of their file
    return format_problems(problem for problem in problems if problem.code == code)


def page(path):
    text = path.read_text(encoding="utf-8")
    head = re.match(r"# (\S+)\n\n(Error|Warning): (.+)\.\n", text)
    assert head, f"{path.name} does not begin with its code and `Error:` or `Warning:` and a sentence"
    message, examples = "", []
    for language, info, body in _BLOCK.findall(text):
        kind, *words = info.split() or [""]
        if language == "text":
            message = body.rstrip("\n")
        elif kind in ("wrong", "right"):
            named = {name: value for name, _, value in (word.partition("=") for word in words)}
            examples.append(Example(kind, named, {SPEC: body}))
        else:
            last = examples[-1]
            examples[-1] = Example(last.kind, last.words, {**last.files, kind: body})
    return Page(head[1], head[2].lower(), head[3], message, tuple(examples))


def pages():
    return [page(path) for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]
