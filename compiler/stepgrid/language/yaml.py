"""YAML as plain data that remembers its positions: the only place where YAML is read. Pure, but for `load`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from stepgrid.language.files import NotRegularError, head, record_file
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.model.units import size

Node: TypeAlias = "Text | Seq | Map | None"


class Text(str):
    """A scalar's source text: 9.10 stays 9.10."""

    where: Location
    quoted: bool
    key: Location | None = None  # of the key whose value this is

    def __new__(cls, value: str, where: Location, quoted: bool = False) -> Text:
        self = super().__new__(cls, value)
        self.where = where
        self.quoted = quoted
        return self


class Seq(list[Node]):
    where: Location
    key: Location | None = None
    at: Sequence[Location]  # of each item: null remembers nothing

    def __init__(self, items: Iterable[Node], where: Location, at: Sequence[Location] = ()) -> None:
        super().__init__(items)
        self.where = where
        self.at = at


class Map(dict[str, Node]):
    where: Location
    key: Location | None = None
    at: Mapping[str, Location]  # of each key

    def __init__(self, items: Mapping[str, Node], where: Location, at: Mapping[str, Location]) -> None:
        super().__init__(items)
        self.where = where
        self.at = at


def node_location(node: object, default: Location) -> Location:
    """Locate a value; null remembers nothing, so the location of its key is the default."""
    return getattr(node, "where", default)


def key_location(node: object, default: Location) -> Location:
    """Locate the key of a value."""
    return getattr(node, "key", None) or default


def width(node: object) -> int:
    return max(1, len(node)) if isinstance(node, str) else 1


def set_value(source: Map, key: str, value: Node) -> Map:
    """Copy a map with another value; the key keeps its location, and a new key has that of the map."""
    return Map({**source, key: value}, source.where, {**source.at, key: source.at.get(key, source.where)})


def drop_keys(source: Map, *keys: str) -> Map:
    return Map({key: value for key, value in source.items() if key not in keys}, source.where, source.at)


def rename_key(source: Map, key: str, name: str) -> Map:
    """Copy a map with a misspelt key corrected; an empty value is left out, so that it causes no follow-up error."""
    value = {name: source[key]} if source[key] else {}
    return Map({**drop_keys(source, key), **value}, source.where, {**source.at, name: source.at[key]})


# what cannot stand together: setting one removes the others
_ALTERNATIVES = ({"version", "versions"}, {"option", "param", "points"})
_REPLACED = frozenset({"source"})  # maps that are replaced, not merged


def merge_nodes(base: Node, patch: Node) -> Node:
    """Lay one node over another: maps merge, lists replace, null removes."""
    if not isinstance(patch, Map):
        return patch
    if not isinstance(base, Map):
        base = Map({}, patch.where, {})  # so that nulls of the patch remove, even if there is nothing to remove
    items, at = dict(base), dict(base.at)
    for key, value in patch.items():
        for group in _ALTERNATIVES:
            for name in group - patch.keys() if key in group else ():
                items.pop(name, None)
        if value is None:
            items.pop(key, None)
            continue
        items[key] = value if key in _REPLACED else merge_nodes(items.get(key), value)
        at[key] = patch.at[key]
    return Map(items, base.where, at)


MOST_FILE_BYTES = 512 << 10  # what `check` reads in some seconds
MOST_COPIES = 10_000  # nodes that aliases may add
MOST_LEVELS = 40
MOST_OPENED = 1_000  # brackets, or columns before the first word of a line: the parser goes this deep for sure
LONGEST_TAG = 100  # characters: decoding takes a time that grows with the square


def load(path: str, problems: Problems, origin: Location | None = None) -> Map | None:
    """Read the map that a file holds; None, with the reason among the problems.

    `origin`: where the file is named, if it is not the spec itself."""
    content = _read(path, problems, origin)
    text = None if content is None else _decode(content, path, problems)
    return None if text is None else parse(text, path, problems)


def parse(text: str, file: str, problems: Problems) -> Map | None:
    before = len(problems.errors)
    node = _parse(_clean(text, file, problems), file, problems)
    if isinstance(node, Map):
        return node
    if len(problems.errors) == before:
        if node is None:
            problems.add("empty-file", Location(file, 1, 1), "the file is empty", "a spec begins with `title:`")
        else:
            problems.add("wrong-type", Location(file, 1, 1), "expected a map of settings at the top of the file")
    return None


