"""Small damages to a text of YAML: what people do by mistake, and what nobody would."""

import random
import re

WORDS = [
    "null", "~", "[]", "{}", "{a: 1}", "[1, 2]", "-1", "0", "1e400", "0x10", "yes", "'", '"', "{{", "{{ }}",
    "{% for %}", "unset", "*a", "&a", "!!python/none", "? ", "- ", ": ", "#", "\t", "\ufeff", "é", "\u2028",
    "99999999999999999999", "{{ params.keys }}", "{{ options.bloom_bits }}", "{{ 1 // 0 }}",
    "{{ options.cache_size * 'a' }}", "when", "from: loaded", "version", "here", "sweep", "cache", "lru", "1KB", "5",
    "a/b c", "{value: 1, when: 'x'}", "[{when: 'version', value: 3}]",
    # nested, anchored, endless, unseen
    "[" * 60 + "]" * 60, "{a: " * 50 + "1" + "}" * 50, "&x [*x]", "&a {b: *a}", "<<: *a", "[null]", "{~: 1}",
    "{[1]: 2}", "9" * 400, "-1e308", "nan", ".inf", "0o17", "1_0", "2016-01-01", "5000000000B", "1e400s", "\x00",
    "\x1b[31m", "\x85", "\u200b", "\u202e", "a\u0301", "٣", "---", "%YAML 1.1", "|", ">-", "!!set {a}",
    "!!binary aGk=", "'\"'", '"\\x00"',
    # what an expression may not do
    '"{{ ().__class__ }}"', '"{{ range(10**9) | list }}"', "\"{{ 'a' * 10**9 }}\"", '"{{ 2 ** 99999 }}"',
    '"{{ 1e308 / 0.01 }}"', '"{{ params }}"', '"{{ options.a }}"', '"{{ has(1) }}"', '"{{ hardware }}"',
    '"{{ none }}"', '"{{ [1, 2] }}"', '"{{ 1 | x }}"', '"{{ ' + "(" * 300 + "1" + ")" * 300 + ' }}"',
    '"{{ ' + " + ".join(["1"] * 3000) + ' }}"', '"{{ x for x in y }}"',
    # what stands elsewhere, and names that go round
    "rocksdb", "a.yaml", "rocksdb.yaml", ".", "/dev/null", "{extends: rocksdb}", "{each: [1, 2], as: w, name: w}",
    "{build: x}", "{use: x}", "{checkpoint: x}", "{loads: 1000, runs: 1000}", "{for: {a: []}}", "{system: x}",
    "{debian: [a, b], suite: x}",
]  # fmt: skip
KEYS = [
    "include", "hardware", "builds", "options", "params", "workload", "steps", "sweep", "exclude", "also", "repeat",
    "share", "launch", "start", "probes", "claims", "allow", "seed", "report", "scales", "define", "extends",
    "abstract", "version", "versions", "source", "engine", "when", "when_unsupported", "as", "for", "times", "name",
    "kind", "points", "values",
]  # fmt: skip


def mutated(text, seed):
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randint(1, 3)):
        chance.choice(DAMAGES)(lines, chance.randrange(len(lines)), chance)
        lines = lines or [""]
    return "\n".join(lines)


def _lose(lines, place, chance):
    del lines[place]


def _lose_block(lines, place, chance):
    del lines[place : _end(lines, place)]


def _repeat(lines, place, chance):
    lines.insert(chance.randrange(len(lines)), lines[place])


def _repeat_block(lines, place, chance):
    lines[place:place] = lines[place : _end(lines, place)]


def _put_word(lines, place, chance):
    cut = chance.randrange(len(lines[place]) + 1)
    lines[place] = lines[place][:cut] + chance.choice(WORDS) + lines[place][cut:]


def _put_value(lines, place, chance):
    key, colon, _ = lines[place].partition(":")
    lines[place] = f"{key}{colon} {chance.choice(WORDS)}"


def _put_key(lines, place, chance):
    indent = lines[place][: _indent(lines[place])]
    lines.insert(place, f"{indent}{chance.choice(KEYS)}: {chance.choice(WORDS)}")


def _indent_otherwise(lines, place, chance):
    lines[place] = "  " * chance.randrange(4) + lines[place].lstrip()


def _lose_letters(lines, place, chance):
    start = chance.randrange(len(lines[place]) + 1)
    lines[place] = lines[place][:start] + lines[place][start + chance.randint(1, 6) :]


def _exchange_word(lines, place, chance):
    """For one of the text's own, or another."""
    words = list(re.finditer(r"[\w.$-]+", lines[place]))
    if words:
        word = chance.choice(words)
        put = chance.choice([*WORDS, *KEYS, *re.findall(r"[\w.-]+", "\n".join(lines))])
        lines[place] = lines[place][: word.start()] + put + lines[place][word.end() :]


def _cut_off(lines, place, chance):
    if chance.random() < 0.2:  # little is left to be wrong
        del lines[place + 1 :]


DAMAGES = (
    _lose, _lose_block, _repeat, _repeat_block, _put_word, _put_value, _put_key, _indent_otherwise, _lose_letters,
    _exchange_word, _cut_off,
)  # fmt: skip


def _indent(line):
    return len(line) - len(line.lstrip())


def _end(lines, place):
    """Where what belongs to a line ends."""
    later = range(place + 1, len(lines))
    return next((n for n in later if lines[n].strip() and _indent(lines[n]) <= _indent(lines[place])), len(lines))
