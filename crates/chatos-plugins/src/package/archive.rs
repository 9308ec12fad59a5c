//! Zip files (plugins §8, security T8), read by our own code: the central directory and every local
//! header must tell the same story, entries must lie end to end from the first byte to the central
//! directory, and nothing is believed that was not counted. Only inflating itself is a library's.

mod format;

use std::fs::File;
use std::os::unix::fs::FileExt;

use flate2::{Decompress, FlushDecompress, Status};

use super::directory::too_many;
use super::{Collisions, Content, EntryPath, Limits, PackageCode, PackageError, Sink, Tally, is_excluded};
use format::{Method, RawEntry};

/// One file or directory of an archive whose header was checked.
#[derive(Debug)]
struct ArchiveEntry {
    path: EntryPath,
    is_dir: bool,
    executable: bool,
    excluded: bool,
    method: Method,
    crc: u32,
    compressed: u64,
    size: u64,
    data_at: u64,
}

pub(crate) struct Archive {
    file: File,
    entries: Vec<ArchiveEntry>,
    limits: Limits,
}

impl Archive {
    /// Reads and checks all headers; no content yet.
    pub(super) fn open(file: File, limits: Limits) -> Result<Self, PackageError> {
        let raw = format::read(&file, limits.entries)?;
        let mut entries = Vec::with_capacity(raw.len());
        let mut collisions = Collisions::default();
        let (mut kept, mut size, mut compressed) = (0_usize, 0_u64, 0_u64);
        for entry in raw {
            let entry = checked(entry)?;
            if !entry.excluded {
                if entry.is_dir {
                    collisions.directory(&entry.path)?;
                } else {
                    collisions.file(&entry.path)?;
                }
                kept += 1;
                size = size.saturating_add(entry.size);
                compressed = compressed.saturating_add(entry.compressed);
                if exceeds_ratio(entry.size, entry.compressed, limits) {
                    return Err(PackageError::entry(
                        PackageCode::PackageRatio,
                        entry.path.as_str().as_bytes(),
                        "is compressed more than 100 to 1",
                        "的压缩率超过 100 比 1",
                    ));
                }
            }
            entries.push(entry);
        }
        if kept > limits.files {
            return Err(too_many(kept, limits.files));
        }
        if exceeds_ratio(size, compressed, limits) {
            return Err(PackageError::new(
                PackageCode::PackageRatio,
                "The archive is compressed more than 100 to 1",
                "压缩包的压缩率超过 100 比 1",
            ));
        }
        if size > limits.bytes {
            return Err(too_large(limits));
        }
        Ok(Self { file, entries, limits })
    }

    pub(super) fn read(&mut self, sink: &mut dyn Sink) -> Result<Tally, PackageError> {
        let roots = roots(&self.entries)?;
        let mut tally = Tally::default();
        let wanted: Vec<&ArchiveEntry> = self
            .entries
            .iter()
            .filter(|entry| {
                if entry.excluded {
                    tally.excluded += usize::from(!entry.is_dir);
                    return false;
                }
                let inside = roots.as_ref().is_none_or(|roots| {
                    entry.path.as_str().split('/').next().is_some_and(|first| roots.contains(&first))
                });
                tally.ignored += usize::from(!inside && !entry.is_dir);
                inside && !entry.is_dir
            })
            .collect();
        sink.expect(wanted.len(), wanted.iter().map(|entry| entry.size).sum());
        let mut written = 0_u64;
        for entry in wanted {
            if sink.is_canceled() {
                return Err(PackageError::canceled());
            }
            let mut content = EntryContent::new(&self.file, entry);
            sink.file(&entry.path, entry.executable, entry.size, &mut content)?;
            // The sink may have stopped early; the rest still has to be sound.
            while content.next()?.is_some() {}
            written += content.produced;
            if written > self.limits.bytes {
                return Err(too_large(self.limits));
            }
        }
        Ok(tally)
    }
}

impl Archive {
    /// The whole content of one file.
    pub(super) fn content(&self, name: &str) -> Result<Option<Vec<u8>>, PackageError> {
        let found = self.entries.iter().find(|entry| !entry.is_dir && entry.path.as_str() == name);
        let Some(entry) = found else { return Ok(None) };
        let mut content = EntryContent::new(&self.file, entry);
        let mut bytes = Vec::new();
        while let Some(piece) = content.next()? {
            bytes.extend_from_slice(piece);
        }
        Ok(Some(bytes))
    }
}

