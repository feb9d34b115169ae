//! What an engine does for a benchmark, and what its writes survive.

use std::error::Error;
use std::str::FromStr;
use std::sync::{Condvar, Mutex};

use crate::workload::Key;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub trait Store: Sync {
    /// Commit some writes together, as durable as the class of the database says.
    fn write(&self, batch: &[(Key, &[u8])]) -> Result<()>;

    /// Read the newest value of a key; false if it has none.
    fn get(&self, key: &Key, read: &mut impl FnMut(&[u8])) -> Result<bool>;

    /// Read the values of up to `count` keys from this one on, and count them.
    fn scan(&self, from: &Key, count: usize, read: &mut impl FnMut(&[u8])) -> Result<usize>;

    /// Make everything durable before the process ends.
    fn finish(&self) -> Result<()>;
}

/// A write that has returned is lost with its process (none), survives it (os), or a power cut (sync, group).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    None,
    Os,
    Sync,
    /// Writes that threads wait for at the same time share a sync.
    Group,
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "none" => Ok(Durability::None),
            "os" => Ok(Durability::Os),
            "sync" => Ok(Durability::Sync),
            "group" => Ok(Durability::Group),
            _ => Err("it is none, os, sync or group".into()),
        }
    }
}

impl Durability {
    pub fn is_synced(self) -> bool {
        matches!(self, Durability::Sync | Durability::Group)
    }

    pub fn refusal(self, engine: &str, reason: &str) -> Box<dyn Error + Send + Sync> {
        format!("{engine} has no durability `{}`: {reason}", format!("{self:?}").to_lowercase()).into()
    }
}

/// Group commit: one thread commits what all others wait for.
#[derive(Default)]
pub struct Group {
    queue: Mutex<Queue>,
    committed: Condvar,
}

#[derive(Default)]
struct Queue {
    writes: Vec<(Key, Vec<u8>)>,
    round: u64,
    finished: u64,
    is_busy: bool,
}

impl Group {
    pub fn write(&self, store: &impl Store, batch: &[(Key, &[u8])]) -> Result<()> {
        let mut queue = self.queue.lock().unwrap();
        let round = queue.round;
        queue.writes.extend(batch.iter().map(|(key, value)| (*key, value.to_vec())));
        while queue.finished <= round {
            if queue.is_busy {
                queue = self.committed.wait(queue).unwrap();
                continue;
            }
            queue.is_busy = true;
            queue.round += 1;
            let writes = std::mem::take(&mut queue.writes);
            drop(queue);
            store.write(&writes.iter().map(|(key, value)| (*key, value.as_slice())).collect::<Vec<_>>())?;
            queue = self.queue.lock().unwrap();
            queue.finished += 1;
            queue.is_busy = false;
            self.committed.notify_all();
        }
        Ok(())
    }
}
