"""Prepared statements on the binary protocol of MySQL and MariaDB, which PyMySQL does not speak.

PyMySQL connects and says who it is; then its socket is ours. A request is whole before it is sent, and an answer is
read apart only when it is asked for its numbers: between the two there is a send and a receive.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pymysql

PREPARE, EXECUTE = b"\x16", b"\x17"
LONG, BLOB = 3, 252  # types of parameters
END, ERROR = 0xFE, 0xFF
HEAD, SHORTEST_END = 4, 9  # bytes: of a packet's head; an end is shorter than any row that begins with the same byte
LARGEST = 2**24 - 1  # bytes of a packet
RECEIVED = 2**16
_COLUMN_OF_INT = slice(2, 6)  # in a row of one INT: a zero and the bitmap of NULLs come before


class SearchError(Exception):
    """A step that cannot go on, with the reason as a sentence."""


class Statement:
    """A statement on a connection that does nothing else."""

    def __init__(self, connection: pymysql.Connection[Any], sql: str) -> None:
        self._socket: Any = connection._sock
        self._id = check_done(self._answer(_packet(PREPARE + sql.encode()), is_whole=_prepared))[1:5]

    def request(self, parameters: Sequence[bytes | int]) -> bytes:
        types = b"".join(struct.pack("<H", LONG if isinstance(value, int) else BLOB) for value in parameters)
        values = b"".join(map(_value, parameters))
        nulls = bytes((len(parameters) + 7) // 8)
        return _packet(EXECUTE + self._id + b"\0" + struct.pack("<I", 1) + nulls + b"\1" + types + values)

    def execute(self, request: bytes) -> bytes:
        """Send a request; `ids` or `check_done` read the answer."""
        return self._answer(request, is_whole=_answered)

    def _answer(self, request: bytes, is_whole: Any) -> bytes:
        self._socket.sendall(request)
        answer: bytes = self._socket.recv(RECEIVED)
        while not is_whole(answer):
            part = self._socket.recv(RECEIVED)
            if not part:
                raise SearchError("the server closed the connection")
            answer += part
        return answer


def ids(answer: bytes) -> list[int]:
    """Read an answer of rows with one INT."""
    payloads = list(_payloads(answer))
    if payloads[-1][0] == ERROR:  # also after some rows
        raise SearchError(_message(payloads[-1]))
    return [int.from_bytes(row[_COLUMN_OF_INT], "little", signed=True) for row in payloads[3:-1]]


def check_done(answer: bytes) -> bytes:
    """Check the answer of a statement that gives no rows, and return its first packet."""
    first: bytes = next(_payloads(answer))
    if first[0] == ERROR:
        raise SearchError(_message(first))
    return first


def _packet(payload: bytes) -> bytes:
    if len(payload) >= LARGEST:
        raise SearchError(f"a statement of {len(payload):,} bytes is larger than a packet")
    return struct.pack("<I", len(payload)) + payload  # the fourth byte is the number of the packet: 0


def _value(parameter: bytes | int) -> bytes:
    if isinstance(parameter, int):
        return struct.pack("<i", parameter)
    size = len(parameter)
    if size < 251:
        return bytes([size]) + parameter
    return (b"\xfc" + struct.pack("<H", size) if size < 2**16 else b"\xfd" + struct.pack("<I", size)[:3]) + parameter


def _payloads(answer: bytes) -> Any:
    offset = 0
    while offset + HEAD <= len(answer):
        size = answer[offset] | answer[offset + 1] << 8 | answer[offset + 2] << 16
        yield answer[offset + HEAD : offset + HEAD + size]
        offset += HEAD + size


def _answered(answer: bytes) -> bool:
    """Check that an answer is whole: one packet, or columns, an end, rows, an end."""
    offset, ends, size = 0, 0, len(answer)
    while offset + HEAD < size:
        length = answer[offset] | answer[offset + 1] << 8 | answer[offset + 2] << 16
        kind = answer[offset + HEAD]
        after = offset + HEAD + length
        if offset == 0 and kind in (0, ERROR):
            return after <= size
        if (kind == END and length < SHORTEST_END) or kind == ERROR:
            ends += 1 if kind == END else 2
            if ends >= 2:
                return after <= size
        offset = after
    return False


def _prepared(answer: bytes) -> bool:
    """Check that it is whole: a head, then parameters and columns, each list with an end where it is not empty."""
    if len(answer) < HEAD + 1 or (answer[HEAD] != ERROR and len(answer) < HEAD + SHORTEST_END):
        return False
    if answer[HEAD] == ERROR:
        return _answered(answer)
    columns, parameters = struct.unpack_from("<HH", answer, HEAD + 5)
    wanted = 1 + sum(count + 1 for count in (columns, parameters) if count)
    offset = 0
    for _ in range(wanted):
        if offset + HEAD > len(answer):
            return False
        offset += HEAD + int.from_bytes(answer[offset : offset + 3], "little")
    return offset <= len(answer)


def _message(payload: bytes) -> str:
    """Read an error: a code, then a state that begins with #."""
    (code,) = struct.unpack_from("<H", payload, 1)
    text = payload[3:].decode("utf-8", "replace")
    return f"{text[6:] if text.startswith('#') else text} (error {code})"
