"""Wrong specs and exactly what is said about them: place, code, sentence, hint."""

import pytest

from compiler.language.problem import SpecError

BASE = """\
title: t
builds:
  rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 1k, duration: 1s}
"""
SWEEP = """\
sweep:
  cache:
    from: loaded
    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_clock_cache}}}
"""

CASES = {
    "unknown key": (
        BASE + "repeats: 3\n",
        [
            ("9:1", "unknown-key", "`repeats` is not a key here", "did you mean `repeat`?"),
        ],
    ),
    "wrong type": (
        BASE + "seed: many\n",
        [
            ("9:7", "wrong-type", "`seed`: expected a whole number, found `many`", ""),
        ],
    ),
    "wrong type list": (
        BASE.replace("[7.8.3, 9.10.0]", "7.8.3"),
        [
            ("3:40", "wrong-type", "`versions`: expected a list, found `7.8.3`", ""),
        ],
    ),
    "undef set": (
        BASE + "options: [levelled]\ndefine: {options: {leveled: {options: {a: 1}}}}\n",
        [
            ("9:11", "undefined-name", "there is no option set `levelled`", "did you mean `leveled`?"),
        ],
    ),
    "undef engine": (
        BASE.replace("engine: rocksdb", "engine: rockdb"),
        [
            ("3:21", "undefined-name", "there is no engine `rockdb`", "did you mean `rocksdb`?"),
        ],
    ),
    "undef step": (
        BASE.replace(
            "steps:", "workload: w\ndefine: {workloads: {w: [{name: a, kind: db_bench}]}}\nsteps:\n  - use: b"
        ),
        [
            ("7:10", "undefined-name", "the workload has no step `b`", "known here: a"),
        ],
    ),
    "undef kind": (
        BASE.replace("kind: db_bench, benchmarks: [fillseq]", "kind: dbbench, benchmarks: [fillseq]"),
        [
            ("5:27", "undefined-name", "there is no kind `dbbench`", "did you mean `db_bench`?"),
        ],
    ),
    "undef workload": (
        BASE + "workload: x\n",
        [
            ("9:11", "undefined-name", "there is no workload `x`", "there is none here"),
        ],
    ),
    "cycle values": (
        BASE + 'options: [{a: "{{ options.b }}", b: "{{ options.a }}"}]\n',
        [
            ("9:37", "value-cycle", "values go round: options.a → options.b → options.a", ""),
        ],
    ),
    "cycle extends": (
        BASE + "options: [x]\ndefine: {options: {x: {extends: y}, y: {extends: x}}}\n",
        [
            ("10:50", "extends-cycle", "definitions go round: x → y → x", ""),
        ],
    ),
    "empty grid": (
        BASE + SWEEP + "exclude: [\"cache == 'lru'\", \"cache == 'hyper'\"]\n",
        [
            ("9:1", "empty-grid", "the sweep has no cells", "`exclude` or the points' `when` leave nothing"),
        ],
    ),
    "empty axis": (
        BASE + "sweep: {threads: []}\n",
        [
            ("9:9", "empty-axis", "axis `threads` has no points", ""),
        ],
    ),
    "conflict": (
        BASE
        + "sweep: {a: {option: bloom_bits, values: [1, 2]}, b: {points: {x: {options: {bloom_bits: 3}}, y: {options: {bloom_bits: 4}}}}}\n",  # noqa: E501
        [
            ("9:50", "axes-conflict", "the axes `a` and `b` both set the option `bloom_bits`", "one axis may set it"),
        ],
    ),
    "syntax": (
        BASE + "report: {base: [}\n",
        [
            (
                "9:17",
                "yaml-syntax",
                "this is not YAML: did not find expected node content (while parsing a flow node)",
                "",
            ),
        ],
    ),
    "dup": (
        BASE + "title: again\n",
        [
            ("9:1", "duplicate-key", "`title` is given twice", "first at line 1"),
        ],
    ),
    "alike": (
        BASE + "sweep: {c: {points: {x: {options: {bloom_bits: 3}}, y: {options: {bloom_bits: 3}}}}}\n",
        [
            (
                "9:53",
                "points-alike",
                "`x` and `y` of axis `c` are the same in every cell",
                "something later sets it again (a step's options), or the steps that the axis changes do not use it",
            ),
        ],
    ),
    "unit": (
        BASE.replace("duration: 1s", "duration: 1"),
        [
            ("8:30", "wrong-unit", "duration: expected a duration such as 30s, 30m or 2h, found `1`: say the unit", ""),
        ],
    ),
    "param": (
        BASE.replace("keys: 1k", "key: 1k"),
        [
            ("5:12", "missing-setting", "step `fillseq` needs `keys`: give it to the step or in `params`", ""),
            ("7:12", "missing-setting", "step `readww` needs `keys`: give it to the step or in `params`", ""),
            ("8:10", "unknown-param", "no step takes the param `key`", "did you mean `keys`?"),
        ],
    ),
    "missing title": (
        BASE.replace("title: t\n", ""),
        [
            ("1:1", "missing-key", "`title` is missing", ""),
        ],
    ),
    "axis from": (
        BASE + SWEEP.replace("from: loaded", "from: load"),
        [
            ("11:11", "undefined-name", "there is no checkpoint `load`", "did you mean `loaded`?"),
        ],
    ),
    "setting": (
        BASE.replace("fresh: true", "fresh: maybe"),
        [
            ("5:67", "wrong-setting", "step `fillseq`: `fresh`: expected true or false, found `maybe`", ""),
        ],
    ),
    "setting2": (
        BASE.replace("fresh: true", "frsh: true"),
        [
            ("5:60", "unknown-setting", "`frsh` is no setting of db_bench (step `fillseq`)", "did you mean `fresh`?"),
        ],
    ),
    "reserved": (
        BASE + "options: [{num: 3}]\n",
        [
            ("9:12", "reserved-option", "`num` cannot be set as an option", "it is the setting `keys` of the step"),
        ],
    ),
    "undefined expr": (
        BASE + 'options: [{a: "{{ param.keys }}"}]\n',
        [
            ("9:15", "undefined-name", "`param` is not defined", "did you mean `params`?"),
        ],
    ),
    "has": (
        BASE + "options: [{a: [{when: \"has('cachetype')\", value: 1}]}]\n",
        [
            ("9:23", "expression", "rocksdb has no capability `cachetype`; did you mean `cache_type`?", ""),
        ],
    ),
    "base": (
        BASE + SWEEP + "report: {base: {cach: lru}}\n",
        [
            ("13:17", "undefined-name", "report.base: there is no axis `cach`", "did you mean `cache`?"),
        ],
    ),
    "also": (
        BASE + SWEEP + "also: [{cache: lruu}, {cache: lru, build: rocksdb-9.10.0}]\n",
        [
            ("13:16", "undefined-name", "axis `cache` has no point `lruu`", "did you mean `lru`?"),
            ("13:31", "also-twice", "the grid has this cell already", ""),
        ],
    ),
    "several": (
        BASE.replace("engine: rocksdb", "engine: x") + "seed: -1\norder: any\n",
        [
            ("3:21", "undefined-name", "there is no engine `x`", "known here: mariadb, mysql, postgres, rocksdb"),
            ("9:7", "out-of-range", "`seed`: expected at least 0, found `-1`", ""),
            ("10:8", "not-a-choice", "`order`: expected `randomized`, `interleaved` or `as_written`, found `any`", ""),
        ],
    ),
    "include": (
        BASE + "include: nothing.yaml\n",
        [
            ("9:10", "file-not-found", "there is no file `nothing.yaml`", "known here: a.yaml"),
        ],
    ),
    "two names": (
        BASE.replace("name: readww", "name: fillseq"),
        [
            ("7:12", "defined-twice", "two steps of a cell are named `fillseq`", "give one of them `as: …`"),
        ],
    ),
    "axisform": (
        BASE + "sweep: {a: {option: x, param: y, values: [1]}}\n",
        [
            (
                "9:9",
                "axis-form",
                "axis `a` must be of one form",
                "a map of points, `{option: NAME, values: […]}`, `{param: NAME, values: […]}` or a list of values",
            ),
        ],
    ),
    "source": (
        BASE.replace("source: {system: db_bench}", "source: {sytem: db_bench}"),
        [
            (
                "3:3",
                "no-source",
                "build `rocksdb`: a source is of one kind",
                "one of: debian, system, git, tarball, maven, crate, pypi, path",
            ),
        ],
    ),
    "scale": (
        BASE,
        [
            ("1:1", "undefined-scale", "there is no scale `big`", "there is none here"),
        ],
    ),
    "hw": (
        BASE + "hardware: big\n",
        [
            ("9:11", "undefined-name", "there is no hardware `big`", "known here: here"),
        ],
    ),
    "hw2": (
        BASE + "hardware: {core: 3, memory: 3GB}\n",
        [
            ("9:12", "unknown-key", "`core` is not a key here", "did you mean `cores`?"),
            (
                "9:29",
                "wrong-unit",
                "memory: expected a size such as 4096, 8KiB, 16MiB or 1GiB, found `3GB`: sizes are KiB, MiB, GiB only",
                "",
            ),
        ],
    ),
    "tabs": (
        BASE + "report:\n\tbase: {}\n",
        [
            (
                "10:1",
                "yaml-syntax",
                "this is not YAML: found character that cannot start any token (while scanning for the next token)",
                "",
            ),
        ],
    ),
    "merge": (
        BASE.replace("title: t", "title: t\n<<: {a: 1}"),
        [
            ("2:1", "merge-key", "`<<` is not used in specs", "use `extends:`"),
        ],
    ),
    "tag": (
        BASE + "seed: !x 3\n",
        [
            ("9:7", "yaml-tag", "the tag `!x` means nothing in a spec", ""),
        ],
    ),
    "top": (
        "- a\n",
        [
            ("1:1", "wrong-type", "expected a map of settings at the top of the file", ""),
        ],
    ),
    "empty": (
        "",
        [
            ("1:1", "empty-file", "the file is empty", "a spec begins with `title:`"),
        ],
    ),
    "nosteps": (
        BASE[: BASE.index("steps:")],
        [
            ("1:1", "no-steps", "the spec has no steps", "give `workload:` or `steps:`, or both"),
        ],
    ),
    "swpstep": (
        BASE + SWEEP.replace("from: loaded", "steps: [readw]"),
        [
            ("11:13", "undefined-name", "there is no step `readw`", "did you mean `readww`?"),
        ],
    ),
    "nullpoint": (
        BASE + "sweep: {c: {points: {x: , y: {options: {bloom_bits: 3}}}}}\n",
        [
            ("9:22", "wrong-type", "`x`: expected a map, found nothing", ""),
        ],
    ),
    "wrongsize": (
        BASE + "options: [{bloom_bits: [1, 2, {a: 3}]}]\n",
        [
            (
                "9:28",
                "never-reached",
                "this value is never reached",
                "the value before it has no `when`, so it always holds; the first that holds wins",
            ),
            (
                "9:31",
                "never-reached",
                "this value is never reached",
                "the value before it has no `when`, so it always holds; the first that holds wins",
            ),
        ],
    ),
    "benchmarks": (
        BASE.replace("benchmarks: [fillseq]", "benchmarks: []"),
        [
            ("5:49", "wrong-setting", "step `fillseq`: `benchmarks`: at least one benchmark is needed, found `[]`", ""),
        ],
    ),
    "threads0": (
        BASE.replace("fresh: true", "fresh: true, threads: 0"),
        [
            ("5:82", "wrong-setting", "step `fillseq`: `threads`: expected at least 1, found `0`", ""),
        ],
    ),
    "buildpoint": (
        BASE + "sweep: {c: {points: {x: {build: rocksdb-1}, y: {build: rocksdb-7.8.3}}}}\n",
        [
            ("9:33", "undefined-name", "there is no build `rocksdb-1`", "did you mean `rocksdb-9.10.0`?"),
        ],
    ),
    "suite": (
        BASE.replace(
            "source: {system: db_bench}",
            "source: {debian: rocksdb-tools, suite: [{when: \"version < '8'\", value: bookworm}]}",
        ),
        [
            ("3:96", "no-value", "build `rocksdb-9.10.0`: no value of `suite` holds for it", ""),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name, compile_text):
    text, expected = CASES[name]
    with pytest.raises(SpecError) as caught:
        compile_text(text, "big" if name == "scale" else None)
    said = [(f"{p.where.line}:{p.where.column}", p.code, p.message, p.hint) for p in caught.value.problems]
    assert said == expected
    assert {p.where.file for p in caught.value.problems} == {"a.yaml"}


def test_how_a_problem_is_shown(complaints):
    assert (
        complaints(BASE + "repeats: 3\nseed: many\n")
        == """\
a.yaml:9:1: error[unknown-key]: `repeats` is not a key here
   9 | repeats: 3
     | ^^^^^^^
   = did you mean `repeat`?

a.yaml:10:7: error[wrong-type]: `seed`: expected a whole number, found `many`
  10 | seed: many
     |       ^^^^"""
    )


def test_faults_of_includes_stand_in_their_files(complaints):
    said = complaints(
        BASE + "include: [b.yaml, c.yaml]\n",
        b="define: {options: {x: {options: {a: 1}}}}\n",
        c="include: d.yaml\ndefine:\n  options:\n    x: {option: {a: 1}}\n",
        d="include: c.yaml\n",
    )
    assert [line for line in said.splitlines() if ".yaml:" in line] == [
        "c.yaml:4:5: error[defined-twice]: `x` is already defined at b.yaml:1:20",
        "c.yaml:4:9: error[unknown-key]: `option` is not a key here",
        "d.yaml:1:10: error[include-cycle]: includes go round: c.yaml → d.yaml → c.yaml",
    ]


def test_recursive_yaml_is_refused(complaints):
    assert "a.yaml:1:8: error[yaml-alias]: this alias holds itself, or far too much" in complaints("title: &a [*a]\n")


def test_multiplying_aliases_are_refused(complaints):
    lines = ["title: x", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "error[yaml-alias]: this alias holds itself, or far too much" in complaints("\n".join(lines) + "\n")


def test_an_exclude_that_matches_nothing_is_a_warning(compile_text):
    from compiler.language.problem import Problems

    problems = Problems()
    compile_text(BASE + SWEEP + "exclude: [\"cache == 'clock'\"]\n", problems=problems)
    assert [(p.severity, p.code, p.message) for p in problems.found] == [
        ("warning", "exclude-nothing", "no cell matches this")
    ]
