"""Wrong specs: more_values."""

from tests.language.bad import BASE, SWEEP, Said

CASES: dict[str, Said] = {
    "four mistakes at once": (
        (
            "title: t\n"
            "builds:\n"
            "  rocksdb: {engine: rocksdb, verions: [7.8.3, 9.10.0], source: {system: db_bench}}\n"
            "swep: {}\n"
            "steps:\n"
            "  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}\n"
            "  - checkpoint: loaded\n"
            "  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}\n"
            "params: {keys: 20x, duration: 1s}\n"
            "report: {bas: {}}\n"
        ),
        [
            (
                "3:30",
                "unknown-key",
                "`verions` is not a key here",
                "did you mean `versions`?",
            ),
            (
                "4:1",
                "unknown-key",
                "`swep` is not a key here",
                "did you mean `sweep`?",
            ),
            (
                "9:16",
                "wrong-unit",
                "keys: expected a count such as 1000, 200k, 100M or 2B, found `20x`",
                "",
            ),
            (
                "10:10",
                "unknown-key",
                "`bas` is not a key here",
                "did you mean `base`?",
            ),
        ],
    ),
    "a power without end": (
        BASE + SWEEP + 'exclude: ["9**(9**9) > 1"]\n',
        [
            (
                "13:11",
                "expression",
                "`9**(9**9) > 1` has no value: a number has at most 1024 bits",
                "",
            ),
        ],
    ),
    "a text without end": (
        BASE + SWEEP + "exclude: [\"('a'*(10**10))|length > 1\"]\n",
        [
            (
                "13:11",
                "expression",
                "`('a'*(10**10))|length > 1` has no value: a text or a list has at most 10000 parts",
                "",
            ),
        ],
    ),
    "loops in a value": (
        BASE.replace("1k", '"{% for a in range(9) %}{% endfor %}1"'),
        [
            (
                "8:16",
                "expression",
                "a value has no `{% %}`",
                "only expressions: `{{ … }}`",
            ),
        ],
    ),
    "a range without end": (
        BASE + SWEEP + 'exclude: ["range(10**9)|list"]\n',
        [
            (
                "13:11",
                "expression",
                "`range(10**9)|list` has no value: a range has at most 10000 numbers",
                "",
            ),
        ],
    ),
    "one equals sign": (
        BASE + SWEEP + "exclude: [\"cache = 'lru'\"]\n",
        [("13:11", "expression", "`cache = 'lru'` is not an expression: more follows where it ends", "equal is `==`")],
    ),
    "braces in an exclude": (
        BASE + SWEEP + 'exclude: ["{{ cache == 1 }}"]\n',
        [
            (
                "13:11",
                "expression",
                "`{{ cache == 1 }}` is not an expression: `}` stands where `:` is expected",
                "an expression stands here without `{{ }}`",
            ),
        ],
    ),
    "an attack": (
        BASE + SWEEP + "exclude: [\"''.__class__.__mro__\"]\n",
        [("13:11", "expression", "`''.__class__.__mro__` has no value: `__class__` is not for specs", "")],
    ),
    "a division by zero": (
        BASE + SWEEP + 'exclude: ["1/0"]\n',
        [("13:11", "expression", "`1/0` has no value: a division by zero", "")],
    ),
    "an undefined name": (
        BASE + SWEEP + "exclude: [\"cach == 'lru'\"]\n",
        [
            (
                "13:11",
                "undefined-name",
                "`cach` is not defined",
                "did you mean `cache`?",
            ),
        ],
    ),
    "a value of itself": (
        BASE + 'options: [a: "{{ options.a + 1 }}"]\n',
        [
            (
                "9:14",
                "value-cycle",
                "values go round: options.a → options.a",
                "",
            ),
        ],
    ),
    "params that go round": (
        BASE.replace("1k", '"{{ params.writes }}", writes: "{{ params.keys }}"'),
        [
            (
                "8:47",
                "value-cycle",
                "values go round: params.keys → params.writes → params.keys",
                "",
            ),
        ],
    ),
    "parentheses without end": (
        BASE
        + SWEEP
        + (
            'exclude: ["((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((('
            "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
            "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
            "(((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))"
            "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
            "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
            '))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"]\n'
        ),
        [
            (
                "13:11",
                "expression",
                (
                    "`((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
                    "(((((((((((((((((((((((((((((((…` is too long or too deep to be evaluated"
                ),
                "",
            ),
        ],
    ),
}
