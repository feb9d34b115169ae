//! by_hand ENGINE fillrandom|readrandom FOLDER KEYS SEED: the loop that one writes without kv_bench, with the same keys,
//! values and calls. bench/embedded.py runs it and kv_bench by turns.

#[allow(dead_code)]
#[path = "../src/workload.rs"]
mod workload;

use std::error::Error;
use std::time::Instant;

use redb::ReadableDatabase;

use workload::{Random, Values, key};

type Key = workload::Key;
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const TABLE: redb::TableDefinition<&[u8], &[u8]> = redb::TableDefinition::new("kv");

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [engine, benchmark, folder, keys, seed] = words.as_slice() else { return Err("five words are needed".into()) };
    let (keys, seed): (u64, u64) = (keys.parse()?, seed.parse()?);
    let mut random = Random::new(seed, 0);
    let mut values = Values::new(100, 0.5, &mut random);
    let is_load = benchmark == "fillrandom";
    if is_load {
        std::fs::remove_dir_all(folder).ok();
        std::fs::create_dir_all(folder)?;
    }
    let mut value = Vec::new();
    let mut next = || key(random.below(keys));
    let (seconds, found) = match engine.as_str() {
        "fjall" => {
            let plain = fjall::config::CompressionPolicy::disabled();
            let options = fjall::KeyspaceCreateOptions::default().data_block_compression_policy(plain);
            let database = fjall::Database::builder(folder).open()?;
            let table = database.keyspace("kv", || options)?;
            let put = |key: Key, data: &[u8]| Ok(table.insert(key, data)?);
            let get = |key: Key, value: &mut Vec<u8>| Ok(table.get(key)?.inspect(|data| copy(value, data)).is_some());
            let timed = time(is_load, keys, &mut next, &mut values, &mut value, put, get)?;
            database.persist(fjall::PersistMode::SyncAll)?;
            timed
        }
        "lmdb" => {
            let mut options = heed::EnvOpenOptions::new();
            options.map_size(1 << 40);
            let environment = unsafe { options.flags(heed::EnvFlags::NO_SYNC).open(folder)? };
            let table = environment
                .create_databases_and_commit(environment.write_txn()?, |databases, transaction| {
                    let table = databases.create_database::<heed::types::Bytes, heed::types::Bytes>(transaction, None);
                    table.map(heed::CommitOrAbort::<_, ()>::Commit)
                })?
                .unwrap_commit();
            let put = |key: Key, data: &[u8]| {
                let mut transaction = environment.write_txn()?;
                table.put(&mut transaction, &key, data)?;
                Ok(transaction.commit()?)
            };
            let get = |key: Key, value: &mut Vec<u8>| {
                let transaction = environment.read_txn()?;
                Ok(table.get(&transaction, &key)?.inspect(|data| copy(value, data)).is_some())
            };
            let timed = time(is_load, keys, &mut next, &mut values, &mut value, put, get)?;
            environment.force_sync()?;
            timed
        }
        "redb" => {
            let database = redb::Database::create(format!("{folder}/kv.redb"))?;
            let write = |durability, write: Option<(Key, &[u8])>| {
                let mut transaction = database.begin_write()?;
                transaction.set_durability(durability)?;
                if let (mut table, Some((key, data))) = (transaction.open_table(TABLE)?, write) {
                    table.insert(key.as_slice(), data)?;
                }
                Ok(transaction.commit()?)
            };
            let put = |key: Key, data: &[u8]| write(redb::Durability::None, Some((key, data)));
            let get = |key: Key, value: &mut Vec<u8>| {
                let table = database.begin_read()?.open_table(TABLE)?;
                Ok(table.get(key.as_slice())?.inspect(|data| copy(value, data.value())).is_some())
            };
            let timed = time(is_load, keys, &mut next, &mut values, &mut value, put, get)?;
            write(redb::Durability::Immediate, None)?;
            timed
        }
        _ => return Err(format!("there is no loop for {engine}").into()),
    };
    println!("{:.0} ops/sec; {found} found", keys as f64 / seconds);
    Ok(())
}

fn copy(value: &mut Vec<u8>, data: &[u8]) {
    value.clear();
    value.extend_from_slice(data);
}

/// The loop itself, in a thread of its own, as that of a program that does more: a process of one thread has cheaper locks.
fn time(
    is_load: bool,
    keys: u64,
    next: &mut (impl FnMut() -> Key + Send),
    values: &mut Values,
    value: &mut Vec<u8>,
    put: impl Fn(Key, &[u8]) -> Result<()> + Send,
    get: impl Fn(Key, &mut Vec<u8>) -> Result<bool> + Send,
) -> Result<(f64, u64)> {
    let work = move || {
        let (start, mut found) = (Instant::now(), 0);
        for _ in 0..keys {
            if is_load {
                put(next(), values.next())?;
            } else {
                found += u64::from(get(next(), value)?);
            }
        }
        Ok((start.elapsed().as_secs_f64(), found))
    };
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}