def parse_value(text: str, where: Location, problems: Problems) -> Node:
    """Parse a value that does not come from a file."""
    return _parse(text, where.file, problems)


def _read(path: str, problems: Problems, origin: Location | None) -> bytes | None:
    where = origin or Location(path, 1, 1)
    try:
        content = head(path, MOST_FILE_BYTES)
    except FileNotFoundError:
        problems.add("file-not-found", where, f"there is no file `{path}`", _similar_files(path, origin is None))
    except NotRegularError as error:
        problems.add("file-not-found", where, f"`{path}` is {error}, not a spec")
    except OSError as error:
        problems.add("file-not-found", where, f"`{path}` cannot be read: {error.strerror}")
    except ValueError:
        pass  # a NUL in its name, which is reported where the name stands
    else:
        if len(content) <= MOST_FILE_BYTES:
            record_file(path, content)
            return content
        hint = "an axis of `sweep` writes its combinations out by itself"
        problems.add("too-large", where, f"the file `{path}` is larger than {size(MOST_FILE_BYTES)}", hint)
    return None


def _similar_files(path: str, specs: bool) -> str:
    """Suggest a file of the folder: a spec has a title, a library has none."""

    def has_title(file: Path) -> bool:
        try:
            return b"\ntitle:" in b"\n" + head(str(file))
        except OSError:
            return False

    folder = Path(path).parent
    files = sorted(folder.glob("*.yaml")) if "\0" not in path and folder.is_dir() else []
    names = [file.name for file in files if has_title(file) == specs]
    return nearest(Path(path).name, names) if names else ""


