"""Five benchmark tools measure two programs that differ by a planted 10 %, and two equal ones; judge says which.

`python bench/judge_tools.py FOLDER [--turns 120]` needs hyperfine, g++ with Google Benchmark, go, cargo, and
pytest-benchmark (`--python` names the Python that has it). Each turn is one load of both arms for each tool, in new
processes and random order. It prints what `stepgrid judge` says of each tool. It runs at `nice -n -15` where it may.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARMS = {"old": 100, "new": 110}  # percent of the work of `planted`; `equal` does the same in both

SOURCES = {
    "work.h": """\
#include <cstdint>
static uint64_t work(uint64_t n) {
  uint64_t x = 88172645463325252ULL;
  for (uint64_t i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
  return x;
}
""",
    "planted.cpp": """\
#include "work.h"
#include <cstdio>
int main() { printf("%llu\\n", (unsigned long long)work(WORK * 300000ULL)); }
""",
    "bench.cpp": """\
#include <benchmark/benchmark.h>
#include "work.h"
static void planted(benchmark::State& s) { for (auto _ : s) benchmark::DoNotOptimize(work(WORK * 100ULL)); }
static void equal(benchmark::State& s) { for (auto _ : s) benchmark::DoNotOptimize(work(10000)); }
BENCHMARK(planted);
BENCHMARK(equal);
BENCHMARK_MAIN();
""",
    "test_bench.py": """\
def work(n):
    x = 1
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x

def test_planted(benchmark):
    benchmark(work, WORK * 20)

def test_equal(benchmark):
    benchmark(work, 2000)
""",
    "go/go.mod": "module example.org/bench\n\ngo 1.20\n",
    "go/bench_test.go": """\
package bench

import "testing"

var sink uint64

func work(n int) uint64 {
    x := uint64(88172645463325252)
    for i := 0; i < n; i++ { x ^= x << 13; x ^= x >> 7; x ^= x << 17 }
    return x
}

func BenchmarkPlanted(b *testing.B) { for i := 0; i < b.N; i++ { sink = work(WORK * 100) } }
func BenchmarkEqual(b *testing.B) { for i := 0; i < b.N; i++ { sink = work(10000) } }
""",
    "rust/src/lib.rs": "",
    "rust/Cargo.toml": """\
[package]
name = "bench"
version = "0.1.0"
edition = "2021"
[dev-dependencies]
criterion = { version = "0.5", default-features = false }
[[bench]]
name = "b"
harness = false
""",
    "rust/benches/b.rs": """\
use criterion::{black_box, criterion_group, criterion_main, Criterion};
use std::time::Duration;
fn work(n: u64) -> u64 {
    let mut x = 88172645463325252u64;
    for _ in 0..n { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    x
}
fn all(c: &mut Criterion) {
    c.bench_function("planted", |b| b.iter(|| work(black_box(WORK * 100))));
    c.bench_function("equal", |b| b.iter(|| work(black_box(10000))));
}
fn quick() -> Criterion {
    Criterion::default().sample_size(10).measurement_time(Duration::from_millis(300))
        .warm_up_time(Duration::from_millis(20))
}
criterion_group! {name = g; config = quick(); targets = all}
criterion_main!(g);
""",
}
BUILDS = (
    "g++ -O2 -o planted planted.cpp",
    "g++ -O2 -o bench bench.cpp -lbenchmark -lpthread",
    "cd go && go test -c -o ../go.test",
    "cd rust && cargo bench -q --bench b --no-run",
)
PYTEST = "{python} -m pytest -q -p no:cacheprovider --benchmark-only --benchmark-max-time=0.1"
LOADS = {  # tool -> command of one load, in the folder of an arm; the file or folder that it writes
    "hyperfine": ("hyperfine -N --warmup 1 --runs 3 --export-json {out} ./planted", ".json"),
    "google-benchmark": ("./bench --benchmark_min_time=0.03 --benchmark_out={out}", ".json"),
    "pytest-benchmark": (f"{PYTEST} --benchmark-json={{out}} test_bench.py", ".json"),
    "go": ("./go.test -test.bench . -test.benchtime 30ms -test.count 3 > {out}", ".txt"),
    "criterion": ("cd rust && cargo bench -q --bench b -- --save-baseline load && cp -r target/criterion {out}", ""),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", type=int, default=120)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tools", nargs="+", choices=LOADS, default=list(LOADS))
    options = parser.parse_args()
    try:
        os.nice(-15)
    except OSError:
        print("nice -15 is not allowed: other processes of the host disturb more", file=sys.stderr)
    folder = options.folder.resolve()
    for arm, work in ARMS.items():
        build(folder / arm, work)
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    for turn in range(1, options.turns + 1):
        for tool in options.tools:
            command, suffix = LOADS[tool]
            for arm in random.sample(sorted(ARMS), len(ARMS)):  # one after the other, so that both have the same host
                out = results / f"{tool}-{arm}-{turn}{suffix}"
                execute(command.format(out=out, python=options.python), folder / arm)
    for tool in options.tools:
        words = [f"{arm}={results}/{tool}-{arm}-*{LOADS[tool][1]}" for arm in ARMS]
        print(f"== {tool}", flush=True)
        subprocess.run([sys.executable, "-m", "stepgrid.cli", "judge", *words], check=False)
    return 0


def build(arm: Path, work: int) -> None:
    for name, text in SOURCES.items():
        (arm / name).parent.mkdir(parents=True, exist_ok=True)
        (arm / name).write_text(text.replace("WORK", str(work)))
    for command in BUILDS:
        execute(command, arm)


def execute(command: str, folder: Path) -> None:
    done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(main())
