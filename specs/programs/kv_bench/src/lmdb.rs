//! LMDB, by heed: a copy-on-write B-tree in a memory map, one writer at a time.

use std::ops::Bound;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions};

use crate::settings::Settings;
use crate::store::{Durability, Result, Store};
use crate::workload::Key;

const MAP_SIZE: usize = 1 << 40; // of addresses, not of memory or of the file

pub struct Lmdb {
    environment: &'static Env, // to the end of the process: the handle of the table refers to it
    table: Database<'static, Bytes, Bytes>,
}

impl Lmdb {
    pub fn open(settings: &Settings) -> Result<Self> {
        settings.refuse_compression("lmdb")?;
        if settings.cache_size.is_some() {
            return Err("lmdb has no `cache_size`: the operating system caches its file".into());
        }
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_SIZE).max_readers(1024);
        match settings.durability {
            Durability::None => return Err(settings.durability.refusal("lmdb", "a commit is written to its file")),
            // SAFETY: without a sync a power cut may damage the database, which a benchmark makes again
            Durability::Os => drop(unsafe { options.flags(EnvFlags::NO_SYNC) }),
            _ => (),
        }
        // SAFETY: no other process writes to the files of a stage
        let environment: &'static Env = Box::leak(Box::new(unsafe { options.open(&settings.db)? }));
        let table = environment
            .create_databases_and_commit(environment.write_txn()?, |databases, transaction| {
                databases.create_database(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
            })?
            .unwrap_commit();
        Ok(Lmdb { environment, table })
    }
}

impl Store for Lmdb {
    fn write(&self, batch: &[(Key, &[u8])]) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for (key, value) in batch {
            self.table.put(&mut transaction, key, value)?;
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, key: &Key, read: &mut impl FnMut(&[u8])) -> Result<bool> {
        let transaction = self.environment.read_txn()?;
        Ok(self.table.get(&transaction, key)?.map(|data| read(data)).is_some())
    }

    fn scan(&self, from: &Key, count: usize, read: &mut impl FnMut(&[u8])) -> Result<usize> {
        let transaction = self.environment.read_txn()?;
        let mut keys = 0;
        let range = (Bound::Included(from.as_slice()), Bound::Unbounded);
        for entry in self.table.range(&transaction, &range)?.take(count) {
            read(entry?.1);
            keys += 1;
        }
        Ok(keys)
    }

    fn finish(&self) -> Result<()> {
        Ok(self.environment.force_sync()?)
    }
}
