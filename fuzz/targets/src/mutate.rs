//! Changing inputs at random, from a seed: what coverage-guided fuzzers do, without the guide.

/// A small generator (splitmix64); the same seed gives the same inputs on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`; 0 for 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }
}

/// Longest input; limits of the readers are larger, and reached by corpus files.
const MOST: usize = 64 * 1024;

/// A new input from known ones.
pub fn mutate(random: &mut Random, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut input = corpus.get(random.below(corpus.len())).cloned().unwrap_or_default();
    for _ in 0..=random.below(6) {
        step(random, &mut input, corpus, words);
    }
    input.truncate(MOST);
    input
}

fn step(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let at = random.below(input.len() + 1);
    let end = (at + 1 + random.below(16)).min(input.len());
    match random.below(9) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = random.below(256) as u8,
        2 if at < end => drop(input.drain(at..end)),
        3 if at < end => {
            let piece = input[at..end].to_vec();
            insert(input, at, &piece);
        }
        4 => {
            let piece: Vec<u8> = (0..=random.below(8)).map(|_| random.below(256) as u8).collect();
            insert(input, at, &piece);
        }
        5 if !words.is_empty() => {
            let word = words[random.below(words.len())];
            insert(input, at, word.as_bytes());
        }
        6 if !corpus.is_empty() => {
            // The beginning of this one, the end of another.
            let other = &corpus[random.below(corpus.len())];
            let from = random.below(other.len() + 1);
            input.truncate(at);
            input.extend(&other[from..]);
        }
        7 if !words.is_empty() && at < end => {
            let word = words[random.below(words.len())];
            input.splice(at..end, word.bytes());
        }
        8 if at < input.len() => {
            // Many times the same: depth and length.
            let byte = input[at];
            let piece = vec![byte; 1 << random.below(12)];
            insert(input, at, &piece);
        }
        _ => input.truncate(at),
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}
