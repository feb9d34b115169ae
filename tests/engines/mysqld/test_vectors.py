"""The binary protocol, held against what the manual says of its packets; servers are in tests/integration."""

import socket
import struct
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid_databases.engines.mysqld import vectors
from stepgrid_databases.engines.mysqld.vectors import Statement, VectorError


def packets(*payloads):
    return b"".join(struct.pack("<I", len(each))[:3] + bytes([number]) + each for number, each in enumerate(payloads))


END = b"\xfe\0\0\2\0"
COLUMN = b"\3def" + b"\2id" * 5 + bytes(13)
PREPARED = packets(b"\0" + struct.pack("<IHHBH", 7, 1, 1, 0, 0), COLUMN, END, COLUMN, END)
ERROR = b"\xff" + struct.pack("<H", 1146) + b"#42S02Table 'items' doesn't exist"


def answer(ids):
    return packets(b"\1", COLUMN, END, *(b"\0\0" + struct.pack("<i", each) for each in ids), END)


class Wire:
    """Stands in for a connection of PyMySQL: what the server says comes in parts."""

    def __init__(self, *parts):
        self._sock, self.server = socket.socketpair()
        self.sent = b""
        self._thread = threading.Thread(target=self._speak, args=(parts,), daemon=True)
        self._thread.start()

    def _speak(self, parts):
        for part in parts:
            self.sent += self.server.recv(2**16)
            for at in range(0, len(part), 7):
                self.server.sendall(part[at : at + 7])
        self.server.close()

    def close(self):
        self._thread.join()
        self._sock.close()


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=120))
def test_ids_come_back_in_however_many_pieces(ids):
    wire = Wire(PREPARED, answer(ids))
    statement = Statement(wire, "SELECT id …")
    found = statement.execute(statement.request([b"vector"]))
    wire.close()
    assert vectors.ids(found) == ids


def test_what_is_sent():
    wire = Wire(PREPARED, answer([]))
    statement = Statement(wire, "SELECT ?, ?")
    statement.execute(statement.request([b"ab", -2]))
    wire.close()
    prepare = b"\x0c\0\0\0\x16SELECT ?, ?"
    execute = (
        b"\x17" + struct.pack("<IBI", 7, 0, 1) + b"\0\1" + struct.pack("<HH", 252, 3) + b"\2ab" + b"\xfe\xff\xff\xff"
    )
    assert wire.sent == prepare + struct.pack("<I", len(execute)) + execute


@pytest.mark.parametrize(("size", "head"), [(250, b"\xfa"), (251, b"\xfc\xfb\0"), (2**16, b"\xfd\0\0\1")])
def test_the_length_of_a_parameter(size, head):
    wire = Wire(PREPARED)
    sent = Statement(wire, "SELECT ?").request([bytes(size)])
    wire.close()
    assert sent[18:].startswith(head)
    assert len(sent) == 18 + len(head) + size


def test_errors_of_the_server():
    said = "Table 'items' doesn't exist (error 1146)"
    wire = Wire(packets(ERROR))
    with pytest.raises(VectorError) as caught:
        Statement(wire, "SELECT 1")
    wire.close()
    assert str(caught.value) == said
    for read, parts in (
        (vectors.ids, packets(ERROR)),
        (vectors.ids, packets(b"\1", COLUMN, END, b"\0\0" + bytes(4), ERROR)),
        (vectors.check_done, packets(ERROR)),
    ):
        wire = Wire(PREPARED, parts)
        statement = Statement(wire, "SELECT 1")
        found = statement.execute(statement.request([]))
        wire.close()
        with pytest.raises(VectorError) as caught:
            read(found)
        assert str(caught.value) == said
