""""""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import awk, iostat
from tests.importers.made import IOSTAT

PATH = Path("sb.io")


def parsed(text: str) -> tuple[iostat.Iostat, list[str]]:
    faults = Faults()
    return iostat.parse(text, PATH, faults), list(map(str, faults))


def test_columns_are_found_by_name() -> None:
    found, wrong = parsed(IOSTAT)
    assert wrong == []
    assert (found.kernel, found.cores) == ("6.1.0", 8)
    assert iostat.figures(found.devices["md2"]) == {
        "device_reads_per_s": 2.0,
        "device_read_mb_per_s": 1.0,
        "device_read_await_ms": 0.5,  # of the second that had reads
        "device_read_request_kb": 512.0,
        "device_writes_per_s": 20.0,
        "device_write_mb_per_s": 2.0,
        "device_write_await_ms": 2.0,  # the mean of the seconds' own
        "device_write_request_kb": 102.4,
    }


def test_columns_of_an_old_release_and_of_megabytes() -> None:
    old = "Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s\nsda 7 8 1 2 0.5 1.5\n"
    found, wrong = parsed(old)
    assert wrong == []
    sample = found.devices["sda"][0]
    assert (sample["r/s"], iostat.kib(sample, "r"), iostat.kib(sample, "w")) == (1.0, 512.0, 1536.0)
    assert parsed("Device r/s rkB/s\nsda 1 2\n")[1] == [
        "sb.io:1: columns w/s, wkB/s were expected here\n  | Device r/s rkB/s"
    ]


def test_every_line_that_is_wrong_is_told() -> None:
    wrong = parsed("Device r/s w/s rkB/s wkB/s\nsda 1 2 3\nsdb 1 2 x 4\nsdc 1 2 3 4\n")[1]
    assert wrong == [
        "sb.io:2: 4 figures of a device were expected here, as the head above names them\n  | sda 1 2 3",
        "sb.io:3: figures of a device were expected here\n  | sdb 1 2 x 4",
    ]
    assert parsed("nothing\n")[1] == [
        "sb.io: iostat -x was expected: there is no line `Device …` with figures below it"
    ]


def test_half_a_line_at_the_end_is_left_out() -> None:
    found, wrong = parsed(f"{IOSTAT}md2              4.00   20")
    assert wrong == []
    assert len(found.devices["md2"]) == 2


def test_the_samples_are_read(samples: Path) -> None:
    found, wrong = parsed((samples / "engines" / "iostat-xtmy.txt").read_text(encoding="utf-8"))
    assert (wrong, found.cores, list(found.devices)) == ([], 2, ["vda"])


def test_a_request_size_is_the_mean_of_the_seconds_and_not_the_ratio_of_the_means() -> None:
    head = "Device r/s rkB/s rareq-sz w/s wkB/s"
    lines = f"{head}\nmd2 1 4 4.00 0 0\n\n{head}\nmd2 3 96 32.00 0 0\n"
    figures = iostat.figures(parsed(lines)[0].devices["md2"])
    assert figures["device_read_request_kb"] == 18.0
    assert figures["device_read_mb_per_s"] * 1024 / figures["device_reads_per_s"] == 25.0


@pytest.mark.parametrize(
    ("word", "value"), [("85.19,", 85.19), ("19K", 19), ("-1.5e3x", -1500), ("NA", 0), ("", 0), (".5", 0.5)]
)
def test_a_word_is_the_number_that_it_begins_with(word: str, value: float) -> None:
    assert awk.number(word) == value


def test_words_are_counted_from_one() -> None:
    assert [awk.field(" Sum  4/0\t98.44 MB", position) for position in (1, 3, 4, 5, 0)] == [
        "Sum",
        "98.44",
        "MB",
        "",
        "",
    ]


def test_print_keeps_integers_and_six_digits() -> None:
    assert [awk.plain(value) for value in (627197.0, 78684.33333, 12345678.0)] == ["627197", "78684.3", "12345678"]
