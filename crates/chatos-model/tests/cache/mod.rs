//! A cache as Anthropic describes its own, for requests of its messages API: what of each was there before.

use std::collections::HashSet;

use serde_json::Value;

/// A body without the marks for caches, which are no part of what is read.
pub(crate) fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "cache_control");
            kept.map(|(name, value)| (name.clone(), unmarked(value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

/// The blocks of a request in the order the cache sees them, each with whether it carries a mark.
fn blocks(body: &Value) -> Vec<(String, bool)> {
    let content = body["messages"].as_array().unwrap().iter().flat_map(|said| {
        let role = said["role"].as_str().unwrap();
        said["content"].as_array().unwrap().iter().map(move |block| (role, block))
    });
    let fixed = ["tools", "system"]
        .into_iter()
        .flat_map(|member| body[member].as_array().unwrap().iter().map(move |block| (member, block)));
    fixed
        .chain(content)
        .map(|(place, block)| (format!("{place} {}", unmarked(block)), block.get("cache_control").is_some()))
        .collect()
}

/// What the vendor documents: at most four marks, each looked back from for twenty blocks, the longest beginning that is
/// there is read, and every mark keeps what lies before it.
#[derive(Default)]
pub(crate) struct Cache {
    kept: HashSet<String>,
    read: usize,
    all: usize,
}

impl Cache {
    /// Takes a request; gives how many bytes of it were read from the cache, and how many it has.
    pub(crate) fn ask(&mut self, body: &Value) -> (usize, usize) {
        let blocks = blocks(body);
        let mut beginnings = Vec::new();
        let mut whole = String::new();
        for (text, _) in &blocks {
            whole.push_str(text);
            beginnings.push(whole.clone());
        }
        let marks: Vec<usize> = (0..blocks.len()).filter(|at| blocks[*at].1).collect();
        assert!(marks.len() <= 4, "{} marks", marks.len());
        for mark in &marks {
            assert!(!blocks[*mark].0.contains("\"type\":\"thinking\""), "thinking cannot be marked");
        }
        let looked = marks.iter().flat_map(|mark| mark.saturating_sub(19)..=*mark);
        let found =
            looked.filter(|at| self.kept.contains(&beginnings[*at])).map(|at| beginnings[at].len()).max();
        let found = found.unwrap_or(0);
        self.read += found;
        self.all += whole.len();
        self.kept.extend(marks.into_iter().map(|mark| beginnings[mark].clone()));
        (found, whole.len())
    }

    /// Hundredths of all bytes that were read from the cache.
    pub(crate) fn share(&self) -> usize {
        self.read * 100 / self.all.max(1)
    }
}
