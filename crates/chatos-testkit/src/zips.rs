//! A writer of zip files that can lie in every field: the generator of hostile archives.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// One entry; `Default` is an honest one.
#[derive(Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    pub local_name: Option<Vec<u8>>,
    /// Bytes as they stand in the file.
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    pub size: u32,
    pub compressed: u32,
    /// High half of the external attributes.
    pub mode: u32,
    pub dos: u32,
    pub extra: Vec<u8>,
    pub local_extra: Vec<u8>,
    /// Header position in the central directory, when it is not the true one.
    pub header_at: Option<u32>,
    /// Written after the data.
    pub trailer: Vec<u8>,
    /// Zeroes in the local header (streamed entries).
    pub hide_sizes: bool,
}

/// An honest deflated file.
pub fn file(name: &str, content: &[u8]) -> Entry {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let data = match encoder.write_all(content).and_then(|()| encoder.finish()) {
        Ok(data) => data,
        Err(error) => panic!("cannot deflate in memory: {error}"),
    };
    raw(name.as_bytes(), 8, data, content.len() as u32, crc32fast::hash(content))
}

/// An honest stored file.
pub fn stored(name: &str, content: &[u8]) -> Entry {
    raw(name.as_bytes(), 0, content.to_vec(), content.len() as u32, crc32fast::hash(content))
}

/// A directory entry.
pub fn dir(name: &str) -> Entry {
    Entry { mode: 0o040_755, dos: 0x10, ..stored(name, b"") }
}

fn raw(name: &[u8], method: u16, data: Vec<u8>, size: u32, crc: u32) -> Entry {
    Entry {
        name: name.to_vec(),
        local_name: None,
        compressed: data.len() as u32,
        data,
        method,
        flags: 0x0800,
        crc,
        size,
        mode: 0o100_644,
        dos: 0,
        extra: Vec::new(),
        local_extra: Vec::new(),
        header_at: None,
        trailer: Vec::new(),
        hide_sizes: false,
    }
}

impl Entry {
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    pub fn named(mut self, name: &[u8]) -> Self {
        self.name = name.to_vec();
        self
    }

    /// A streamed entry with a descriptor; `wide` uses 8-byte sizes, `signed` the signature.
    pub fn streamed(mut self, wide: bool, signed: bool) -> Self {
        self.flags |= 8;
        self.hide_sizes = true;
        if signed {
            self.trailer.extend(0x0807_4b50_u32.to_le_bytes());
        }
        self.trailer.extend(self.crc.to_le_bytes());
        for size in [self.compressed, self.size] {
            if wide {
                self.trailer.extend(u64::from(size).to_le_bytes());
            } else {
                self.trailer.extend(size.to_le_bytes());
            }
        }
        self
    }
}

/// The whole file; `comment` goes into the end record.
pub fn zip(entries: &[Entry], comment: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut central = Vec::new();
    for entry in entries {
        let at = out.len() as u32;
        let (crc, compressed, size) =
            if entry.hide_sizes { (0, 0, 0) } else { (entry.crc, entry.compressed, entry.size) };
        let local_name = entry.local_name.as_ref().unwrap_or(&entry.name);
        out.extend(0x0403_4b50_u32.to_le_bytes());
        header(&mut out, entry, (crc, compressed, size), local_name.len(), entry.local_extra.len());
        out.extend(local_name);
        out.extend(&entry.local_extra);
        out.extend(&entry.data);
        out.extend(&entry.trailer);

        central.extend(0x0201_4b50_u32.to_le_bytes());
        central.extend(0x0314_u16.to_le_bytes());
        header(
            &mut central,
            entry,
            (entry.crc, entry.compressed, entry.size),
            entry.name.len(),
            entry.extra.len(),
        );
        central.extend([0; 6]);
        central.extend(((entry.mode << 16) | entry.dos).to_le_bytes());
        central.extend(entry.header_at.unwrap_or(at).to_le_bytes());
        central.extend(&entry.name);
        central.extend(&entry.extra);
    }
    let at = out.len() as u32;
    out.extend(&central);
    end(&mut out, entries.len() as u16, central.len() as u32, at, comment);
    out
}

fn header(out: &mut Vec<u8>, entry: &Entry, sizes: (u32, u32, u32), name: usize, extra: usize) {
    for value in [20, entry.flags, entry.method, 0, 0x21] {
        out.extend(u16::to_le_bytes(value));
    }
    for value in [sizes.0, sizes.1, sizes.2] {
        out.extend(value.to_le_bytes());
    }
    out.extend((name as u16).to_le_bytes());
    out.extend((extra as u16).to_le_bytes());
}

pub fn end(out: &mut Vec<u8>, count: u16, length: u32, at: u32, comment: &[u8]) {
    out.extend(0x0605_4b50_u32.to_le_bytes());
    for value in [0, 0, count, count] {
        out.extend(u16::to_le_bytes(value));
    }
    out.extend(length.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend((comment.len() as u16).to_le_bytes());
    out.extend(comment);
}

/// A valid plugin as zip entries.
pub fn plugin_entries(id: &str) -> Vec<Entry> {
    let manifest = format!(
        r#"{{"id":"{id}","name":"N","version":"2","apps":[{{"id":"a","name":"A","entry":"a.mjs"}}]}}"#
    );
    vec![file("plugin.json", manifest.as_bytes()), file("a.mjs", b"export function mount() {}\n")]
}
