//! How much a command will print, as far as its words tell.

use schemars::JsonSchema;
use serde::Serialize;

use super::argv;
use super::path::Scene;
use crate::lex::Script;

/// Files that are counted before the answer is "many".
const MAX_COUNTED: u64 = 20_000;

/// A guess at the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Estimate {
    /// Bytes
    pub(crate) bytes: u64,
    /// What the number comes from: files, or entries
    pub(crate) basis: &'static str,
}

/// The estimate of a line; `None` when its words do not tell.
pub(super) fn estimate(script: &Script, scene: &Scene) -> Option<Estimate> {
    let mut total: Option<Estimate> = None;
    for simple in script.commands.iter().filter(|simple| !simple.piped_out && !simple.piped_in) {
        let effective = argv::effective(simple);
        let name = effective.name()?;
        let found = match name {
            "cat" | "tac" | "nl" | "bat" | "less" | "more" => {
                let sizes = effective
                    .plain()
                    .map(|text| std::fs::metadata(scene.real(text)?).ok().map(|facts| facts.len()));
                let bytes = sizes.sum::<Option<u64>>()?;
                (bytes > 0).then_some(Estimate { bytes, basis: "files" })
            }
            "find" | "tree" | "fd" => {
                let start = effective.plain().next().filter(|text| !text.starts_with('-')).unwrap_or(".");
                let entries = count(&scene.real(start)?);
                Some(Estimate { bytes: entries * 64, basis: "entries" })
            }
            "ls" if effective.has('R', "recursive") => {
                let entries = count(&scene.real(effective.plain().next().unwrap_or("."))?);
                Some(Estimate { bytes: entries * 64, basis: "entries" })
            }
            _ => None,
        };
        total = match (total, found) {
            (Some(sum), Some(more)) => Some(Estimate { bytes: sum.bytes + more.bytes, ..sum }),
            (sum, more) => sum.or(more),
        };
    }
    total
}

fn count(start: &std::path::Path) -> u64 {
    let mut open = vec![start.to_owned()];
    let mut seen = 0;
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            seen += 1;
            if seen >= MAX_COUNTED {
                return seen;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    seen
}
