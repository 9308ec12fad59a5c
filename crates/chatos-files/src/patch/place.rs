//! Placing hunks: where they say, else nearby, else with relaxations that are reported; never in two
//! possible places, never in reverse.

use super::{Hunk, HunkFailure, Line};
use crate::edit::{indent, reindent};

/// Outer context lines that may be given up.
const MAX_FUZZ: usize = 2;

/// What was relaxed to place a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Relaxed {
    /// The hunk's number, from 1.
    pub hunk: usize,
    /// Lines away from where it said.
    pub offset: i64,
    /// White space at line ends was ignored.
    pub trailing_space: bool,
    /// White space at line beginnings was ignored.
    pub leading_space: bool,
    /// Outer context lines given up.
    pub context: usize,
}

impl Relaxed {
    /// Whether anything was relaxed.
    pub fn any(&self) -> bool {
        self.offset != 0 || self.trailing_space || self.leading_space || self.context > 0
    }
}

/// A patched text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// Every hunk found its place.
    Text {
        /// The new LF text.
        text: String,
        /// The relaxations, one per hunk that needed any.
        relaxed: Vec<Relaxed>,
    },
    /// Every hunk's result is there already.
    Already,
}

/// Why a patch cannot be applied to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceError {
    /// These hunks have no place.
    Failed(Vec<HunkFailure>),
    /// Some hunks are applied already, others not.
    AlreadyApplied(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Exact,
    Trailing,
    Both,
}

struct Found {
    /// First old line, 0-based, of the lines that are compared.
    at: usize,
    /// Context lines given up at the beginning and the end.
    lead: usize,
    trail: usize,
    space: Space,
    distance: i64,
}

enum Look {
    Found(Found),
    Ambiguous(usize),
    Nothing,
}

/// Why a hunk does not apply, in English and Chinese.
type Why = (String, String);

fn why(en: impl Into<String>, zh: impl Into<String>) -> Why {
    (en.into(), zh.into())
}

/// Applies hunks to LF text.
pub fn apply(file: &str, text: &str, hunks: &[Hunk]) -> Result<Applied, PlaceError> {
    let lines: Vec<&str> =
        text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    let mut terminated = text.is_empty() || text.ends_with('\n');
    let mut out: Vec<String> = Vec::with_capacity(lines.len());
    let mut done = 0;
    let mut drift = 0_i64;
    let mut relaxed = Vec::new();
    let mut failures = Vec::new();
    let mut already = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let number = index + 1;
        let fail = |(reason, reason_zh): Why| HunkFailure {
            file: file.to_owned(),
            hunk: number,
            expected_first_line: hunk.old_lines().first().map(|line| (*line).to_owned()).unwrap_or_default(),
            nearest_line: nearest_line(&lines, hunk),
            reason,
            reason_zh,
        };
        let found = match look(&lines, hunk, done, drift) {
            Ok(Look::Found(found)) => found,
            Ok(Look::Nothing) if is_there(&lines, hunk, done) => {
                already += 1;
                continue;
            }
            Ok(Look::Nothing) => {
                failures.push(fail(why("its lines are not in the file", "文件中没有这些行")));
                continue;
            }
            Ok(Look::Ambiguous(places)) => {
                failures.push(fail(why(
                    format!("it fits {places} places equally well; add context lines"),
                    format!("有 {places} 处同样匹配；请增加上下文行"),
                )));
                continue;
            }
            Err(reason) => {
                failures.push(fail(reason));
                continue;
            }
        };
        out.extend(lines[done..found.at].iter().map(|line| (*line).to_owned()));
        let end = put(&mut out, &lines, hunk, &found);
        if end == lines.len() {
            if hunk.new_unterminated {
                terminated = false;
            } else if hunk.old_unterminated || lines.is_empty() {
                terminated = true;
            }
        }
        drift += found.distance;
        done = end;
        let note = Relaxed {
            hunk: number,
            offset: found.distance,
            trailing_space: found.space != Space::Exact,
            leading_space: found.space == Space::Both,
            context: found.lead + found.trail,
        };
        if note.any() {
            relaxed.push(note);
        }
    }
    if !failures.is_empty() {
        return Err(PlaceError::Failed(failures));
    }
    if already == hunks.len() && already > 0 {
        return Ok(Applied::Already);
    }
    if already > 0 {
        return Err(PlaceError::AlreadyApplied(already));
    }
    out.extend(lines[done..].iter().map(|line| (*line).to_owned()));
    let mut text = out.join("\n");
    if terminated && !out.is_empty() {
        text.push('\n');
    }
    Ok(Applied::Text { text, relaxed })
}

/// Writes a placed hunk; returns the first line after it.
fn put(out: &mut Vec<String>, lines: &[&str], hunk: &Hunk, found: &Found) -> usize {
    let old = hunk.old_lines();
    let mut at = found.at;
    // Indentation by which added lines move, from the first line that both sides have.
    let shift = (found.space == Space::Both)
        .then(|| {
            let pairs = old[found.lead..old.len() - found.trail].iter().zip(&lines[found.at..]);
            pairs
                .into_iter()
                .find(|(want, _)| !want.trim().is_empty())
                .map(|(want, have)| (indent(want), indent(have)))
        })
        .flatten();
    let mut skip_lead = found.lead;
    let mut old_left = old.len() - found.lead - found.trail;
    for line in &hunk.lines {
        match line {
            Line::Added(text) => out.push(match shift {
                Some((from, to)) => reindent(text, from, to),
                None => text.clone(),
            }),
            Line::Context(_) | Line::Removed(_) if skip_lead > 0 => skip_lead -= 1,
            Line::Context(_) | Line::Removed(_) if old_left == 0 => {}
            Line::Context(_) => {
                out.push(lines[at].to_owned());
                at += 1;
                old_left -= 1;
            }
            Line::Removed(_) => {
                at += 1;
                old_left -= 1;
            }
        }
    }
    at
}

