//! The command line: kv_bench ENGINE BENCHMARK --NAME=VALUE …, with db_bench's names.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use crate::store::{Durability, Result};

pub struct Settings {
    pub engine: String,
    pub benchmark: String,
    pub db: PathBuf,
    pub num: u64,
    pub threads: u64,
    pub duration: Option<f64>,
    pub seed: u64,
    pub value_size: usize,
    pub compression_ratio: f64,
    pub compression_type: String,
    pub batch_size: usize,
    pub seek_nexts: usize,
    pub write_rate: Option<f64>,
    pub cache_size: Option<u64>,
    pub durability: Durability,
}

impl Settings {
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let (options, names): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with("--"));
        let [engine, benchmark] = <[String; 2]>::try_from(names).map_err(|_| "an engine and a benchmark are needed")?;
        let split = |option: &String| option[2..].split_once('=').map(|(name, value)| (name.into(), value.into()));
        let pairs = options.iter().map(|option| split(option).ok_or(format!("{option} has no value")));
        let mut options: BTreeMap<String, String> = pairs.collect::<std::result::Result<_, _>>()?;
        let settings = Settings {
            engine,
            benchmark,
            db: take(&mut options, "db")?.unwrap_or("kv_bench".into()),
            num: take(&mut options, "num")?.unwrap_or(1_000_000),
            threads: take(&mut options, "threads")?.unwrap_or(1),
            duration: take(&mut options, "duration")?,
            seed: take(&mut options, "seed")?.unwrap_or(1),
            value_size: take(&mut options, "value_size")?.unwrap_or(100),
            compression_ratio: take(&mut options, "compression_ratio")?.unwrap_or(0.5),
            compression_type: take(&mut options, "compression_type")?.unwrap_or("none".into()),
            batch_size: take(&mut options, "batch_size")?.unwrap_or(1),
            seek_nexts: take(&mut options, "seek_nexts")?.unwrap_or(0),
            write_rate: take(&mut options, "benchmark_write_rate_limit")?,
            cache_size: take(&mut options, "cache_size")?,
            durability: take(&mut options, "durability")?.unwrap_or(Durability::Os),
        };
        if let Some(name) = options.keys().next() {
            return Err(format!("there is no option --{name}").into());
        }
        if settings.num == 0 || settings.threads == 0 || settings.value_size == 0 || settings.batch_size == 0 {
            return Err("--num, --threads, --value_size and --batch_size are 1 or more".into());
        }
        Ok(settings)
    }

    /// Refuse compression, of an engine that has none.
    pub fn refuse_compression(&self, engine: &str) -> Result<()> {
        if self.compression_type == "none" {
            return Ok(());
        }
        Err(format!("{engine} does not compress: --compression_type=none").into())
    }
}

fn take<T: FromStr<Err: Display>>(options: &mut BTreeMap<String, String>, name: &str) -> Result<Option<T>> {
    let Some(value) = options.remove(name) else { return Ok(None) };
    value.parse().map(Some).map_err(|error| format!("--{name}={value}: {error}").into())
}
