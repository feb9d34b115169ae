//! sled: a tree of pages over a log.

use sled::{Batch, Config, Db};

use crate::settings::Settings;
use crate::store::{Durability, Result, Store};
use crate::workload::Key;

pub struct Sled {
    database: Db,
    is_written: bool,
}

impl Sled {
    pub fn open(settings: &Settings) -> Result<Self> {
        settings.refuse_compression("sled")?;
        if settings.durability.is_synced() {
            // its flush calls sync_file_range, which leaves the device's cache and the file's length alone
            return Err(settings.durability.refusal("sled", "on Linux its flush leaves the device's cache alone"));
        }
        let mut config = Config::new().path(&settings.db).flush_every_ms(None);
        if let Some(bytes) = settings.cache_size {
            config = config.cache_capacity(bytes);
        }
        Ok(Sled { database: config.open()?, is_written: settings.durability == Durability::Os })
    }
}

impl Store for Sled {
    fn write(&self, batch: &[(Key, &[u8])]) -> Result<()> {
        if let [(key, value)] = batch {
            self.database.insert(key, *value)?;
        } else {
            let mut writes = Batch::default();
            for (key, value) in batch {
                writes.insert(key, *value);
            }
            self.database.apply_batch(writes)?;
        }
        if self.is_written {
            self.database.flush()?;
        }
        Ok(())
    }

    fn get(&self, key: &Key, read: &mut impl FnMut(&[u8])) -> Result<bool> {
        Ok(self.database.get(key)?.map(|data| read(&data)).is_some())
    }

    fn scan(&self, from: &Key, count: usize, read: &mut impl FnMut(&[u8])) -> Result<usize> {
        let mut keys = 0;
        for entry in self.database.range(*from..).take(count) {
            read(&entry?.1);
            keys += 1;
        }
        Ok(keys)
    }

    fn finish(&self) -> Result<()> {
        self.database.flush()?;
        Ok(())
    }
}
