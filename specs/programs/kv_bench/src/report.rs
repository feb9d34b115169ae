//! Times of operations, and the report that stepgrid reads (docs/how-to/own-figures.md).

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::store::Result;

pub const OPERATIONS: [&str; 5] = ["read", "write", "insert", "scan", "modify"];
const PER_DOUBLING: f64 = 32.0; // buckets of a reported histogram
const FINE_BITS: u32 = 6; // of a time that a slot keeps

/// Read a clock that costs a few nanoseconds: the processor's counter, which `Clock` converts.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// The start of a run, by both clocks.
pub struct Clock {
    instant: Instant,
    ticks: u64,
}

impl Clock {
    pub fn start() -> Self {
        Clock { instant: Instant::now(), ticks: ticks() }
    }

    pub fn seconds(&self) -> f64 {
        self.instant.elapsed().as_secs_f64()
    }

    fn seconds_per_tick(&self) -> f64 {
        self.seconds() / (ticks() - self.ticks).max(1) as f64
    }
}

/// Counts of one thread that others read while it runs.
#[repr(align(128))]
#[derive(Default)]
pub struct Counts([AtomicU64; OPERATIONS.len()]);

impl Counts {
    #[inline]
    pub fn add(&self, operation: usize, operations: u64) {
        self.0[operation].store(self.of(operation) + operations, Relaxed); // its thread alone writes
    }

    pub fn of(&self, operation: usize) -> u64 {
        self.0[operation].load(Relaxed)
    }

    pub fn sum(&self) -> u64 {
        (0..OPERATIONS.len()).map(|operation| self.of(operation)).sum()
    }
}

/// The times of one operation in one thread.
#[derive(Clone)]
pub struct Times {
    slots: Vec<u64>,
    sum: u64,
    longest: u64,
}

impl Times {
    pub fn new() -> Self {
        Times { slots: vec![0; (u64::BITS as usize + 1) << FINE_BITS], sum: 0, longest: 0 }
    }

    #[inline]
    pub fn record(&mut self, ticks: u64) {
        let shift = (u64::BITS - ticks.leading_zeros()).saturating_sub(FINE_BITS + 1);
        self.slots[((shift as usize) << FINE_BITS) + (ticks >> shift) as usize] += 1;
        self.sum += ticks;
        self.longest = self.longest.max(ticks);
    }

    pub fn add(&mut self, other: &Times) {
        self.slots.iter_mut().zip(&other.slots).for_each(|(count, more)| *count += more);
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    /// Count by 32 buckets for each doubling of the microseconds.
    fn buckets(&self, seconds_per_tick: f64) -> Vec<(i64, u64)> {
        let mut buckets: Vec<(i64, u64)> = Vec::new();
        for (slot, count) in self.slots.iter().enumerate().filter(|(_, count)| **count > 0) {
            let shift = (slot >> FINE_BITS).saturating_sub(1);
            let middle = (((slot - (shift << FINE_BITS)) as f64) + 0.5) * 2f64.powi(shift as i32);
            let microseconds = (middle * seconds_per_tick * 1e6).max(1.0);
            let bucket = (PER_DOUBLING * microseconds.log2()).floor() as i64;
            match buckets.last_mut() {
                Some((last, sum)) if *last == bucket => *sum += count,
                _ => buckets.push((bucket, *count)),
            }
        }
        buckets
    }
}

pub struct Report {
    file: File,
    second: f64,
    counts: [u64; OPERATIONS.len()],
}

impl Report {
    pub fn create() -> Result<Self> {
        Ok(Report { file: File::create("report.jsonl")?, second: 0.0, counts: [0; OPERATIONS.len()] })
    }

    /// Write what was done since the last interval.
    pub fn interval(&mut self, second: f64, counts: &[Counts]) -> Result<()> {
        let length = second - std::mem::replace(&mut self.second, second);
        for (index, name) in OPERATIONS.iter().enumerate() {
            let total = counts.iter().map(|of_thread| of_thread.of(index)).sum();
            let operations = total - std::mem::replace(&mut self.counts[index], total);
            if total > 0 && length > 0.0 {
                writeln!(
                    self.file,
                    r#"{{"report": "interval", "second": {second:.3}, "interval": {length:.6}, "operations": {operations}, "operation": "{name}"}}"#
                )?;
            }
        }
        Ok(())
    }

    pub fn histogram(&mut self, name: &str, times: &Times, clock: &Clock) -> Result<()> {
        let scale = clock.seconds_per_tick();
        let pairs: Vec<String> =
            times.buckets(scale).iter().map(|(bucket, count)| format!("[{bucket}, {count}]")).collect();
        let (buckets, sum, longest) = (pairs.join(", "), times.sum as f64 * scale, times.longest as f64 * scale);
        if !pairs.is_empty() {
            writeln!(
                self.file,
                r#"{{"report": "histogram", "operation": "{name}", "seconds": {sum:.9}, "longest": {longest:.9}, "buckets": [{buckets}]}}"#
            )?;
        }
        Ok(())
    }

    pub fn metric(&mut self, name: &str, value: f64) -> Result<()> {
        Ok(writeln!(self.file, r#"{{"report": "metric", "name": "{name}", "value": {value}}}"#)?)
    }

    pub fn fact(&mut self, name: &str, value: &str) -> Result<()> {
        Ok(writeln!(self.file, r#"{{"report": "fact", "name": "{name}", "value": "{value}"}}"#)?)
    }

    pub fn end(&mut self, seconds: f64) -> Result<()> {
        Ok(writeln!(self.file, r#"{{"report": "end", "seconds": {seconds:.6}}}"#)?)
    }
}
