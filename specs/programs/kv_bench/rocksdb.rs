//! RocksDB, by the C interface of a shared library that is loaded when it runs (`--library`); tried with 7.8 and 9.10.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::mem::transmute_copy;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::report::Report;
use crate::settings::Settings;
use crate::store::{Durability, Result, Store};
use crate::workload::Key;

const SOCKET: &str = "kv_bench.socket"; // in the folder of the database, while it is open
const PATIENCE: Duration = Duration::from_secs(10); // of who asks for a checkpoint, until the database is open
const COMPRESSIONS: [(&str, &str); 7] = [
    ("none", "kNoCompression"),
    ("snappy", "kSnappyCompression"),
    ("zlib", "kZlibCompression"),
    ("bzip2", "kBZip2Compression"),
    ("lz4", "kLZ4Compression"),
    ("lz4hc", "kLZ4HCCompression"),
    ("zstd", "kZSTD"),
];
// db_bench's names of what is a part of RocksDB's `block_based_table_factory`, and its text
const TABLE_OPTIONS: [(&str, &str, &str); 2] =
    [("block_size", "block_size=", ""), ("bloom_bits", "filter_policy=bloomfilter:", ":false")];
const FLUSHES: [&CStr; 2] = [c"rocksdb.mem-table-flush-pending", c"rocksdb.num-running-flushes"];
const COMPACTIONS: [&CStr; 2] = [c"rocksdb.compaction-pending", c"rocksdb.num-running-compactions"];
// RocksDB's options that would make a figure, or an image of the database, false
const REFUSED: [(&str, &str); 3] = [
    ("manual_wal_flush", "the log waits in memory, so class os would be false"),
    ("db_log_dir", "the whole database lies in --db"),
    ("wal_dir", "the whole database lies in --db"),
];

type Object = *mut c_void;
type Error = *mut *mut c_char;

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> Object;
    fn dlsym(library: Object, name: *const c_char) -> Object;
    fn dlerror() -> *const c_char;
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// What is called of the C interface, by the names of rocksdb/c.h without their prefix.
        #[derive(Clone, Copy)]
        #[allow(non_snake_case)]
        struct Library {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn load(file: &str) -> Result<Self> {
                let name = CString::new(file)?;
                // SAFETY: the types are those of rocksdb/c.h
                unsafe {
                    let library = dlopen(name.as_ptr(), 2); // RTLD_NOW
                    if library.is_null() {
                        return Err(format!("{}: name another by --library", text(dlerror())).into());
                    }
                    Ok(Library { $($name: {
                        let symbol = concat!("rocksdb_", stringify!($name));
                        let address = dlsym(library, concat!("rocksdb_", stringify!($name), "\0").as_ptr().cast());
                        if address.is_null() {
                            return Err(format!("{file} has no {symbol}: is it RocksDB's library?").into());
                        }
                        transmute_copy(&address)
                    },)* })
                }
            }
        }
    };
}

functions! {
    options_create() -> Object;
    get_options_from_string(Object, *const c_char, Object, Error);
    open(Object, *const c_char, Error) -> Object;
    close(Object);
    destroy_db(Object, *const c_char, Error);
    options_get_disable_auto_compactions(Object) -> u8;
    writeoptions_create() -> Object;
    writeoptions_set_sync(Object, u8);
    writeoptions_disable_WAL(Object, c_int);
    readoptions_create() -> Object;
    flushoptions_create() -> Object;
    put(Object, Object, *const u8, usize, *const u8, usize, Error);
    write(Object, Object, Object, Error);
    writebatch_create() -> Object;
    writebatch_put(Object, *const u8, usize, *const u8, usize);
    writebatch_destroy(Object);
    get_pinned(Object, Object, *const u8, usize, Error) -> Object;
    pinnableslice_value(Object, *mut usize) -> *const u8;
    pinnableslice_destroy(Object);
    create_iterator(Object, Object) -> Object;
    iter_seek(Object, *const u8, usize);
    iter_valid(Object) -> u8;
    iter_value(Object, *mut usize) -> *const u8;
    iter_next(Object);
    iter_get_error(Object, Error);
    iter_destroy(Object);
    flush(Object, Object, Error);
    flush_wal(Object, u8, Error);
    property_int(Object, *const c_char, *mut u64) -> c_int;
    checkpoint_object_create(Object, Error) -> Object;
    checkpoint_create(Object, *const c_char, u64, Error);
    checkpoint_object_destroy(Object);
}

