//! Keys, values and random numbers, as db_bench makes them.

pub type Key = [u8; 16];

/// The key of a number: 8 bytes, the most significant first, then zeros as text.
pub fn key(number: u64) -> Key {
    let mut key = [b'0'; 16];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key
}

/// Splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, thread: u64) -> Self {
        let mut random = Random(seed ^ thread.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// A number of [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn scramble(number: u64) -> u64 {
    let mut x = number;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Slices of 1 MiB, of which each 100 bytes compress to `ratio` of them.
pub struct Values {
    data: &'static [u8],
    size: usize,
    position: usize,
}

impl Values {
    const PIECE: usize = 100;

    pub fn new(size: usize, ratio: f64, random: &mut Random) -> Self {
        let mut data = Vec::new();
        let distinct = ((Self::PIECE as f64 * ratio) as usize).clamp(1, Self::PIECE);
        while data.len() < (1 << 20).max(size) {
            let piece: Vec<u8> = (0..distinct).map(|_| b' ' + random.below(95) as u8).collect();
            data.extend(piece.iter().cycle().take(Self::PIECE));
        }
        Values { data: data.leak(), size, position: 0 }
    }

    pub fn next(&mut self) -> &'static [u8] {
        if self.position + self.size > self.data.len() {
            self.position = 0;
        }
        self.position += self.size;
        &self.data[self.position - self.size..self.position]
    }
}

/// YCSB's generator, by Gray et al., "Quickly generating billion-record synthetic databases" (1994): 0 is the hottest.
#[derive(Clone)]
pub struct Zipfian {
    items: f64,
    alpha: f64,
    zeta: f64,
    eta: f64,
}

impl Zipfian {
    const THETA: f64 = 0.99;

    pub fn new(items: u64) -> Self {
        let sum = |count: u64| (1..=count).map(|n| (n as f64).powf(-Self::THETA)).sum::<f64>();
        let (count, zeta) = (items as f64, sum(items));
        let eta = (1.0 - (2.0 / count).powf(1.0 - Self::THETA)) / (1.0 - sum(2) / zeta);
        Zipfian { items: count, alpha: 1.0 / (1.0 - Self::THETA), zeta, eta }
    }

    pub fn next(&self, random: &mut Random) -> u64 {
        let share = random.share();
        let area = share * self.zeta;
        if area < 1.0 {
            return 0;
        }
        if area < 1.0 + 0.5f64.powf(Self::THETA) {
            return 1;
        }
        let rank = self.items * (self.eta * share - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.items as u64 - 1)
    }
}
