//! A whole state in one file: a `tar.zst` whose last member, `manifest.json`, names every other one
//! with size and SHA-256 (state §8).
//!
//! Which files belong in is decided by the caller. Written beside its target and read back before it
//! counts; read twice when it is brought back, so that nothing is written before everything was checked.

mod tar;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chatos_tool::hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The name of the last member.
const MANIFEST: &str = "manifest.json";
const FORMAT: &str = "chatos-backup";
const FORMAT_VERSION: u32 = 1;
/// Files up to this size are read before their header is written, so that one that grows or shrinks
/// meanwhile is still kept as it was at one moment.
const IN_MEMORY: u64 = 16 * 1024 * 1024;
/// A manifest names each file in about 200 bytes; more than this is no manifest.
const MANIFEST_BYTES: u64 = 256 * 1024 * 1024;
const LEVEL: i32 = 3;

/// Why an archive could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file or folder could not be used.
    #[error("cannot {action}: {}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something has that name already.
    #[error("the file exists already: {}", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It is another kind of file.
    #[error("not a backup of ChatOS: {}", path.display())]
    NotABackup {
        /// The file.
        path: PathBuf,
    },
    /// It was a backup once.
    #[error("the backup is damaged ({reason}): {}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A newer ChatOS wrote it.
    #[error("the backup has format {version}, this program knows {FORMAT_VERSION}: {}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
    },
    /// Somebody asked to stop.
    #[error("stopped")]
    Canceled,
}

/// A file to be kept.
#[derive(Debug, Clone)]
pub struct ArchiveFile {
    /// Its place below the state directory, with `/`.
    pub name: String,
    /// Where it is now.
    pub source: PathBuf,
    /// Only this many bytes of it: a log that grows.
    pub upto: Option<u64>,
}

/// What an archive says about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    format: String,
    version: u32,
    /// When it was made.
    pub created_at: String,
    /// By which ChatOS.
    pub chatos: String,
    /// The schema of its database.
    pub schema: u32,
    /// Whose state it is.
    pub instance_id: String,
    /// The key its secrets are sealed with.
    pub key_id: String,
    /// The content of blobs is in it.
    pub blobs: bool,
    /// The key itself, locked with a passphrase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Value>,
    /// How much of each log was there.
    #[serde(default)]
    pub logs: Vec<(String, u64)>,
    /// What could not be kept: links, sockets, names that are not text.
    #[serde(default)]
    pub left_out: Vec<String>,
    files: Vec<ManifestFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ManifestFile {
    path: String,
    size: u64,
    sha256: String,
    mode: u32,
}

impl Manifest {
    /// A manifest without files.
    pub fn new(created_at: String, chatos: String) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            created_at,
            chatos,
            schema: 0,
            instance_id: String::new(),
            key_id: String::new(),
            blobs: true,
            key: None,
            logs: Vec::new(),
            left_out: Vec::new(),
            files: Vec::new(),
        }
    }

    /// How many files it names.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// How large they are together.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// Told after every piece how many bytes are done; `false` stops the work.
type ArchiveProgress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Writes an archive to a new file, reads it back, and only then gives it its name.
pub fn write_archive(
    target: &Path,
    mut manifest: Manifest,
    files: Vec<ArchiveFile>,
    progress: ArchiveProgress<'_>,
) -> Result<(Manifest, u64), ArchiveError> {
    if target.symlink_metadata().is_ok() {
        return Err(ArchiveError::Exists { path: target.to_owned() });
    }
    let mut partial = target.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let file = create_partial(&partial)?;
    // Held until it has its name.
    let held = file.try_clone();
    let made = write_partial(&partial, file, &mut manifest, files, progress)
        .and_then(|()| verify_archive(&partial, &mut |_| true))
        .and_then(|_| put_into_place(&partial, target));
    drop(held);
    match made {
        Ok(bytes) => Ok((manifest, bytes)),
        Err(error) => {
            // What went wrong matters more than the leftover.
            std::fs::remove_file(&partial).ok();
            Err(error)
        }
    }
}

/// Makes the file that grows into the archive: new, for this user alone, and held while it is written. One that
/// a killed backup left is replaced; whatever else has the name is not ours to write to, or through.
fn create_partial(partial: &Path) -> Result<File, ArchiveError> {
    use rustix::fs::{FlockOperation, Mode, OFlags};
    let fail = |source| ArchiveError::Io { action: "write the backup", path: partial.to_owned(), source };
    // Where a file system knows no locks, two backups into one file are for the person to avoid.
    let is_free = |file: &File| {
        let held = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
        held != Err(rustix::io::Errno::WOULDBLOCK)
    };
    let create = || std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(partial);
    let file = match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let theirs = || ArchiveError::Exists { path: partial.to_owned() };
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let left =
                rustix::fs::open(partial, flags, Mode::empty()).map(File::from).map_err(|_| theirs())?;
            let meta = left.metadata().map_err(fail)?;
            let is_ours = meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw();
            if !is_ours || !is_free(&left) {
                return Err(theirs());
            }
            std::fs::remove_file(partial).map_err(fail)?;
            create().map_err(fail)?
        }
        made => made.map_err(fail)?,
    };
    // Somebody took it for a leftover before it could be held.
    if is_free(&file) { Ok(file) } else { Err(ArchiveError::Exists { path: partial.to_owned() }) }
}

