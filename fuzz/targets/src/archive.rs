//! Packages: the raw bytes as a zip file, and a zip file made from them whose parts are honest where it
//! matters, so that more than the first check is reached.

use std::fs::File;
use std::io::Write;

use chatos_plugins::{PackedFile, read_archive};
use flate2::Compression;
use flate2::write::DeflateEncoder;

pub(crate) const WORDS: &[&str] = &[
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
    "PK\u{6}\u{6}",
    "PK\u{6}\u{7}",
    "plugin.json",
    "../",
    "a/b/c",
    "/",
    "\\",
    "C:",
    "node_modules/",
    "PLUGIN.JSON",
    "e\u{301}",
    "é",
    "\u{0}",
    "x.map",
];

/// Reads a package.
pub fn archive(data: &[u8]) {
    check(data);
    check(&made_from(data));
}

fn check(bytes: &[u8]) {
    let Some(file) = in_memory(bytes) else { return };
    match read_archive(file) {
        Ok(files) => check_files(&files, bytes.len()),
        Err(error) => {
            assert!(!error.message.en.is_empty() && !error.message.zh.is_empty());
            assert!(!error.message.en.chars().any(char::is_control), "{:?}", error.message.en);
        }
    }
}

fn check_files(files: &[PackedFile], length: usize) {
    let mut seen = std::collections::HashSet::new();
    let mut total = 0_u64;
    for file in files {
        let path = &file.path;
        assert!(
            !path.is_empty() && path.len() <= 1024 && !path.starts_with('/') && !path.contains('\\'),
            "{path:?}"
        );
        for part in path.split('/') {
            assert!(!part.is_empty() && part != "." && part != ".." && part.len() <= 255, "{path:?}");
        }
        assert!(!path.chars().any(char::is_control), "{path:?}");
        assert!(seen.insert(path.to_lowercase()), "twice: {path:?}");
        total += file.bytes;
    }
    assert!(total <= 200 << 20, "{total} bytes");
    // plugins §8: 100 to 1 beyond the first mebibyte.
    assert!(total <= (1 << 20) + 100 * length as u64, "{total} bytes from {length}");
    assert!(files.iter().any(|file| file.path.rsplit('/').next() == Some("plugin.json")), "no manifest");
}

fn in_memory(bytes: &[u8]) -> Option<File> {
    let fd = rustix::fs::memfd_create("package", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = File::from(fd);
    file.write_all(bytes).ok()?;
    Some(file)
}

/// Takes decisions from the input.
struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, most: usize) -> &'a [u8] {
        let count = (usize::from(self.byte()) % (most + 1)).min(self.0.len());
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }
}

/// An archive of up to eight entries; one byte in sixteen decides for a lie.
fn made_from(data: &[u8]) -> Vec<u8> {
    let mut choices = Choices(data);
    let (mut out, mut central) = (Vec::new(), Vec::new());
    let count = 1 + choices.byte() % 8;
    for n in 0..count {
        let name = if n == 0 { b"plugin.json".as_slice() } else { choices.bytes(24) };
        let content = choices.bytes(64);
        let deflated = choices.byte() % 2 == 0;
        let packed = if deflated { deflate(content) } else { content.to_vec() };
        let lie = choices.byte();
        let mut crc = crc32fast::hash(content);
        let (mut size, mut compressed) = (content.len() as u32, packed.len() as u32);
        let (mut flags, mut mode) = (0x0800_u16, 0o100_644_u32);
        match lie {
            0 => crc ^= 1,
            1 => size = size.wrapping_add(u32::from(choices.byte())),
            2 => compressed = compressed.wrapping_add(u32::from(choices.byte())),
            3 => flags |= u16::from(choices.byte()),
            4 => mode = u32::from(choices.byte()) << 8,
            _ => {}
        }
        let method: u16 = if deflated { 8 } else { 0 };
        let at = out.len() as u32;
        let header = |out: &mut Vec<u8>| {
            for value in [20, flags, method, 0, 0x21] {
                out.extend(u16::to_le_bytes(value));
            }
            for value in [crc, compressed, size] {
                out.extend(value.to_le_bytes());
            }
            out.extend((name.len() as u16).to_le_bytes());
            out.extend([0, 0]);
        };
        out.extend(b"PK\x03\x04");
        header(&mut out);
        out.extend(name);
        out.extend(&packed);
        central.extend(b"PK\x01\x02\x14\x03");
        header(&mut central);
        central.extend([0; 6]);
        central.extend((mode << 16).to_le_bytes());
        central.extend(at.to_le_bytes());
        central.extend(name);
    }
    let at = out.len() as u32;
    let length = central.len() as u32;
    out.extend(central);
    out.extend(b"PK\x05\x06\0\0\0\0");
    for value in [u16::from(count), u16::from(count)] {
        out.extend(value.to_le_bytes());
    }
    out.extend(length.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(content).and_then(|()| encoder.finish());
    packed.unwrap_or_else(|error| panic!("cannot deflate in memory: {error}"))
}
