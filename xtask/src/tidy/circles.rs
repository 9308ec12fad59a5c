//! Files of one crate that import each other in a circle. A small circle is one thought in several files; a large
//! one means that nothing in it can be read, moved or tested alone.
//!
//! An import is a `use` or a path that begins with `crate::`, `super::` or a child's name. A `pub use` is no import
//! but a forwarding: whoever uses the name imports the file that defines it. `mod` lines do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::finding::Finding;
use crate::tidy::settings::Settings;
use crate::tidy::source::Source;

/// The largest circle that is let be.
const LIMIT: usize = 8;

type Module = Vec<String>;

pub(crate) fn check(sources: &[Source], settings: &Settings) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        crates.entry(&source.krate).or_default().push(source);
    }
    let mut findings = Vec::new();
    for (krate, sources) in crates {
        let allowed = settings.circles.get(krate).copied().unwrap_or_default().max(LIMIT);
        for circle in circles(&sources).into_iter().filter(|circle| circle.len() > allowed) {
            let names: Vec<&str> = circle.iter().map(String::as_str).collect();
            let message =
                format!("{} files import each other in a circle: {}", names.len(), names.join(", "));
            let hint = format!(
                "put what the others need into a file that imports none of them; the root keeps `mod` lines and \
                 `pub use` (limit {allowed})"
            );
            findings.push(Finding::error("circles", format!("crates/{krate}"), message).hint(hint));
        }
    }
    findings
}

/// What a file says about others.
struct File {
    /// Names it forwards, and where they lead.
    forwards: BTreeMap<String, Module>,
    /// Paths it uses, from the root of the crate.
    uses: BTreeSet<Module>,
}

/// Groups of files in which each reaches each, by their paths.
fn circles(sources: &[&Source]) -> Vec<Vec<String>> {
    let modules: BTreeSet<&Module> = sources.iter().map(|source| &source.module).collect();
    let files: BTreeMap<&Module, File> =
        sources.iter().map(|source| (&source.module, read(source, &modules))).collect();
    let edges: BTreeMap<&Module, BTreeSet<&Module>> = files
        .iter()
        .map(|(module, file)| {
            let to = file.uses.iter().filter_map(|path| home(path, &files, 0)).filter(|to| to != module);
            (*module, to.collect())
        })
        .collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        edges.keys().map(|module| (*module, reach(module, &edges))).collect();
    let mut groups: BTreeSet<Vec<&Module>> = BTreeSet::new();
    for (module, all) in &reached {
        let group: Vec<&Module> = all
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(module)))
            .copied()
            .collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    let name = |module: &&Module| if module.is_empty() { "lib".to_owned() } else { module.join("/") };
    groups.iter().map(|group| group.iter().map(name).collect()).collect()
}

fn reach<'a>(from: &'a Module, edges: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> BTreeSet<&'a Module> {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![from]);
    while let Some(module) = pending.pop() {
        for next in edges.get(module).into_iter().flatten() {
            if seen.insert(*next) {
                pending.push(next);
            }
        }
    }
    seen
}

/// The file that defines what a path names.
fn home<'a>(path: &[String], files: &BTreeMap<&'a Module, File>, depth: usize) -> Option<&'a Module> {
    let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length].to_vec()))?;
    let (module, file) = files.get_key_value(&path[..length].to_vec())?;
    let forwarded = path.get(length).and_then(|name| file.forwards.get(name));
    match forwarded {
        // A forwarding of a forwarding, up to a length nobody writes.
        Some(target) if depth < 8 => home(target, files, depth + 1),
        _ => Some(module),
    }
}

