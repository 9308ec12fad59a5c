//! Opening `state.db`, the one writing connection with group commit, and the pool of readers.
//!
//! Whoever writes while nobody else does commits by itself; the others leave their work to the writer
//! thread, which commits it together.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chatos_paths::StateDir;
use rusqlite::{Connection, OpenFlags};

use crate::error::{StoreError, StoreErrorKind};
use crate::migrate;

/// state §3, security §3.5: older versions can corrupt a database when a WAL is reset.
const MIN_SQLITE: i32 = 3_051_003;
/// Jobs that arrive within this time share one commit. Longer would delay a lone writer's neighbours,
/// shorter would fsync once per job under load.
const GROUP: Duration = Duration::from_millis(5);
const GROUP_JOBS: usize = 512;
/// A full queue blocks its callers: back-pressure instead of memory.
const QUEUE: usize = 4096;
const READERS: usize = 4;

/// How to open the database.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Where `state.db` lies.
    pub path: PathBuf,
    /// Where automatic copies go.
    pub backups: PathBuf,
    /// Only the host migrates; other processes refuse an older schema (state §3.4).
    pub migrate: bool,
    /// On a network file system WAL is unsafe (state §9).
    pub wal: bool,
    /// Other files say that this state was in use: an empty database is then a lost one, not a new one.
    pub used: bool,
    /// Look for damage before anything is written (security §3.5); a host that serves wants that.
    pub check: bool,
}

impl OpenOptions {
    /// For a process next to the host: it neither migrates nor looks for damage.
    pub fn beside(dir: &StateDir) -> Self {
        Self {
            path: dir.database(),
            backups: dir.backups(),
            migrate: false,
            wal: true,
            used: false,
            check: false,
        }
    }
}

/// A handle on the open database; clones share it. The last one dropped closes it.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    options: OpenOptions,
    jobs: Mutex<Option<SyncSender<Job>>>,
    // Jobs that the writer thread has not taken yet; nobody overtakes them.
    queued: Arc<AtomicUsize>,
    connection: Arc<Writing>,
    writer: Mutex<Option<JoinHandle<()>>>,
    readers: Mutex<Vec<Connection>>,
    // Only for noticing changes; see `watch`.
    watch: Mutex<Option<Connection>>,
    // Long reads under way, so that a stop need not wait for them.
    checks: Mutex<Vec<(u64, rusqlite::InterruptHandle)>>,
    next_check: AtomicU64,
    migrated_from: Option<u32>,
}

/// The one connection that writes; gone when the store is closed.
type Writing = Mutex<Option<Connection>>;

/// Runs inside the writer's transaction and returns what to do once the commit is decided. Given no
/// connection (the transaction could not begin) it does nothing but make that finish.
type Job = Box<dyn FnOnce(Option<&Connection>) -> Finish + Send>;
type Finish = Box<dyn FnOnce(Result<(), CommitError>) + Send>;

/// The commit's failure, kept in parts because every job of the group gets its own copy.
#[derive(Clone)]
struct CommitError(StoreErrorKind, String);

