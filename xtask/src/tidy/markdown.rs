//! The little Markdown that the link and README checks need: fences, headings, links.

/// One fenced block: its info string and its lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) info: String,
    pub(crate) body: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: usize,
    pub(crate) text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) target: String,
}

/// A document taken apart.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) fences: Vec<Fence>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link>,
    /// Inline code, with its line.
    pub(crate) code: Vec<Link>,
}

pub(crate) fn parse(text: &str) -> Document {
    let mut document = Document::default();
    let mut open: Option<(String, Fence)> = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        if let Some((marker, mut fence)) = open.take() {
            if trimmed.trim_end() == marker {
                document.fences.push(fence);
            } else {
                fence.body.push_str(line);
                fence.body.push('\n');
                open = Some((marker, fence));
            }
            continue;
        }
        if let Some(marker) = fence_marker(trimmed) {
            let info = trimmed[marker.len()..].trim().to_owned();
            open = Some((marker, Fence { info, body: String::new() }));
            continue;
        }
        if let Some(heading) = heading(line) {
            document.headings.push(heading);
        }
        let code = line.split('`').skip(1).step_by(2);
        document.code.extend(code.map(|text| Link { line: index + 1, target: text.to_owned() }));
        document.links.extend(links(line).into_iter().map(|target| Link { line: index + 1, target }));
    }
    document
}

/// The run of back-ticks or tildes that opens a fence; the same run closes it.
fn fence_marker(line: &str) -> Option<String> {
    let first = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run: String = line.chars().take_while(|c| *c == first).collect();
    (run.len() >= 3).then_some(run)
}

fn heading(line: &str) -> Option<Heading> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let text = line.get(level..)?.strip_prefix(' ')?.trim().to_owned();
    (1..=6).contains(&level).then_some(Heading { level, text })
}

/// Targets of inline links and images, and of reference definitions, outside inline code.
fn links(line: &str) -> Vec<String> {
    let plain = without_inline_code(line);
    let mut targets = Vec::new();
    if let Some((label, target)) = plain.split_once("]: ")
        && label.starts_with('[')
    {
        targets.extend(target.split_whitespace().next().map(String::from));
    }
    for (at, _) in plain.match_indices("](") {
        let rest = &plain[at + 2..];
        if let Some(end) = rest.find(')') {
            // A title may follow the target: [text](target "title").
            let target = rest[..end].split_whitespace().next().unwrap_or_default();
            targets.push(target.trim_matches(['<', '>']).to_owned());
        }
    }
    targets
}

fn without_inline_code(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 0 {
            plain.push_str(part);
        }
    }
    plain
}

/// The anchor a heading gets on the usual Git hosts; CJK letters stay.
pub(crate) fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_hide_headings_and_links() {
        let document = parse("# A\n```sh\n# not [a](heading)\n```\n## B [x](y.md)\n");
        assert_eq!(document.fences, [Fence { info: "sh".into(), body: "# not [a](heading)\n".into() }]);
        let levels: Vec<usize> = document.headings.iter().map(|h| h.level).collect();
        assert_eq!(levels, [1, 2]);
        assert_eq!(document.links, [Link { line: 5, target: "y.md".into() }]);
    }

    #[test]
    fn links_of_all_three_forms() {
        let text = "[a](x.md#top) ![b](<y z.png>) `[c](no)` [d](z.md \"title\")\n[e]: w.md\n";
        let targets: Vec<String> = parse(text).links.into_iter().map(|link| link.target).collect();
        assert_eq!(targets, ["x.md#top", "y", "z.md", "w.md"]);
    }

    #[test]
    fn slugs() {
        assert_eq!(slug("What works today"), "what-works-today");
        assert_eq!(slug("`chatos serve`: the host"), "chatos-serve-the-host");
        assert_eq!(slug("两条命令"), "两条命令");
    }
}
