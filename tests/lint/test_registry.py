"""Which rules look at a spec: those of any spec, and those that its engines and kinds bring."""

from __future__ import annotations

import subprocess
import sys

from stepgrid.lint.registry import every_rule, rules

OF_ANY_SPEC = {
    "base-without-cell", "checkpoint-missing", "clients-over-cores", "mixed-quality", "no-repeats", "ref-open",
    "step-short",
}  # fmt: skip


def codes(engines: list[str], kinds: list[str]) -> set[str]:
    return {rule.code for rule in rules(engines, kinds)}


def test_a_spec_of_servers_has_the_rules_of_its_engine_alone() -> None:
    assert codes(["program"], ["command"]) == OF_ANY_SPEC
    assert codes(["postgres"], ["sysbench", "sql"]) == {*OF_ANY_SPEC, "cache-over-memory"}
    assert codes(["mysql"], ["sysbench"]) == {*OF_ANY_SPEC, "cache-over-memory", "sequential-deletes"}


def test_two_engines_with_the_same_rules_have_them_once() -> None:
    assert rules(["mysql", "mariadb"], []) == rules(["mysql"], [])


def test_each_code_stands_once_in_the_list_of_all() -> None:
    listed = [rule.code for rule in every_rule()]
    assert len(listed) == len(set(listed))
    assert codes(["rocksdb", "mysql", "postgres"], ["db_bench", "vector_search"]) == set(listed)


def test_rules_of_other_kinds_are_not_even_imported() -> None:
    code = "import sys; from stepgrid.lint import runner, registry; registry.rules(['mysql'], ['sysbench'])"
    shown = "print([name for name in sys.modules if 'db_bench' in name or 'rocksdb' in name])"
    done = subprocess.run([sys.executable, "-c", f"{code}; {shown}"], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
