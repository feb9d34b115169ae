//! Benchmarks by name, and the loop that runs one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::report::{Clock, Counts, OPERATIONS, Report, Times, ticks};
use crate::settings::Settings;
use crate::store::{Durability, Group, Result, Store};
use crate::workload::{Key, Random, Values, Zipfian, key, scramble};

const READ: usize = 0; // in OPERATIONS
const INSERT: usize = 2;
const SCAN: usize = 3;
const MODIFY: usize = 4;
const LONGEST_SCAN: u64 = 100; // keys, of YCSB's E

#[derive(Clone, Copy, PartialEq)]
enum Choice {
    Sequential,
    Uniform,
    Zipfian,
    Latest,
}

/// Percent of each operation, in the order of OPERATIONS, and how keys are chosen.
#[derive(Clone, Copy)]
pub struct Benchmark {
    percent: [u64; OPERATIONS.len()],
    choice: Choice,
    pub is_load: bool,
    has_writer: bool,
}

impl Benchmark {
    pub fn named(name: &str) -> Result<Self> {
        let run = |percent, choice| Benchmark { percent, choice, is_load: false, has_writer: false };
        Ok(match name {
            "fillseq" => Benchmark { is_load: true, ..run([0, 100, 0, 0, 0], Choice::Sequential) },
            "fillrandom" => Benchmark { is_load: true, ..run([0, 100, 0, 0, 0], Choice::Uniform) },
            "overwrite" => run([0, 100, 0, 0, 0], Choice::Uniform),
            "readrandom" => run([100, 0, 0, 0, 0], Choice::Uniform),
            "readwhilewriting" => Benchmark { has_writer: true, ..run([100, 0, 0, 0, 0], Choice::Uniform) },
            "seekrandom" => run([0, 0, 0, 100, 0], Choice::Uniform),
            "ycsb_a" => run([50, 50, 0, 0, 0], Choice::Zipfian),
            "ycsb_b" => run([95, 5, 0, 0, 0], Choice::Zipfian),
            "ycsb_c" => run([100, 0, 0, 0, 0], Choice::Zipfian),
            "ycsb_d" => run([95, 0, 5, 0, 0], Choice::Latest),
            "ycsb_e" => run([0, 0, 5, 95, 0], Choice::Zipfian),
            "ycsb_f" => run([50, 0, 0, 0, 50], Choice::Zipfian),
            _ => {
                let names = "fillseq fillrandom overwrite readrandom readwhilewriting seekrandom ycsb_a … ycsb_f";
                return Err(format!("there is no benchmark {name}; there are {names}").into());
            }
        })
    }

    fn operation(&self, random: &mut Random) -> usize {
        let mut draw = random.below(100);
        for (operation, percent) in self.percent.iter().enumerate() {
            if draw < *percent {
                return operation;
            }
            draw -= percent;
        }
        unreachable!()
    }
}

/// What all threads share.
struct Run<'a, S: Store> {
    store: &'a S,
    settings: &'a Settings,
    benchmark: Benchmark,
    zipfian: Option<Zipfian>,
    group: Group,
    next_key: AtomicU64,
    is_over: AtomicBool,
}

/// Where a thread takes keys and values from. It is made before the clock starts.
struct Source {
    random: Random,
    values: Values,
}

impl Source {
    fn new(settings: &Settings, thread: u64) -> Self {
        let mut random = Random::new(settings.seed, thread);
        let values = Values::new(settings.value_size, settings.compression_ratio, &mut random);
        Source { random, values }
    }
}

/// What threads have done, beside the counts of their intervals.
struct Tally {
    times: Vec<Times>,
    found: u64,
    looked_up: u64,
    keys_read: u64,
    keys_written: u64,
}

