"""Valkey for stepgrid: `engine` is the server, `driver` is valkey-benchmark."""
