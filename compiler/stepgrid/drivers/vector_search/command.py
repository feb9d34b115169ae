"""The command of a step: this package as a program, told what to do by a file; and what it says when it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.vector_search.datasets.shape import file_name, is_file
from stepgrid.plugins import driver
from stepgrid.plugins.driver import RefusedError

if TYPE_CHECKING:
    from stepgrid.model.command import Command
    from stepgrid.plugins.driver import Context

MODULE = "stepgrid.drivers.vector_search"
BEGINNING = "vector search failed: "
LACKING = "the data set `{name}` is not here: put the file {file} beside the spec, in the layout of ann-benchmarks"


def command(settings: Mapping[str, Any], context: Context) -> Command:
    cache = str((context.cache or context.folder).absolute())
    request = {"settings": dict(settings), "cache": cache, "file": _file(settings["dataset"], context.inputs)}
    return driver.server_request(MODULE, context, request)


def files(dataset: str | Mapping[str, Any] | None) -> Sequence[str]:
    """What a data set is read from, by the name that the spec would give it."""
    return (file_name(dataset),) if isinstance(dataset, str) and is_file(dataset) else ()


def _file(dataset: str | Mapping[str, Any], inputs: Mapping[str, str]) -> str | None:
    for name in files(dataset):
        if name not in inputs:
            raise RefusedError(LACKING.format(name=dataset, file=name))
        return inputs[name]
    return None


def failure(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{BEGINNING}{text}"


def complaint(folder: Path) -> str | None:
    return driver.last_complaint(folder, BEGINNING)
