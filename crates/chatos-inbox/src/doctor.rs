//! What the doctor says about the prompt log (`state §9`: prompt log scan).

use std::time::Duration;

use chatos_events::Finding;
use chatos_prompts::{Health, LineFault, Query, View};
use chatos_tool::Text;
use chatos_wire::Severity;

use crate::inbox::Inbox;

/// A log that has grown this far is worth an archive run.
const LARGE: u64 = 256 << 20;

/// A question that waits longer than this was probably forgotten.
const OLD_DAYS: i64 = 30;

/// A log that is still being read after this time is reported as such.
const PATIENCE: Duration = Duration::from_secs(30);

fn title() -> Text {
    Text::fixed("Prompt log", "交互日志")
}

impl Inbox {
    /// What the doctor says: one row for the queue, and one per thing that is wrong with its log.
    pub fn examine(&self) -> Vec<Finding> {
        let prompts = match self.questions() {
            Ok(questions) => questions.prompts(),
            Err(fault) => {
                let mut finding = Finding::new(fault.code, Severity::Error, title(), fault.message);
                finding.action = fault.hint;
                return vec![finding];
            }
        };
        let path = &prompts.paths().log;
        if let Err(error) = prompts.ready_within(PATIENCE) {
            return vec![
                Finding::new(
                    "prompt_log_loading",
                    Severity::Warning,
                    title(),
                    Text::new(format!("not read yet: {error}"), format!("尚未读完：{error}")),
                )
                .at(path),
            ];
        }
        prompts.catch_up();
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let counts = prompts.counts();
        let mut findings = vec![
            Finding::new(
                "prompt_log",
                Severity::Ok,
                title(),
                Text::new(
                    format!("{} open, {} unread results, {bytes} bytes", counts.needs_you, counts.results),
                    format!("{} 个待处理，{} 个未读结果，{bytes} 字节", counts.needs_you, counts.results),
                ),
            )
            .at(path),
        ];
        findings.extend(troubles(&prompts.health()).into_iter().map(|finding| finding.at(path)));
        if bytes >= LARGE {
            findings.push(
                Finding::new(
                    "prompt_log_large",
                    Severity::Info,
                    title(),
                    Text::new(format!("{} MiB", bytes >> 20), format!("{} MiB", bytes >> 20)),
                )
                .at(path)
                .action(Text::fixed(
                    "move answered prompts away with `chatos prompts archive`",
                    "可用 `chatos prompts archive` 移走已回答的交互",
                )),
            );
        }
        findings.extend(self.examine_waiting().map(|finding| finding.at(path)));
        findings.extend(self.examine_rules());
        findings
    }

    // Rows that this state did not sign count for nothing, and somebody wrote them.
    fn examine_rules(&self) -> Option<Finding> {
        let title = Text::fixed("Approval rules", "审批规则");
        match self.foreign_rules() {
            Ok(0) => None,
            Ok(count) => Some(
                Finding::new(
                    "approval_rules_foreign",
                    Severity::Error,
                    title,
                    Text::new(
                        format!("{count} changed outside ChatOS; they do not count"),
                        format!("{count} 条在 ChatOS 之外被更改，不再生效"),
                    ),
                )
                .action(Text::fixed(
                    "remove them: `chatos rules list`, then `chatos rules remove ID`",
                    "删除它们：先 `chatos rules list`，再 `chatos rules remove ID`",
                )),
            ),
            Err(fault) => Some(Finding::new(fault.code, Severity::Error, title, fault.message)),
        }
    }

    // Questions that nobody has answered for weeks.
    fn examine_waiting(&self) -> Option<Finding> {
        let prompts = self.questions().ok()?.prompts();
        let query = Query { view: View::NeedsYou, limit: 200, ..Query::default() };
        let limit = now_ms().saturating_sub(OLD_DAYS * 86_400_000);
        // Oldest first: the first page holds them.
        let old: Vec<_> =
            prompts.list(&query).ok()?.items.into_iter().filter(|item| item.ts < limit).collect();
        let first = old.first()?;
        let many = if old.len() == 200 { "200+".to_owned() } else { old.len().to_string() };
        Some(
            Finding::new(
                "prompts_forgotten",
                Severity::Info,
                title(),
                Text::new(
                    format!(
                        "{many} open for more than {OLD_DAYS} days, the oldest is `{}`",
                        first.request_id
                    ),
                    format!("{many} 个问题等待超过 {OLD_DAYS} 天，最早的是 `{}`", first.request_id),
                ),
            )
            .action(Text::fixed(
                "answer or cancel them: `chatos prompts list`, then `chatos prompts answer ID --cancel`",
                "回答或取消它们：先 `chatos prompts list`，再 `chatos prompts answer ID --cancel`",
            )),
        )
    }
}

