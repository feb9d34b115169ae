"""Libraries of a Python script: requirements in a list, in a file of Python's tools, or in the script itself.

A requirement is kept in one spelling, such as `lmdb==1.6.2` or `lmdb[cli]>=1.4,<2; python_version < '3.13'`, so that
the same libraries give the same build.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from stepgrid.errors import StepgridError

PYTHON = "python"  # the program of an environment; as a requirement, the versions of Python that a script takes
HASH = " --hash="  # as in requirements.txt: between a requirement and a checksum of one of its files

# `++` and `*+` have no way back: a stranger's text of blanks would be tried in the third power of its length
_NAME = r"[A-Za-z0-9]++(?:[._-]++[A-Za-z0-9]++)*"
_CLAUSE = r"(?:===|==|~=|!=|<=|>=|<|>)\s*+[A-Za-z0-9][A-Za-z0-9.*+!_-]*+"
_REQUIREMENT = re.compile(
    rf"(?P<name>{_NAME})\s*+(?P<extras>\[[A-Za-z0-9._,\s-]*+\])?\s*+"
    rf"(?P<clauses>\(?{_CLAUSE}(?:\s*+,\s*+{_CLAUSE})*,?\)?)?\s*+"
    r"(?:;\s*+(?P<marker>(?:(?!\s--)[\w\s.'\"()<>=!~,*+-])+)(?=\s--|\Z))?"
    r"(?P<hashes>(?:\s*+(?<=\s)--hash=sha256:[0-9a-f]{64})*)"
)
_EXACT = re.compile(r"={2,3}[^*,]+")
_BLOCK_BEGIN, _BLOCK_END = "# /// script", "# ///"
_EXAMPLE = "a requirement such as `lmdb==1.6.2`"


class RequirementsError(StepgridError):
    """The end of a sentence: what is wrong with a requirement, or with a file of them."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Requirement(NamedTuple):
    name: str
    text: str  # in its one spelling, without checksums
    hashes: tuple[str, ...] = ()  # of files that may be installed

    @property
    def line(self) -> str:
        return HASH.join([self.text, *(f"sha256:{digest}" for digest in self.hashes)])

    @property
    def version(self) -> str:
        """The one version that it takes; empty where it takes several."""
        clauses = self.text.partition(";")[0].removeprefix(self.name).strip()
        clauses = clauses.rpartition("]")[2]
        return clauses.lstrip("=") if _EXACT.fullmatch(clauses) else ""


def parse_requirement(text: str) -> Requirement:
    match = _REQUIREMENT.fullmatch(text.strip())
    if match is None:
        raise _refusal(text.strip())
    extras, clauses = (re.sub(r"[\s()]", "", match[part] or "").rstrip(",") for part in ("extras", "clauses"))
    marker = f"; {' '.join(match['marker'].split())}" if match["marker"] else ""
    hashes = re.findall("[0-9a-f]{64}", match["hashes"])
    return Requirement(match["name"], f"{match['name']}{extras}{clauses}{marker}", tuple(sorted(hashes)))


def _refusal(text: str) -> RequirementsError:
    name, sign, version = (part.strip() for part in text.partition("="))
    if text.startswith("-"):
        return RequirementsError(
            "is an option of pip", "packages come from the index that this machine's pip or uv uses"
        )
    if "@" in text or "/" in text:
        return RequirementsError("names a place: a name and a version are expected, which an index has")
    if sign and re.fullmatch(_NAME, name) and re.fullmatch("[0-9][A-Za-z0-9.]*", version):
        return RequirementsError(f"is not {_EXAMPLE}", f"did you mean `{name}=={version}`?")
    return RequirementsError(f"is not {_EXAMPLE}")