pub(crate) fn too_large(limits: Limits) -> PackageError {
    let max = limits.bytes / (1024 * 1024);
    PackageError::new(
        PackageCode::PackageTooLarge,
        format!("The package holds more than {max} MiB of files"),
        format!("安装包的文件超过 {max} MiB"),
    )
}

fn exceeds_ratio(size: u64, compressed: u64, limits: Limits) -> bool {
    size.saturating_sub(limits.ratio_free) > compressed.saturating_mul(limits.ratio)
}

/// `None` when `plugin.json` is at the top, else the directories that hold one.
fn roots(entries: &[ArchiveEntry]) -> Result<Option<Vec<&str>>, PackageError> {
    let manifests = entries.iter().filter(|entry| !entry.is_dir && !entry.excluded);
    let mut below = Vec::new();
    for entry in manifests {
        match entry.path.as_str().split_once('/') {
            None if entry.path.as_str() == "plugin.json" => return Ok(None),
            Some((first, "plugin.json")) => below.push(first),
            _ => {}
        }
    }
    if below.is_empty() { Err(PackageError::no_manifest()) } else { Ok(Some(below)) }
}

/// The rules about names and types; excluded entries are not written, so only their names count.
fn checked(raw: RawEntry) -> Result<ArchiveEntry, PackageError> {
    let is_dir = raw.name.ends_with(b"/");
    let name = raw.name.strip_suffix(b"/").unwrap_or(&raw.name);
    let path = super::check_name(name)?;
    let excluded = is_excluded(path.as_str());
    if raw.encrypted {
        return Err(PackageError::entry(PackageCode::EntryEncrypted, name, "is encrypted", "已加密"));
    }
    if !excluded {
        let refuse = |en: &str, zh: &str| Err(PackageError::entry(PackageCode::EntryType, name, en, zh));
        // Types of the Unix mode: 0 = not told, directory, regular file; the rest is special.
        match raw.unix_mode & 0o170_000 {
            0 | 0o040_000 | 0o100_000 => {}
            0o120_000 => return refuse("is a link", "是链接"),
            _ => return refuse("is neither a file nor a directory", "既不是文件也不是目录"),
        }
        let mode_says_dir = raw.unix_mode & 0o170_000 == 0o040_000 || raw.dos_directory;
        let mode_says_file = raw.unix_mode & 0o170_000 == 0o100_000;
        if (mode_says_dir && !is_dir) || (mode_says_file && is_dir) {
            return refuse("is a file by name and a directory by type, or the reverse", "的名称与类型不一致");
        }
        if is_dir && raw.size != 0 {
            return Err(PackageError::corrupt_entry(name, "is a directory with content", "是带有内容的目录"));
        }
    }
    let method = match raw.method {
        Ok(method) => method,
        Err(number) => {
            let (en, zh) = (format!("uses compression method {number}"), format!("使用了压缩方式 {number}"));
            return Err(PackageError::entry(PackageCode::EntryMethod, name, &en, &zh));
        }
    };
    if method == Method::Stored && raw.compressed != raw.size {
        return Err(PackageError::corrupt_entry(
            name,
            "is stored with two different sizes",
            "的两个大小不一致",
        ));
    }
    Ok(ArchiveEntry {
        path,
        is_dir,
        executable: raw.unix_mode & 0o100 != 0,
        excluded,
        method,
        crc: raw.crc,
        compressed: raw.compressed,
        size: raw.size,
        data_at: raw.data_at,
    })
}

/// The content of an entry, inflated a piece at a time and checked to the last byte.
struct EntryContent<'a> {
    file: &'a File,
    entry: &'a ArchiveEntry,
    inflate: Option<Decompress>,
    input: Vec<u8>,
    /// Valid part of `input`.
    filled: std::ops::Range<usize>,
    output: Vec<u8>,
    consumed: u64,
    produced: u64,
    crc: crc32fast::Hasher,
    done: bool,
}

const PIECE: usize = 64 * 1024;