fn now_ms() -> i64 {
    use chatos_prompts::Clock;
    chatos_prompts::SystemClock.now_ms()
}

fn troubles(health: &Health) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |code: &str, severity, message: Text, action: Text| {
        findings.push(Finding::new(code, severity, title(), message).action(action));
    };
    let access = || {
        Text::fixed(
            "check the file's owner and mode, and the space on its disk; nothing is lost meanwhile",
            "请检查文件的所有者、权限与磁盘空间；期间不会丢失内容",
        )
    };
    if let Some(why) = &health.unreadable {
        let message = Text::new(format!("cannot be read: {why}"), format!("无法读取：{why}"));
        add("prompt_log_unreadable", Severity::Error, message, access());
    }
    if let Some(why) = &health.unwritable {
        let message = Text::new(
            format!("cannot be written: {why}; lines wait in the database"),
            format!("无法写入：{why}；内容暂存于数据库"),
        );
        add("prompt_log_unwritable", Severity::Error, message, access());
    }
    if health.missing {
        add(
            "prompt_log_missing",
            Severity::Warning,
            Text::fixed("was deleted by another program", "被其他程序删除"),
            Text::fixed(
                "it is made again with the next question; put a copy back if you have one",
                "下一个问题会重新创建它；如有备份可放回原处",
            ),
        );
    }
    let unreadable = health.unreadable_lines();
    if unreadable > 0 {
        let places = places(health);
        add(
            "prompt_lines_unreadable",
            Severity::Warning,
            Text::new(
                format!("{unreadable} unreadable lines: {places}"),
                format!("{unreadable} 行无法读取：{places}"),
            ),
            Text::fixed(
                "they are kept and hide nothing else; `chatos prompts check` lists their offsets",
                "它们会被保留且不影响其他内容；`chatos prompts check` 可列出位置",
            ),
        );
    }
    if let Some(reused) = health.faults.get(&LineFault::ReusedId) {
        add(
            "prompt_ids_reused",
            Severity::Info,
            Text::new(
                format!("{} requests with an id that was used before; ignored", reused.count),
                format!("{} 个请求使用了已用过的 id；已忽略", reused.count),
            ),
            Text::fixed(
                "the program that writes them should use a new id each",
                "写入它们的程序应每次使用新的 id",
            ),
        );
    }
    if health.replaced > 0 {
        add(
            "prompt_log_replaced",
            Severity::Warning,
            Text::new(
                format!(
                    "cut or replaced by another program {} times; {} questions of other programs were lost with it",
                    health.replaced, health.lost
                ),
                format!("被其他程序截断或替换 {} 次；丢失其他程序的问题 {} 个", health.replaced, health.lost),
            ),
            Text::fixed(
                "programs must only append to this file; use `chatos prompts archive` to make it shorter",
                "其他程序只能向该文件追加；如需缩短请用 `chatos prompts archive`",
            ),
        );
    }
    if health.lock_missed > 0 {
        add(
            "prompt_lock_missed",
            Severity::Warning,
            Text::new(
                format!("{} lines were written without the lock", health.lock_missed),
                format!("{} 行在未取得锁的情况下写入", health.lock_missed),
            ),
            Text::fixed(
                "a program holds `ui-prompts.lock` for too long; find it and end it",
                "有程序长时间占用 `ui-prompts.lock`；请找出并结束它",
            ),
        );
    }
    if let Some(why) = &health.previous {
        let message = Text::new(
            format!("the last archive is still followed: {why}"),
            format!("仍在跟踪上一次归档：{why}"),
        );
        let action = Text::fixed("nothing; it ends by itself after a day", "无需处理；一天后自行结束");
        add("prompt_archive_followed", Severity::Info, message, action);
    }
    findings
}

fn places(health: &Health) -> String {
    let of = |(fault, found): (&LineFault, &chatos_prompts::FaultCount)| {
        let first = found.offsets.first().map(|at| format!(" @ {at}")).unwrap_or_default();
        format!("{} {}{first}", fault.as_str(), found.count)
    };
    let all: Vec<String> = health.faults.iter().filter(|(fault, _)| fault.is_bad()).map(of).collect();
    all.join(", ")
}
