//! Embedded key-value engines under db_bench's benchmarks and the mixes of YCSB.

mod benchmark;
mod fjall;
mod lmdb;
mod redb;
mod report;
mod settings;
mod sled;
mod store;
mod workload;

use std::fs;
use std::process::ExitCode;

use crate::benchmark::Benchmark;
use crate::settings::Settings;
use crate::store::Result;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kv_bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let settings = Settings::parse(std::env::args().skip(1))?;
    let benchmark = Benchmark::named(&settings.benchmark)?;
    fs::create_dir_all(&settings.db)?;
    let entries = fs::read_dir(&settings.db)?.collect::<std::io::Result<Vec<_>>>()?;
    if !benchmark.is_load && entries.is_empty() {
        return Err(
            format!("{} needs a loaded database: run fillseq or fillrandom before it", settings.benchmark).into()
        );
    }
    for entry in entries.iter().filter(|_| benchmark.is_load) {
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    match settings.engine.as_str() {
        "fjall" => benchmark::run(&fjall::Fjall::open(&settings)?, &settings, benchmark),
        "lmdb" => benchmark::run(&lmdb::Lmdb::open(&settings)?, &settings, benchmark),
        "redb" => benchmark::run(&redb::Redb::open(&settings)?, &settings, benchmark),
        "sled" => benchmark::run(&sled::Sled::open(&settings)?, &settings, benchmark),
        name => Err(format!("there is no engine {name}; there are fjall, lmdb, redb and sled").into()),
    }
}
