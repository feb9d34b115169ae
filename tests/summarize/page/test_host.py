"""The host in a line."""

from __future__ import annotations

from stepgrid.summarize.page import host


def test_one_host_and_what_of_it_is_known() -> None:
    hardware = {"cpu": "Xeon", "cores": 2, "storage": {"filesystem": "ext4", "device": "vda"}}
    hosts = {f"s-{number}/1": {"kernel": "6.1", "hostname": "n1"} for number in (1, 2)}
    assert host.line(hardware, hosts) == "Xeon, 2 cores, ext4 on vda, kernel 6.1"
    assert host.line({}, {}) == "not recorded"


def test_several_equal_hosts_are_counted_and_not_named() -> None:
    hosts = {f"s-{number}/1": {"kernel": "6.1", "hostname": f"n{number}"} for number in (1, 2, 3)}
    assert host.line({}, hosts) == "kernel 6.1, measured on 3 hosts"
