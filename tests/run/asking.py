"""A connection to the servers of these tests, which take it and say nothing."""

import socket


class Asking:
    def __init__(self, access):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(access.socket))

    def query(self, sql):
        return []

    def close(self):
        self._socket.close()
