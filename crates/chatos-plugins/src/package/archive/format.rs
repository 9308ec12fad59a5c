//! The records of a zip file. Strict where readers of zip files differ: one end record, no data
//! before, between or after what the records describe, and each local header equal to its entry in
//! the central directory. Archives that two programs could read differently are refused.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::super::directory::too_many;
use super::super::{PackageCode, PackageError};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const END64_LOCATOR: u32 = 0x0706_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;

const LOCAL_LENGTH: u64 = 30;
const CENTRAL_LENGTH: usize = 46;
const END_LENGTH: usize = 22;
const LOCATOR_LENGTH: u64 = 20;
const END64_LENGTH: u64 = 56;

/// Bytes of a central directory that are read at all; 50,000 entries with usual names take a tenth.
const MAX_CENTRAL: u64 = 24 * 1024 * 1024;

/// Flags that mean encryption: traditional, strong, hidden headers.
const ENCRYPTED: u16 = 0x0001 | 0x0040 | 0x2000;
/// Sizes follow the data.
const STREAMED: u16 = 0x0008;
/// Content is a patch to another file.
const PATCHED: u16 = 0x0020;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
}

/// An entry as central directory and local header agree on it.
#[derive(Debug)]
pub(super) struct RawEntry {
    pub(super) name: Vec<u8>,
    pub(super) encrypted: bool,
    pub(super) method: Result<Method, u16>,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    pub(super) unix_mode: u32,
    pub(super) dos_directory: bool,
    pub(super) header_at: u64,
    pub(super) data_at: u64,
    flags: u16,
    method_number: u16,
}

/// Reads all records of `file`.
pub(super) fn read(file: &File, max_entries: usize) -> Result<Vec<RawEntry>, PackageError> {
    let length = file.metadata().map_err(unreadable)?.len();
    let end = find_end(file, length)?;
    if end.count > max_entries as u64 {
        return Err(too_many(usize::try_from(end.count).unwrap_or(usize::MAX), max_entries));
    }
    let mut entries = read_central(file, &end)?;
    check_locals(file, &mut entries, end.central_at)?;
    Ok(entries)
}

fn unreadable(error: std::io::Error) -> PackageError {
    PackageError::io("read the package", "读取安装包", error)
}

fn read_at(file: &File, at: u64, length: usize) -> Result<Vec<u8>, PackageError> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => truncated(),
        _ => unreadable(error),
    })?;
    Ok(bytes)
}

