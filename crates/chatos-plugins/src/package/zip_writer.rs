//! Writing zip files for `chatos plugin pack`: the same input gives the same bytes. Times are
//! 1980-01-01, modes 0644 or 0755, deflate at one fixed level, and no field depends on the machine.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress, Status};

/// One level, written down: another one would be another file.
const LEVEL: u32 = 6;
/// 1980-01-01 00:00, the earliest time the format knows.
const DOS_DATE: u16 = 0x0021;
/// UTF-8 names.
const UTF8: u16 = 0x0800;
/// Made on Unix by a writer of version 2.0.
const MADE_BY: u16 = 0x0314;
const NEEDED: u16 = 20;

pub(crate) struct ZipWriter<W: Write> {
    out: W,
    at: u64,
    central: Vec<u8>,
    count: u16,
}

impl<W: Write> ZipWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, at: 0, central: Vec::new(), count: 0 }
    }

    /// Adds a file. Packages are far below the 32-bit limits of the format; beyond them this fails.
    pub(crate) fn file(&mut self, name: &str, executable: bool, content: &[u8]) -> io::Result<()> {
        let deflated = deflate(content)?;
        // Storing what does not shrink keeps every entry readable by a ratio check.
        let (method, data): (u16, &[u8]) =
            if deflated.len() < content.len() { (8, &deflated) } else { (0, content) };
        let too_large =
            || io::Error::new(io::ErrorKind::FileTooLarge, "the package is too large for a zip file");
        let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
        let compressed = u32::try_from(data.len()).map_err(|_| too_large())?;
        let size = u32::try_from(content.len()).map_err(|_| too_large())?;
        let header_at = u32::try_from(self.at).map_err(|_| too_large())?;
        self.count = self.count.checked_add(1).ok_or_else(too_large)?;

        let mut common = Vec::with_capacity(26);
        for value in [NEEDED, UTF8, method, 0, DOS_DATE] {
            common.extend(value.to_le_bytes());
        }
        for value in [crc32fast::hash(content), compressed, size] {
            common.extend(value.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend(0_u16.to_le_bytes());

        self.put(&0x0403_4b50_u32.to_le_bytes())?;
        self.put(&common)?;
        self.put(name.as_bytes())?;
        self.put(data)?;

        let mode: u32 = if executable { 0o100_755 } else { 0o100_644 };
        self.central.extend(0x0201_4b50_u32.to_le_bytes());
        self.central.extend(MADE_BY.to_le_bytes());
        self.central.extend(common);
        for value in [0_u16, 0, 0] {
            self.central.extend(value.to_le_bytes());
        }
        self.central.extend((mode << 16).to_le_bytes());
        self.central.extend(header_at.to_le_bytes());
        self.central.extend(name.as_bytes());
        Ok(())
    }

    /// Writes the central directory and gives the output back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let too_large =
            |_| io::Error::new(io::ErrorKind::FileTooLarge, "the package is too large for a zip file");
        let central = std::mem::take(&mut self.central);
        let central_at = u32::try_from(self.at).map_err(too_large)?;
        let central_length = u32::try_from(central.len()).map_err(too_large)?;
        self.put(&central)?;
        let mut end = Vec::with_capacity(22);
        end.extend(0x0605_4b50_u32.to_le_bytes());
        for value in [0, 0, self.count, self.count] {
            end.extend(value.to_le_bytes());
        }
        end.extend(central_length.to_le_bytes());
        end.extend(central_at.to_le_bytes());
        end.extend(0_u16.to_le_bytes());
        self.put(&end)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

fn deflate(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut compress = Compress::new(Compression::new(LEVEL), false);
    let mut out = Vec::with_capacity(content.len() / 2 + 64);
    loop {
        let taken = compress.total_in() as usize;
        let status = compress
            .compress_vec(&content[taken..], &mut out, FlushCompress::Finish)
            .map_err(|error| io::Error::other(format!("cannot compress: {error}")))?;
        if status == Status::StreamEnd {
            return Ok(out);
        }
        out.reserve(out.capacity().max(64));
    }
}