pub fn run(store: &impl Store, settings: &Settings, benchmark: Benchmark) -> Result<()> {
    let is_skewed = matches!(benchmark.choice, Choice::Zipfian | Choice::Latest);
    let run = Run {
        store,
        settings,
        benchmark,
        zipfian: is_skewed.then(|| Zipfian::new(settings.num)),
        group: Group::default(),
        next_key: settings.num.into(),
        is_over: false.into(),
    };
    let mut report = Report::create()?;
    let counts: Vec<Counts> = (0..settings.threads).map(|_| Counts::default()).collect();
    let sources: Vec<Source> = (0..settings.threads).map(|thread| Source::new(settings, thread)).collect();
    let clock = Clock::start();
    let (tally, background) = run.drive(sources, &counts, &clock, &mut report)?;
    let seconds = clock.seconds();
    report.interval(seconds, &counts)?;
    let operations: u64 = counts.iter().map(Counts::sum).sum();
    for (times, name) in tally.times.iter().zip(OPERATIONS) {
        report.histogram(name, times, &clock)?;
    }
    report.metric("operations", operations as f64)?;
    report.metric("qps", operations as f64 / seconds)?;
    let bytes = (size_of::<Key>() + settings.value_size) as f64; // of an entry
    report.metric("bytes_read", bytes * tally.keys_read as f64)?;
    report.metric("bytes_written", bytes * tally.keys_written as f64)?;
    report.metric("mb_per_s", bytes * (tally.keys_read + tally.keys_written) as f64 / seconds / f64::from(1 << 20))?;
    if tally.looked_up > 0 {
        report.metric("found_pct", 100.0 * tally.found as f64 / tally.looked_up as f64)?;
    }
    if benchmark.has_writer {
        report.metric("background_writes_per_s", background as f64 / seconds)?;
    }
    report.fact(&settings.engine, version(&settings.engine))?;
    report.end(seconds)?;
    let (name, micros) = (&settings.benchmark, seconds * 1e6 * settings.threads as f64 / operations as f64);
    let (rate, found, keys) = (operations as f64 / seconds, tally.found, tally.looked_up);
    println!("{name:12} : {micros:11.3} micros/op {rate:.0} ops/sec; ({found} of {keys} found)");
    store.finish()
}