fn write_partial(
    partial: &Path,
    file: File,
    manifest: &mut Manifest,
    files: Vec<ArchiveFile>,
    progress: ArchiveProgress<'_>,
) -> Result<(), ArchiveError> {
    let fail = |source| ArchiveError::Io { action: "write the backup", path: partial.to_owned(), source };
    let mut packer = zstd::Encoder::new(file, LEVEL).map_err(fail)?;
    let mut done = 0;
    for file in files {
        let Some(entry) = add(&mut packer, &file).map_err(|error| match error {
            Side::Source(source) => {
                ArchiveError::Io { action: "read a file of the state", path: file.source.clone(), source }
            }
            Side::Target(source) => fail(source),
        })?
        else {
            // It was there when the list was made; a file somebody removed meanwhile is no failure.
            continue;
        };
        done += entry.size;
        manifest.files.push(entry);
        if !progress(done) {
            return Err(ArchiveError::Canceled);
        }
    }
    let text = serde_json::to_vec_pretty(manifest).map_err(|error| fail(io::Error::other(error)))?;
    let mut finish = || -> io::Result<()> {
        tar::write_header(&mut packer, MANIFEST, text.len() as u64, 0o600)?;
        packer.write_all(&text)?;
        tar::write_padding(&mut packer, text.len() as u64)?;
        tar::write_end(&mut packer)
    };
    finish().map_err(fail)?;
    packer.finish().and_then(|file| file.sync_all()).map_err(fail)
}

/// Which of the two files failed.
enum Side {
    Source(io::Error),
    Target(io::Error),
}

fn add(packer: &mut impl Write, wanted: &ArchiveFile) -> Result<Option<ManifestFile>, Side> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut source = match rustix::fs::open(&wanted.source, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(Side::Source(error.into())),
    };
    let meta = source.metadata().map_err(Side::Source)?;
    if !meta.is_file() {
        return Ok(None);
    }
    let mode = 0o600 | (meta.mode() & 0o100);
    let mut size = wanted.upto.map_or(meta.len(), |upto| upto.min(meta.len()));
    let mut hash = Sha256::new();
    if size <= IN_MEMORY {
        let mut bytes = Vec::with_capacity(size as usize);
        source.take(wanted.upto.unwrap_or(IN_MEMORY)).read_to_end(&mut bytes).map_err(Side::Source)?;
        size = bytes.len() as u64;
        hash.update(&bytes);
        tar::write_header(packer, &wanted.name, size, mode).map_err(Side::Target)?;
        packer.write_all(&bytes).map_err(Side::Target)?;
    } else {
        tar::write_header(packer, &wanted.name, size, mode).map_err(Side::Target)?;
        let mut left = size;
        let mut buffer = vec![0; 256 * 1024];
        while left > 0 {
            let part = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = source.read(&mut buffer[..part]).map_err(Side::Source)?;
            if read == 0 {
                let text = "the file was cut while it was being copied; try again";
                return Err(Side::Source(io::Error::new(io::ErrorKind::UnexpectedEof, text)));
            }
            hash.update(&buffer[..read]);
            packer.write_all(&buffer[..read]).map_err(Side::Target)?;
            left -= read as u64;
        }
    }
    tar::write_padding(packer, size).map_err(Side::Target)?;
    Ok(Some(ManifestFile { path: wanted.name.clone(), size, sha256: hex(&hash.finalize()), mode }))
}

/// Gives the finished file its name, never over another file.
fn put_into_place(partial: &Path, target: &Path) -> Result<u64, ArchiveError> {
    let fail = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => ArchiveError::Exists { path: target.to_owned() },
        _ => ArchiveError::Io { action: "finish the backup", path: target.to_owned(), source },
    };
    let here = rustix::fs::CWD;
    match rustix::fs::renameat_with(here, partial, here, target, rustix::fs::RenameFlags::NOREPLACE) {
        Ok(()) => {}
        // A file system without that flag: the look before is all there is.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if target.symlink_metadata().is_err() => {
            std::fs::rename(partial, target).map_err(fail)?;
        }
        Err(error) => return Err(fail(error.into())),
    }
    let folder = target.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)?;
    std::fs::metadata(target).map(|meta| meta.len()).map_err(fail)
}

