"""Wrong specs: more_types."""

from tests.language.bad import BASE, Said

CASES: dict[str, Said] = {
    "a sweep that is a list": (
        BASE + "sweep: [a]\n",
        [
            (
                "9:8",
                "wrong-type",
                "`sweep`: expected a map, found a list",
                "",
            ),
        ],
    ),
    "an effect too large": (
        BASE + "report: {smallest_effect: 2}\n",
        [
            (
                "9:27",
                "out-of-range",
                "`smallest_effect`: expected less than 1.0, found `2`",
                "",
            ),
        ],
    ),
    "an effect in percent": (
        BASE + "report: {smallest_effect: 2%}\n",
        [
            (
                "9:27",
                "wrong-type",
                "`smallest_effect`: expected a number, found `2%`",
                "",
            ),
        ],
    ),
    "a base that is a word": (
        BASE + "report: {base: lru}\n",
        [
            (
                "9:16",
                "wrong-type",
                "`base`: expected a map, found `lru`",
                "",
            ),
        ],
    ),
    "scales that are a list": (
        BASE + "scales: [smoke]\n",
        [
            (
                "9:9",
                "wrong-type",
                "`scales`: expected a map, found a list",
                "",
            ),
        ],
    ),
    "an option without a value": (
        BASE + "options: [cache_size: ]\n",
        [
            (
                "9:11",
                "wrong-type",
                "option `cache_size`: expected a value, found nothing",
                "the engine's own default is `unset`; in a scale null removes",
            ),
        ],
    ),
    "an option that is a map": (
        BASE + "options: [cache_size: {a: b}]\n",
        [
            (
                "9:11",
                "wrong-type",
                "option `cache_size`: expected one value, found a map",
                "",
            ),
        ],
    ),
    "an option with dashes": (
        BASE + "options: [--cache_size: 1MiB]\n",
        [
            (
                "9:11",
                "option-name",
                "`--cache_size` is not the name of an option",
                "without dashes: `cache_size`",
            ),
        ],
    ),
    "an option of two lines": (
        BASE + 'options: [cache_type: "a\\nb"]\n',
        [
            (
                "9:11",
                "control-character",
                "option `cache_type`: a value is one line",
                "",
            ),
        ],
    ),
    "another policy": (
        BASE + "options: [a: {value: 1, when_unsupported: ignore}]\n",
        [
            (
                "9:43",
                "not-a-choice",
                "`when_unsupported`: expected `drop`, found `ignore`",
                "without it an option that the binary lacks is an error",
            ),
        ],
    ),
    "an order of another name": (
        BASE + "order: randomised\n",
        [
            (
                "9:8",
                "not-a-choice",
                "`order`: expected `randomized`, `interleaved` or `as_written`, found `randomised`",
                "",
            ),
        ],
    ),
    "another version of the language": (
        BASE + "spec: 2\n",
        [
            (
                "9:7",
                "not-a-choice",
                "`spec`: expected `1`, found `2`",
                "",
            ),
        ],
    ),
    "memory in GB": (
        BASE + "hardware: {memory: 64GB}\n",
        [
            (
                "9:20",
                "wrong-unit",
                (
                    "memory: expected a size such as 4096, 8KiB, 16MiB or 1GiB, found `64GB`: sizes are KiB, Mi"
                    "B, GiB only"
                ),
                "",
            ),
        ],
    ),
}