/// `length`, at most a piece: small files get small buffers.
fn piece(length: u64) -> usize {
    usize::try_from(length).map_or(PIECE, |length| length.min(PIECE))
}

impl<'a> EntryContent<'a> {
    fn new(file: &'a File, entry: &'a ArchiveEntry) -> Self {
        let deflated = entry.method == Method::Deflate;
        Self {
            file,
            entry,
            inflate: deflated.then(|| Decompress::new(false)),
            input: vec![0; piece(entry.compressed)],
            filled: 0..0,
            // One byte more than declared, so that a lie is noticed as soon as it shows.
            output: if deflated { vec![0; piece(entry.size.saturating_add(1))] } else { Vec::new() },
            consumed: 0,
            produced: 0,
            crc: crc32fast::Hasher::new(),
            done: false,
        }
    }

    fn damaged(&self, en: &str, zh: &str) -> PackageError {
        PackageError::corrupt_entry(self.entry.path.as_str().as_bytes(), en, zh)
    }

    /// Reads the next compressed bytes; false when all were read.
    fn fill(&mut self) -> Result<bool, PackageError> {
        let left = self.entry.compressed - self.consumed;
        if left == 0 {
            return Ok(false);
        }
        let take = piece(left);
        self.file
            .read_exact_at(&mut self.input[..take], self.entry.data_at + self.consumed)
            .map_err(|error| PackageError::io("read the package", "读取安装包", error))?;
        self.consumed += take as u64;
        self.filled = 0..take;
        Ok(true)
    }

    /// Checks size and CRC of what was produced so far.
    fn account(&mut self, length: usize) -> Result<(), PackageError> {
        self.produced += length as u64;
        if self.produced > self.entry.size {
            return Err(self.damaged("holds more than its header says", "的内容比头部声明的多"));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), PackageError> {
        self.done = true;
        if self.produced != self.entry.size {
            return Err(self.damaged("holds less than its header says", "的内容比头部声明的少"));
        }
        if self.crc.clone().finalize() != self.entry.crc {
            return Err(self.damaged("has a wrong checksum", "的校验和错误"));
        }
        Ok(())
    }

    fn next_stored(&mut self) -> Result<Option<&[u8]>, PackageError> {
        if !self.fill()? {
            self.finish()?;
            return Ok(None);
        }
        let filled = self.filled.clone();
        self.account(filled.len())?;
        self.crc.update(&self.input[filled.clone()]);
        Ok(Some(&self.input[filled]))
    }

    fn next_inflated(&mut self) -> Result<Option<&[u8]>, PackageError> {
        loop {
            if self.filled.is_empty() && !self.fill()? {
                return Err(self.damaged("ends in the middle of its data", "的数据不完整"));
            }
            let Some(inflate) = self.inflate.as_mut() else {
                return Err(self.damaged("cannot be inflated", "无法解压"));
            };
            let (in_before, out_before) = (inflate.total_in(), inflate.total_out());
            let status =
                inflate.decompress(&self.input[self.filled.clone()], &mut self.output, FlushDecompress::None);
            let used = (inflate.total_in() - in_before) as usize;
            let made = (inflate.total_out() - out_before) as usize;
            self.filled.start += used;
            let Ok(status) = status else { return Err(self.damaged("cannot be inflated", "无法解压")) };
            self.account(made)?;
            self.crc.update(&self.output[..made]);
            let ended = status == Status::StreamEnd;
            if ended {
                if !self.filled.is_empty() || self.consumed != self.entry.compressed {
                    return Err(self.damaged("has data after its end", "在结尾之后还有数据"));
                }
                self.finish()?;
            }
            if made > 0 {
                return Ok(Some(&self.output[..made]));
            }
            if ended {
                return Ok(None);
            }
            if used == 0 && !self.filled.is_empty() {
                // Neither input taken nor output made: the stream cannot go on.
                return Err(self.damaged("cannot be inflated", "无法解压"));
            }
        }
    }
}

impl Content for EntryContent<'_> {
    fn next(&mut self) -> Result<Option<&[u8]>, PackageError> {
        if self.done {
            return Ok(None);
        }
        if self.inflate.is_some() { self.next_inflated() } else { self.next_stored() }
    }
}
