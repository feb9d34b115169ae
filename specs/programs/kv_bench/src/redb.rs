//! redb: a copy-on-write B-tree in one file, one writer at a time.

use redb::{Builder, Database, ReadableDatabase, TableDefinition};

use crate::settings::Settings;
use crate::store::{Durability, Result, Store};
use crate::workload::Key;

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("kv");

pub struct Redb {
    database: Database,
    durability: redb::Durability,
}

impl Redb {
    pub fn open(settings: &Settings) -> Result<Self> {
        settings.refuse_compression("redb")?;
        let durability = match settings.durability {
            Durability::None => redb::Durability::None,
            Durability::Os => {
                return Err(settings.durability.refusal("redb", "a commit is synced, or lost with its process"));
            }
            _ => redb::Durability::Immediate,
        };
        let mut builder = Builder::new();
        if let Some(bytes) = settings.cache_size {
            builder.set_cache_size(bytes as usize);
        }
        let database = builder.create(settings.db.join("kv.redb"))?;
        let store = Redb { database, durability };
        store.write(&[])?; // makes the table
        Ok(store)
    }

    fn commit(&self, batch: &[(Key, &[u8])], durability: redb::Durability) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        {
            let mut table = transaction.open_table(TABLE)?;
            for (key, value) in batch {
                table.insert(key.as_slice(), *value)?;
            }
        }
        Ok(transaction.commit()?)
    }
}

impl Store for Redb {
    fn write(&self, batch: &[(Key, &[u8])]) -> Result<()> {
        self.commit(batch, self.durability)
    }

    fn get(&self, key: &Key, read: &mut impl FnMut(&[u8])) -> Result<bool> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        Ok(table.get(key.as_slice())?.map(|data| read(data.value())).is_some())
    }

    fn scan(&self, from: &Key, count: usize, read: &mut impl FnMut(&[u8])) -> Result<usize> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        let mut keys = 0;
        for entry in table.range(from.as_slice()..)?.take(count) {
            read(entry?.1.value());
            keys += 1;
        }
        Ok(keys)
    }

    fn finish(&self) -> Result<()> {
        self.commit(&[], redb::Durability::Immediate)
    }
}
