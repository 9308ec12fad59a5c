//! Patterns over raw tool names: `*` and `?`, the whole name, letters of either case.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One pattern of a tool filter (agents §2). No character classes, no escapes, no separators:
/// a dot in a tool name is a character like any other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    /// A pattern as written.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the whole of `name` fits. Linear in the product of the lengths at worst: a star
    /// only ever goes back to the last one, so no pattern makes it explode.
    pub fn matches(&self, name: &str) -> bool {
        let fold = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
        let (pattern, name) = (fold(&self.0), fold(name));
        let (mut p, mut n) = (0, 0);
        let mut last_star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    last_star = Some((p, n));
                    p += 1;
                }
                Some(&c) if c == '?' || c == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => match last_star {
                    Some((star, taken)) => {
                        last_star = Some((star, taken + 1));
                        p = star + 1;
                        n = taken + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_either_case() {
        for (pattern, name, fits) in [
            ("read_file", "read_file", true),
            ("READ_*", "read_file", true),
            ("read", "read_file", false),
            ("*file", "read_file", true),
            ("r?ad*", "read_file", true),
            ("*", "", true),
            ("?", "", false),
            ("", "", true),
            ("", "x", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("db.*", "db.query", true),
            ("db.*", "dbxquery", false),
            ("[a]", "a", false),
            ("文件*", "文件读取", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), fits, "{pattern} on {name}");
        }
    }

    #[test]
    fn a_row_of_stars_is_quick() {
        let pattern = Glob::new("*a".repeat(64));
        assert!(!pattern.matches(&"a".repeat(63)));
        assert!(pattern.matches(&"a".repeat(128)));
    }
}
