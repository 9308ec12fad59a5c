//! Finding a tool among hundreds by words: BM25 over names, titles, descriptions, parameters and the server's name.
//! Chinese has no spaces, so that neighbouring pairs of characters count as its words. Nothing is indexed before it is
//! asked: one pass counts only the words of the query.

use serde_json::Value;

use crate::toolset::GrantedTool;

/// Words of a query that count.
const MOST_WORDS: usize = 48;
/// How much a word counts where it stands.
const IN_NAME: f32 = 5.0;
const IN_SERVER: f32 = 2.0;
const IN_TEXT: f32 = 1.0;
const IN_PARAMETERS: f32 = 0.6;
/// The usual constants of BM25: how soon repetition stops counting, and how much length is held against a text.
const K: f32 = 1.2;
const B: f32 = 0.6;

/// The tools a query is about, the best first; ties by name. Tools that share no word with it are not among them.
pub fn search<'a>(tools: &[&'a GrantedTool], query: &str) -> Vec<&'a GrantedTool> {
    let mut wanted: Vec<u64> = Vec::new();
    words(query, &mut |word| {
        if wanted.len() < MOST_WORDS && !wanted.contains(&word) && !is_filler(word) {
            wanted.push(word);
        }
    });
    let exact = query.trim().to_lowercase();
    let docs: Vec<Doc> = tools.iter().map(|tool| Doc::of(tool, &wanted)).collect();
    let average = docs.iter().map(|doc| doc.length).sum::<f32>() / (docs.len().max(1) as f32);
    let weights: Vec<f32> = (0..wanted.len())
        .map(|word| {
            let with = docs.iter().filter(|doc| doc.counts[word] > 0.0).count() as f32;
            let all = docs.len() as f32;
            (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
        })
        .collect();
    let mut scored: Vec<(f32, &'a GrantedTool)> = docs
        .iter()
        .zip(tools)
        .map(|(doc, tool)| {
            let damp = K * (1.0 - B + B * doc.length / average.max(1.0));
            let score = doc
                .counts
                .iter()
                .zip(&weights)
                .map(|(count, weight)| weight * count * (K + 1.0) / (count + damp));
            let named = tool.name.eq_ignore_ascii_case(&exact) || tool.tool.eq_ignore_ascii_case(&exact);
            (score.sum::<f32>() + if named { 1_000.0 } else { 0.0 }, *tool)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    scored.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.name.cmp(&right.name)));
    scored.into_iter().map(|(_, tool)| tool).collect()
}

/// How often each wanted word stands in one tool, by weight, and how long the tool's text is.
struct Doc {
    counts: Vec<f32>,
    length: f32,
}

impl Doc {
    fn of(tool: &GrantedTool, wanted: &[u64]) -> Self {
        let mut doc = Self { counts: vec![0.0; wanted.len()], length: 0.0 };
        doc.read(&tool.tool, IN_NAME, wanted);
        doc.read(&tool.server, IN_SERVER, wanted);
        doc.read(&tool.description, IN_TEXT, wanted);
        let parameters = tool.input_schema["properties"].as_object();
        for (name, schema) in parameters.into_iter().flatten() {
            doc.read(name, IN_PARAMETERS, wanted);
            doc.read(schema["description"].as_str().unwrap_or_default(), IN_PARAMETERS, wanted);
            for word in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                doc.read(word, IN_PARAMETERS, wanted);
            }
        }
        doc
    }

    fn read(&mut self, text: &str, weight: f32, wanted: &[u64]) {
        words(text, &mut |word| {
            self.length += weight.min(1.0);
            if let Some(at) = wanted.iter().position(|one| *one == word) {
                self.counts[at] += weight;
            }
        });
    }
}

/// Words that say nothing about a tool.
const FILLERS: [&str; 26] = [
    "a", "an", "the", "of", "to", "in", "on", "for", "and", "or", "is", "are", "it", "me", "my", "with",
    "by", "from", "this", "that", "please", "can", "you", "i", "at", "all",
];

fn is_filler(word: u64) -> bool {
    FILLERS.iter().any(|filler| hash(filler.bytes()) == word)
}

/// FNV-1a: a word is known by its number, so that nothing is allocated for it.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Every word of a text: parts of `snake_case`, `camelCase` and `kebab-case`, in lower case and without the ending of
/// a plural; pairs of neighbouring Chinese characters.
fn words(text: &str, each: &mut impl FnMut(u64)) {
    let mut word: Vec<u8> = Vec::with_capacity(24);
    let mut last_han: Option<char> = None;
    let mut lower_before = false;
    let flush = |word: &mut Vec<u8>, each: &mut dyn FnMut(u64)| {
        if !word.is_empty() {
            each(hash(stem(word).iter().copied()));
            word.clear();
        }
    };
    for letter in text.chars() {
        // Nearly all of what is searched is English.
        if letter.is_ascii() {
            last_han = None;
            if letter.is_ascii_alphanumeric() {
                if letter.is_ascii_uppercase() && lower_before {
                    flush(&mut word, each);
                }
                lower_before = !letter.is_ascii_uppercase();
                word.push(letter.to_ascii_lowercase() as u8);
            } else {
                lower_before = false;
                flush(&mut word, each);
            }
            continue;
        }
        if is_han(letter) {
            flush(&mut word, each);
            if let Some(before) = last_han {
                let mut pair = [0; 8];
                let first = before.encode_utf8(&mut pair).len();
                let rest = letter.encode_utf8(&mut pair[first..]).len();
                each(hash(pair[..first + rest].iter().copied()));
            }
            last_han = Some(letter);
            lower_before = false;
            continue;
        }
        last_han = None;
        if letter.is_alphanumeric() {
            if letter.is_uppercase() && lower_before {
                flush(&mut word, each);
            }
            lower_before = letter.is_lowercase() || letter.is_numeric();
            for low in letter.to_lowercase() {
                let mut bytes = [0; 4];
                word.extend_from_slice(low.encode_utf8(&mut bytes).as_bytes());
            }
        } else {
            lower_before = false;
            flush(&mut word, each);
        }
    }
    flush(&mut word, each);
}

/// `files` is `file`, `branches` is `branch`, `searching` is `search`, `create` and `creating` are one; short words
/// stay as they are.
fn stem(word: &[u8]) -> &[u8] {
    let cut = |ending: &[u8], keep: usize, least: usize| {
        (word.len() >= least && word.ends_with(ending)).then(|| &word[..word.len() - ending.len() + keep])
    };
    let plural = || cut(b"s", 0, 4).filter(|rest| !rest.ends_with(b"s") && !rest.ends_with(b"u"));
    let stem = cut(b"ches", 2, 6)
        .or_else(|| cut(b"shes", 2, 6))
        .or_else(|| cut(b"sses", 2, 6))
        .or_else(|| cut(b"xes", 1, 5))
        .or_else(|| cut(b"ing", 0, 6))
        .or_else(|| cut(b"ed", 0, 5))
        .or_else(plural)
        .unwrap_or(word);
    stem.strip_suffix(b"e").filter(|rest| rest.len() >= 4).unwrap_or(stem)
}

#[cfg(test)]
mod tests;
