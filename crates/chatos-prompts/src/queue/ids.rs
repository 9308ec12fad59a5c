//! Exact ids in one arena with a table of slots, and interned run ids.
//!
//! A string per prompt would cost three allocations' worth of overhead each; a hash alone would not be
//! exact (`security §3.3`: ids are exact strings in an ordinary map).

use std::collections::HashMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::slot::{Slot, SlotId};

#[derive(Default)]
pub(super) struct Ids {
    arena: Vec<u8>,
    table: HashTable<SlotId>,
    hasher: DefaultHashBuilder,
}

impl Ids {
    pub(super) fn reserve(&mut self, expected: usize) {
        self.arena.reserve(expected * 40);
        self.table.reserve(expected, |_| 0);
    }

    pub(super) fn text(&self, slot: &Slot) -> &str {
        std::str::from_utf8(bytes_of(&self.arena, slot)).unwrap_or_default()
    }

    pub(super) fn find(&self, id: &str, slots: &[Slot]) -> Option<SlotId> {
        let hash = self.hasher.hash_one(id.as_bytes());
        let same = |slot: &SlotId| bytes_of(&self.arena, &slots[*slot as usize]) == id.as_bytes();
        self.table.find(hash, same).copied()
    }

    /// `None` when the index is full (four thousand million bytes of ids).
    pub(super) fn find_or_insert(&mut self, id: &str, slots: &mut Vec<Slot>) -> Option<SlotId> {
        let hash = self.hasher.hash_one(id.as_bytes());
        let Self { arena, table, hasher } = self;
        let same = |slot: &SlotId| bytes_of(arena, &slots[*slot as usize]) == id.as_bytes();
        if let Some(found) = table.find(hash, same) {
            return Some(*found);
        }
        let start = u32::try_from(arena.len()).ok()?;
        let length = u16::try_from(id.len()).ok()?;
        let index = SlotId::try_from(slots.len()).ok()?;
        start.checked_add(u32::from(length))?;
        arena.extend_from_slice(id.as_bytes());
        slots.push(Slot::new(start, length));
        table.insert_unique(hash, index, |slot| hasher.hash_one(bytes_of(arena, &slots[*slot as usize])));
        Some(index)
    }
}

fn bytes_of<'a>(arena: &'a [u8], slot: &Slot) -> &'a [u8] {
    let start = slot.id_start as usize;
    &arena[start..start + usize::from(slot.id_len)]
}

/// Run ids repeat; each is kept once.
#[derive(Default)]
pub(super) struct Runs {
    index: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
    last: Option<u32>,
}

impl Runs {
    pub(super) fn intern(&mut self, run: &str) -> u32 {
        // Lines of one run stand together.
        if let Some(last) = self.last
            && &*self.names[last as usize] == run
        {
            return last;
        }
        let index = match self.index.get(run) {
            Some(index) => *index,
            None => {
                let index = self.names.len() as u32;
                self.names.push(run.into());
                self.index.insert(run.into(), index);
                index
            }
        };
        self.last = Some(index);
        index
    }

    pub(super) fn find(&self, run: &str) -> Option<u32> {
        self.index.get(run).copied()
    }

    pub(super) fn text(&self, index: u32) -> Option<&str> {
        self.names.get(index as usize).map(|name| &**name)
    }
}
