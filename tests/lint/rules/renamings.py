"""The rule that tells of options under names of other releases."""

from tests.lint.rules import WHILE, spec

FIRES = {
    "option-renamed": [
        (
            spec(WHILE, options="use_clock_cache: false"),
            "`use_clock_cache=false|true` → `cache_type=lru_cache|hyper_clock_cache` from 7.7",
        ),
        (spec(WHILE, options="soft_rate_limit: 2.0"), "`soft_rate_limit`: left out from 7.0"),
    ],
}

QUIET = {
    "option-renamed": [
        spec(WHILE, options="cache_type: lru_cache"),
        spec(WHILE, options="soft_rate_limit: [{when: \"version < '7'\", value: 2.0}]"),
        spec(WHILE, options="soft_rate_limit: {value: 2.0, when_unsupported: drop}"),
    ],
}
