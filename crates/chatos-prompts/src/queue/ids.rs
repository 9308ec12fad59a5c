//! Exact ids in one arena with a table of slots, and interned run ids.
//!
//! A string per prompt would cost three allocations' worth of overhead each; a hash alone would not be
//! exact (`security §3.3`: ids are exact strings in an ordinary map).

use std::collections::HashMap;
use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::slot::{Slot, SlotId};

/// Hashes ids as one queue does.
#[derive(Clone, Default)]
pub(crate) struct IdHasher(DefaultHashBuilder);

impl IdHasher {
    #[inline]
    pub(crate) fn hash(&self, id: &str) -> u64 {
        self.of_bytes(id.as_bytes())
    }

    #[inline]
    fn of_bytes(&self, id: &[u8]) -> u64 {
        self.0.hash_one(id)
    }
}

#[derive(Default)]
pub(super) struct Ids {
    arena: Vec<u8>,
    table: HashTable<SlotId>,
    hasher: IdHasher,
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
        let hash = self.hasher.hash(id);
        let same = |slot: &SlotId| bytes_of(&self.arena, &slots[*slot as usize]) == id.as_bytes();
        self.table.find(hash, same).copied()
    }

    pub(super) fn hasher(&self) -> &IdHasher {
        &self.hasher
    }

    /// Looks at the places of these hashes without needing the outcome. One lookup alone waits for
    /// memory; a row of them that do not depend on each other waits once.
    pub(super) fn touch(&self, hashes: &[u64]) {
        let mut seen = 0;
        for hash in hashes {
            self.table.find(*hash, |slot| {
                seen |= *slot;
                false
            });
        }
        std::hint::black_box(seen);
    }

    /// `None` when the index is full (four thousand million bytes of ids). `hash`: of `id`, when it is known already.
    pub(super) fn find_or_insert(
        &mut self,
        id: &str,
        hash: Option<u64>,
        slots: &mut Vec<Slot>,
    ) -> Option<SlotId> {
        let hash = hash.unwrap_or_else(|| self.hasher.hash(id));
        let Self { arena, table, hasher } = self;
        let same = |slot: &SlotId| bytes_of(arena, &slots[*slot as usize]) == id.as_bytes();
        let rehash = |slot: &SlotId| hasher.of_bytes(bytes_of(arena, &slots[*slot as usize]));
        match table.entry(hash, same, rehash) {
            Entry::Occupied(found) => Some(*found.get()),
            Entry::Vacant(free) => {
                let start = u32::try_from(arena.len()).ok()?;
                let length = u16::try_from(id.len()).ok()?;
                let index = SlotId::try_from(slots.len()).ok()?;
                start.checked_add(u32::from(length))?;
                free.insert(index);
                arena.extend_from_slice(id.as_bytes());
                slots.push(Slot::new(start, length));
                Some(index)
            }
        }
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
