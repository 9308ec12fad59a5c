//! The few parts of the tar format an archive of ours has: regular files, long names in a pax header.
//!
//! Any tar program reads what is written here; what is read here is only what was written here.

use std::io::{self, Read, Write};

const BLOCK: usize = 512;
/// Names longer than the old field go into a header of their own, as do sizes beyond eleven octal digits.
const NAME: usize = 100;
const SIZE: u64 = 0o77_777_777_777;
/// A pax header of ours holds a path and a size.
const PAX: u64 = 64 * 1024;

/// A file in the archive.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) mode: u32,
}

pub(super) fn write_header(out: &mut impl Write, name: &str, size: u64, mode: u32) -> io::Result<()> {
    if name.len() > NAME || size > SIZE {
        let records = format!("{}{}", record("path", name), record("size", &size.to_string()));
        out.write_all(&block("PaxHeader", records.len() as u64, 0o600, b'x'))?;
        out.write_all(records.as_bytes())?;
        write_padding(out, records.len() as u64)?;
    }
    out.write_all(&block(name, size.min(SIZE), mode, b'0'))
}

/// `<length> <key>=<value>\n`, where the length counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len() + 1;
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

fn block(name: &str, size: u64, mode: u32, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    // A name that is too long is cut between characters; the pax header has it whole.
    let mut end = name.len().min(NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    put(0, &name.as_bytes()[..end]);
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum = checksum(&block);
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

fn checksum(block: &[u8; BLOCK]) -> u32 {
    let byte = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) };
    block.iter().enumerate().map(byte).sum()
}

pub(super) fn write_padding(out: &mut impl Write, size: u64) -> io::Result<()> {
    out.write_all(&[0; BLOCK][..padding(size)])
}

/// Two empty blocks end an archive.
pub(super) fn write_end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(&[0; BLOCK * 2])
}

fn padding(size: u64) -> usize {
    (BLOCK - (size % BLOCK as u64) as usize) % BLOCK
}

/// The next file; `None` at the end. Its content follows in the stream.
pub(super) fn next(input: &mut impl Read) -> io::Result<Option<Member>> {
    let mut long: Option<(Option<String>, Option<u64>)> = None;
    loop {
        let mut block = [0; BLOCK];
        input.read_exact(&mut block)?;
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        if octal(&block[148..156]) != Some(u64::from(checksum(&block))) || &block[257..262] != b"ustar" {
            return Err(bad("a header does not fit its checksum"));
        }
        let size = octal(&block[124..136]).ok_or_else(|| bad("a header without a size"))?;
        match block[156] {
            b'x' if long.is_none() && size <= PAX => {
                let mut records = Vec::new();
                input.take(size).read_to_end(&mut records)?;
                skip_padding(input, size)?;
                long = Some(read_records(&records)?);
            }
            b'0' => {
                let (path, large) = long.unwrap_or_default();
                let short = block[..NAME].split(|byte| *byte == 0).next().unwrap_or_default();
                let name = match path {
                    Some(path) => path,
                    None => String::from_utf8(short.to_vec()).map_err(|_| bad("a name that is not text"))?,
                };
                if !is_inside(&name) {
                    return Err(bad("a name that leads elsewhere"));
                }
                let mode = octal(&block[100..108]).and_then(|mode| u32::try_from(mode).ok()).unwrap_or(0o600);
                return Ok(Some(Member { name, size: large.unwrap_or(size), mode }));
            }
            _ => return Err(bad("something that is not a file")),
        }
    }
}

pub(super) fn skip_padding(input: &mut impl Read, size: u64) -> io::Result<()> {
    input.read_exact(&mut [0; BLOCK][..padding(size)])
}

fn read_records(bytes: &[u8]) -> io::Result<(Option<String>, Option<u64>)> {
    let (mut path, mut size) = (None, None);
    let mut rest = std::str::from_utf8(bytes).map_err(|_| bad("a header that is not text"))?;
    while !rest.is_empty() {
        let length = rest.split(' ').next().and_then(|length| length.parse::<usize>().ok());
        let line = length.and_then(|length| rest.get(..length)).ok_or_else(|| bad("a header that is cut"))?;
        let body = line.split_once(' ').map(|(_, body)| body.trim_end_matches('\n')).unwrap_or_default();
        match body.split_once('=') {
            Some(("path", value)) => path = Some(value.to_owned()),
            Some(("size", value)) => size = value.parse().ok(),
            _ => {}
        }
        rest = &rest[line.len().max(1)..];
    }
    Ok((path, size))
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    u64::from_str_radix(text.trim_matches(|c: char| c == '\0' || c == ' '), 8).ok()
}

/// Only plain names below the folder: nothing absolute, no way up, no empty parts.
fn is_inside(name: &str) -> bool {
    !name.is_empty()
        && !name.contains('\0')
        && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

fn bad(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_of_any_length_come_back() {
        for name in ["a", "dir/".repeat(60).trim_end_matches('/'), &"é".repeat(80)] {
            let mut out = Vec::new();
            write_header(&mut out, name, SIZE + 5, 0o700).unwrap();
            let member = next(&mut out.as_slice()).unwrap().unwrap();
            assert_eq!((member.name.as_str(), member.size, member.mode), (name, SIZE + 5, 0o700));
        }
        for length in [1, 88, 89, 90, 91, 92, 989, 990, 991] {
            let text = record("path", &"x".repeat(length));
            assert_eq!(text.split(' ').next().unwrap(), text.len().to_string());
        }
    }

    #[test]
    fn hostile_headers_are_refused() {
        for name in ["/etc/passwd", "../x", "a/../b", "a//b", "."] {
            let mut out = Vec::new();
            write_header(&mut out, name, 0, 0o600).unwrap();
            assert!(next(&mut out.as_slice()).is_err(), "{name}");
        }
        let mut link = block("x", 0, 0o600, b'2');
        assert!(next(&mut &link[..]).is_err());
        link[0] = b'y';
        assert!(next(&mut &link[..]).is_err());
        assert!(next(&mut &[1_u8; 512][..]).is_err());
        assert!(next(&mut &[0_u8; 512][..]).unwrap().is_none());
        assert!(next(&mut &[0_u8; 100][..]).is_err());
        let mut pax = block("PaxHeader", 12, 0o600, b'x').to_vec();
        pax.extend_from_slice(b"999999 path=");
        pax.resize(1024, 0);
        assert!(next(&mut pax.as_slice()).is_err());
    }
}
