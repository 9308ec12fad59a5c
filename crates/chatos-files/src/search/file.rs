//! Searching one file: streamed, bounded, binary files left out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::Matcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::Request;
use super::query::Compiled;
use crate::entry::{Kind, size_of};
use crate::root::{ProtectedIds, Root};
use crate::text::{SNIFF_BYTES, is_binary, utf16_mark};

/// servers §4: larger files are counted as too large.
const MAX_FILE_BYTES: u64 = 50 << 20;
/// Files up to this size are read at once.
const AT_ONCE: u64 = 1 << 20;
/// servers §4: characters shown around a hit.
const PREVIEW_CHARS: usize = 200;

/// One hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The path relative to the root.
    pub path: String,
    /// 1-based line.
    pub line: u64,
    /// 1-based column in UTF-16 units.
    pub column: u64,
    /// The line, or 200 characters around the hit.
    pub text: String,
    /// Lines before.
    pub before: Vec<String>,
    /// Lines after.
    pub after: Vec<String>,
}

pub(super) enum FileOutcome {
    Hits(Vec<Hit>),
    Binary,
    TooLarge,
    Unreadable,
}

pub(super) struct Searching<'a> {
    compiled: &'a Compiled,
    context: usize,
    /// The most hits that can matter from one file.
    most: usize,
    protected: ProtectedIds,
}

pub(super) struct Buffers {
    searcher: Searcher,
    bytes: Vec<u8>,
}

impl<'a> Searching<'a> {
    pub(super) fn new(compiled: &'a Compiled, request: &Request, protected: ProtectedIds) -> Self {
        let most = request.offset.saturating_add(request.limit).saturating_add(1);
        Self { compiled, context: request.context_lines, most, protected }
    }

    pub(super) fn buffers(&self) -> Buffers {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.compiled.multi_line)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(usize::try_from(2 * MAX_FILE_BYTES).unwrap_or(usize::MAX)))
            .build();
        Buffers { searcher, bytes: Vec::new() }
    }

    pub(super) fn file(
        &self,
        root: &Root,
        rel: &[u8],
        direct: Option<&str>,
        buffers: &mut Buffers,
        over: &AtomicBool,
    ) -> FileOutcome {
        let opened = match direct {
            Some(path) => root.open_file(path).ok().map(|opened| (opened.file, opened.stat)),
            None => root
                .open_file_nofollow(rel)
                .and_then(|fd| rustix::fs::fstat(&fd).map(|stat| (File::from(fd), stat)))
                .ok(),
        };
        let Some((mut file, stat)) = opened else { return FileOutcome::Unreadable };
        if Kind::of(&stat) != Kind::File || self.protected.holds(&stat) {
            return FileOutcome::Unreadable;
        }
        let size = size_of(&stat);
        if size > MAX_FILE_BYTES {
            return FileOutcome::TooLarge;
        }
        let path = String::from_utf8_lossy(rel);
        let mut sink = HitSink {
            compiled: self.compiled,
            path: &path,
            most: self.most,
            context: self.context as u64,
            over,
            hits: Vec::new(),
            recent: VecDeque::new(),
        };
        let searched = if size <= AT_ONCE {
            if read_small(&mut file, &mut buffers.bytes, size).is_err() {
                return FileOutcome::Unreadable;
            }
            let bytes = buffers.bytes.as_slice();
            if is_binary(bytes) {
                return FileOutcome::Binary;
            }
            // Most files hold nothing: one quick look over all of it settles that.
            if utf16_mark(bytes).is_none() && !matches!(self.compiled.matcher.is_match(bytes), Ok(true)) {
                return FileOutcome::Hits(Vec::new());
            }
            buffers.searcher.search_slice(&self.compiled.matcher, bytes, &mut sink)
        } else {
            match head_is_binary(&mut file) {
                Ok(true) => return FileOutcome::Binary,
                Ok(false) => {}
                Err(_) => return FileOutcome::Unreadable,
            }
            // A file that grows while it is read is searched as large as it was.
            buffers.searcher.search_reader(&self.compiled.matcher, file.take(size), &mut sink)
        };
        match searched {
            Ok(()) => FileOutcome::Hits(sink.hits),
            Err(_) => FileOutcome::Unreadable,
        }
    }
}

