//! JSON with comments, changed by text: every byte that is not ours stays as it is.

use serde_json::Value;

/// Why a text cannot be read or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The line of the fault, from 1.
    pub line: usize,
    pub what: &'static str,
}

/// How deep a file may be.
const MAX_DEPTH: usize = 128;

/// A value and where it stands.
#[derive(Debug, Clone)]
struct Node {
    start: usize,
    end: usize,
    inner: Inner,
}

#[derive(Debug, Clone)]
enum Inner {
    Object(Vec<(String, Node, usize)>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Item(usize),
}

/// The value of a text; comments and a comma before a closing bracket are allowed. An empty text is an empty object.
pub fn parse(text: &str) -> Result<Value, Broken> {
    Ok(value(&root(text)?))
}

fn root(text: &str) -> Result<Node, Broken> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_bom();
    reader.blank()?;
    if reader.at == text.len() {
        return Ok(Node { start: reader.at, end: reader.at, inner: Inner::Object(Vec::new()) });
    }
    let node = reader.node(0)?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(reader.broken("something follows the value"));
    }
    Ok(node)
}

fn value(node: &Node) -> Value {
    match &node.inner {
        Inner::Scalar(value) => value.clone(),
        Inner::Array(items) => Value::Array(items.iter().map(value).collect()),
        Inner::Object(members) => {
            Value::Object(members.iter().map(|(key, node, _)| (key.clone(), value(node))).collect())
        }
    }
}

/// Puts `element` at the end of the array at `path`, a way of keys; what is missing on the way is made.
pub fn push(text: &str, path: &[&str], element: &Value) -> Result<String, Broken> {
    let node = root(text)?;
    if node.start == node.end {
        let mut whole = nested(path, element);
        whole.push('\n');
        return Ok(format!("{}{whole}", &text[..node.end]));
    }
    let mut at = &node;
    for (depth, key) in path.iter().enumerate() {
        let Inner::Object(members) = &at.inner else {
            return Err(broken_at(text, at.start, "an object is expected here"));
        };
        match members.iter().rev().find(|(name, ..)| name == key) {
            Some((_, next, _)) => at = next,
            None => {
                let member = format!("{}: {}", Value::from(*key), nested(&path[depth + 1..], element));
                let last = members.last().map(|(_, node, _)| node.end);
                return insert(text, at, last, &member);
            }
        }
    }
    let Inner::Array(items) = &at.inner else {
        return Err(broken_at(text, at.start, "a list is expected here"));
    };
    insert(text, at, items.last().map(|node| node.end), &pretty(element))
}

