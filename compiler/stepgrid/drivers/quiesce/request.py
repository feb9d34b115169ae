"""What the program that looks is told: by a file, since it holds the server's password."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.drivers.quiesce import drain_command
from stepgrid.model.command import Command
from stepgrid.plugins import driver
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access

MODULE = "stepgrid.drivers.quiesce"
MARGIN = 60.0  # seconds beyond the timeout: to connect, and to put back what was set


class Request(NamedTuple):
    access: Access | None  # of a server
    argv: Sequence[str]  # without one: what works off the debt of the database
    held: bool  # and does not end by itself
    data: Path
    device: str | None  # as the site file says
    timeout: float
    quiet: float
    flush: bool
    analyze: bool
    device_busy: float
    device_writes: int


def command(settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
    asked = {name: settings[name] for name in Request._fields if name in settings}
    drain = drain_command.Drain(()) if context.server else drain_command.drain(settings, options, context)
    request = {**drain._asdict(), "data": context.data.absolute(), "device": context.device, **asked}
    return driver.program_request(MODULE, context, request, settings["timeout"] + MARGIN)


def read(folder: Path) -> Request:
    access, request = driver.read_request(folder)
    return Request(**{**request, "access": access, "data": Path(request["data"])})


# Why the engine could not be looked at: said by the program, read by whoever started it.

BEGINNING = "the engine could not be looked at: "


def sentence(error: Exception) -> str:
    return f"{BEGINNING}{error}"


def complaint(folder: Path) -> str | None:
    return driver.last_complaint(folder, BEGINNING)
