//! fjall: a log-structured merge tree.

use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::settings::Settings;
use crate::store::{Durability, Result, Store};
use crate::workload::Key;

pub struct Fjall {
    database: Database,
    table: Keyspace,
    is_synced: bool,
}

impl Fjall {
    pub fn open(settings: &Settings) -> Result<Self> {
        let is_unsafe = settings.durability == Durability::None;
        let mut builder = Database::builder(&settings.db).manual_journal_persist(is_unsafe);
        if let Some(bytes) = settings.cache_size {
            builder = builder.cache_size(bytes);
        }
        let compression = match settings.compression_type.as_str() {
            "none" => CompressionType::None,
            "lz4" => CompressionType::Lz4,
            _ => return Err("fjall compresses by none or lz4".into()),
        };
        let options = KeyspaceCreateOptions::default()
            .manual_journal_persist(is_unsafe)
            .data_block_compression_policy(CompressionPolicy::all(compression));
        let database = builder.open()?;
        let table = database.keyspace("kv", || options)?;
        Ok(Fjall { database, table, is_synced: settings.durability.is_synced() })
    }
}

impl Store for Fjall {
    fn write(&self, batch: &[(Key, &[u8])]) -> Result<()> {
        if let ([(key, value)], false) = (batch, self.is_synced) {
            return Ok(self.table.insert(key, *value)?);
        }
        let mut writes = self.database.batch();
        if self.is_synced {
            writes = writes.durability(Some(PersistMode::SyncData));
        }
        for (key, value) in batch {
            writes.insert(&self.table, key, *value);
        }
        Ok(writes.commit()?)
    }

    fn get(&self, key: &Key, read: &mut impl FnMut(&[u8])) -> Result<bool> {
        Ok(self.table.get(key)?.map(|data| read(&data)).is_some())
    }

    fn scan(&self, from: &Key, count: usize, read: &mut impl FnMut(&[u8])) -> Result<usize> {
        let mut keys = 0;
        for entry in self.table.range(*from..).take(count) {
            read(&entry.value()?);
            keys += 1;
        }
        Ok(keys)
    }

    fn finish(&self) -> Result<()> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}