impl<S: Store> Run<'_, S> {
    /// Run all threads to their end; write an interval each second.
    fn drive(
        &self,
        sources: Vec<Source>,
        counts: &[Counts],
        clock: &Clock,
        report: &mut Report,
    ) -> Result<(Tally, u64)> {
        let is_timed = self.benchmark.choice != Choice::Sequential;
        let end = self.settings.duration.filter(|_| is_timed).unwrap_or(f64::MAX / 2.0);
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let workers: Vec<_> = sources
                .into_iter()
                .zip(counts)
                .map(|(source, counts)| {
                    let sender = sender.clone();
                    scope.spawn(move || self.work(source, counts, sender))
                })
                .collect();
            let writer = self.benchmark.has_writer.then(|| scope.spawn(|| self.write_along()));
            drop(sender);
            let mut due = 1.0;
            loop {
                let wait = f64::min(due, end) - clock.seconds();
                match receiver.recv_timeout(Duration::from_secs_f64(wait.clamp(0.0, 1.0))) {
                    Err(RecvTimeoutError::Disconnected) => break,
                    _ if clock.seconds() >= end => self.is_over.store(true, Relaxed),
                    _ if clock.seconds() >= due => {
                        report.interval(clock.seconds(), counts)?;
                        due += 1.0;
                    }
                    _ => (),
                }
            }
            self.is_over.store(true, Relaxed);
            let mut tally = Tally::new();
            for worker in workers {
                tally.add(&worker.join().unwrap()?);
            }
            Ok((tally, writer.map_or(Ok(0), |writer| writer.join().unwrap())?))
        })
    }

    /// Do what one thread does. That it is over is told by the end of its sender.
    fn work(&self, source: Source, counts: &Counts, _sender: Sender<()>) -> Result<Tally> {
        let (settings, benchmark) = (self.settings, self.benchmark);
        let Source { mut random, mut values } = source;
        let (mut tally, mut value) = (Tally::new(), Vec::new());
        let mut copy = |data: &[u8]| {
            value.clear();
            value.extend_from_slice(data);
        };
        let mut batch: Vec<(Key, &[u8])> = Vec::with_capacity(settings.batch_size);
        let is_timed = settings.duration.is_some() && benchmark.choice != Choice::Sequential;
        let only = benchmark.percent.iter().position(|percent| *percent == 100);
        let (mut number, mut last) = (0, ticks());
        while (is_timed || number < settings.num) && !self.is_over.load(Relaxed) {
            let operation = only.unwrap_or_else(|| benchmark.operation(&mut random));
            let mut operations = 1;
            match operation {
                READ => {
                    let key = self.choose(number, &mut random);
                    tally.look_up(self.store.get(&key, &mut copy)?.into());
                }
                SCAN => {
                    let is_ycsb = benchmark.choice == Choice::Zipfian;
                    let most = if is_ycsb { random.below(LONGEST_SCAN) as usize } else { settings.seek_nexts } + 1;
                    let key = self.choose(number, &mut random);
                    tally.look_up(self.store.scan(&key, most, &mut copy)?);
                }
                MODIFY => {
                    let key = self.choose(number, &mut random);
                    tally.look_up(self.store.get(&key, &mut copy)?.into());
                    tally.keys_written += self.write(&[(key, values.next())])?;
                }
                _ => {
                    operations = (settings.batch_size as u64).min(settings.num - number % settings.num);
                    batch.clear();
                    for offset in 0..operations {
                        let is_insert = operation == INSERT;
                        let key = if is_insert { self.new_key() } else { self.choose(number + offset, &mut random) };
                        batch.push((key, values.next()));
                    }
                    tally.keys_written += self.write(&batch)?;
                }
            }
            number += operations;
            counts.add(operation, operations);
            let now = ticks();
            tally.times[operation].record(now - last);
            last = now;
        }
        Ok(tally)
    }

    /// Write beside the readers, as fast as the rate allows, and count the writes.
    fn write_along(&self) -> Result<u64> {
        let (settings, clock) = (self.settings, Clock::start());
        let Source { mut random, mut values } = Source::new(settings, settings.threads);
        let (mut writes, entry) = (0, size_of::<Key>() + settings.value_size);
        while !self.is_over.load(Relaxed) {
            writes += self.write(&[(self.choose(0, &mut random), values.next())])?;
            if let Some(rate) = settings.write_rate {
                let ahead = (writes * entry as u64) as f64 / rate - clock.seconds();
                thread::sleep(Duration::from_secs_f64(ahead.clamp(0.0, 0.1)));
            }
        }
        Ok(writes)
    }

    fn choose(&self, number: u64, random: &mut Random) -> Key {
        let limit = self.settings.num;
        key(match (self.benchmark.choice, &self.zipfian) {
            (Choice::Sequential, _) => number % limit,
            (Choice::Zipfian, Some(zipfian)) => scramble(zipfian.next(random)) % limit,
            (Choice::Latest, Some(zipfian)) => self.next_key.load(Relaxed) - 1 - zipfian.next(random),
            _ => random.below(limit),
        })
    }

    fn new_key(&self) -> Key {
        key(self.next_key.fetch_add(1, Relaxed))
    }

    fn write(&self, batch: &[(Key, &[u8])]) -> Result<u64> {
        match self.settings.durability {
            Durability::Group => self.group.write(self.store, batch)?,
            _ => self.store.write(batch)?,
        }
        Ok(batch.len() as u64)
    }
}

impl Tally {
    fn new() -> Self {
        Tally { times: vec![Times::new(); OPERATIONS.len()], found: 0, looked_up: 0, keys_read: 0, keys_written: 0 }
    }

    fn look_up(&mut self, keys: usize) {
        self.looked_up += 1;
        self.found += u64::from(keys > 0);
        self.keys_read += keys as u64;
    }

    fn add(&mut self, other: &Tally) {
        self.times.iter_mut().zip(&other.times).for_each(|(times, more)| times.add(more));
        self.found += other.found;
        self.looked_up += other.looked_up;
        self.keys_read += other.keys_read;
        self.keys_written += other.keys_written;
    }
}

/// The version of an engine's crate, as Cargo.lock has it.
fn version(engine: &str) -> &'static str {
    const LOCK: &str = include_str!("../Cargo.lock");
    let name = if engine == "lmdb" { "lmdb-master-sys" } else { engine };
    let package = LOCK.split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
    package.and_then(|text| text.split('"').next()).unwrap_or("unknown")
}
