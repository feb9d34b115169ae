"""What a spec may say, after its short forms are written out. Values that depend on a cell stay nodes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf
from pydantic_core import PydanticCustomError

from compiler.language import units
from compiler.language.nodes import Text


def _size(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return units.quantity(value, "size")
    except units.UnitError as error:
        raise PydanticCustomError("wrong_unit", "{why}", {"why": str(error)}) from None


Label = Annotated[Text, InstanceOf()]  # text as it stands: names, versions, refs, expressions
Size = Annotated[int, BeforeValidator(_size)]
Options = tuple[Any, ...]  # each a set's name, a map, or a set written in place


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Storage(Model):
    device: str | None = None
    kind: Literal["nvme", "ssd", "disk", "virtual", "unknown"] | None = None
    members: int | None = None
    raid: int | None = None
    stripe: Size | None = None
    filesystem: str | None = None
    max_sectors_kb: int | None = None


class Hardware(Model):
    """A machine as the article describes it; what is said is verified before a measured step."""

    id: str | None = None
    cpu: str | None = None
    sockets: int | None = None
    cores: int | None = None
    smt: bool | None = None
    memory: Size | None = None
    os: str | None = None
    storage: Storage | None = None


class Build(Model):
    engine: Label | None = None
    version: Label | None = None
    versions: tuple[Label, ...] | None = None
    source: dict[str, Any] | None = None
    extends: Label | None = None
    abstract: bool = False
    options: Options = ()
    params: dict[str, Any] = {}


class OptionSet(Model):
    engine: Label | tuple[Label, ...] | None = None
    when: Label | None = None
    extends: Label | None = None
    when_unsupported: Literal["drop"] | None = None
    options: dict[str, Any] = {}


class Step(Model):
    """A step or its use; the keys that are not named here are settings of the step's kind."""

    model_config = ConfigDict(frozen=True, extra="allow", arbitrary_types_allowed=True)

    use: Label | None = None
    name: Label | None = None
    checkpoint: Label | None = None
    kind: Label | None = None
    as_: Label | None = Field(default=None, alias="as")
    when: Label | None = None
    measured: bool | None = None
    mutates: bool | None = None
    params: dict[str, Any] = {}
    options: Options = ()


class Point(Model):
    build: Label | None = None
    params: dict[str, Any] = {}
    options: Options = ()
    when: Label | None = None


class Axis(Model):
    builds: tuple[Label, ...] | None = None
    points: dict[str, Point] | None = None
    option: Label | None = None
    param: Label | None = None
    values: tuple[Label, ...] | None = None
    from_: Label | None = Field(default=None, alias="from")
    steps: tuple[Label, ...] | None = None


class Repeat(Model):
    loads: Annotated[int, Field(ge=1)] = 1
    runs: Annotated[int, Field(ge=1)] = 1


class Report(Model):
    base: dict[str, Label] = {}
    smallest_effect: Annotated[float, Field(ge=0, lt=1)] = 0.02


class Definitions(Model):
    hardware: dict[str, Hardware] = {}
    builds: dict[str, Build] = {}
    options: dict[str, OptionSet] = {}
    workloads: dict[str, tuple[Step, ...]] = {}


class Library(Model):
    include: tuple[Label, ...] = ()
    define: Definitions = Definitions()


class Spec(Library):
    spec: Literal["1"] | None = None
    title: Annotated[str, Field(min_length=1)]
    hardware: Any = None
    builds: Annotated[dict[str, Build], Field(min_length=1)]
    options: Options = ()
    params: dict[str, Any] = {}
    workload: Label | None = None
    steps: tuple[Step, ...] | None = None
    sweep: dict[str, Axis] = {}
    exclude: tuple[Label, ...] = ()
    also: tuple[dict[str, Label], ...] = ()
    repeat: Repeat = Repeat()
    order: Literal["randomized", "interleaved", "as_written"] = "randomized"
    seed: Annotated[int, Field(ge=0)] = 1
    report: Report = Report()
    scales: dict[str, Any] = {}
