//! Archives with the same bytes every time: sorted by the caller, one date, no owner, nothing of this machine.

use std::io::Write as _;

use anyhow::Result;
use sha2::{Digest as _, Sha256};

/// A file of an archive.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) content: Vec<u8>,
    pub(super) program: bool,
}

impl Entry {
    pub(super) fn file(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into(), program: false }
    }

    pub(super) fn program(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { program: true, ..Self::file(path, content) }
    }
}

/// A tar of files, with the folders they are in, in the order given.
pub(super) fn tar(entries: &[Entry], date: u64) -> Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut folders: Vec<String> = Vec::new();
    for entry in entries {
        for (at, _) in entry.path.match_indices('/') {
            let folder = &entry.path[..=at];
            if folder != "./" && !folders.iter().any(|known| known == folder) {
                let mut header = header(tar::EntryType::Directory, 0o755, date);
                header.set_size(0);
                builder.append_data(&mut header, folder, std::io::empty())?;
                folders.push(folder.to_owned());
            }
        }
        let mut header = header(tar::EntryType::Regular, if entry.program { 0o755 } else { 0o644 }, date);
        header.set_size(entry.content.len() as u64);
        builder.append_data(&mut header, &entry.path, entry.content.as_slice())?;
    }
    Ok(builder.into_inner()?)
}

fn header(kind: tar::EntryType, mode: u32, date: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(date);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// gzip, as every system unpacks it.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// zstd at its best; who unpacks it needs 32 MB.
pub(super) fn zstd(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = zstd::Encoder::new(Vec::new(), 22)?;
    packed.set_pledged_src_size(Some(bytes.len() as u64))?;
    packed.include_checksum(true)?;
    packed.window_log(25)?;
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// The old archive format a `.deb` is.
pub(super) fn ar(members: &[(&str, &[u8])], date: u64) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        bytes.extend_from_slice(
            format!("{name:<16}{date:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, content.len()).as_bytes(),
        );
        bytes.extend_from_slice(content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