/// Reads an archive to its end and checks every byte of it.
pub fn verify_archive(path: &Path, progress: ArchiveProgress<'_>) -> Result<Manifest, ArchiveError> {
    let mut found: Vec<ManifestFile> = Vec::new();
    let mut manifest: Option<Manifest> = None;
    let mut done = 0;
    walk(path, |member, body| {
        if manifest.is_some() {
            return Err(damaged(path, "something follows the manifest"));
        }
        if member.name == MANIFEST {
            manifest = Some(read_manifest(path, body)?);
            return Ok(());
        }
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut size = 0;
        loop {
            let read = body.read(&mut buffer).map_err(|error| unreadable(path, error))?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            size += read as u64;
        }
        done += size;
        found.push(ManifestFile {
            path: member.name,
            size,
            sha256: hex(&hash.finalize()),
            mode: member.mode,
        });
        if progress(done) { Ok(()) } else { Err(ArchiveError::Canceled) }
    })?;
    let manifest = manifest.ok_or_else(|| damaged(path, "its end is missing"))?;
    if found != manifest.files {
        let odd = manifest
            .files
            .iter()
            .find(|file| !found.contains(file))
            .or_else(|| found.iter().find(|file| !manifest.files.contains(file)));
        let name = odd.map_or("the order of files", |file| file.path.as_str());
        return Err(damaged(path, &format!("`{name}` is not what the manifest says")));
    }
    Ok(manifest)
}

/// Writes the files of a verified archive below an empty folder, checking them once more.
pub fn extract_archive(
    path: &Path,
    manifest: &Manifest,
    into: &Path,
    progress: ArchiveProgress<'_>,
) -> Result<(), ArchiveError> {
    let mut expected = manifest.files.iter();
    let mut done = 0;
    walk(path, |member, body| {
        if member.name == MANIFEST {
            return Ok(());
        }
        let Some(file) = expected.next().filter(|file| file.path == member.name) else {
            return Err(damaged(path, "it changed while it was read"));
        };
        let target = into.join(&member.name);
        let fail =
            |source| ArchiveError::Io { action: "write a restored file", path: target.clone(), source };
        if let Some(folder) = target.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fail)?;
        }
        let mode = 0o600 | (member.mode & 0o100);
        let mut out = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&target)
            .map_err(fail)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = body.read(&mut buffer).map_err(|error| unreadable(path, error))?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            out.write_all(&buffer[..read]).map_err(fail)?;
        }
        out.set_permissions(std::fs::Permissions::from_mode(mode)).map_err(fail)?;
        if hex(&hash.finalize()) != file.sha256 {
            return Err(damaged(path, "it changed while it was read"));
        }
        done += file.size;
        if progress(done) { Ok(()) } else { Err(ArchiveError::Canceled) }
    })?;
    // One sync for all of them: a restored state has many small files.
    let folder = File::open(into);
    folder.and_then(|folder| rustix::fs::syncfs(folder).map_err(io::Error::from)).map_err(|source| {
        ArchiveError::Io { action: "keep the restored files", path: into.to_owned(), source }
    })
}

fn walk(
    path: &Path,
    mut visit: impl FnMut(tar::Member, &mut dyn Read) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let file = File::open(path).map_err(|source| ArchiveError::Io {
        action: "open the backup",
        path: path.to_owned(),
        source,
    })?;
    let mut unpacker = zstd::Decoder::new(file).map_err(|error| unreadable(path, error))?;
    // 128 MiB: more than our own level uses, and bounded for a file from elsewhere.
    unpacker.window_log_max(27).map_err(|error| unreadable(path, error))?;
    let mut first = true;
    loop {
        let member = match tar::next(&mut unpacker) {
            Ok(Some(member)) => member,
            Ok(None) => break,
            Err(_) if first => return Err(ArchiveError::NotABackup { path: path.to_owned() }),
            Err(error) => return Err(unreadable(path, error)),
        };
        first = false;
        let size = member.size;
        let mut body = (&mut unpacker).take(size);
        visit(member, &mut body)?;
        if body.limit() > 0 {
            let rest = io::copy(&mut body, &mut io::sink()).map_err(|error| unreadable(path, error))?;
            if rest == 0 {
                return Err(damaged(path, "its end is missing"));
            }
        }
        tar::skip_padding(&mut unpacker, size).map_err(|error| unreadable(path, error))?;
    }
    Ok(())
}

fn read_manifest(path: &Path, body: &mut dyn Read) -> Result<Manifest, ArchiveError> {
    let mut text = Vec::new();
    body.take(MANIFEST_BYTES).read_to_end(&mut text).map_err(|error| unreadable(path, error))?;
    let value: Value =
        serde_json::from_slice(&text).map_err(|_| damaged(path, "its manifest cannot be read"))?;
    if value["format"] != FORMAT {
        return Err(ArchiveError::NotABackup { path: path.to_owned() });
    }
    let version =
        value["version"].as_u64().and_then(|version| u32::try_from(version).ok()).unwrap_or(u32::MAX);
    if version > FORMAT_VERSION {
        return Err(ArchiveError::Newer { path: path.to_owned(), version });
    }
    serde_json::from_value(value).map_err(|_| damaged(path, "its manifest cannot be read"))
}

fn damaged(path: &Path, reason: &str) -> ArchiveError {
    ArchiveError::Damaged { path: path.to_owned(), reason: reason.to_owned() }
}

fn unreadable(path: &Path, error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(path, "its end is missing"),
        _ => damaged(path, &error.to_string()),
    }
}

#[cfg(test)]
mod tests;
