"""Settings of a step of kind command."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from stepgrid.model import result_schema
from stepgrid.plugins.driver import misplaced_placeholder
from stepgrid.plugins.settings import DURATION, Nested, Seconds, Settings
from stepgrid_databases.drivers.command import selectors
from stepgrid_databases.drivers.command.selectors import PathError, PatternError

_TAKEN = frozenset(result_schema.steps((), ()))


def _word(value: object) -> object:
    """An expression gives numbers and booleans; the program gets text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _words(argv: tuple[str, ...]) -> tuple[str, ...]:
    if not argv or not argv[0]:
        raise PydanticCustomError("no_program", "a program is needed")
    if (placeholder := misplaced_placeholder(argv)) is not None:
        message = "{placeholder} stands for several words: give it as a word of its own"
        raise PydanticCustomError("misplaced", message, {"placeholder": placeholder})
    return argv


def _pattern(text: str) -> str:
    try:
        groups = selectors.groups(text)
    except PatternError as error:
        context = {"text": text, "why": str(error)}
        raise PydanticCustomError("pattern", "`{text}` is no pattern: {why}", context) from None
    if groups != 1:
        message = "the pattern `{text}` has {groups} groups; it needs one, around the number"
        raise PydanticCustomError("groups", message, {"text": text, "groups": groups})
    return text


def _path(text: str) -> str:
    try:
        selectors.parts(text)
    except PathError as error:
        context = {"text": text, "why": str(error)}
        raise PydanticCustomError("path", "`{text}` is no path: {why}", context) from None
    return text


def _file(name: str) -> str:
    """Refuse files outside of the step's folder: they are not kept with the result."""
    if name.startswith("/") or ".." in name.split("/"):
        message = "`{name}` is outside of the step's folder: have the program write to {place}"
        raise PydanticCustomError("outside", message, {"name": name, "place": "{folder}"})
    return name


def require_free_name(name: str) -> str:
    if name in _TAKEN:
        raise PydanticCustomError("taken", "`{name}` is a column of the tables: choose another name", {"name": name})
    return name


Word = Annotated[str, BeforeValidator(_word)]
MetricName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$"), AfterValidator(require_free_name)]


File = Annotated[str, StringConstraints(min_length=1), AfterValidator(_file)]
Factor = Annotated[float, Field(allow_inf_nan=False)]
Pattern = Annotated[str, AfterValidator(_pattern)]
Path = Annotated[str, AfterValidator(_path)]


class CommandMetric(Settings):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)  # `json` is a method of models

    pattern: Annotated[
        Pattern | None, Field(description="a regular expression (RE2); its one group holds the number")
    ] = None
    json_: Annotated[
        Path | None,
        Field(alias="json", description="where the number stands in JSON: $ and then .key ['any key'] [0] [-1] [*]"),
    ] = None
    report: Annotated[
        str | None,
        Field(min_length=1, description="its name in the report that the program writes (docs/guides/own-figures.md)"),
    ] = None
    file: Annotated[
        File | None, Field(description="of {folder}, where it is looked for; else stdout (a pattern: then stderr)")
    ] = None
    take: Annotated[
        Literal["first", "last", "sum", "mean", "min", "max"],
        Field(description="of several matches, or entries of [*]: the last is that of running totals"),
    ] = "last"
    times: Annotated[Factor | None, Field(description="by which the number is multiplied: 0.001 makes us of ns")] = None
    unit: Annotated[str, Field(description="of the number, as it is shown")] = ""
    better: Annotated[Literal["higher", "lower"] | None, Field(description="which way is better")] = None
    required: Annotated[bool, Field(description="the step has failed when there is no such number")] = False

    @model_validator(mode="after")
    def _has_one_selector(self) -> CommandMetric:
        if [self.pattern, self.json_, self.report].count(None) != 2:
            raise PydanticCustomError("one_of", "a metric has `pattern`, `json` or `report`, one of them")
        return self


class CommandSeries(Settings):
    file: Annotated[File, Field(description="of {folder}: a table, columns separated by commas")]
    time: Annotated[str, Field(description="the column of the time since the start")]
    rate: Annotated[str, Field(description="the column of the rate; rows of one time are added up")]
    head: Annotated[
        str | None,
        Field(description="names of the columns, separated by commas, where the file does not begin with them"),
    ] = None
    unit: Annotated[Literal["s", "ms", "us", "ns"], Field(description="of the time")] = "s"
    times: Annotated[Factor | None, Field(description="by which the rate is multiplied")] = None


Durability = Literal["none", "os", "sync", "group"]
_CLASSES = "none|os|sync|group"


class CommandSettings(Settings):
    argv: Annotated[
        tuple[Word, ...],
        AfterValidator(_words),
        Field(
            description="program and arguments; {data} {folder} {seed} {options} {program:NAME} are filled in; "
            "what is in files that it names is part of the identity"
        ),
    ]
    metrics: Annotated[
        dict[MetricName, CommandMetric],
        Nested(),
        Field(default_factory=dict, description="figures by name, each {pattern: …}, {json: …} or {report: …}"),
    ]
    series: Annotated[CommandSeries | None, Nested(), Field(description="operations per second over time")] = None
    files: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1)], ...],
        Field(description="files and folders that it reads beside those that `argv` names"),
    ] = ()
    duration: Annotated[
        Seconds | None, DURATION, Field(description="how long it runs, where that is known: for the deadline")
    ] = None
    client: Annotated[
        str | None,
        Field(min_length=1, description="a build of engine program, by its name, whose programs it runs, too"),
    ] = None
    durabilities: Annotated[
        str | None,
        Field(pattern=f"^({_CLASSES})( ({_CLASSES}))*$", description="all that its `durability` can be: none os sync"),
    ] = None
    durability: Annotated[
        Durability | None,
        Field(
            description="a write that has returned is lost with its process (none), or survives it (os), "
            "or a power cut too: each by a sync of its own (sync), or several by one (group)"
        ),
    ] = None

    @field_validator("durability")
    @classmethod
    def _require_class(cls, value: str | None, info: ValidationInfo) -> str | None:
        classes = (info.data.get("durabilities") or "").split()
        if value and classes and value not in classes:
            context = {"classes": " or ".join(classes)}
            raise PydanticCustomError("durability", "expected {classes}, which the program can do", context)
        return value
