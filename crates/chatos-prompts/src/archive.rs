//! The only rewrite of the log (`ui-prompts §3.7`): closed prompts move to a monthly file.
//!
//! Started by a person, never by itself. A crash at any point leaves the old log, or the new log plus
//! the archive; doing it again is harmless. The old inode stays reachable as `.prev` and is followed
//! until nobody can append to it any more, because other programs hold it open without our lock.

mod files;
mod lines;
mod previous;

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use chatos_lines::{AppendError, lock};

use crate::clock::year_month;
use crate::entry::Entry;
use crate::ids::RequestId;
use crate::metadata::{self, LogMode};
use crate::prompts::{Inner, NotReady, Prompts};
use crate::queue::{Position, SlotId};
use crate::records::RecordsError;
pub(crate) use files::archived_ids;
use files::{Journal, Sink as FileSink};
use lines::Lines;

/// What an archive run did. Lines, not prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveReport {
    pub moved: u64,
    pub kept: u64,
    /// Where the moved lines are; `None` when there was nothing to move.
    pub file: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Code `unavailable`: the last archive is not finished.
    #[error("the previous archive is still being followed: {0}")]
    Previous(String),
    #[error("another process holds the prompt log")]
    Locked,
    #[error("cannot archive the prompt log: {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot append to the prompt log")]
    Append(#[from] AppendError),
    #[error("cannot reduce an archived record")]
    Records(#[from] RecordsError),
    #[error(transparent)]
    NotReady(#[from] NotReady),
}

/// A closed prompt that moves.
struct Move {
    id: RequestId,
    slot: SlotId,
    served: bool,
    request: Position,
    response: Position,
}

impl Prompts {
    /// Moves prompts that were answered before `before` (milliseconds) to the archive.
    pub fn archive(&self, before: i64) -> Result<ArchiveReport, ArchiveError> {
        let inner = self.inner();
        inner.ready_within(std::time::Duration::from_secs(30))?;
        inner.follow_previous();
        inner.archive(before)
    }
}

impl Inner {
    fn archive(&self, before: i64) -> Result<ArchiveReport, ArchiveError> {
        let paths = &self.log.paths;
        let fail = |source| ArchiveError::Io { path: paths.archive.clone(), source };
        let mut turn = self.log.lock();
        if !turn.held() {
            return Err(ArchiveError::Locked);
        }
        if let Some(why) = self.previous_state().map_err(fail)? {
            return Err(ArchiveError::Previous(why));
        }
        self.pump();
        let Some(file) = lock(&self.state).file.clone() else {
            return Ok(ArchiveReport { moved: 0, kept: 0, file: None });
        };
        let now = self.clock.now_ms();
        let mut moves = self.movable(before);
        let end = lines::whole_lines_end(&*self.fs, &file).map_err(fail)?;
        let odd = lines::not_alone(&*self.fs, &file, end, &moves).map_err(fail)?;
        moves.retain(|m| !odd.contains(&m.slot));
        if moves.is_empty() {
            let kept = Lines::new(&*self.fs, &file, 0, end).count().map_err(fail)?;
            return Ok(ArchiveReport { moved: 0, kept, file: None });
        }
        self.fs.create_dir(&paths.archive).map_err(fail)?;
        let target = paths.archive.join(format!("ui-prompts-{}.jsonl", year_month(now)));
        let moved: HashSet<u64> = moves.iter().flat_map(|m| [m.request.offset, m.response.offset]).collect();

        // 2. The archive first: a line may be in both for a moment, never in none.
        let done = Journal::begin(&*self.fs, paths, &target).map_err(fail)?;
        let mut archive = FileSink::append(&*self.fs, &target).map_err(fail)?;
        let minimal = self.mode() == LogMode::Minimal;
        let mut all = Lines::new(&*self.fs, &file, 0, end);
        while let Some(line) = all.next().map_err(fail)? {
            if !moved.contains(&line.at) || done.contains(line.bytes) {
                continue;
            }
            if minimal {
                archive.line(&reduced(line.bytes)).map_err(fail)?;
            } else {
                archive.line(line.bytes).map_err(fail)?;
            }
        }
        archive.finish().map_err(fail)?;
        files::add_ids(&*self.fs, paths, moves.iter().map(|m| m.id.as_str())).map_err(fail)?;
        if minimal {
            self.reduce_records(&moves)?;
        }

        // 3. The rest, byte for byte, under a new inode.
        let temp = paths.dir.join("ui-prompts.jsonl.new");
        let mut kept = 0;
        let mut keep = FileSink::create(&*self.fs, &temp).map_err(fail)?;
        let mut all = Lines::new(&*self.fs, &file, 0, end);
        while let Some(line) = all.next().map_err(fail)? {
            if moved.contains(&line.at) {
                continue;
            }
            keep.bytes(line.bytes).map_err(fail)?;
            if line.ended {
                keep.bytes(b"\n").map_err(fail)?;
                kept += 1;
            }
        }
        keep.finish().map_err(fail)?;
        {
            // Nobody reads between the swap and the copy: what stands only in the old file would seem
            // to vanish and come back.
            let _reading = self.hold_pump();
            self.keep_previous(end).map_err(fail)?;
            self.fs.rename(&temp, &paths.log).map_err(fail)?;
            self.fs.sync_dir(&paths.dir).map_err(fail)?;
            // 4. What was appended to the old inode meanwhile.
            self.copy_previous(&mut turn)?;
        }
        Journal::end(&*self.fs, paths).map_err(fail)?;
        drop(turn);
        self.pump();
        Ok(ArchiveReport { moved: moved.len() as u64, kept, file: Some(target) })
    }

    // Closed before the limit, with both lines in the file.
    fn movable(&self, before: i64) -> Vec<Move> {
        let state = lock(&self.state);
        let queue = &state.queue;
        (0..queue.len() as SlotId)
            .filter_map(|slot| {
                let at = queue.slot(slot);
                if !at.is_closed() || at.response_ts >= before {
                    return None;
                }
                Some(Move {
                    id: RequestId::parse(queue.id_of(slot)).ok()?,
                    slot,
                    served: at.is_served(),
                    request: at.request_line()?,
                    response: at.response_line()?,
                })
            })
            .collect()
    }

    fn reduce_records(&self, moves: &[Move]) -> Result<(), ArchiveError> {
        for m in moves.iter().filter(|m| m.served) {
            let Some(record) = self.records.get(&m.id)? else { continue };
            let Some(answer) = record.answer else { continue };
            let entry = record.entry.as_object().map(metadata::of_entry).unwrap_or_default();
            self.records.reduce(&m.id, &entry, &metadata::of_response(&answer.response))?;
        }
        Ok(())
    }
}

fn reduced(line: &[u8]) -> Vec<u8> {
    let entry = Entry::parse(line).map(|entry| metadata::of_entry(&entry.object));
    entry.map_or_else(Vec::new, |entry| chatos_lines::line::to_string(&entry).into_bytes())
}