fn text(message: *const c_char) -> String {
    // SAFETY: a text that ends with 0, of the library
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}

/// Call a function whose last argument is where an error goes.
fn checked<T>(call: impl FnOnce(Error) -> T) -> Result<T> {
    let mut error = null_mut();
    let result = call(&mut error);
    if error.is_null() { Ok(result) } else { Err(text(error).into()) } // not freed: it ends the program, or is rare
}

#[derive(Clone, Copy)]
struct Handle(Object);

// SAFETY: a database, its options and a library may be used by all threads
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

pub struct RocksDb {
    library: Library,
    database: Handle,
    writing: Handle,
    reading: Handle,
    is_alone: bool, // each write has a sync of its own
    is_load: bool,
    is_compacted: bool, // by itself
    is_logged: bool,
    writer: Mutex<()>,
    checkpoints: Arc<Mutex<bool>>, // whether the database is open; held while one is made
    folder: PathBuf,
    version: String,
}

impl RocksDb {
    pub fn open(settings: &Settings, is_load: bool) -> Result<Self> {
        let library = Library::load(&settings.library)?;
        let (options, path) = (CString::new(options(settings, is_load)?)?, c_path(&settings.db)?);
        // SAFETY: arguments as rocksdb/c.h wants them; what is created lives as long as the program
        let (database, writing, reading, is_compacted) = unsafe {
            let (base, own) = ((library.options_create)(), (library.options_create)());
            checked(|error| (library.get_options_from_string)(base, options.as_ptr(), own, error))?;
            let is_compacted = (library.options_get_disable_auto_compactions)(own) == 0;
            if has_database(settings, is_load)? && is_load {
                checked(|error| (library.destroy_db)(base, path.as_ptr(), error)) // it holds LOCK while it does
                    .map_err(|error| format!("{} is not emptied for a load: {error}", settings.db.display()))?;
            }
            let database = checked(|error| (library.open)(own, path.as_ptr(), error))?;
            (database, (library.writeoptions_create)(), (library.readoptions_create)(), is_compacted)
        };
        // SAFETY: as above
        unsafe {
            (library.writeoptions_set_sync)(writing, settings.durability.is_synced().into());
            (library.writeoptions_disable_WAL)(writing, (settings.durability == Durability::None).into());
        }
        let version = version(&settings.db)?;
        println!("RocksDB {version}");
        let store = RocksDb {
            library,
            database: Handle(database),
            writing: Handle(writing),
            reading: Handle(reading),
            is_alone: settings.durability == Durability::Sync && settings.threads > 1,
            is_load,
            is_compacted,
            is_logged: settings.durability != Durability::None,
            writer: Mutex::default(),
            checkpoints: Arc::new(Mutex::new(true)),
            folder: settings.db.clone(),
            version,
        };
        store.listen()?;
        Ok(store)
    }