impl Store {
    /// Opens, checks and where needed migrates the database.
    pub fn open(options: OpenOptions) -> Result<Self, StoreError> {
        let version = rusqlite::version_number();
        if version < MIN_SQLITE {
            let text = format!("the bundled SQLite is {}, at least 3.51.3 is needed", rusqlite::version());
            return Err(StoreError::new(StoreErrorKind::Internal, text));
        }
        inspect(&options)?;
        let mut writer = connect(&options, Access::Write)?;
        let migrated_from = migrate::run(&mut writer, &options)?;
        let (jobs, inbox) = sync_channel(QUEUE);
        let (connection, queued) = (Arc::new(Mutex::new(Some(writer))), Arc::new(AtomicUsize::new(0)));
        let (own, count) = (Arc::clone(&connection), Arc::clone(&queued));
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || write_loop(&own, &inbox, &count))
            .map_err(|e| {
                StoreError::new(StoreErrorKind::Unavailable, format!("cannot start the writer: {e}"))
            })?;
        let shared = Shared {
            options,
            jobs: Mutex::new(Some(jobs)),
            queued,
            connection,
            writer: Mutex::new(Some(thread)),
            readers: Mutex::new(Vec::new()),
            watch: Mutex::new(None),
            checks: Mutex::new(Vec::new()),
            next_check: AtomicU64::new(0),
            migrated_from,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The schema version the database had before this open migrated it.
    pub fn migrated_from(&self) -> Option<u32> {
        self.shared.migrated_from
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.shared.options.path
    }

    /// Whether readers go on while somebody writes.
    pub fn never_waits_to_read(&self) -> bool {
        self.shared.options.wal
    }

    pub(crate) fn options(&self) -> &OpenOptions {
        &self.shared.options
    }

    pub(crate) fn watch_cell(&self) -> &Mutex<Option<Connection>> {
        &self.shared.watch
    }

    pub(crate) fn connect_reader(&self) -> Result<Connection, StoreError> {
        connect(&self.shared.options, Access::Read)
    }

    /// [`Self::write`] for what a run is continued from; tests end the process around each of these.
    pub(crate) fn write_journal<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        chatos_paths::halt_around(|| self.write(work))
    }

    /// Runs `work` in the writer's transaction and returns after the commit is durable.
    ///
    /// `work` must be short and must not call the store. An error or a panic in it undoes its own
    /// changes only; other jobs of the same group are not affected. Outside of this crate only the import of an
    /// older state (decision 0022), notices (decision 0053) and what is open to commands (decision 0065) write with it.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        // Boxed, so that the channel is compiled once and not once per kind of answer.
        let (reply, answer) = sync_channel::<Box<dyn Any + Send>>(1);
        let job: Job = Box::new(move |connection| {
            let outcome = connection.map(|connection| in_savepoint(connection, work));
            Box::new(move |committed| {
                let result = match (outcome, committed) {
                    (Some(Err(error)), _) => Err(error),
                    (_, Err(CommitError(kind, message))) => Err(StoreError::new(kind, message)),
                    (Some(Ok(value)), Ok(())) => Ok(value),
                    (None, Ok(())) => Err(StoreError::closed()),
                };
                // The caller may have gone; the commit stands either way.
                reply.send(Box::new(result)).ok();
            })
        });
        let sender = lock(&self.shared.jobs).clone().ok_or_else(StoreError::closed)?;
        if let Some(job) = self.write_here(job) {
            self.shared.queued.fetch_add(1, Ordering::AcqRel);
            if sender.send(job).is_err() {
                self.shared.queued.fetch_sub(1, Ordering::AcqRel);
                return Err(StoreError::closed());
            }
        }
        let answer = answer.recv().map_err(|_| StoreError::closed())?;
        answer
            .downcast::<Result<T, StoreError>>()
            .map_or_else(|_| Err(StoreError::closed()), |result| *result)
    }

    /// Commits a lone job on the thread that wants it, which waits anyway; gives it back when others write.
    fn write_here(&self, job: Job) -> Option<Job> {
        if self.shared.queued.load(Ordering::Acquire) > 0 {
            return Some(job);
        }
        let writing = match self.shared.connection.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(writing)) => writing.into_inner(),
            Err(TryLockError::WouldBlock) => return Some(job),
        };
        let Some(connection) = &*writing else { return Some(job) };
        let group = commit_group(connection, job, |_| None);
        drop(writing);
        finish(group);
        None
    }

    /// Runs `work` on a reading connection: it sees every commit acknowledged before the call. Outside of this
    /// crate only the import of an older state (decision 0022), notices (decision 0053) and what is open to commands
    /// (decision 0065) read with it.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = lock(&self.shared.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(&self.shared.options, Access::Read)?,
        };
        let result = work(&connection);
        let mut readers = lock(&self.shared.readers);
        // One that failed inside a snapshot would show that snapshot for ever.
        if readers.len() < READERS && connection.is_autocommit() {
            readers.push(connection);
        }
        result
    }

    /// As [`Store::read`] for several statements that have to see one and the same state.
    pub(crate) fn read_at_once<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read(|connection| {
            control(connection, "BEGIN")?;
            let value = work(connection)?;
            control(connection, "COMMIT")?;
            Ok(value)
        })
    }

    /// As [`Store::read`] for work that takes as long as the database is large: [`Store::stop_checks`]
    /// ends it with an error.
    pub(crate) fn read_long<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read(|connection| {
            let id = self.shared.next_check.fetch_add(1, Ordering::Relaxed);
            lock(&self.shared.checks).push((id, connection.get_interrupt_handle()));
            let result = work(connection);
            lock(&self.shared.checks).retain(|(other, _)| *other != id);
            result
        })
    }

    /// Ends checks under way.
    pub fn stop_checks(&self) {
        for (_, check) in lock(&self.shared.checks).iter() {
            check.interrupt();
        }
    }

    /// Finishes all queued writes, truncates the WAL and closes. Later calls fail with `Unavailable`.
    pub fn close(&self) {
        self.shared.close();
    }
}