fn read_small(file: &mut File, bytes: &mut Vec<u8>, size: u64) -> io::Result<()> {
    bytes.clear();
    let size = usize::try_from(size).unwrap_or(0);
    bytes.reserve(size + 1);
    Read::by_ref(file).take(size as u64).read_to_end(bytes).map(|_| ())
}

fn head_is_binary(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(SNIFF_BYTES);
    Read::by_ref(file).take(SNIFF_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(is_binary(&head))
}

struct HitSink<'a> {
    compiled: &'a Compiled,
    path: &'a str,
    most: usize,
    context: u64,
    over: &'a AtomicBool,
    hits: Vec<Hit>,
    /// The last lines seen, so that a line between two hits belongs to both.
    recent: VecDeque<(u64, String)>,
}

impl HitSink<'_> {
    /// Notes a line: it follows the hits before it, and precedes those to come.
    fn line(&mut self, number: u64, bytes: &[u8]) {
        if self.context == 0 {
            return;
        }
        let text = shorten(&String::from_utf8_lossy(strip_end(bytes)));
        let near = self.hits.iter_mut().rev().take_while(|hit| hit.line + self.context >= number);
        for hit in near.filter(|hit| hit.line < number) {
            hit.after.push(text.clone());
        }
        self.recent.push_back((number, text));
        while self.recent.len() as u64 > self.context {
            self.recent.pop_front();
        }
    }
}

impl Sink for HitSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        // In a match over several lines only the line where it begins is the hit.
        let mut begins = true;
        for (number, bytes) in (found.line_number().unwrap_or(1)..).zip(found.lines()) {
            if self.hits.len() >= self.most {
                return Ok(false);
            }
            let before: Vec<String> = self
                .recent
                .iter()
                .filter(|(line, _)| line + self.context >= number)
                .map(|(_, text)| text.clone())
                .collect();
            self.line(number, bytes);
            let hit = self.compiled.matcher.find(bytes).ok().flatten();
            if begins || hit.is_some() {
                let (text, column) = preview(bytes, hit.map_or(0, |found| found.start()));
                let path = self.path.to_owned();
                self.hits.push(Hit { path, line: number, column, text, before, after: Vec::new() });
            }
            begins = false;
        }
        Ok(self.hits.len() < self.most && !self.over.load(Ordering::Relaxed))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.line(context.line_number().unwrap_or(0), context.bytes());
        Ok(true)
    }
}

fn strip_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The text around a hit, and the hit's column in UTF-16 units of the decoded line.
fn preview(line: &[u8], at: usize) -> (String, u64) {
    let line = strip_end(line);
    let at = at.min(line.len());
    let lead: Cow<'_, str> = String::from_utf8_lossy(&line[..at]);
    // A mark at the start of the file is no part of the text.
    let lead_text = lead.trim_start_matches('\u{feff}');
    let column = lead_text.chars().map(char::len_utf16).sum::<usize>() as u64 + 1;
    let whole = String::from_utf8_lossy(line);
    let whole = whole.trim_start_matches('\u{feff}');
    let total = whole.chars().count();
    if total <= PREVIEW_CHARS {
        return (whole.to_owned(), column);
    }
    let hit = lead_text.chars().count();
    let start = hit.saturating_sub(PREVIEW_CHARS / 4).min(total - PREVIEW_CHARS);
    let part: String = whole.chars().skip(start).take(PREVIEW_CHARS).collect();
    let left = if start > 0 { "…" } else { "" };
    let right = if start + PREVIEW_CHARS < total { "…" } else { "" };
    (format!("{left}{part}{right}"), column)
}
