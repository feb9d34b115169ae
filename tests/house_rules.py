"""Rules of style that a program can check, and how far the code is from them.

Those of RULES are tests (test_house.py), each with what mends a break of it; those of WORDS are a report that fails
nothing: `make words`. `python -m tests.house_rules` prints the counts, `python -m tests.house_rules RULE [PACKAGE]`
the places, and `python -m tests.house_rules --write` lowers the counts of tests/house_exceptions.yaml to those of
today.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML

from stepgrid.package import CODE

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ROOT / "compiler"
WALLS = tuple(folder.name for folder in CODE)
EXCEPTIONS = ROOT / "tests" / "house_exceptions.yaml"
DRIVER_PARTS = ("settings.py", "parser.py")  # stepgrid.plugins.driver imports them by name
PLUGINS = ("engines", "drivers", "collectors", "layouts")
LONGEST, SHORTEST, MOST_PARAMETERS, MOST_LINES_INLINE, MOST_WORDS = 600, 60, 5, 3, 30
VAGUE_WORDS = """
    found said told each known given beside wrong every made kept there left asked taken held seen meant done shown own
    others some more rest about above unlike alike apart place places who what anything nothing whole ours theirs here
"""
VAGUE = frozenset(VAGUE_WORDS.split())
ROUNDABOUT = re.compile(  # instead of the noun that it stands for
    r"\b(what (is|was|there|a|the)|that there (is|are)|of which there|comes? to|stands?\b(?! for)|nobody|is no"
    r"|cannot be told|beside it|of (it|them)|of its own|by itself|(is|are) (told|said))\b"
)
FRAGMENT = re.compile(
    r"(Of|In|As|At|Also|By|With|Without|Where|For|To|From|None|Whether|What|Why|How|Who|Those|That|Its|One|Nothing|Only|"
    r"Seldom|Else|Never|So|And|Or|But)\b"
)
LIMIT = re.compile(r"\b(never|nothing|only|alone|no|none|without|neither)\b")


class Place(NamedTuple):
    """A break of a rule; `home` is the package that it counts for."""

    home: str
    text: str


class Module(NamedTuple):
    name: str
    path: Path
    tree: ast.Module
    nodes: Sequence[ast.AST]  # all of the tree, walked once for all rules
    lines: int

    @property
    def home(self):
        wall, *inner = self.path.relative_to(PRODUCT).parts
        return inner[0] if len(inner) > 1 else wall

    def at(self, node, text):
        return Place(self.home, f"{self.path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {text}")


@cache
def product():
    modules = []
    for path in sorted(path for wall in WALLS for path in (PRODUCT / wall).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if text.strip():
            parts = path.relative_to(PRODUCT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            tree = ast.parse(text)
            modules.append(Module(name, path, tree, tuple(ast.walk(tree)), len(text.splitlines())))
    return tuple(modules)


@cache
def importers():
    """Modules that import each module."""
    names = {module.name for module in product()}
    users = defaultdict(set)
    for module in product():
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                targets = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & names
            elif isinstance(node, ast.Import):
                targets = {alias.name for alias in node.names} & names
            else:
                continue
            for target in targets - {module.name}:
                users[target].add(module.name)
    return users


def is_room(module):
    """Not a package's door, a command, a plug-in or its parts imported by name: these may be short and unused."""
    inner = module.path.relative_to(PRODUCT).parts[1:]
    if module.path.name in ("__init__.py", "__main__.py") or (inner[0] in PLUGINS and len(inner) == 2):
        return False
    return inner[0] != "drivers" or module.path.name not in DRIVER_PARTS


def long_modules():
    for module in product():
        if module.lines > LONGEST:
            yield module.at(module.tree, f"{module.lines} lines")


def short_modules():
    for module in product():
        if module.lines < SHORTEST and is_room(module) and len(importers()[module.name]) < 2:
            yield module.at(module.tree, f"{module.lines} lines, {len(importers()[module.name])} importers")


def single_importers():
    for module in product():
        users = importers()[module.name]
        if is_room(module) and len(users) == 1 and _folder(next(iter(users))) == module.path.parent:
            yield module.at(module.tree, f"imported by {next(iter(users))} alone")


def _folder(name):
    return next(module.path.parent for module in product() if module.name == name)


def single_use_helpers():
    for module in product():
        uses = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in module.nodes
            if isinstance(node, ast.Name | ast.Attribute)
        )
        for node in module.nodes:
            if not isinstance(node, ast.FunctionDef) or not re.match(r"_[^_]", node.name) or uses[node.name] != 1:
                continue
            if (node.end_lineno or 0) - node.body[0].lineno < MOST_LINES_INLINE:
                yield module.at(node, node.name)


def long_signatures():
    for module in product():
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
                count = len(names) - (names[:1] in (["self"], ["cls"]))
                if count > MOST_PARAMETERS:
                    yield module.at(node, f"{node.name}: {count} parameters")


