"""Wrong specs: what an expression cannot be, in words that are not Python's."""

from tests.language.bad import BASE, Said


def option(value: str) -> str:
    return BASE + f'options: [{{a: "{value}"}}]\n'


CASES: dict[str, Said] = {
    "a text divided": (
        option("{{ 'a' // 2 }}"),
        [("9:15", "expression", "`'a' // 2` has no value: there is no `//` of a text and a number", "")],
    ),
    "a text and a number added": (
        option("{{ 'a' + 2 }}"),
        [("9:15", "expression", "`'a' + 2` has no value: there is no `+` of a text and a number: `~` joins texts", "")],
    ),
    "a number called": (
        option("{{ 1() }}"),
        [("9:15", "expression", "`1()` has no value: a number cannot be called", "")],
    ),
    "a number that is gone through": (
        option("{{ 1 | list }}"),
        [("9:15", "expression", "`1 | list` has no value: a number has no parts", "")],
    ),
    "a text below a number": (
        option("{{ 'a' < 2 }}"),
        [("9:15", "expression", "`'a' < 2` has no value: a text and a number have no order", "")],
    ),
    "an infinite number": (
        option("{{ 1e308 * 10 }}"),
        [("9:15", "expression", "`1e308 * 10` has no value: it would be infinite", "")],
    ),
    "an infinite constant": (
        option("{{ 1e308 / 0.01 }}"),
        [("9:15", "expression", "`1e308 / 0.01` has no value: it would be infinite", "")],
    ),
    "no number": (
        option("{{ 1e308 * 10 - 1e308 * 10 }}"),
        [("9:15", "expression", "`1e308 * 10 - 1e308 * 10` has no value: it would be no number", "")],
    ),
    "a filter that there is not": (
        option("{{ 1 | nofilter }}"),
        [("9:15", "expression", "`1 | nofilter` is not an expression: there is no filter `nofilter`", "")],
    ),
    "a test that there is not": (
        option("{{ 1 is nothing }}"),
        [("9:15", "expression", "`1 is nothing` is not an expression: there is no test `nothing`", "")],
    ),
    "two expressions": (
        option("{{ 1 2 }}"),
        [("9:15", "expression", "`1 2` is not an expression: more follows where it ends", "")],
    ),
    "none": (option("{{ none }}"), [("9:12", "wrong-type", "option `a`: expected one value, found nothing", "")]),
    "all options as one": (
        option("{{ options }}"),
        [("9:12", "wrong-type", "option `a`: expected one value, found what is no value", "")],
    ),
    "a function as a value": (
        option("{{ has }}"),
        [("9:15", "expression", "`has` has no value: a function is no value", "")],
    ),
    "a list as a value": (
        option("{{ [1, 2] }}"),
        [("9:12", "wrong-type", "option `a`: expected one value, found `1, 2`", "")],
    ),
    "a capability that is a number": (
        option("{{ has(1) }}"),
        [
            (
                "9:15",
                "expression",
                "rocksdb has no capability `1`",
                (
                    "known here: async_io, auto_hyper_clock_cache, benchmark_read_rate_limit, "
                    "cache_low_pri_pool_ratio, cache_type, compact0, compact1, enable_blob_files, "
                    "fixed_hyper_clock_cache, flush, hyper_clock_cache, max_background_jobs, …"
                ),
            )
        ],
    ),
    "a fact of the machine with a slip": (
        option("{{ hardware.coers }}"),
        [("9:15", "undefined-name", "`hardware.coers` is not defined", "did you mean `cores`?")],
    ),
    "a fact of its storage with a slip": (
        option("{{ hardware.storage.max_sector_kb }}"),
        [("9:15", "undefined-name", "`max_sector_kb` is not defined", "did you mean `max_sectors_kb`?")],
    ),
    "a param with a slip": (
        option("{{ params.key }}"),
        [("9:15", "undefined-name", "`params.key` is not defined", "did you mean `keys`?")],
    ),
    "an option that is not set": (
        BASE + 'options: [{a: "{{ options.bits }}", bitz: 1}]\n',
        [("9:15", "undefined-name", "`options.bits` is not defined", "did you mean `bitz`?")],
    ),
    "keys that are a function": (
        BASE.replace("keys: 1k", 'keys: "{{ has }}"'),
        [
            (
                "8:16",
                "expression",
                "`has` has no value: a function is no value",
                "",
            )
        ],
    ),
    "keys that are infinite": (
        BASE.replace("keys: 1k", 'keys: "{{ 1e308 * 10 }}"'),
        [("8:16", "expression", "`1e308 * 10` has no value: it would be infinite", "")],
    ),
    "a number of too many bits": (
        option("{{ 2 ** 5000 }}"),
        [("9:15", "expression", "`2 ** 5000` has no value: a number has at most 1024 bits", "")],
    ),
    "nothing in braces": (
        option("{{ }}"),
        [("9:15", "expression", "there is nothing in `{{ }}`", "")],
    ),
}
