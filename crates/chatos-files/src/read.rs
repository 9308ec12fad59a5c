//! Reading: a streamed look over the whole file (digest, lines, form), then the lines asked for.
//!
//! The look is kept for large files, with the number of lines at every 256 KiB, so that a second
//! range of the same unchanged file costs a few blocks. `pread`, never `mmap`: a file that is cut
//! short while mapped kills the process.

mod cache;
mod lines;
mod scan;

use std::sync::Arc;

pub use cache::ScanCache;
pub use lines::{Lines, RangeLimits};
pub use scan::{CHUNK, Scan, Stamp};

use super::digest::Digest;
use super::entry::size_of;
use super::error::{FileError, Result};
use super::root::{Opened, Root};
use super::stop::Stop;
use super::text::{Encoding, SNIFF_BYTES, decode_utf16, is_binary};

/// The largest UTF-16 file that is decoded; it has to be in memory as a whole.
const MAX_UTF16_BYTES: u64 = 64 << 20;
/// A read tells the digest of files up to this size, as `stat_path` does. Larger ones cannot be changed
/// by the tools that would ask for it, and it would cost most of the time of the read.
pub const DIGEST_BYTES: u64 = 50 << 20;
/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;

/// Which lines, 1-based and inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub start: u64,
    /// The last line; the end of the file when absent or beyond it.
    pub end: Option<u64>,
}

/// What a read gives: facts of the whole file and the lines.
#[derive(Debug)]
pub struct ReadText {
    /// The path relative to the root.
    pub rel: String,
    /// Facts of the whole file.
    pub scan: Arc<Scan>,
    /// The lines, or the part that fits.
    pub lines: Lines,
}

/// What reading bytes gives.
#[derive(Debug)]
pub struct ReadBytes {
    /// The path relative to the root.
    pub rel: String,
    /// Facts of the whole file.
    pub scan: Arc<Scan>,
    /// The decoded text of the part.
    pub text: String,
    /// The offset after the part; the file's size when it was read to the end.
    pub next: u64,
}

/// Looks at a whole regular file, its digest included. Binary files are looked at too; the caller decides.
pub fn scan(root: &Root, cache: &ScanCache, path: &str, stop: &dyn Stop) -> Result<(Arc<Scan>, Digest)> {
    let opened = root.open_file(path)?;
    let Looked { scan, .. } = look(root, cache, path, opened, u64::MAX, stop)?;
    let digest = scan.sha256.clone().ok_or_else(|| FileError::changed(path, None, None))?;
    Ok((scan, digest))
}

/// A file with what was seen of it.
struct Looked {
    opened: Opened,
    scan: Arc<Scan>,
    /// The bytes of a small file: it is read once.
    whole: Option<Vec<u8>>,
}

fn look(
    root: &Root,
    cache: &ScanCache,
    path: &str,
    mut opened: Opened,
    digest_up_to: u64,
    stop: &dyn Stop,
) -> Result<Looked> {
    let mut attempt = 1;
    loop {
        let size = size_of(&opened.stat);
        let looked = if size <= CHUNK as u64 {
            let (scan, bytes) = scan::whole(&opened, stop)?;
            Looked { opened, scan: Arc::new(scan), whole: Some(bytes) }
        } else {
            let scan = cache.get_or_scan(&opened, size <= digest_up_to, stop)?;
            Looked { opened, scan, whole: None }
        };
        // It changes faster than it is read (a log, say): what was read is a consistent beginning.
        if looked.scan.stamp.still(&looked.opened.file) || attempt == ATTEMPTS {
            return Ok(looked);
        }
        attempt += 1;
        opened = root.open_file(path)?;
    }
}

/// Reads lines of a text file (servers §4 `read_file`).
pub fn read_lines(
    root: &Root,
    cache: &ScanCache,
    path: &str,
    range: LineRange,
    limits: &RangeLimits,
    stop: &dyn Stop,
) -> Result<ReadText> {
    take(look_text(root, cache, path, stop)?, range, limits, stop)
}

/// Reads lines of a text file; a range beyond its end is moved into it (servers §5 `read_file_range`).
pub fn read_clamped(
    root: &Root,
    cache: &ScanCache,
    path: &str,
    range: LineRange,
    limits: &RangeLimits,
    stop: &dyn Stop,
) -> Result<ReadText> {
    let looked = look_text(root, cache, path, stop)?;
    let start = range.start.min(looked.scan.line_count.max(1));
    let range = LineRange { start, end: range.end.map(|end| end.max(start)) };
    take(looked, range, limits, stop)
}

fn take(looked: Looked, range: LineRange, limits: &RangeLimits, stop: &dyn Stop) -> Result<ReadText> {
    let Looked { opened, scan, whole } = looked;
    let total = scan.line_count;
    within(range.start, total)?;
    let end = range.end.unwrap_or(total).min(total);
    let lines = if matches!(scan.encoding, Encoding::Utf8 | Encoding::Unknown8Bit) {
        match whole {
            Some(bytes) => lines::from_bytes(&bytes, &scan, range.start, end, limits),
            None => lines::from_file(&opened, &scan, range.start, end, limits, stop)?,
        }
    } else {
        lines::from_text(&decoded(&opened, &scan)?, range.start, end, limits)
    };
    Ok(ReadText { rel: opened.rel, scan, lines })
}

