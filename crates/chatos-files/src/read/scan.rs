//! One pass over a file: digest, number of lines, encoding, line ends, binary or not.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::entry::{FileId, size_of};
use crate::error::{FileError, Result};
use crate::root::Opened;
use crate::stop::Stop;
use crate::text::{BOM, Encoding, Eol, SNIFF_BYTES, decode_utf16, is_binary, utf16_mark};

/// Bytes read at a time; also the distance of the marks in the line index.
pub const CHUNK: usize = 256 * 1024;

/// Facts of a whole file.
#[derive(Debug)]
pub struct Scan {
    /// When and what was looked at.
    pub stamp: Stamp,
    /// Bytes looked at: the size when the look began.
    pub size_bytes: u64,
    /// SHA-256 of those bytes, where it was wanted.
    pub sha256: Option<Digest>,
    /// Lines; a last line without an end counts.
    pub line_count: u64,
    /// The encoding.
    pub encoding: Encoding,
    /// The line ends.
    pub eol: Eol,
    /// A byte order mark is there.
    pub bom: bool,
    /// servers §2.2.
    pub binary: bool,
    /// Number of LF before byte `index * CHUNK`; one entry per chunk.
    pub(super) marks: Vec<u64>,
}

impl Scan {
    /// The digest in hex.
    pub fn hex(&self) -> Option<String> {
        self.sha256.as_ref().map(|digest| digest.as_str().to_owned())
    }
}

/// What tells an unchanged file from a changed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    id: FileId,
    size: u64,
    mtime: (i64, i64),
    ctime: (i64, i64),
    /// The file had settled: its last change was so long ago that a second one has another time.
    settled: bool,
}

impl Stamp {
    /// The stamp of an open file.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between platforms")]
    pub fn of(stat: &Stat) -> Self {
        let ctime = (stat.st_ctime as i64, stat.st_ctime_nsec as i64);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::new(u64::try_from(ctime.0).unwrap_or(0), u32::try_from(ctime.1).unwrap_or(0));
        Self {
            id: FileId::of(stat),
            size: size_of(stat),
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime,
            settled: now.saturating_sub(changed) > Duration::from_millis(50),
        }
    }

    /// Whether the open file is still as it was.
    pub fn still(&self, file: &File) -> bool {
        rustix::fs::fstat(file).is_ok_and(|stat| self.same(&Self::of(&stat)))
    }

    /// Whether two looks saw the same state, as far as times can tell.
    pub fn same(&self, other: &Self) -> bool {
        (self.id, self.size, self.mtime, self.ctime) == (other.id, other.size, other.mtime, other.ctime)
    }

    /// Whether equal times prove equal contents.
    pub fn settled(&self) -> bool {
        self.settled
    }
}

/// Looks at a small file and keeps what it read.
pub(super) fn whole(opened: &Opened, stop: &dyn Stop) -> Result<(Scan, Vec<u8>)> {
    stop.check()?;
    let stamp = Stamp::of(&opened.stat);
    let mut bytes = vec![0; usize::try_from(stamp.size).unwrap_or(0)];
    let read = read_at(&opened.file, &mut bytes, 0)
        .map_err(|error| FileError::os("read", opened.rel.clone(), error))?;
    bytes.truncate(read);
    let mut pass = Pass::new(true);
    pass.chunk(&bytes);
    Ok((pass.finish(stamp, read as u64, opened)?, bytes))
}

/// Looks at the whole file.
pub(super) fn scan(opened: &Opened, digest: bool, stop: &dyn Stop) -> Result<Scan> {
    let stamp = Stamp::of(&opened.stat);
    let size = stamp.size;
    let mut pass = Pass::new(digest);
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(CHUNK).clamp(1, CHUNK)];
    let mut offset = 0;
    while offset < size {
        stop.check()?;
        let want = usize::try_from(size - offset).unwrap_or(CHUNK).min(buffer.len());
        let read = read_at(&opened.file, &mut buffer[..want], offset)
            .map_err(|error| FileError::os("read", opened.rel.clone(), error))?;
        if read == 0 {
            break; // cut short meanwhile; the stamp will differ
        }
        pass.chunk(&buffer[..read]);
        offset += read as u64;
    }
    pass.finish(stamp, offset, opened)
}

#[derive(Default)]
struct Pass {
    hasher: Option<Sha256>,
    head: Vec<u8>,
    marks: Vec<u64>,
    newlines: u64,
    crlf: u64,
    last: u8,
    /// The beginning of a character that the last chunk ended in.
    carry: Vec<u8>,
    not_utf8: bool,
}

impl Pass {
    fn new(digest: bool) -> Self {
        Self { hasher: digest.then(Sha256::new), ..Self::default() }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if self.head.len() < SNIFF_BYTES {
            let take = bytes.len().min(SNIFF_BYTES - self.head.len());
            self.head.extend_from_slice(&bytes[..take]);
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        self.marks.push(self.newlines);
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if self.last == b'\r' && bytes.first() == Some(&b'\n') {
            self.crlf += 1;
        }
        if memchr::memchr(b'\r', bytes).is_some() {
            self.crlf += memchr::memmem::find_iter(bytes, b"\r\n").count() as u64;
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        if !self.not_utf8 {
            self.validate(bytes);
        }
    }

    fn validate(&mut self, mut bytes: &[u8]) {
        while !self.carry.is_empty() && !bytes.is_empty() {
            self.carry.push(bytes[0]);
            bytes = &bytes[1..];
            match std::str::from_utf8(&self.carry) {
                Ok(_) => self.carry.clear(),
                Err(error) if error.error_len().is_some() || self.carry.len() >= 4 => {
                    self.not_utf8 = true;
                    return;
                }
                Err(_) => {}
            }
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            match error.error_len() {
                Some(_) => self.not_utf8 = true,
                None => self.carry = bytes[error.valid_up_to()..].to_vec(),
            }
        }
    }

    fn finish(self, stamp: Stamp, size: u64, opened: &Opened) -> Result<Scan> {
        let mark = utf16_mark(&self.head);
        let mut line_count = self.newlines + u64::from(size > 0 && self.last != b'\n');
        let mut eol = Eol::from_counts(self.newlines, self.crlf);
        let encoding = match mark {
            Some(encoding) => encoding,
            None if self.not_utf8 || !self.carry.is_empty() => Encoding::Unknown8Bit,
            None => Encoding::Utf8,
        };
        if let Some(encoding) = mark {
            let text = decode_utf16(&super::read_whole(opened, super::MAX_UTF16_BYTES)?, encoding);
            line_count = text.split_inclusive('\n').count() as u64;
            eol = Eol::of(text.as_bytes());
        }
        Ok(Scan {
            stamp,
            size_bytes: size,
            sha256: self.hasher.map(Digest::finish),
            line_count,
            encoding,
            eol,
            bom: mark.is_some() || self.head.starts_with(BOM),
            binary: is_binary(&self.head),
            marks: self.marks,
        })
    }
}

/// Reads as much as there is at an offset, repeating short reads.
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