fn truncated() -> PackageError {
    PackageError::corrupt("it ends too early", "文件不完整")
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

struct End {
    count: u64,
    central_at: u64,
    central_length: u64,
}

/// The end record: the one whose comment reaches exactly to the end of the file.
fn find_end(file: &File, length: u64) -> Result<End, PackageError> {
    if length < END_LENGTH as u64 {
        return Err(not_a_zip());
    }
    let tail_length = length.min((END_LENGTH + 0xffff) as u64) as usize;
    let tail_at = length - tail_length as u64;
    let tail = read_at(file, tail_at, tail_length)?;
    let mut found = None;
    let mut signatures = 0;
    for at in 0..=tail.len() - END_LENGTH {
        if u32_at(&tail, at) == END {
            signatures += 1;
            if at + END_LENGTH + usize::from(u16_at(&tail, at + 20)) == tail.len() {
                found = Some(at);
            }
        }
    }
    let starts_as_zip = matches!(u32_at(&read_at(file, 0, 4)?, 0), LOCAL | END);
    let Some(at) = found else {
        return Err(match (signatures > 0, starts_as_zip) {
            (true, _) => PackageError::corrupt("data follows the archive", "压缩包之后还有数据"),
            (false, true) => truncated(),
            (false, false) => not_a_zip(),
        });
    };
    // A second end record inside the comment: programs that search the other way find that one.
    if signatures > 1 && tail[at + 4..].windows(4).any(|window| u32_at(window, 0) == END) {
        return Err(PackageError::corrupt("it has two end records", "有两个结束记录"));
    }
    let end_at = tail_at + at as u64;
    let record = &tail[at..at + END_LENGTH];
    let short = End {
        count: u64::from(u16_at(record, 10)),
        central_at: u64::from(u32_at(record, 16)),
        central_length: u64::from(u32_at(record, 12)),
    };
    if u16_at(record, 4) != 0 || u16_at(record, 6) != 0 || u16_at(record, 8) != u16_at(record, 10) {
        return Err(PackageError::corrupt("it is one part of several", "它是分卷压缩包的一部分"));
    }
    let (end, central_end) = match find_end64(file, end_at, &short)? {
        Some((end, at)) => (end, at),
        None => (short, end_at),
    };
    if end.central_at.checked_add(end.central_length) != Some(central_end) {
        return Err(PackageError::corrupt(
            "its central directory is not where its end record says",
            "中央目录不在结束记录所指的位置",
        ));
    }
    if !starts_as_zip {
        return Err(PackageError::corrupt("data stands in front of the archive", "压缩包之前有数据"));
    }
    Ok(end)
}

fn not_a_zip() -> PackageError {
    PackageError::corrupt("it is not a zip file", "它不是 zip 文件")
}

/// The 64-bit end record, when there is one directly in front of the end record.
fn find_end64(file: &File, end_at: u64, short: &End) -> Result<Option<(End, u64)>, PackageError> {
    let saturated =
        short.count == 0xffff || short.central_at == 0xffff_ffff || short.central_length == 0xffff_ffff;
    let wrong = || PackageError::corrupt("its 64-bit end record is wrong", "其 64 位结束记录有误");
    if end_at < LOCATOR_LENGTH + END64_LENGTH {
        return if saturated { Err(wrong()) } else { Ok(None) };
    }
    let locator_at = end_at - LOCATOR_LENGTH;
    let locator = read_at(file, locator_at, LOCATOR_LENGTH as usize)?;
    if u32_at(&locator, 0) != END64_LOCATOR {
        return if saturated { Err(wrong()) } else { Ok(None) };
    }
    let record_at = u64_at(&locator, 8);
    if u32_at(&locator, 4) != 0
        || u32_at(&locator, 16) > 1
        || record_at.checked_add(END64_LENGTH) != Some(locator_at)
    {
        return Err(wrong());
    }
    let record = read_at(file, record_at, END64_LENGTH as usize)?;
    let sane = u32_at(&record, 0) == END64
        && u64_at(&record, 4) == END64_LENGTH - 12
        && u32_at(&record, 16) == 0
        && u32_at(&record, 20) == 0
        && u64_at(&record, 24) == u64_at(&record, 32);
    let end = End {
        count: u64_at(&record, 32),
        central_length: u64_at(&record, 40),
        central_at: u64_at(&record, 48),
    };
    let agrees = |short: u64, long: u64, limit: u64| short == long || short == limit;
    if !sane
        || !agrees(short.count, end.count, 0xffff)
        || !agrees(short.central_at, end.central_at, 0xffff_ffff)
        || !agrees(short.central_length, end.central_length, 0xffff_ffff)
    {
        return Err(wrong());
    }
    Ok(Some((end, record_at)))
}

fn read_central(file: &File, end: &End) -> Result<Vec<RawEntry>, PackageError> {
    if end.central_length > MAX_CENTRAL {
        return Err(PackageError::new(
            PackageCode::PackageTooManyFiles,
            "The list of entries is too long",
            "条目列表过长",
        ));
    }
    let central = read_at(file, end.central_at, end.central_length as usize)?;
    let mut entries = Vec::new();
    let mut rest = central.as_slice();
    while !rest.is_empty() {
        if entries.len() as u64 == end.count {
            return Err(wrong_count());
        }
        let (entry, after) = central_entry(rest)?;
        entries.push(entry);
        rest = after;
    }
    if entries.len() as u64 != end.count {
        return Err(wrong_count());
    }
    Ok(entries)
}

fn wrong_count() -> PackageError {
    PackageError::corrupt("its end record counts another number of entries", "结束记录中的条目数不符")
}

fn central_entry(bytes: &[u8]) -> Result<(RawEntry, &[u8]), PackageError> {
    let wrong = || PackageError::corrupt("its central directory is wrong", "其中央目录有误");
    if bytes.len() < CENTRAL_LENGTH || u32_at(bytes, 0) != CENTRAL {
        return Err(wrong());
    }
    let (name_length, extra_length, comment_length) =
        (usize::from(u16_at(bytes, 28)), usize::from(u16_at(bytes, 30)), usize::from(u16_at(bytes, 32)));
    let total = CENTRAL_LENGTH + name_length + extra_length + comment_length;
    if bytes.len() < total {
        return Err(wrong());
    }
    let name = &bytes[CENTRAL_LENGTH..CENTRAL_LENGTH + name_length];
    let extra = &bytes[CENTRAL_LENGTH + name_length..CENTRAL_LENGTH + name_length + extra_length];
    let mut sizes = Sizes {
        size: u64::from(u32_at(bytes, 24)),
        compressed: u64::from(u32_at(bytes, 20)),
        header_at: Some(u64::from(u32_at(bytes, 42))),
    };
    let disk = u16_at(bytes, 34);
    sizes.widen(name, extra)?;
    if disk != 0 && disk != 0xffff {
        return Err(wrong());
    }
    let flags = u16_at(bytes, 8);
    if flags & PATCHED != 0 {
        return Err(PackageError::corrupt_entry(name, "is a patch to another file", "是另一个文件的补丁"));
    }
    let method_number = u16_at(bytes, 10);
    let external = u32_at(bytes, 38);
    let entry = RawEntry {
        name: name.to_vec(),
        encrypted: flags & ENCRYPTED != 0,
        method: match method_number {
            0 => Ok(Method::Stored),
            8 => Ok(Method::Deflate),
            other => Err(other),
        },
        crc: u32_at(bytes, 16),
        compressed: sizes.compressed,
        size: sizes.size,
        unix_mode: external >> 16,
        dos_directory: external & 0x10 != 0,
        header_at: sizes.header_at.unwrap_or_default(),
        data_at: 0,
        flags,
        method_number,
    };
    Ok((entry, &bytes[total..]))
}

/// Sizes that may continue in the 64-bit extra field.
struct Sizes {
    size: u64,
    compressed: u64,
    /// Local headers have none.
    header_at: Option<u64>,
}

impl Sizes {
    fn widen(&mut self, name: &[u8], extra: &[u8]) -> Result<(), PackageError> {
        let wrong = || PackageError::corrupt_entry(name, "has a wrong extra field", "的附加字段有误");
        let mut rest = extra;
        let mut seen = false;
        while rest.len() >= 4 {
            let (id, length) = (u16_at(rest, 0), usize::from(u16_at(rest, 2)));
            let Some(field) = rest.get(4..4 + length) else { return Err(wrong()) };
            match id {
                0x0001 if seen => return Err(wrong()),
                0x0001 => {
                    seen = true;
                    self.apply(field).ok_or_else(wrong)?;
                }
                0x7075 => check_unicode_name(name, field)?,
                _ => {}
            }
            rest = &rest[4 + length..];
        }
        let full = |value: u64| value == 0xffff_ffff;
        if !seen && (full(self.size) || full(self.compressed) || self.header_at.is_some_and(full)) {
            return Err(wrong());
        }
        // Fewer than four bytes are padding some writers leave.
        Ok(())
    }

    fn apply(&mut self, mut field: &[u8]) -> Option<()> {
        let mut take = |value: &mut u64| {
            if *value == 0xffff_ffff {
                let bytes = field.get(..8)?;
                *value = u64_at(bytes, 0);
                field = &field[8..];
            }
            Some(())
        };
        take(&mut self.size)?;
        take(&mut self.compressed)?;
        if let Some(header_at) = &mut self.header_at {
            take(header_at)?;
        }
        Some(())
    }
}

/// A second name in an extra field: programs that honour it would write another file.
fn check_unicode_name(name: &[u8], field: &[u8]) -> Result<(), PackageError> {
    if field.len() >= 5 && field[0] == 1 && u32_at(field, 1) == crc32fast::hash(name) && &field[5..] != name {
        return Err(PackageError::entry(
            PackageCode::EntryName,
            name,
            "has two different names",
            "有两个不同的名称",
        ));
    }
    Ok(())
}

/// Walks the local headers in file order: they must lie end to end and repeat the central entries.
fn check_locals(file: &File, entries: &mut [RawEntry], central_at: u64) -> Result<(), PackageError> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|index| entries[*index].header_at);
    let mut expected = 0_u64;
    for (position, index) in order.iter().enumerate() {
        let next = order.get(position + 1).map_or(central_at, |next| entries[*next].header_at);
        let entry = &mut entries[*index];
        if entry.header_at != expected {
            let (en, zh) = if entry.header_at < expected {
                ("overlaps another entry", "与另一个条目重叠")
            } else {
                ("follows data that belongs to no entry", "之前有不属于任何条目的数据")
            };
            return Err(PackageError::corrupt_entry(&entry.name, en, zh));
        }
        check_local(file, entry, next, central_at)?;
        expected = next;
    }
    if expected != central_at {
        return Err(PackageError::corrupt("data stands in front of the archive", "压缩包之前有数据"));
    }
    Ok(())
}