fn look(lines: &[&str], hunk: &Hunk, from: usize, drift: i64) -> Result<Look, Why> {
    let old = hunk.old_lines();
    let mut from = from;
    let mut anchored = false;
    for anchor in &hunk.anchors {
        let exact = (from..lines.len()).find(|at| lines[*at].trim() == anchor.trim());
        let Some(at) = exact.or_else(|| (from..lines.len()).find(|at| lines[*at].contains(anchor.as_str())))
        else {
            // A hunk may repeat its anchor as its own first line; then the lines decide.
            if !old.is_empty() && lines.iter().any(|line| line.contains(anchor.as_str())) {
                continue;
            }
            return Err(why(
                format!("no line after the previous hunk contains `{anchor}`"),
                format!("前一块之后没有包含 `{anchor}` 的行"),
            ));
        };
        from = at + 1;
        anchored = true;
    }
    if old.is_empty() {
        let at = if hunk.at_end {
            lines.len()
        } else if anchored {
            from
        } else {
            let stated = hunk.old_start.map_or(1, |line| line.max(1)) as i64 - 1 + drift;
            usize::try_from(stated).unwrap_or(0)
        };
        if at < from || at > lines.len() {
            return Err(why(
                format!("line {at} is beyond the end or before an earlier hunk"),
                format!("第 {at} 行超出文件末尾或位于前一块之前"),
            ));
        }
        return Ok(Look::Found(Found { at, lead: 0, trail: 0, space: Space::Exact, distance: 0 }));
    }
    // The anchor line itself may be the first context line.
    let from = if anchored { from - 1 } else { from };
    let stated = hunk.old_start.map(|line| line.max(1) as i64 - 1 + drift);
    let lead_max = hunk.lines.iter().take_while(|line| matches!(line, Line::Context(_))).count();
    let trail_max = hunk.lines.iter().rev().take_while(|line| matches!(line, Line::Context(_))).count();
    for fuzz in 0..=MAX_FUZZ {
        for space in [Space::Exact, Space::Trailing, Space::Both] {
            let mut found: Vec<Found> = Vec::new();
            for lead in 0..=fuzz {
                let trail = fuzz - lead;
                if lead > lead_max || trail > trail_max || lead + trail >= old.len() {
                    continue;
                }
                let wanted = &old[lead..old.len() - trail];
                let stated = stated.map(|line| line + lead as i64);
                for at in candidates(lines, wanted, from, space) {
                    if hunk.at_end && at + wanted.len() != lines.len() {
                        continue;
                    }
                    let near = if anchored { Some(from as i64) } else { stated };
                    let distance = near.map_or(0, |near| at as i64 - near);
                    found.push(Found { at, lead, trail, space, distance });
                }
            }
            let near = |found: &Found| found.distance.abs();
            let Some(best) = found.iter().map(near).min() else { continue };
            let mut best: Vec<Found> = found.into_iter().filter(|found| near(found) == best).collect();
            if best.len() > 1 {
                return Ok(Look::Ambiguous(best.len()));
            }
            if let Some(mut found) = best.pop() {
                if stated.is_none() {
                    found.distance = 0; // nothing was stated, so nothing is off
                }
                return Ok(Look::Found(found));
            }
        }
    }
    Ok(Look::Nothing)
}

fn candidates<'a>(
    lines: &'a [&'a str],
    wanted: &'a [&'a str],
    from: usize,
    space: Space,
) -> impl Iterator<Item = usize> + 'a {
    let last = (lines.len() + 1).saturating_sub(wanted.len());
    (from..last).filter(move |at| {
        lines[*at..].iter().zip(wanted).all(|(have, want)| match space {
            Space::Exact => have == want,
            Space::Trailing => have.trim_end() == want.trim_end(),
            Space::Both => have.trim() == want.trim(),
        })
    })
}

/// Whether the result of a hunk is there although its old lines are not.
fn is_there(lines: &[&str], hunk: &Hunk, from: usize) -> bool {
    let new = hunk.new_lines();
    let adds = hunk.lines.iter().any(|line| matches!(line, Line::Added(_)));
    // A removal leaves only context; that alone proves nothing unless it is next to each other.
    let enough = adds || new.len() >= 2;
    enough && !new.is_empty() && candidates(lines, &new, from, Space::Exact).next().is_some()
}

/// The line that resembles the hunk's first telling line most.
fn nearest_line(lines: &[&str], hunk: &Hunk) -> Option<usize> {
    let old = hunk.old_lines();
    let want = old.iter().find(|line| line.trim().len() > 2).or(old.first())?.trim();
    let score = |line: &str| {
        let line = line.trim();
        if line == want {
            return 1000;
        }
        let prefix = line.bytes().zip(want.bytes()).take_while(|(a, b)| a == b).count();
        prefix * 100 / want.len().max(1)
    };
    lines
        .iter()
        .map(|line| score(line))
        .enumerate()
        .max_by_key(|(at, score)| (*score, usize::MAX - at))
        .and_then(|(at, score)| (score > 30).then_some(at + 1))
}