def _decode(content: bytes, file: str, problems: Problems) -> str | None:
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        before = content[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line = before[before.rfind(b"\n") + 1 :].decode("utf-8")
        where = Location(file, before.count(b"\n") + 1, len(line) + 1)
        message = f"`{file}` is not UTF-8 text: byte 0x{content[error.start]:02x}"
        problems.add("not-utf8", where, message, "save the file as UTF-8")
        return None


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_NAMES = {
    "\0": "NUL", "\t": "a tab", "\n": "a line break", "\r": "a carriage return", "\x1b": "ESC",
    "\u2028": "a line separator", "\u2029": "a paragraph separator",
}  # fmt: skip


def _clean(text: str, file: str, problems: Problems) -> str:
    """Replace invisible characters that YAML would stumble over, or count as the end of a line."""
    matches = [match for match in _CONTROL.finditer(text) if match[0] not in "\t\n"]
    for match in matches[:10]:
        start = text.rfind("\n", 0, match.start()) + 1
        where = Location(file, text.count("\n", 0, start) + 1, match.start() - start + 1)
        hint = "in double quotes YAML has escapes for the few places that need one"
        problems.add("control-character", where, f"the file holds {_character_name(match[0])}", hint)
    return _CONTROL.sub(lambda match: match[0] if match[0] in "\t\n" else " ", text) if matches else text


def _control_characters(text: str, allowed: str = "\t\n") -> list[str]:
    """Name the control characters of a text."""
    return [_character_name(character) for character in _CONTROL.findall(text) if character not in allowed]


def _character_name(character: str) -> str:
    return f"{_CONTROL_NAMES.get(character, 'a control character')} (U+{ord(character):04X})"


_INDENTED = re.compile(r"^[ ?-]*", re.MULTILINE)
_TOO_DEEP = f"maps and lists are nested more than {MOST_LEVELS} deep"


def _parse(text: str, file: str, problems: Problems) -> Node:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    # the parser goes down into nested values by calling itself, in C: too deep is the end of the process
    opened = max(text.count("[") + text.count("{"), *map(len, _INDENTED.findall(text)))
    try:
        if opened > MOST_OPENED and (where := _too_deep(text, file)):
            problems.add("too-deep", where, _TOO_DEEP)
            return None
        root = YAML(typ="safe").compose(text)
        return None if root is None else _Converter(file, problems).convert(root)
    except YAMLError as error:
        where, message, hint = _explain(error, text, file)
        problems.add("yaml-syntax", where, f"this is not YAML: {message}", hint)
    return None


def _too_deep(text: str, file: str) -> Location | None:
    """Locate what is nested too deep without going down into it; a syntax error before it comes first."""
    from ruamel.yaml import YAML

    depth = 0
    for event in YAML(typ="safe").parse(text):
        kind = type(event).__name__
        depth += kind in ("SequenceStartEvent", "MappingStartEvent")
        depth -= kind in ("SequenceEndEvent", "MappingEndEvent")
        if depth > MOST_LEVELS:
            return _location(file, event.start_mark)
    return None


def _location(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1)


_YAML = "tag:yaml.org,2002:"  # YAML's own tags, which it also gives to untagged values
_NULL = f"{_YAML}null"
_TAGS = {
    f"{_YAML}{name}" for name in ("null", "bool", "int", "float", "str", "timestamp", "value", "merge", "seq", "map")
}


class _Converter:
    """Composed YAML to nodes. An alias is written out; one that holds itself, or multiplies, is refused."""

    def __init__(self, file: str, problems: Problems) -> None:
        self._file, self._problems = file, problems
        self._open: dict[int, None] = {}
        self._ids: set[int] = set()
        self._copies = MOST_COPIES

    def convert(self, node: Any) -> Node:
        where = _location(self._file, node.start_mark)
        if self._is_refused(node, where):
            return None
        tag = self._tag(node)
        if tag not in _TAGS:
            shown_tag = tag.replace(_YAML, "!!")
            self._problems.add("yaml-tag", where, f"the tag `{shown_tag}` means nothing in a spec")
        if node.id == "scalar":
            return self._scalar(node, where)
        self._open[id(node)] = None
        if node.id == "mapping":
            value = self._map(node, where)
        else:
            at = [_location(self._file, item.start_mark) for item in node.value]
            value = Seq([self.convert(item) for item in node.value], where, at)
        del self._open[id(node)]
        return value

    def _is_refused(self, node: Any, where: Location) -> bool:
        """Refuse aliases without end: an alias shows as a node that was there before."""
        if id(node) in self._ids:
            self._copies -= 1
        self._ids.add(id(node))
        if id(node) in self._open or self._copies == 0:
            self._problems.add("yaml-alias", where, "this alias holds itself, or far too much")
        if len(self._open) >= MOST_LEVELS:
            self._problems.add("too-deep", where, _TOO_DEEP)
        return id(node) in self._open or self._copies <= 0 or len(self._open) >= MOST_LEVELS

    def _tag(self, node: Any) -> str:
        suffix = node.ctag.suffix or ""
        return str(node.tag) if len(suffix) <= LONGEST_TAG else f"{suffix[:LONGEST_TAG]}…"

    def _scalar(self, node: Any, where: Location) -> Text | None:
        quoted = node.style in ("'", '"')
        if self._tag(node) == _NULL and not quoted:
            return None
        if names := _control_characters(node.value):
            hint = "only line breaks and tabs, where a text may have them"
            self._problems.add("control-character", where, f"a value cannot hold {names[0]}", hint)
        return Text(node.value, where, quoted)

    def _map(self, node: Any, where: Location) -> Node:
        items: dict[str, Node] = {}
        at: dict[str, Location] = {}
        for key_node, value_node in node.value:
            key, key_where = key_node.value, _location(self._file, key_node.start_mark)
            if key_node.id == "mapping" and len(node.value) == 1 and node.flow_style:
                hint = 'put the whole value in quotes: "{{ … }}"'
                self._problems.add("wrong-type", where, "`{{ … }}` without quotes is a map to YAML", hint, 2)
                return Text("1", where)  # so that nothing follows from it
            if self._is_key(key_node, key_where, at):
                value = self.convert(value_node)
                if value is not None:
                    value.key = key_where
                items[key], at[key] = value, key_where
        return Map(items, where, at)

    def _is_key(self, node: Any, where: Location, at: dict[str, Location]) -> bool:
        key = node.value
        if node.id != "scalar":
            self._problems.add("wrong-type", where, "a key must be plain text")
        elif key == "<<":
            self._problems.add("merge-key", where, "`<<` is not used in specs", "use `extends:`", 2)
        elif key in at:
            hint = f"first at line {at[key].line}"
            self._problems.add("duplicate-key", where, f"`{key}` is given twice", hint, len(key))
        elif not key.strip():
            self._problems.add("wrong-type", where, "a name cannot be empty")
        elif names := _control_characters(key, allowed=""):
            self._problems.add("control-character", where, f"a name cannot hold {names[0]}")
        else:
            return True
        return False


_OPENED = {
    "while scanning a quoted scalar": "this quote is not closed",
    "while parsing a flow sequence": "this `[` is not closed",
    "while parsing a flow mapping": "this `{` is not closed",
}
_UNCLOSED = ("did not find expected ',' or", "found unexpected end of stream", "found unexpected document indicator")
_LEVEL = "this line fits no level above it"
_TABS = "a tab cannot stand here"
_SENTENCES = {  # the beginning of ruamel's message -> a sentence, a hint
    "did not find expected key": (_LEVEL, "a key begins where the other keys of its map do"),
    "did not find expected '-' indicator": (_LEVEL, "an item of a list begins with `- `, where the other items do"),
    "did not find expected <document start>": (
        "what comes before is a whole by itself", "a spec is one map, of `key: value` in the first column",
    ),
    "did not find expected node content": ("a value is missing here, or a bracket before it is not closed", ""),
    "mapping values are not allowed in this context": (
        "`: ` cannot stand here", "a text that holds it needs quotes; a key begins where the other keys of its map do",
    ),
    "mapping keys are not allowed in this context": ("`? ` cannot stand here", "a text that begins so needs quotes"),
    "block sequence entries are not allowed in this context": (
        "`- ` cannot stand here", "a list begins on a line of its own, or is written `[a, b]`",
    ),
    "found unexpected ':'": ("`:` cannot stand here", "a text that holds it needs quotes"),
    "found undefined alias": ("no anchor has the name of this alias", "a text that begins with `*` needs quotes"),
    "but found another document": ("`---` begins another document", "a spec is one"),
    "found unknown escape character": ("double quotes have no such escape", "in single quotes `\\` is itself"),
    "found a tab character that violates indentation": (_TABS, "indent with spaces"),
    "second occurrence": ("this anchor is given twice", ""),
}  # fmt: skip
_SPACES = {"\xa0": "a no-break space", "\u202f": "a narrow no-break space", "\u3000": "a wide space"}


def _explain(error: Any, text: str, file: str) -> tuple[Location, str, str]:
    """Find the location, the sentence and the hint: one looks at the beginning of what is not closed."""
    problem, context = str(getattr(error, "problem", "") or ""), str(getattr(error, "context", "") or "")
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if start is not None and context in _OPENED and problem.startswith(_UNCLOSED):
        stopped = "did not" in problem
        hint = f"what comes at line {mark.line + 1} cannot stand in it" if stopped and mark is not None else ""
        return _location(file, start), _OPENED[context], hint
    is_key = start is not None and context == "while scanning a simple key"
    where = _location(file, start if is_key else mark or start) if mark or start else Location(file, 1, 1)
    line = dict(enumerate(text.split("\n"), 1)).get(where.line, "")
    space = next((f"the line holds {name}: put a plain one" for space, name in _SPACES.items() if space in line), "")
    if is_key:
        return where, "a key needs `: ` behind it", space
    message, hint = _sentence(problem, context, line, where.column - 1) if problem or context else ("", "")
    return where, message or str(error).splitlines()[0], space or hint


def _sentence(problem: str, context: str, line: str, column: int) -> tuple[str, str]:
    """Explain why the parser stopped at a column of a line."""
    if problem == "found character that cannot start any token":
        if line.startswith("\t", column):
            return _TABS, "indent with spaces"
        character = line[column : column + 1]
        begin = "a backtick" if character == "`" else f"`{character}`"
        return f"a value cannot begin with {begin}", "put it in quotes"
    if problem == "did not find expected key" and line[:column].strip():
        return "the value before this has ended", "quotes go around the whole of a text"
    sentence = next((sentence for beginning, sentence in _SENTENCES.items() if problem.startswith(beginning)), None)
    return sentence or (f"{problem} ({context})" if problem and context else problem or context, "")
