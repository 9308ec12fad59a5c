//! The English and the Chinese README say the same: same headings, same commands.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::tidy::markdown;
use crate::workspace::Workspace;

const EN: &str = "README.md";
const ZH: &str = "README.zh-CN.md";

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    if !workspace.has(EN) && !workspace.has(ZH) {
        return Ok(Vec::new());
    }
    Ok(compare(&workspace.read(EN)?, &workspace.read(ZH)?))
}

/// Headings are compared by level, code blocks letter by letter; the words between are the translator's.
fn compare(en: &str, zh: &str) -> Vec<Finding> {
    let (en, zh) = (markdown::parse(en), markdown::parse(zh));
    let mut findings = Vec::new();
    let levels =
        |document: &markdown::Document| document.headings.iter().map(|h| h.level).collect::<Vec<_>>();
    if levels(&en) != levels(&zh) {
        findings.push(
            Finding::error(
                "readme",
                ZH,
                format!(
                    "has {} headings where {EN} has {}, or at other levels",
                    zh.headings.len(),
                    en.headings.len()
                ),
            )
            .hint("change both in the same commit"),
        );
    }
    if en.fences.len() != zh.fences.len() {
        findings.push(Finding::error(
            "readme",
            ZH,
            format!("has {} code blocks where {EN} has {}", zh.fences.len(), en.fences.len()),
        ));
    }
    for (index, (en, zh)) in en.fences.iter().zip(&zh.fences).enumerate() {
        if en != zh {
            let message = format!("code block {} differs from {EN}", index + 1);
            findings.push(Finding::error("readme", ZH, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn equal_in_structure_passes() {
        assert_eq!(compare("# A\n```sh\nrun\n```\n## B\n", "# 甲\n```sh\nrun\n```\n## 乙\n"), []);
    }

    #[test]
    fn differences_are_told_apart() {
        let found = compare("# A\n```sh\nrun\n```\n## B\n", "# 甲\n```sh\nstart\n```\n");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("has 1 headings where README.md has 2"), "{}", found[0]);
        assert_eq!(found[1], "error[readme] README.zh-CN.md: code block 1 differs from README.md");
    }
}