def vague_names():
    for module in product():
        for node in module.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.FunctionDef):
                name = node.name
            else:
                continue
            if name.strip("_") in VAGUE:
                yield module.at(node, name)


def fragments():
    for module in product():
        for node in module.nodes:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                if text and FRAGMENT.match(text):
                    yield module.at(node, text.splitlines()[0])


def double_constants():
    """Constants of one name and one literal value in several modules: one home is enough."""
    homes = defaultdict(list)
    for module in product():
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                name, value = node.target.id, node.value
            else:
                continue
            if name.isupper() and isinstance(value, ast.Constant):
                homes[name.strip("_"), ast.dump(value)].append((module, node))
    for (name, _), places in homes.items():
        for module, node in places[1:]:
            yield module.at(node, f"{name} also in {places[0][0].name}")


def double_classes():
    """Classes of one name: a word is one class, and what is of a kind carries its name."""
    homes = defaultdict(list)
    for module in product():
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append((module, node))
    for name, places in homes.items():
        for module, node in places if len(places) > 1 else ():
            yield Place(name, module.at(node, name).text)


def unsaid_packages():
    """Packages whose first sentence does not say what they hold and what they never do."""
    for path in sorted(path for wall in WALLS for path in (PRODUCT / wall).rglob("__init__.py")):
        inner = path.relative_to(PRODUCT).parts[:-1]
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if len(inner) <= 2 and not LIMIT.search(re.split(r"(?<=[.:])\s", text, maxsplit=1)[0]):
            yield Place(
                ".".join(inner), f"{path.relative_to(ROOT)}: {text.splitlines()[0] if text else 'says nothing'}"
            )


def sentences():
    """Pages of the docs, and each sentence outside of tables and code."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        prose = " ".join(line for line in text.splitlines() if not line.startswith(("|", "#", "    ")))
        for sentence in re.split(r"(?<=[.:;!?])\s+", " ".join(prose.split())):
            yield str(path.relative_to(ROOT)), sentence


def long_sentences():
    for page, sentence in sentences():
        if len(sentence.split()) > MOST_WORDS:
            yield Place("docs", f"{page}: {sentence}")


def roundabout_sentences():
    for page, sentence in sentences():
        if len(sentence.split()) > 3 and ROUNDABOUT.search(sentence):
            yield Place("docs", f"{page}: {sentence}")


class Rule(NamedTuple):
    places: Callable[[], Iterator[Place]]
    mend: str


RULES = {
    "long modules": Rule(long_modules, f"divide it by subject: a module has at most {LONGEST} lines"),
    "short modules": Rule(
        short_modules, f"make it a section of the module that imports it: under {SHORTEST} lines need two"
    ),
    "single importers": Rule(single_importers, "make it a section of the one module of its folder that imports it"),
    "long signatures": Rule(
        long_signatures, f"give a value a name: a function has at most {MOST_PARAMETERS} parameters"
    ),
    "vague names": Rule(vague_names, "say what it holds: `stages`, `message`, `cases_by_arm`"),
    "double constants": Rule(double_constants, "import it from the module that has it: a default has one home"),
    "double classes": Rule(double_classes, "call it by what it is of: `PgbenchSettings`, as a word is one class"),
    "unsaid packages": Rule(unsaid_packages, "begin its docstring with what it holds and what it never does"),
}
WORDS = {
    "single-use helpers": single_use_helpers,
    "fragments": fragments,
    "long sentences": long_sentences,
    "roundabout sentences": roundabout_sentences,
}
PLACES = {**{name: rule.places for name, rule in RULES.items()}, **WORDS}


def counts(rule):
    return dict(sorted(Counter(place.home for place in PLACES[rule]()).items()))


def exceptions():
    return YAML(typ="safe").load(EXCEPTIONS) or {}


def write_exceptions():
    """Lower the counts; none is ever raised."""
    before = exceptions()
    lines = [line for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    for rule in RULES:
        lines.append(f"{rule}:")
        for home, count in counts(rule).items():
            allowed = min(count, before[rule].get(home, 0)) if rule in before else count
            lines += [f"  {home}: {allowed}"] if allowed else []
        if lines[-1].endswith(f"{rule}:"):
            lines[-1] += " {}"
    EXCEPTIONS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(words):
    if words == ["--write"]:
        write_exceptions()
    elif words == ["--words"]:
        for rule, places in WORDS.items():
            print(f"{rule}: {sum(counts(rule).values())}", *(f"  {place.text}" for place in places()), sep="\n")
    elif words:
        print(*(place.text for place in PLACES[words[0]]() if words[1:] in ([], [place.home])), sep="\n")
    else:
        for rule in PLACES:
            print(f"{rule}: {sum(counts(rule).values())}", counts(rule))


if __name__ == "__main__":
    main(sys.argv[1:])
