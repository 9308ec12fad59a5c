//! A zip archive with stored members: small, and readable by everything.

/// An archive being written.
#[derive(Default)]
pub(super) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    members: u16,
}

impl Zip {
    /// Adds a member. Its name is ASCII and its content below 4 GiB.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) {
        let offset = self.bytes.len() as u32;
        let size = content.len() as u32;
        let checksum = crc32fast::hash(content);
        let mut common = Vec::with_capacity(26);
        // Version 2.0, UTF-8 names, stored, the first moment zip knows.
        for value in [20_u16, 0x0800, 0, 0, 0x0021] {
            common.extend_from_slice(&value.to_le_bytes());
        }
        for value in [checksum, size, size] {
            common.extend_from_slice(&value.to_le_bytes());
        }
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&0_u16.to_le_bytes());
        self.bytes.extend_from_slice(b"PK\x03\x04");
        self.bytes.extend_from_slice(&common);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(content);
        self.directory.extend_from_slice(b"PK\x01\x02");
        self.directory.extend_from_slice(&20_u16.to_le_bytes());
        self.directory.extend_from_slice(&common);
        // No comment, first disk, plain attributes.
        self.directory.extend_from_slice(&[0; 10]);
        self.directory.extend_from_slice(&offset.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.members += 1;
    }

    /// The archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let (offset, size) = (self.bytes.len() as u32, self.directory.len() as u32);
        self.bytes.append(&mut self.directory);
        self.bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend_from_slice(&self.members.to_le_bytes());
        self.bytes.extend_from_slice(&self.members.to_le_bytes());
        self.bytes.extend_from_slice(&size.to_le_bytes());
        self.bytes.extend_from_slice(&offset.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 2]);
        self.bytes
    }
}
