//! The files of `prompt-archive/`: the monthly archive, the list of archived ids, the journal of a run.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use chatos_lines::{Fs, Paths, scan};

use super::lines::Lines;

const BUFFER: usize = 256 << 10;

/// Writes lines to a file, buffered.
pub(super) struct Sink<'a> {
    fs: &'a dyn Fs,
    file: File,
    path: PathBuf,
    buf: Vec<u8>,
}

impl<'a> Sink<'a> {
    /// A new file; one left by a crash is replaced.
    pub(super) fn create(fs: &'a dyn Fs, path: &Path) -> io::Result<Self> {
        if fs.stat(path)?.is_some() {
            fs.remove(path)?;
        }
        let file = fs.create(path)?;
        Ok(Self { fs, file, path: path.to_owned(), buf: Vec::new() })
    }

    /// The end of a file that is made when missing. A torn last line is closed.
    pub(super) fn append(fs: &'a dyn Fs, path: &Path) -> io::Result<Self> {
        let file = match fs.open_append(path)? {
            Some(file) => file,
            None => fs.create(path)?,
        };
        let size = fs.fstat(&file)?.size;
        let mut sink = Self { fs, file, path: path.to_owned(), buf: Vec::new() };
        let mut last = [b'\n'];
        if size > 0 && fs.read_at(&sink.file, &mut last, size - 1)? == 1 && last[0] != b'\n' {
            sink.buf.push(b'\n');
        }
        Ok(sink)
    }

    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.bytes(line)?;
        self.bytes(b"\n")
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buf.extend_from_slice(bytes);
        if self.buf.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut rest = &self.buf[..];
        while !rest.is_empty() {
            match self.fs.write(&self.file, rest)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => rest = &rest[n..],
            }
        }
        self.buf.clear();
        Ok(())
    }

    /// Durable with its name.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.fs.sync_data(&self.file)?;
        self.path.parent().map_or(Ok(()), |dir| self.fs.sync_dir(dir))
    }
}

/// Writes a small file so that it is there whole or not at all.
pub(super) fn replace(fs: &dyn Fs, path: &Path, text: &str) -> io::Result<()> {
    let temp = path.with_extension("tmp");
    let mut sink = Sink::create(fs, &temp)?;
    sink.line(text.as_bytes())?;
    sink.finish()?;
    fs.rename(&temp, path)?;
    path.parent().map_or(Ok(()), |dir| fs.sync_dir(dir))
}

/// A small file, or `None` when it is not there.
pub(super) fn read_small(fs: &dyn Fs, path: &Path) -> io::Result<Option<String>> {
    if fs.stat(path)?.is_none() {
        return Ok(None);
    }
    let file = fs.open_read(path)?;
    let mut buf = vec![0; 4096];
    let read = fs.read_at(&file, &mut buf, 0)?;
    buf.truncate(read);
    Ok(String::from_utf8(buf).ok())
}

fn ids_path(paths: &Paths) -> PathBuf {
    paths.archive.join("ids")
}

/// Ids that were moved to the archive. Each is a JSON string on its line, so a torn one is no id.
pub(crate) fn archived_ids(fs: &dyn Fs, paths: &Paths) -> Vec<String> {
    let read = || -> io::Result<Vec<String>> {
        let path = ids_path(paths);
        if fs.stat(&path)?.is_none() {
            return Ok(Vec::new());
        }
        let file = fs.open_read(&path)?;
        let end = fs.fstat(&file)?.size;
        let mut ids = Vec::new();
        let mut lines = Lines::new(fs, &file, 0, end);
        while let Some(line) = lines.next()? {
            ids.extend(serde_json::from_slice::<String>(line.bytes));
        }
        Ok(ids)
    };
    read().unwrap_or_else(|error| {
        tracing::error!(%error, path = %ids_path(paths).display(), "cannot read the ids of archived prompts");
        Vec::new()
    })
}

pub(super) fn add_ids<'a>(fs: &dyn Fs, paths: &Paths, ids: impl Iterator<Item = &'a str>) -> io::Result<()> {
    let mut sink = Sink::append(fs, &ids_path(paths))?;
    for id in ids {
        sink.line(serde_json::Value::from(id).to_string().as_bytes())?;
    }
    sink.finish()
}

/// Says which archive file a run appends to and from where, so that a run after a crash does not write a line twice.
pub(super) struct Journal {
    /// (is a response, id) already in the archive from a run that did not end.
    done: HashSet<(bool, String)>,
}

impl Journal {
    fn path(paths: &Paths) -> PathBuf {
        paths.archive.join(".archiving")
    }

    pub(super) fn begin(fs: &dyn Fs, paths: &Paths, target: &Path) -> io::Result<Self> {
        let mut done = HashSet::new();
        let mut before = Vec::new();
        if let Some(text) = read_small(fs, &Self::path(paths))? {
            for line in text.lines() {
                let Some((offset, name)) = line.split_once(' ') else { continue };
                let Ok(offset) = offset.parse::<u64>() else { continue };
                let path = paths.archive.join(Path::new(name).file_name().unwrap_or_default());
                collect(fs, &path, offset, &mut done)?;
                before.push(line.to_owned());
            }
        }
        let size = fs.stat(target)?.map_or(0, |stat| stat.size);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        before.push(format!("{size} {name}"));
        replace(fs, &Self::path(paths), &before.join("\n"))?;
        Ok(Self { done })
    }

    pub(super) fn contains(&self, line: &[u8]) -> bool {
        if self.done.is_empty() {
            return false;
        }
        key(line).is_some_and(|key| self.done.contains(&key))
    }

    pub(super) fn end(fs: &dyn Fs, paths: &Paths) -> io::Result<()> {
        fs.remove(&Self::path(paths))
    }
}

fn collect(fs: &dyn Fs, path: &Path, from: u64, done: &mut HashSet<(bool, String)>) -> io::Result<()> {
    if fs.stat(path)?.is_none() {
        return Ok(());
    }
    let file = fs.open_read(path)?;
    let end = fs.fstat(&file)?.size;
    let mut lines = Lines::new(fs, &file, from.min(end), end);
    while let Some(line) = lines.next()? {
        done.extend(key(line.bytes));
    }
    Ok(())
}

fn key(line: &[u8]) -> Option<(bool, String)> {
    let found = (line.first() == Some(&b'{')).then(|| scan::object(line, 0).ok()).flatten()?;
    // A torn line at the end of the archive is no entry.
    match crate::entry::read_head(line, &found) {
        crate::entry::Read::Entry(head) => {
            Some((head.action == crate::entry::Action::Response, head.id.into_owned()))
        }
        _ => None,
    }
}
