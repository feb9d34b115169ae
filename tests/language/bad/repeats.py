"""`repeat`, where loads are added until it is sure."""

from tests.language.bad import BASE, SWEEP, Said

EXPECTED = "expected `decided`, or the width of an interval such as 2%"

CASES: dict[str, Said] = {
    "until what": (
        BASE + "repeat: {until: soon}\n",
        [("9:17", "wrong-unit", f"until: {EXPECTED}, found `soon`", "")],
    ),
    "until a number without its unit": (
        BASE + "repeat: {until: 2}\n",
        [("9:17", "wrong-unit", f"until: {EXPECTED}, found `2`", "")],
    ),
    "until no width": (
        BASE + "repeat: {until: 0%}\n",
        [("9:17", "wrong-unit", f"until: {EXPECTED}, found `0%`", "")],
    ),
    "loads and until": (
        BASE + "repeat: {loads: 3, until: decided}\n",
        [("9:9", "not-both", "`repeat`: it has both `loads` and `until`: keep one", "")],
    ),
    "a limit of nothing": (
        BASE + "repeat: {loads: 3, most: 12}\n",
        [
            (
                "9:9",
                "missing-key",
                "`repeat`: `most` needs `until`, such as `until: decided` or `until: 2%`",
                "",
            )
        ],
    ),
    "least above most": (
        BASE + "repeat: {until: decided, least: 5, most: 4}\n",
        [
            (
                "9:9",
                "out-of-range",
                "`repeat`: `least` is 5, `most` is 4: expected `least` to be no larger",
                "",
            )
        ],
    ),
    "one load has no interval": (
        BASE + "repeat: {until: decided, least: 1}\n",
        [("9:33", "out-of-range", "`least`: expected at least 2, found `1`", "")],
    ),
    "a misspelt limit": (
        BASE + "repeat: {until: decided, atmost: 5}\n",
        [("9:26", "unknown-key", "`atmost` is not a key here", "did you mean `most`?")],
    ),
    "a claim to confirm, and no number of first loads": (
        BASE
        + SWEEP
        + "repeat: {until: decided}\n"
        + "claims: [{claim: c, expect: \"qps(cache='hyper') > qps(cache='lru')\", confirm: 3}]\n",
        [
            (
                "14:29",
                "not-both",
                "a claim with `confirm` needs a fixed number of loads, and `repeat` says `until`: keep one",
                "",
            )
        ],
    ),
    "too few loads to confirm": (
        BASE + SWEEP + "claims: [{claim: c, expect: \"qps(cache='hyper') > qps(cache='lru')\", confirm: 1}]\n",
        [("13:79", "out-of-range", "`confirm`: expected at least 2, found `1`", "")],
    ),
}