/// Lines of a text that is in memory, and how many it has.
pub fn lines_of(text: &str, range: LineRange, limits: &RangeLimits) -> Result<(Lines, u64)> {
    let total = text.lines().count() as u64;
    within(range.start, total)?;
    let end = range.end.unwrap_or(total).min(total);
    Ok((lines::from_text(text, range.start, end, limits), total))
}

fn within(start: u64, total: u64) -> Result<()> {
    if start <= total.max(1) {
        return Ok(());
    }
    Err(FileError::invalid(
        "/start_line",
        format!("start_line {start} is beyond the end; the file has {total} lines (line_count)"),
        format!("start_line {start} 超出末尾；文件共 {total} 行（line_count）"),
    ))
}

/// Reads a part by bytes (servers §5 `read_file_raw`), whole characters only.
pub fn read_raw(
    root: &Root,
    cache: &ScanCache,
    path: &str,
    offset: u64,
    max_bytes: u64,
    stop: &dyn Stop,
) -> Result<ReadBytes> {
    let Looked { opened, scan, whole } = look_text(root, cache, path, stop)?;
    let size = scan.size_bytes;
    if offset > size {
        return Err(FileError::invalid(
            "/offset",
            format!("offset {offset} is beyond the end; the file has {size} bytes"),
            format!("offset {offset} 超出末尾；文件共 {size} 字节"),
        ));
    }
    if matches!(scan.encoding, Encoding::Utf16Le | Encoding::Utf16Be) {
        let text = decoded(&opened, &scan)?;
        // Offsets of a decoded file count the bytes of the text that is handed out.
        let start = floor_char(&text, usize::try_from(offset).unwrap_or(usize::MAX));
        let end = floor_char(&text, start.saturating_add(usize::try_from(max_bytes).unwrap_or(usize::MAX)));
        let next = if end == text.len() { size } else { end as u64 };
        return Ok(ReadBytes { rel: opened.rel, scan, text: text[start..end].to_owned(), next });
    }
    let wanted = max_bytes.min(size - offset);
    let mut bytes = match whole {
        Some(whole) => {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(whole.len());
            let end = start.saturating_add(usize::try_from(wanted).unwrap_or(usize::MAX)).min(whole.len());
            whole[start..end].to_vec()
        }
        None => {
            let mut bytes = vec![0; usize::try_from(wanted).unwrap_or(0)];
            let read = scan::read_at(&opened.file, &mut bytes, offset)
                .map_err(|error| FileError::os("read", path, error))?;
            bytes.truncate(read);
            bytes
        }
    };
    if offset + (bytes.len() as u64) < size {
        bytes.truncate(whole_characters(&bytes));
    }
    let next = offset + bytes.len() as u64;
    if offset == 0 && scan.bom {
        bytes.drain(..bytes.len().min(3));
    }
    // Most are whole characters: then they are the text.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(ReadBytes { rel: opened.rel, text, scan, next })
}

/// Reads a whole file into memory, with its digest; used before a change.
pub fn read_whole(opened: &Opened, limit: u64) -> Result<Vec<u8>> {
    let size = size_of(&opened.stat);
    let too_large = |actual: u64| FileError::Exhausted {
        resource: super::error::Resource::FileBytes,
        limit,
        actual: Some(actual),
        path: opened.rel.clone(),
    };
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0) + 1];
    let mut filled = 0;
    loop {
        let read = scan::read_at(&opened.file, &mut bytes[filled..], filled as u64)
            .map_err(|error| FileError::os("read", opened.rel.clone(), error))?;
        filled += read;
        if filled < bytes.len() {
            break;
        }
        if filled as u64 > limit {
            return Err(too_large(filled as u64));
        }
        bytes.resize(bytes.len() * 2, 0);
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Looks at a text file; a binary one is refused by its head, however large it is.
fn look_text(root: &Root, cache: &ScanCache, path: &str, stop: &dyn Stop) -> Result<Looked> {
    let refused = |opened: &Opened| FileError::Unsupported {
        path: opened.rel.clone(),
        what: "a binary file",
        size: Some(size_of(&opened.stat)),
    };
    let opened = root.open_file(path)?;
    if size_of(&opened.stat) > CHUNK as u64 {
        let mut head = [0; SNIFF_BYTES];
        let read =
            scan::read_at(&opened.file, &mut head, 0).map_err(|error| FileError::os("read", path, error))?;
        if is_binary(&head[..read]) {
            return Err(refused(&opened));
        }
    }
    let looked = look(root, cache, path, opened, DIGEST_BYTES, stop)?;
    if looked.scan.binary { Err(refused(&looked.opened)) } else { Ok(looked) }
}

fn decoded(opened: &Opened, scan: &Scan) -> Result<String> {
    Ok(decode_utf16(&read_whole(opened, MAX_UTF16_BYTES)?, scan.encoding))
}

/// How many of these bytes end on a whole UTF-8 character; text that is no UTF-8 is cut anywhere.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        Err(_) => bytes.len(),
    }
}

fn floor_char(text: &str, mut at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
