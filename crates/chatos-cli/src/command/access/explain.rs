//! `chatos access explain`: what a command could touch, for a person to read.

use chatos_tool::{Lang, Text};
use chatos_wire::access::{AccessDecision, AccessExplained, AccessGrant, AccessKind};

use crate::command::rules::tell_steps;
use chatos_terminal::output::{Output, Paint, pad, shell_word, visible, width};

/// One command line of what stands behind `--`: a single word is one already.
pub(super) fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
    }
}

pub(super) fn print(output: &Output, explained: &AccessExplained) {
    let lang = output.lang;
    let bold = |text: &str| output.line(&output.paint(Paint::Bold, text));
    bold(&visible(&explained.command));
    let level = match explained.level.as_str() {
        "full" => Text::fixed("full", "完整"),
        "fs" => Text::fixed("files only", "仅限文件"),
        _ => Text::fixed("none: it may do all that you may", "没有：可做你能做的一切"),
    };
    let network = match explained.network.as_str() {
        "on" => Text::fixed("on", "可用"),
        "hosts" => Text::fixed("only the machines below", "仅限下列主机"),
        _ => Text::fixed("off", "关闭"),
    };
    let root = visible(&explained.root);
    output.say(&Text::new(
        format!("in {root} · sandbox: {} ({}) · network: {}", level.en, explained.mode, network.en),
        format!("在 {root} · 沙箱：{}（{}） · 网络：{}", level.zh, explained.mode, network.zh),
    ));
    decision(output, explained);
    for kind in [AccessKind::Write, AccessKind::Read, AccessKind::Host] {
        let of: Vec<&AccessGrant> = explained.grants.iter().filter(|grant| grant.kind == kind).collect();
        if of.is_empty() {
            continue;
        }
        bold(match (kind, lang) {
            (AccessKind::Write, Lang::En) => "may write and read",
            (AccessKind::Read, Lang::En) => "may read and run",
            (AccessKind::Host, Lang::En) => "may reach",
            (AccessKind::Write, Lang::Zh) => "可写入和读取",
            (AccessKind::Read, Lang::Zh) => "可读取和运行",
            (AccessKind::Host, Lang::Zh) => "可访问",
        });
        let columns = of.iter().map(|grant| width(&visible(&grant.value))).max().unwrap_or_default().min(60);
        for grant in of {
            let id = grant.id.as_ref().map(|id| format!("  {}", visible(id))).unwrap_or_default();
            let why = output.paint(Paint::Dim, &format!("{}{id}", visible(&grant.why)));
            output.line(&format!("  {}  {why}", pad(&visible(&grant.value), columns)));
        }
    }
    if !explained.closed.is_empty() {
        bold(if lang == Lang::En { "stays closed" } else { "始终关闭" });
        for path in &explained.closed {
            output.line(&format!("  {}", visible(path)));
        }
    }
}

fn decision(output: &Output, explained: &AccessExplained) {
    let by_rule = explained.rules.is_some();
    output.say(&match explained.decision {
        AccessDecision::Allow if by_rule => {
            Text::fixed("runs without asking: a rule of yours answers", "直接运行，不询问：由你的规则回答")
        }
        AccessDecision::Allow => Text::fixed("runs without asking", "直接运行，不询问"),
        AccessDecision::Ask => Text::fixed("you would be asked:", "会询问你："),
        AccessDecision::Deny => Text::fixed("refused:", "拒绝："),
    });
    if explained.decision != AccessDecision::Allow {
        for why in &explained.why {
            output.line(&format!("  - {}", visible(why)));
        }
    }
    for finding in explained.findings.iter().filter(|finding| finding.level != "info") {
        output.line(&format!("  - {} ({})", visible(&finding.message), visible(&finding.id)));
    }
    if let Some(tried) = &explained.rules {
        tell_steps(output, tried);
    }
}