fn nested(path: &[&str], element: &Value) -> String {
    let whole = path.iter().rev().fold(Value::Array(vec![element.clone()]), |inner, key| {
        Value::Object([((*key).to_owned(), inner)].into_iter().collect())
    });
    pretty(&whole)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Puts a member or an element behind the last one of `node`.
fn insert(text: &str, node: &Node, last: Option<usize>, what: &str) -> Result<String, Broken> {
    let close = node.end - 1;
    let line_start = text[..node.start].rfind('\n').map_or(0, |at| at + 1);
    let outer: String = text[line_start..].chars().take_while(|c| *c == ' ' || *c == '\t').collect();
    let unit = if outer.starts_with('\t') { "\t" } else { "  " };
    let indent = format!("{outer}{unit}");
    let body = what.replace('\n', &format!("\n{indent}"));
    let Some(last) = last else {
        // Comments inside stay where they are.
        let inside = text[node.start + 1..close].trim_end();
        let at = node.start + 1 + inside.len();
        return Ok(format!("{}\n{indent}{body}\n{outer}{}", &text[..at], &text[close..]));
    };
    let one_line = !text[node.start..close].contains('\n');
    let mut reader = Reader { text, at: last };
    reader.blank()?;
    let has_comma = text[reader.at..].starts_with(',');
    if one_line {
        let at = if has_comma { reader.at + 1 } else { last };
        let separator = if has_comma { " " } else { ", " };
        let body = one_lined(what);
        return Ok(format!("{}{separator}{body}{}", &text[..at], &text[at..]));
    }
    let tail = text[..close].trim_end().len().max(last);
    let comma = if has_comma { "" } else { "," };
    Ok(format!("{}{comma}{}\n{indent}{body}{}", &text[..last], &text[last..tail], &text[tail..]))
}

/// The same member without line breaks; its strings hold none, JSON escapes them.
fn one_lined(what: &str) -> String {
    what.lines().map(str::trim_start).collect::<Vec<_>>().join(" ")
}

/// Takes the member or element at `path` out, with its comma.
pub fn remove(text: &str, path: &[Step]) -> Result<String, Broken> {
    let node = root(text)?;
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut at = &node;
    for step in way {
        at = child(at, step).ok_or_else(|| broken_at(text, at.start, "this is not there any more"))?.1;
    }
    let (index, found) =
        child(at, last).ok_or_else(|| broken_at(text, at.start, "this is not there any more"))?;
    let spans: Vec<(usize, usize)> = match &at.inner {
        Inner::Object(members) => members.iter().map(|(_, node, key)| (*key, node.end)).collect(),
        Inner::Array(items) => items.iter().map(|node| (node.start, node.end)).collect(),
        Inner::Scalar(_) => Vec::new(),
    };
    let start = spans.get(index).map_or(found.start, |span| span.0);
    let mut reader = Reader { text, at: found.end };
    reader.blank()?;
    let comma_after = text[reader.at..].starts_with(',').then_some(reader.at + 1);
    let (from, to) = match (index.checked_sub(1).and_then(|before| spans.get(before)), comma_after) {
        // With the comma before it; comments between the two stay.
        (Some(before), None) => {
            let mut gap = Reader { text, at: before.1 };
            gap.blank()?;
            let behind = gap.at + usize::from(text[gap.at..].starts_with(','));
            let kept = text[behind..start].trim_end();
            return Ok(joined(&format!("{}{kept}", &text[..gap.at]), !kept.is_empty(), &text[found.end..]));
        }
        (Some(before), Some(after)) => {
            // The comma before stays for what follows; ours goes with it.
            let mut gap = Reader { text, at: before.1 };
            gap.blank()?;
            let behind = gap.at + usize::from(text[gap.at..].starts_with(','));
            let keeps = text[behind..start].trim().is_empty();
            (if keeps { behind } else { start }, after)
        }
        (None, Some(after)) => {
            let rest = &text[after..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            (start, after + blank)
        }
        (None, None) => {
            let lead = text[at.start + 1..start].trim_end().len();
            let tail = text[found.end..at.end - 1].len() - text[found.end..at.end - 1].trim_start().len();
            if lead > 0 {
                return Ok(joined(&text[..at.start + 1 + lead], true, &text[found.end..]));
            }
            (at.start + 1 + lead, found.end + tail)
        }
    };
    Ok(format!("{}{}", &text[..from], &text[to..]))
}

/// What is left of a text, on lines of their own where a comment stands before the gap: it must not swallow the rest.
fn joined(before: &str, comment: bool, after: &str) -> String {
    let ends_line = after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    format!("{before}{}{after}", if comment && !ends_line { "\n" } else { "" })
}

fn child<'a>(node: &'a Node, step: &Step) -> Option<(usize, &'a Node)> {
    match (&node.inner, step) {
        (Inner::Object(members), Step::Key(key)) => {
            let index = members.iter().rposition(|(name, ..)| name == key)?;
            Some((index, &members.get(index)?.1))
        }
        (Inner::Array(items), Step::Item(index)) => Some((*index, items.get(*index)?)),
        _ => None,
    }
}

fn broken_at(text: &str, at: usize, what: &'static str) -> Broken {
    let line = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    Broken { line, what }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn broken(&self, what: &'static str) -> Broken {
        broken_at(self.text, self.at, what)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_bom(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = 3;
        }
    }

    /// White space and comments.
    fn blank(&mut self) -> Result<(), Broken> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let end = self.rest().find("*/").ok_or_else(|| self.broken("a comment does not end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, Broken> {
        if depth > MAX_DEPTH {
            return Err(self.broken("nested too deeply"));
        }
        let start = self.at;
        let inner = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Inner::Scalar(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.broken("a value is missing")),
        };
        Ok(Node { start, end: self.at, inner })
    }

    fn object(&mut self, depth: usize) -> Result<Inner, Broken> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Inner::Object(members));
                }
                Some(b'"') => {}
                _ => return Err(self.broken("a name or `}` is expected")),
            }
            let key_at = self.at;
            let key = self.string()?;
            self.blank()?;
            if self.peek() != Some(b':') {
                return Err(self.broken("`:` is expected"));
            }
            self.at += 1;
            self.blank()?;
            let node = self.node(depth + 1)?;
            members.push((key, node, key_at));
            self.blank()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {}
                _ => return Err(self.broken("`,` or `}` is expected")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Inner, Broken> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Inner::Array(items));
            }
            items.push(self.node(depth + 1)?);
            self.blank()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {}
                _ => return Err(self.broken("`,` or `]` is expected")),
            }
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.broken("a text does not end")),
                Some(_) => end += 1,
            }
        }
        let text = self.text.get(self.at..=end).ok_or_else(|| self.broken("a text does not end"))?;
        let text = serde_json::from_str(text).map_err(|_| self.broken("a text is not valid"))?;
        self.at = end + 1;
        Ok(text)
    }

    fn word(&mut self) -> Result<Inner, Broken> {
        let length = self
            .rest()
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(self.rest().len());
        let value = serde_json::from_str(&self.rest()[..length]).map_err(|_| self.broken("not a value"))?;
        self.at += length;
        Ok(Inner::Scalar(value))
    }
}

#[cfg(test)]
mod tests;