fn read(source: &Source, modules: &BTreeSet<&Module>) -> File {
    let mut file = File { forwards: BTreeMap::new(), uses: BTreeSet::new() };
    let code = without_comments(&source.text);
    let mut rest = code.as_str();
    while let Some(at) = find_use(rest) {
        let before = rest[..at].trim_end();
        let public = before.ends_with("pub")
            || before.ends_with(')')
                && before.rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("pub("));
        let Some(end) = rest[at..].find(';') else { break };
        let tree = rest[at + "use ".len()..at + end].split_whitespace().collect::<Vec<_>>().join(" ");
        for (path, name) in leaves(&tree) {
            let Some(path) = absolute(&path, &source.module, modules) else { continue };
            if public {
                file.forwards.insert(name, path);
            } else {
                file.uses.insert(path);
            }
        }
        rest = &rest[at + end..];
    }
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let inside_a_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            let in_a_use = code[..at].rsplit(['\n', ';']).next().is_some_and(|line| line.contains("use "));
            if inside_a_word || in_a_use {
                continue;
            }
            let path = code[at..].split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).next();
            let path: Vec<String> = path
                .unwrap_or_default()
                .split("::")
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect();
            file.uses.extend(absolute(&path, &source.module, modules));
        }
    }
    file
}

fn find_use(text: &str) -> Option<usize> {
    text.match_indices("use ")
        .map(|(at, _)| at)
        .find(|at| text[..*at].ends_with(['\n', ' ', ')', ';', '{', '}']) || *at == 0)
}

/// The paths of a `use` tree, each with the name it gets.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    expand(&[], tree, &mut found);
    found
}

fn expand(prefix: &[String], tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let mut path = prefix.to_vec();
        path.extend(names(head));
        // The last brace only: inner groups keep theirs.
        let inside = &group[..group.rfind('}').unwrap_or(group.len())];
        for part in split_top(inside) {
            expand(&path, part, found);
        }
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (path, renamed) = match tree.split_once(" as ") {
        Some((path, name)) => (path, Some(name.trim().to_owned())),
        None => (tree, None),
    };
    let mut whole = prefix.to_vec();
    whole.extend(names(path).filter(|name| name != "self" || prefix.is_empty()));
    let last = whole.last().cloned().unwrap_or_default();
    found.push((whole, renamed.unwrap_or(last)));
}

fn names(path: &str) -> impl Iterator<Item = String> {
    path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Parts between commas that are in no inner group.
fn split_top(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A path from the root of the crate; `None` when it leads out of it.
fn absolute(path: &[String], module: &Module, modules: &BTreeSet<&Module>) -> Option<Module> {
    let first = path.first()?.as_str();
    match first {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let ups = path.iter().take_while(|name| *name == "super").count();
            let base = module.len().checked_sub(ups)?;
            Some([&module[..base], &path[ups..]].concat())
        }
        child => {
            let inside = [module.as_slice(), &[child.to_owned()]].concat();
            modules.contains(&inside).then(|| [module.as_slice(), path].concat())
        }
    }
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(module: &str, text: &str) -> Source {
        let module = module.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Source { krate: "x".to_owned(), module, text: text.to_owned() }
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(module, text)| source(module, text)).collect();
        circles(&sources.iter().collect::<Vec<_>>()).iter().map(|circle| circle.join(" ")).collect()
    }

    #[test]
    fn a_type_in_the_root_ties_its_children() {
        let files = [
            ("", "mod runs;"),
            ("runs", "mod one;\nmod two;\nuse one::First;\nuse two::Second;\npub struct Runs;"),
            ("runs/one", "use super::Runs;\npub struct First;"),
            ("runs/two", "use crate::runs::{Runs, one::First};\npub struct Second;"),
        ];
        assert_eq!(found(&files), ["runs runs/one runs/two"]);
    }

    #[test]
    fn a_type_in_a_leaf_ties_nobody_and_a_forwarding_is_no_import() {
        let files = [
            ("", "mod runs;\npub use runs::Runs;"),
            ("runs", "mod one;\nmod state;\npub use state::Runs;\npub(crate) use one::First;"),
            ("runs/one", "use super::state::Runs;\npub struct First;"),
            ("runs/state", "pub struct Runs;"),
            ("other", "use crate::Runs;"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn paths_in_code_count_and_words_in_comments_do_not() {
        let tied = [("a", "fn f() { crate::b::g() }"), ("b", "pub fn g() { super::a::f() }")];
        assert_eq!(found(&tied), ["a b"]);
        let apart = [("a", "fn f() { crate::b::g() }"), ("b", "// crate::a::f\npub fn g() {}")];
        assert_eq!(found(&apart), Vec::<String>::new());
    }
}