impl Shared {
    fn close(&self) {
        lock(&self.jobs).take();
        lock(&self.readers).clear();
        lock(&self.watch).take();
        let thread = lock(&self.writer).take();
        if let Some(thread) = thread {
            // A panicked writer has already failed its callers; there is nobody left to tell.
            thread.join().ok();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// The version of the bundled SQLite.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Databases up to this size are checked before the start goes on; larger ones in the background, so
/// that a start stays quick.
pub const CHECK_AT_OPEN: u64 = 64 * 1024 * 1024;

/// Looks at what lies there without changing a byte of it: what is not ours, newer, damaged or lost is
/// refused before the first write.
fn inspect(options: &OpenOptions) -> Result<(), StoreError> {
    let corrupt = |text: String| StoreError::new(StoreErrorKind::Corrupt, text);
    let path = &options.path;
    let bytes = match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => meta.len(),
        Ok(_) => {
            let text = format!("the database is not a regular file: {}", path.display());
            return Err(StoreError::new(StoreErrorKind::Unavailable, text));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
        Err(error) => {
            let text = format!("cannot look at the database: {error}: {}", path.display());
            return Err(StoreError::new(StoreErrorKind::Unavailable, text));
        }
    };
    let log = std::fs::metadata(beside(path, "-wal")).map_or(0, |meta| meta.len());
    if bytes == 0 {
        // SQLite would delete the log of an empty database, and with it commits that were acknowledged.
        if log > 0 {
            return Err(corrupt(format!(
                "the file is missing or empty, its log is there: {}",
                path.display()
            )));
        }
        return refuse_lost(options);
    }
    let connection = if log == 0 { open_still(path)? } else { connect(options, Access::Read)? };
    let page: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    if log == 0 && bytes % u64::from(page.max(1)) != 0 {
        // A kill while pages move from the log into the file leaves this too, but then the log is there.
        return Err(corrupt(format!("the end of the file is missing: {}", path.display())));
    }
    let schema = migrate::schema_of(&connection)?;
    migrate::refuse_newer(schema)?;
    if schema == 0 {
        refuse_lost(options)?;
    }
    if options.check && bytes <= CHECK_AT_OPEN {
        let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(corrupt(format!("{}: {}", found.trim(), path.display())));
        }
    }
    Ok(())
}

/// Opens a file nobody writes to, without making the side files an ordinary reader makes.
#[expect(clippy::disallowed_methods, reason = "looks at a database before it is opened for good")]
pub fn open_still(path: &Path) -> Result<Connection, StoreError> {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-') {
            address.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            write!(address, "%{byte:02X}").ok();
        }
    }
    address.push_str("?immutable=1");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(address, flags)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Opens a database to read one thing of it, whoever else has it open; nothing is made, moved or waited for.
#[expect(clippy::disallowed_methods, reason = "looks at a database that is not opened for good")]
pub(crate) fn glance(path: &Path) -> Result<Connection, StoreError> {
    let log = std::fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len());
    if log == 0 {
        return open_still(path);
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

fn refuse_lost(options: &OpenOptions) -> Result<(), StoreError> {
    if !options.used {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Corrupt,
        format!("there is no content, but this state was in use before: {}", options.path.display()),
    ))
}

/// `state.db` + `-wal`, `-shm`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that opens state.db")]
fn connect(options: &OpenOptions, access: Access) -> Result<Connection, StoreError> {
    let mode = match access {
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    if access == Access::Write {
        create_private(&options.path)?;
    }
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(&options.path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    if access == Access::Write {
        let mode = if options.wal { "WAL" } else { "DELETE" };
        connection.pragma_update(None, "journal_mode", mode)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "journal_size_limit", 67_108_864)?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// SQLite would create the file with the umask's mode; it holds what only this user may read.
fn create_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let opened = std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = opened.map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
            _ => StoreErrorKind::Unavailable,
        };
        StoreError::new(kind, format!("cannot open the database: {error}: {}", path.display()))
    })?;
    let wide = file.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0);
    if wide {
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(|error| {
            StoreError::new(
                StoreErrorKind::Unavailable,
                format!("cannot narrow the database's mode: {error}"),
            )
        })?;
    }
    Ok(())
}

