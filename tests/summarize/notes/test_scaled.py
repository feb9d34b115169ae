"""A report of a scale says so before its figures are believed."""

from stepgrid.summarize.notes.warnings import scaled


def test_only_a_scale_is_told() -> None:
    assert list(scaled(None)) == []
    assert list(scaled("smoke")) == [
        "measured at scale smoke and on the host below, whatever the title names: sizes, durations or repeats that the "
        "spec names for this scale, often smaller; what the whole would show may be something else"
    ]