    /// Make a checkpoint for each who asks by the socket.
    fn listen(&self) -> Result<()> {
        let _ = fs::remove_file(self.folder.join(SOCKET)); // of a process that was killed
        let listener = by_short_path(&self.folder, |path| UnixListener::bind(path))?;
        let (library, database, folder) = (self.library, self.database, self.folder.clone());
        let is_open = Arc::clone(&self.checkpoints);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (folder, is_open) = (folder.clone(), Arc::clone(&is_open));
                // by itself: who says nothing holds up nobody; who asked may be gone
                thread::spawn(move || answer(stream, library, &database, &folder, &is_open).ok());
            }
        });
        Ok(())
    }

    /// Wait until nothing that a load has left is to be flushed or compacted.
    fn settle(&self) -> Result<()> {
        // SAFETY: arguments as rocksdb/c.h wants them
        unsafe {
            let options = (self.library.flushoptions_create)();
            checked(|error| (self.library.flush)(self.database.0, options, error))?;
            let debt = |name: &&CStr| {
                let mut value = 0;
                (self.library.property_int)(self.database.0, name.as_ptr(), &mut value) == 0 && value > 0
            };
            while FLUSHES.iter().any(debt) || self.is_compacted && COMPACTIONS.iter().any(debt) {
                thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(())
    }
}

impl Store for RocksDb {
    const GROUPS: bool = true; // it writes what several threads wait for by one sync

    fn write(&self, batch: &[(Key, &[u8])]) -> Result<()> {
        let _alone = self.is_alone.then(|| self.writer.lock().unwrap());
        let (library, database, writing) = (&self.library, self.database.0, self.writing.0);
        // SAFETY: pointers and lengths of slices that live as long as the call
        unsafe {
            if let [(key, value)] = batch {
                let (key, keys, value, values) = (key.as_ptr(), key.len(), value.as_ptr(), value.len());
                return checked(|error| (library.put)(database, writing, key, keys, value, values, error));
            }
            let writes = (library.writebatch_create)();
            for (key, value) in batch {
                (library.writebatch_put)(writes, key.as_ptr(), key.len(), value.as_ptr(), value.len());
            }
            checked(|error| (library.write)(database, writing, writes, error))?;
            (library.writebatch_destroy)(writes);
        }
        Ok(())
    }

    fn get(&self, key: &Key, read: &mut impl FnMut(&[u8])) -> Result<bool> {
        let (library, mut length) = (&self.library, 0);
        // SAFETY: the value is pinned until it is destroyed
        unsafe {
            let slice =
                checked(|error| (library.get_pinned)(self.database.0, self.reading.0, key.as_ptr(), key.len(), error))?;
            if slice.is_null() {
                return Ok(false);
            }
            let value = (library.pinnableslice_value)(slice, &mut length);
            read(std::slice::from_raw_parts(value, length));
            (library.pinnableslice_destroy)(slice);
        }
        Ok(true)
    }

    fn scan(&self, from: &Key, count: usize, read: &mut impl FnMut(&[u8])) -> Result<usize> {
        let (library, mut keys, mut length) = (&self.library, 0, 0);
        // SAFETY: a value is valid until the iterator moves
        unsafe {
            let iterator = (library.create_iterator)(self.database.0, self.reading.0);
            (library.iter_seek)(iterator, from.as_ptr(), from.len());
            while keys < count && (library.iter_valid)(iterator) != 0 {
                let value = (library.iter_value)(iterator, &mut length);
                read(std::slice::from_raw_parts(value, length));
                keys += 1;
                if keys < count {
                    (library.iter_next)(iterator);
                }
            }
            checked(|error| (library.iter_get_error)(iterator, error))?;
            (library.iter_destroy)(iterator);
        }
        Ok(keys)
    }

    fn finish(&self) -> Result<()> {
        if self.is_load || !self.is_logged {
            return self.settle();
        }
        // SAFETY: arguments as rocksdb/c.h wants them
        unsafe { checked(|error| (self.library.flush_wal)(self.database.0, 1, error)) }
    }

    fn version(&self) -> &str {
        &self.version
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        let mut is_open = self.checkpoints.lock().unwrap(); // once the checkpoint that is being made is whole
        *is_open = false;
        let _ = fs::remove_file(self.folder.join(SOCKET));
        // SAFETY: no thread uses it any more
        unsafe { (self.library.close)(self.database.0) }
    }
}

/// Tell whether a database is in the folder; refuse one that is open, a read of none, and a load into other files.
fn has_database(settings: &Settings, is_load: bool) -> Result<bool> {
    let (folder, name) = (&settings.db, settings.db.display());
    if by_short_path(folder, |path| UnixStream::connect(path)).is_ok() {
        return Err(format!("another kv_bench has {name} open").into());
    }
    if is_load {
        fs::create_dir_all(folder).map_err(|error| format!("{name}: {error}"))?;
    }
    let entries = fs::read_dir(folder).map(|entries| entries.collect::<std::io::Result<Vec<_>>>());
    let files: Vec<_> = entries.unwrap_or(Ok(Vec::new()))?.into_iter().map(|entry| entry.file_name()).collect();
    let begins = |word: &'static [u8]| move |file: &std::ffi::OsString| file.as_encoded_bytes().starts_with(word);
    if files.iter().any(begins(b"OPTIONS-")) {
        return Ok(true); // one of LevelDB has none
    }
    if !is_load {
        return Err(format!("{name} has no database: run fillseq or fillrandom before {}", settings.benchmark).into());
    }
    if files.iter().any(|file| file != "LOCK" && !begins(b"LOG")(file)) {
        // which a failed open leaves
        return Err(format!("{name} has files, but is no database of RocksDB: a load wants an empty folder").into());
    }
    Ok(false)
}

/// Write the options as RocksDB reads them: those by db_bench's names, and all others by their own.
fn options(settings: &Settings, is_load: bool) -> Result<String> {
    let name = settings.compression_type.as_str();
    let compression = COMPRESSIONS.iter().find(|(known, _)| *known == name).map(|(_, own)| *own);
    let names = COMPRESSIONS.map(|(known, _)| known).join(", ");
    let compression = compression.ok_or(format!("RocksDB has no compression {name}; there are {names}"))?;
    let mut others = settings.others.clone();
    if let Some((name, reason)) = REFUSED.iter().find(|(name, _)| others.contains_key(*name)) {
        return Err(format!("there is no option --{name}: {reason}").into());
    }
    let bits = others.get("bloom_bits").map_or("0", String::as_str);
    if !bits.parse().is_ok_and(|bits: f64| bits >= 0.0 && bits.is_finite()) {
        return Err(format!("--bloom_bits={bits}: it is a number, 0 or more").into());
    }
    let mut table: Vec<String> = settings.cache_size.iter().map(|bytes| format!("block_cache={bytes}")).collect();
    for (name, before, behind) in TABLE_OPTIONS {
        table.extend(others.remove(name).map(|value| format!("{before}{value}{behind}")));
    }
    let mut texts = vec![format!("create_if_missing={is_load};compression={compression}")];
    texts.extend(others.iter().map(|(name, value)| format!("{name}={value}")));
    if !table.is_empty() {
        if others.contains_key("block_based_table_factory") {
            return Err("give cache_size, block_size and bloom_bits within block_based_table_factory, too".into());
        }
        texts.push(format!("block_based_table_factory={{{}}}", table.join(";")));
    }
    Ok(texts.join(";"))
}

/// Read which release has opened a database: the C interface does not tell it, its log does.
fn version(folder: &Path) -> Result<String> {
    let mut head = String::new();
    fs::File::open(folder.join("LOG"))?.take(4096).read_to_string(&mut head)?;
    let line = head.lines().find_map(|line| line.split_once("RocksDB version: "));
    Ok(line.ok_or("RocksDB's LOG has no line `RocksDB version: `")?.1.trim().into())
}

// Checkpoints: a line with an absolute path asks for one, a line with its seconds or an error answers

fn answer(stream: UnixStream, library: Library, database: &Handle, folder: &Path, is_open: &Mutex<bool>) -> Result<()> {
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    let Some(into) = line.strip_suffix('\n') else { return Ok(()) }; // who asks nothing, or was stopped
    let is_open = is_open.lock().unwrap();
    let start = Instant::now();
    let result = match *is_open {
        true => checkpoint(library, database.0, folder, Path::new(into)),
        false => Err("the benchmark is over".into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    drop(is_open);
    Ok(writeln!(&stream, "{}", result.map_or_else(|error| error.to_string(), |()| seconds.to_string()))?)
}

fn checkpoint(library: Library, database: Object, folder: &Path, into: &Path) -> Result<()> {
    let (path, staging) = (c_path(into)?, format!("{}.tmp", into.display()));
    if fs::symlink_metadata(&staging).is_ok() {
        return Err(format!("it would empty {staging}: remove it, if a checkpoint that was killed left it").into());
    }
    if into.parent().is_some_and(|parent| is_within(parent, folder)) {
        return Err(format!("{} is inside the database", into.display()).into());
    }
    // SAFETY: arguments as rocksdb/c.h wants them
    unsafe {
        let maker = checked(|error| (library.checkpoint_object_create)(database, error))?;
        let result = checked(|error| (library.checkpoint_create)(maker, path.as_ptr(), 0, error)); // 0: it flushes
        (library.checkpoint_object_destroy)(maker);
        result
    }
}

fn is_within(path: &Path, folder: &Path) -> bool {
    matches!((path.canonicalize(), folder.canonicalize()), (Ok(path), Ok(folder)) if path.starts_with(&folder))
}

/// Ask the process that has a database open for a checkpoint of it, and report what it took.
pub fn ask_for_checkpoint(settings: &Settings) -> Result<()> {
    let into = std::path::absolute(settings.to.as_ref().ok_or("--to=FOLDER says where the checkpoint goes")?)?;
    let into: PathBuf = into.components().collect(); // without a slash at its end: RocksDB leaves it out, too
    let start = Instant::now();
    let stream = loop {
        match by_short_path(&settings.db, |path| UnixStream::connect(path)) {
            Ok(stream) => break stream,
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                return Err(format!("{}: {error}", settings.db.display()).into());
            }
            Err(_) if start.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(10)),
            Err(_) => {
                let (db, seconds) = (settings.db.display(), PATIENCE.as_secs());
                return Err(
                    format!("no kv_bench had {db} open within {seconds} s: it is over, or has not begun").into()
                );
            }
        }
    };
    let path = into.to_str().filter(|path| !path.contains('\n')).ok_or("--to is no name that can be sent")?;
    writeln!(&stream, "{path}")?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    let seconds: f64 = line.trim().parse().map_err(|_| match line.trim() {
        "" => "the process of the database ended before the checkpoint did".into(),
        error => format!("RocksDB makes no checkpoint: {error}"),
    })?;
    let (mut bytes, mut linked) = (0, 0);
    for entry in fs::read_dir(&into)? {
        let file = entry?.metadata()?;
        bytes += file.len();
        linked += if file.nlink() > 1 { file.len() } else { 0 };
    }
    let mut report = Report::create()?;
    report.metric("checkpoint_seconds", seconds)?;
    report.metric("checkpoint_bytes", bytes as f64)?;
    report.metric("linked_bytes", linked as f64)?;
    println!("checkpoint: {seconds:.3} s, {bytes} bytes, {linked} of them in files that the database still has");
    Ok(()) // without an end: a step is not too short because a checkpoint is
}

/// Call with a path of the socket that is short enough for one, however long that of the folder is.
fn by_short_path<T>(folder: &Path, call: impl FnOnce(&Path) -> std::io::Result<T>) -> std::io::Result<T> {
    let folder = fs::File::open(folder)?;
    call(Path::new(&format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd())))
}

fn c_path(path: &Path) -> Result<CString> {
    Ok(CString::new(path.as_os_str().as_encoded_bytes())?)
}