fn write_loop(writing: &Writing, inbox: &Receiver<Job>, queued: &AtomicUsize) {
    let taken = |job: Job| {
        queued.fetch_sub(1, Ordering::AcqRel);
        job
    };
    while let Ok(first) = inbox.recv() {
        let writing = lock(writing);
        let Some(connection) = &*writing else { return };
        let group = commit_group(connection, taken(first), |alone| {
            match inbox.try_recv() {
                Ok(job) => Some(taken(job)),
                // Several writers in a row usually come as a burst; a lone one is not kept waiting.
                Err(TryRecvError::Empty) if !alone => {
                    inbox.recv_timeout(Duration::from_micros(200)).ok().map(taken)
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
            }
        });
        drop(writing);
        finish(group);
    }
    // Every sender is gone: a clean close. A failed checkpoint costs nothing, the WAL stays valid.
    if let Some(connection) = lock(writing).take() {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).ok();
    }
}

/// Jobs that were decided together, and how.
type Group = Vec<(Finish, Result<(), CommitError>)>;

fn finish(group: Group) {
    for (finish, outcome) in group {
        finish(outcome);
    }
}

/// One transaction for a job and for those that come while it runs; `next` is told whether the first is still alone.
fn commit_group(connection: &Connection, first: Job, mut next: impl FnMut(bool) -> Option<Job>) -> Group {
    let mut finishes = Vec::new();
    if let Err(error) = control(connection, "BEGIN IMMEDIATE") {
        let failure = commit_error(error);
        return vec![(first(None), Err(failure))];
    }
    let started = Instant::now();
    finishes.push(first(Some(connection)));
    while finishes.len() < GROUP_JOBS && started.elapsed() < GROUP {
        let Some(job) = next(finishes.len() == 1) else { break };
        finishes.push(job(Some(connection)));
    }
    let outcome = control(connection, "COMMIT").map_err(commit_error);
    if outcome.is_err() && !connection.is_autocommit() {
        // Nothing of the group may stay half done; a failing rollback leaves SQLite's own recovery.
        connection.execute_batch("ROLLBACK").ok();
    }
    finishes.into_iter().map(|finish| (finish, outcome.clone())).collect()
}

/// Begins or ends something, with a statement that is kept: every write does this four times.
fn control(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(|_| ())
}

fn commit_error(error: rusqlite::Error) -> CommitError {
    let error = StoreError::from(error);
    CommitError(error.kind, error.message)
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    control(connection, "SAVEPOINT job")?;
    let result = catch_unwind(AssertUnwindSafe(|| work(connection))).unwrap_or_else(|panic| {
        Err(StoreError::new(
            StoreErrorKind::Internal,
            format!("a database job panicked: {}", panic_text(&*panic)),
        ))
    });
    let end = if result.is_ok() {
        control(connection, "RELEASE job")
    } else {
        connection.execute_batch("ROLLBACK TO job; RELEASE job")
    };
    match end {
        Ok(()) => result,
        // The original error says more than the failed clean-up.
        Err(error) => result.and_then(|_| Err(error.into())),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
pub(crate) mod tests;
