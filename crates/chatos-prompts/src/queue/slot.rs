//! One prompt in the index: positions and a few bits, no texts.

use crate::kind::Kind;
use crate::response::Status;

/// Index of a slot.
pub(crate) type SlotId = u32;

/// No run.
pub(super) const NO_RUN: u32 = u32::MAX;

/// Where an entry lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// 64 bytes at most: a million of them must fit beside everything else.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(super) id_start: u32,
    pub(super) id_len: u16,
    flags: u16,
    pub(crate) run: u32,
    request_len: u32,
    request_offset: u64,
    response_offset: u64,
    response_len: u32,
    /// Time of the request.
    pub(crate) ts: i64,
    /// Time of the response.
    pub(crate) response_ts: i64,
}

const NO_LINE: u64 = u64::MAX;

const KIND: u16 = 0b111;
const STATUS_SHIFT: u16 = 3;
const STATUS: u16 = 0b11 << STATUS_SHIFT;
const DEFINED: u16 = 1 << 5;
const RESPONSE: u16 = 1 << 6;
const SERVED: u16 = 1 << 7;
const CLOSED: u16 = 1 << 8;
const HISTORY: u16 = 1 << 9;
const ARCHIVED: u16 = 1 << 10;
const TWIN: u16 = 1 << 11;

impl Slot {
    pub(super) fn new(id_start: u32, id_len: u16) -> Self {
        Self {
            id_start,
            id_len,
            flags: 0,
            run: NO_RUN,
            request_len: 0,
            request_offset: NO_LINE,
            response_offset: NO_LINE,
            response_len: 0,
            ts: 0,
            response_ts: 0,
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn kind(&self) -> Option<Kind> {
        match self.flags & KIND {
            1 => Some(Kind::Kv),
            2 => Some(Kind::Choice),
            3 => Some(Kind::TaskConfirm),
            4 => Some(Kind::FileChangeConfirm),
            5 => Some(Kind::Result),
            _ => None,
        }
    }

    pub(super) fn set_kind(&mut self, kind: Option<Kind>) {
        let bits = match kind {
            None => 0,
            Some(Kind::Kv) => 1,
            Some(Kind::Choice) => 2,
            Some(Kind::TaskConfirm) => 3,
            Some(Kind::FileChangeConfirm) => 4,
            Some(Kind::Result) => 5,
        };
        self.flags = (self.flags & !KIND) | bits;
    }

    pub(crate) fn is_result(&self) -> bool {
        self.kind() == Some(Kind::Result)
    }

    /// How it ended; meaningful when closed.
    pub(crate) fn status(&self) -> Status {
        match (self.flags & STATUS) >> STATUS_SHIFT {
            0 => Status::Ok,
            1 => Status::Canceled,
            2 => Status::Timeout,
            _ => Status::Error,
        }
    }

    pub(super) fn set_response(&mut self, status: Status, ts: i64) {
        let bits = match status {
            Status::Ok => 0,
            Status::Canceled => 1,
            Status::Timeout => 2,
            Status::Error => 3,
        };
        self.flags = (self.flags & !STATUS) | (bits << STATUS_SHIFT) | RESPONSE;
        self.response_ts = ts;
    }

    /// Back to open: the response it had does not count.
    pub(super) fn reopen(&mut self) {
        self.flags &= !(STATUS | RESPONSE | CLOSED | HISTORY | TWIN);
        self.response_offset = NO_LINE;
    }

    /// A request is known, from a line or a record.
    pub(crate) fn is_defined(&self) -> bool {
        self.has(DEFINED)
    }

    pub(super) fn define(&mut self) {
        self.flags |= DEFINED;
    }

    pub(super) fn has_response(&self) -> bool {
        self.has(RESPONSE)
    }

    /// ui-prompts §4: pending = defined and not closed.
    pub(crate) fn is_pending(&self) -> bool {
        self.flags & (DEFINED | CLOSED) == DEFINED
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.has(CLOSED)
    }

    pub(super) fn close(&mut self) {
        self.flags |= CLOSED;
    }

    pub(crate) fn is_served(&self) -> bool {
        self.has(SERVED)
    }

    pub(super) fn serve(&mut self) {
        self.flags |= SERVED;
    }

    pub(super) fn in_history(&self) -> bool {
        self.has(HISTORY)
    }

    pub(super) fn set_in_history(&mut self) {
        self.flags |= HISTORY;
    }

    pub(crate) fn is_archived(&self) -> bool {
        self.has(ARCHIVED)
    }

    pub(super) fn set_archived(&mut self) {
        self.flags |= ARCHIVED;
    }

    /// Closed because the other spelling of its id was.
    pub(crate) fn is_twin_closed(&self) -> bool {
        self.has(TWIN)
    }

    pub(super) fn set_twin_closed(&mut self) {
        self.flags |= TWIN;
    }

    pub(crate) fn request_line(&self) -> Option<Position> {
        self.has_request_line().then_some(Position { offset: self.request_offset, len: self.request_len })
    }

    pub(super) fn has_request_line(&self) -> bool {
        self.request_offset != NO_LINE
    }

    pub(super) fn set_request_line(&mut self, at: Position) {
        (self.request_offset, self.request_len) = (at.offset, at.len);
    }

    pub(crate) fn response_line(&self) -> Option<Position> {
        self.has_response_line().then_some(Position { offset: self.response_offset, len: self.response_len })
    }

    pub(super) fn has_response_line(&self) -> bool {
        self.response_offset != NO_LINE
    }

    pub(super) fn set_response_line(&mut self, at: Position) {
        (self.response_offset, self.response_len) = (at.offset, at.len);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_slot_stays_small() {
        assert!(size_of::<super::Slot>() <= 64, "{}", size_of::<super::Slot>());
    }
}