def parse_file(name: str, text: str) -> list[Requirement]:
    """Read the requirements of a file, whose name tells its form."""
    pure_name = PurePosixPath(name)
    if pure_name.suffix == ".py":
        dependencies = script_requirements(text)
        if dependencies is None:
            raise RequirementsError(f"has no block `{_BLOCK_BEGIN}` that names its dependencies")
        return dependencies
    if pure_name.suffix in (".txt", ".in"):
        lines = re.sub(r"\\\r?\n", " ", text).splitlines()
        requirements = (re.sub(r"(^|\s)#.*", "", line).strip() for line in lines)
        return [parse_requirement(requirement) for requirement in requirements if requirement]
    reader = next((reader for pattern, reader in _FORMS.items() if pure_name.match(pattern)), None)
    if reader is None:
        raise RequirementsError("is not a file of requirements that is known", f"known are: {', '.join(FORMS)}")
    try:
        content = tomllib.loads(text)
        return list(reader(content))
    except tomllib.TOMLDecodeError as error:
        raise RequirementsError(f"is not TOML: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise RequirementsError("is not of its form: a table or a key is missing or of another type") from None


def script_requirements(text: str) -> list[Requirement] | None:
    """Read the block of PEP 723 in a script; None where it has none."""
    lines = text.splitlines()
    if _BLOCK_BEGIN not in lines:
        return None
    block = [*takewhile(lambda line: line.startswith("#"), lines[lines.index(_BLOCK_BEGIN) + 1 :])]
    if _BLOCK_END not in block:
        raise RequirementsError(f"has a block `{_BLOCK_BEGIN}` without its last line, `{_BLOCK_END}`")
    end = len(block) - 1 - block[::-1].index(_BLOCK_END)
    toml = "\n".join(line.removeprefix("#").removeprefix(" ") for line in block[:end])
    try:
        content = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise RequirementsError(f"has a block `{_BLOCK_BEGIN}` that is not TOML: {error}") from None
    return _dependencies(content)


def is_python(name: str, text: str) -> bool:
    """Decide if a program is a Python script, by its name or its first line."""
    first, _, _ = text.partition("\n")
    return name.endswith(".py") or (first.startswith("#!") and ("python" in first or "uv run" in first))


def sorted_lines(requirements: Iterable[Requirement]) -> tuple[str, ...]:
    """Write requirements in an order that does not depend on how they are declared."""
    return tuple(sorted({requirement.line for requirement in requirements}))


def takes_version(requirement: Requirement, version: str) -> bool:
    """Decide if the clauses of a requirement hold for a version of Python, such as 3.11.2."""
    numbers = [int(number) for number in version.split(".")]
    holds = True
    for sign, text in re.findall(r"(?<![=!<>~])([=!<>~]++)([0-9.]+)", requirement.text):
        wanted = [int(number) for number in text.strip(".").split(".")]
        begins_so, release = numbers[: len(wanted)] == wanted, wanted + [0] * (len(numbers) - len(wanted))
        holds &= {
            ">=": numbers >= release,
            "<": numbers < release,
            "<=": numbers <= release or begins_so,
            ">": numbers > release and not begins_so,
            "!=": not begins_so,
            "~=": numbers >= release and numbers[: len(wanted) - 1] == wanted[:-1],
        }.get(sign, begins_so)
    return holds


def _dependencies(table: Mapping[str, Any]) -> list[Requirement]:
    """Read the dependencies of a project or a script, and the Python that it requires."""
    dependencies, python = table.get("dependencies", []), table.get("requires-python", "")
    if not isinstance(dependencies, list) or not all(isinstance(text, str) for text in dependencies):
        raise RequirementsError("has `dependencies` that are not a list of texts")
    return [parse_requirement(text) for text in (*dependencies, *([f"{PYTHON}{python}"] if python else []))]


def _project(content: Mapping[str, Any]) -> list[Requirement]:
    project = content.get("project", {})
    if "dependencies" not in project:
        raise RequirementsError("has no `dependencies` in its table `[project]`")
    return _dependencies(project)


def _pylock(content: Mapping[str, Any]) -> Iterator[Requirement]:
    for package in content["packages"]:
        if "version" in package and "wheels" in package:
            marker = f"; {package['marker']}" if "marker" in package else ""
            hashes = [wheel["hashes"]["sha256"] for wheel in package["wheels"]]
            yield _locked(package, marker, hashes)


def _uv_lock(content: Mapping[str, Any]) -> Iterator[Requirement]:
    """Walk from the project to all that it depends on; groups of developers and extras are left out."""
    packages: dict[str, Mapping[str, Any]] = {}
    for package in content["package"]:
        if package["name"] in packages:
            hint = "`uv export --no-dev -o requirements.txt` writes a file that chooses"
            raise RequirementsError(f"has two versions of {package['name']}", hint)
        packages[package["name"]] = package
    markers: dict[str, set[str]] = {}
    queue = [package for package in packages.values() if "registry" not in package["source"]]
    while queue:
        for dependency in queue.pop().get("dependencies", ()):
            name = dependency["name"]
            if name not in markers:
                queue.append(packages[name])
            markers.setdefault(name, set()).add(dependency.get("marker", ""))
    for name in markers:
        if "registry" in packages[name]["source"]:
            marker = "" if "" in markers[name] else f"; {' or '.join(f'({text})' for text in sorted(markers[name]))}"
            hashes = [wheel["hash"].removeprefix("sha256:") for wheel in packages[name].get("wheels", ())]
            yield _locked(packages[name], marker, hashes)


def _locked(package: Mapping[str, Any], marker: str, hashes: Sequence[str]) -> Requirement:
    options = "".join(f"{HASH}sha256:{digest}" for digest in hashes)
    return parse_requirement(f"{package['name']}=={package['version']}{marker}{options}")


_FORMS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[Requirement]]] = {
    "pyproject.toml": _project,
    "pylock.toml": _pylock,
    "pylock.*.toml": _pylock,
    "uv.lock": _uv_lock,
}
FORMS = ("requirements.txt", *_FORMS, f"a script with a block `{_BLOCK_BEGIN}`")
