"""Messages of the other machine, checked in one place: types, ranges, text that prints. It is trusted in nothing."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from stepgrid.host.remote.agent import JSON, SILENCE, AnswerError, FrameLink, plain

Amount = Annotated[float, Meta(ge=0, le=1e18)]
Speed = Annotated[float, Meta(gt=0, le=1e15)]
Name = Annotated[str, Meta(max_length=200)]


class RemoteUsage(Struct):
    user: Amount
    system: Amount
    faults: Amount
    threads: Amount
    rss: Amount


class RemoteSample(Struct):
    busy: Amount
    idle: Amount
    received: Amount
    sent: Amount
    process: RemoteUsage


class End(Struct):
    """The end of a program."""

    exit: Annotated[int, Meta(ge=-64, le=255)]
    seconds: Amount
    user: Amount
    system: Amount
    max_rss: Amount
    cpu_pct: Annotated[float, Meta(ge=0, le=100)]
    network_bytes_per_s: Amount
    missing: list[str] = []  # paths of the command that are not there


class ClientEnd(Struct, omit_defaults=True):
    """client.json: how a program there ended, or which end of the connection was lost; neither: our half was killed."""

    lost: str = ""
    began: float = 0.0  # unix time
    program: End | None = None


class RemoteFacts(Struct):
    hostname: Name
    cpu: Name
    cores: Annotated[int, Meta(ge=1, le=1 << 20)]
    memory: Annotated[int, Meta(ge=1, le=1 << 60)]
    kernel: Name
    architecture: Name
    libc: Name
    python: Name

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if isinstance(value := getattr(self, name), str):
                setattr(self, name, plain(value))


class RoundTrips(Struct):
    rtt_us: Speed
    rtt_p99_us: Speed
    received: Speed


class RemoteAnswer(Struct):
    """A message, with some of these keys."""

    error: str | None = None
    ready: bool = False
    missing: list[Name] = []
    provided: int = 0
    facts: RemoteFacts | None = None
    network: RoundTrips | None = None
    sample: RemoteSample | None = None
    file: str | None = None
    end: End | None = None


def receive_answer(link: FrameLink, seconds: float = SILENCE) -> RemoteAnswer:
    """Wait for a message; LostError: none came, or it says or is something else."""
    kind, payload = link.receive(seconds)
    return read_answer(link.peer, payload if kind == JSON else b"")


def read_answer(peer: str, payload: bytes) -> RemoteAnswer:
    try:
        answer = msgspec.json.decode(payload, type=RemoteAnswer)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise AnswerError(f"{peer} sent something else than an answer: {plain(str(error))}") from None
    if answer.error is not None:
        raise AnswerError(f"{peer}: {plain(answer.error)}")
    return answer
