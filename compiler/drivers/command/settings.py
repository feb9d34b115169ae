"""What a step of kind command may say."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from compiler.collect import schema
from compiler.drivers.command.words import misplaced
from compiler.drivers.fields import DURATION, Seconds
from compiler.drivers.fields import Settings as Model
from compiler.drivers.quantity import Nested

_TAKEN = frozenset(schema.steps((), ()))


def _word(value: object) -> object:
    """An expression gives numbers and booleans; the program gets text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _words(argv: tuple[str, ...]) -> tuple[str, ...]:
    if not argv or not argv[0]:
        raise PydanticCustomError("no_program", "a program is needed")
    if (placeholder := misplaced(argv)) is not None:
        message = "{placeholder} stands for several words: give it as a word of its own"
        raise PydanticCustomError("misplaced", message, {"placeholder": placeholder})
    return argv


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        context = {"text": text, "why": str(error)}
        raise PydanticCustomError("pattern", "`{text}` is no pattern: {why}", context) from None
    if groups != 1:
        message = "the pattern `{text}` has {groups} groups; it needs one, around the number"
        raise PydanticCustomError("groups", message, {"text": text, "groups": groups})
    return text


def _metric_name(name: str) -> str:
    if name in _TAKEN:
        raise PydanticCustomError("taken", "`{name}` is a column of the tables: choose another name", {"name": name})
    return name


Word = Annotated[str, BeforeValidator(_word)]
MetricName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$"), AfterValidator(_metric_name)]


class Metric(Model):
    pattern: Annotated[
        str, AfterValidator(_pattern), Field(description="a regular expression whose one group holds the number")
    ]
    unit: Annotated[str, Field(description="of the number, as it is shown")] = ""
    better: Annotated[Literal["higher", "lower"] | None, Field(description="which way is better")] = None
    required: Annotated[bool, Field(description="the step has failed when nothing matches")] = False


class Settings(Model):
    argv: Annotated[
        tuple[Word, ...],
        AfterValidator(_words),
        Field(description="program and arguments; {data} {folder} {seed} {options} {program:NAME} are filled in"),
    ]
    metrics: Annotated[
        dict[MetricName, Metric],
        Nested(),
        Field(default_factory=dict, description="figures by name: {pattern: …, unit: …, better: …, required: …}"),
    ]
    duration: Annotated[
        Seconds | None, DURATION, Field(description="how long it runs, where that is known: for the deadline")
    ] = None