fn check_local(file: &File, entry: &mut RawEntry, next: u64, central_at: u64) -> Result<(), PackageError> {
    let differs = |entry: &RawEntry| {
        PackageError::corrupt_entry(
            &entry.name,
            "has a local header that differs from the central directory",
            "的本地头部与中央目录不一致",
        )
    };
    if entry.header_at.checked_add(LOCAL_LENGTH).is_none_or(|end| end > central_at) {
        return Err(truncated());
    }
    let header = read_at(file, entry.header_at, LOCAL_LENGTH as usize)?;
    if u32_at(&header, 0) != LOCAL {
        return Err(differs(entry));
    }
    let (name_length, extra_length) = (usize::from(u16_at(&header, 26)), usize::from(u16_at(&header, 28)));
    let after = read_at(file, entry.header_at + LOCAL_LENGTH, name_length + extra_length)?;
    let (name, extra) = after.split_at(name_length);
    let flags = u16_at(&header, 6);
    if name != entry.name
        || u16_at(&header, 8) != entry.method_number
        || (flags & ENCRYPTED != 0) != (entry.flags & ENCRYPTED != 0)
        || flags & PATCHED != 0
    {
        return Err(differs(entry));
    }
    let mut sizes = Sizes {
        size: u64::from(u32_at(&header, 22)),
        compressed: u64::from(u32_at(&header, 18)),
        header_at: None,
    };
    sizes.widen(name, extra)?;
    let streamed = flags & STREAMED != 0;
    let told = (u32_at(&header, 14), sizes.compressed, sizes.size);
    let agreed = (entry.crc, entry.compressed, entry.size);
    if told != agreed && !(streamed && told == (0, 0, 0)) {
        return Err(differs(entry));
    }
    entry.data_at = entry.header_at + LOCAL_LENGTH + (name_length + extra_length) as u64;
    let Some(data_end) = entry.data_at.checked_add(entry.compressed).filter(|end| *end <= next) else {
        return Err(PackageError::corrupt_entry(&entry.name, "overlaps another entry", "与另一个条目重叠"));
    };
    let gap = next - data_end;
    let described = if gap == 0 {
        // Some writers set the flag for empty entries and write no descriptor.
        !streamed || agreed == (0, 0, 0)
    } else {
        streamed && is_descriptor(file, data_end, gap, agreed)?
    };
    if described {
        Ok(())
    } else {
        Err(PackageError::corrupt_entry(
            &entry.name,
            "is followed by data that belongs to no entry",
            "之后有不属于任何条目的数据",
        ))
    }
}

/// The record after streamed data: an optional signature, the CRC, and both sizes in 4 or 8 bytes.
fn is_descriptor(file: &File, at: u64, length: u64, agreed: (u32, u64, u64)) -> Result<bool, PackageError> {
    if !matches!(length, 12 | 16 | 20 | 24) {
        return Ok(false);
    }
    let bytes = read_at(file, at, length as usize)?;
    let body = match length {
        16 | 24 if u32_at(&bytes, 0) == DESCRIPTOR => &bytes[4..],
        16 | 24 => return Ok(false),
        _ => &bytes[..],
    };
    let told = if body.len() == 12 {
        (u32_at(body, 0), u64::from(u32_at(body, 4)), u64::from(u32_at(body, 8)))
    } else {
        (u32_at(body, 0), u64_at(body, 4), u64_at(body, 12))
    };
    Ok(told == agreed)
}
