//! Refusals of the queue as the product's errors: class, exact code, both languages, advice.

use chatos_lines::AppendError;
use chatos_prompts::{
    ArchiveError, AskError, Code, Lang as PromptLang, NotReady, Problem, QueryError, RecordsError,
    RespondError, UseError,
};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Value, json};

/// The language of the queue's texts.
pub(crate) fn lang(lang: Lang) -> PromptLang {
    match lang {
        Lang::Zh => PromptLang::Zh,
        Lang::En => PromptLang::En,
    }
}

pub(crate) fn ask_fault(error: &AskError, lang: Lang) -> Fault {
    match error {
        AskError::Invalid(problems) => invalid(ErrorCode::InvalidArgument, problems, lang),
        AskError::Conflict(problem) => invalid(ErrorCode::Conflict, std::slice::from_ref(problem), lang),
        AskError::Records(error) => records_fault(error),
        AskError::NotReady(error) => not_ready(error),
        AskError::NoEffect | AskError::Internal => internal(error),
    }
}

pub(crate) fn respond_fault(error: &RespondError, lang: Lang) -> Fault {
    let class = match error {
        RespondError::Unknown(_) => ErrorCode::NotFound,
        RespondError::AlreadyAnswered { .. }
        | RespondError::AskerGone(_)
        | RespondError::OwnAsker(_)
        | RespondError::ShownMismatch { .. }
        | RespondError::NotShown { .. } => ErrorCode::Conflict,
        RespondError::NotOwner { .. } => ErrorCode::PermissionDenied,
        RespondError::Invalid(_) => ErrorCode::InvalidArgument,
        RespondError::Records(error) => return records_fault(error),
        RespondError::Append(error) => return append_fault(error),
        RespondError::NotReady(error) => return not_ready(error),
        RespondError::Internal => return internal(error),
    };
    let problems = error.problems();
    let details = error.details(self::lang(lang));
    // Every refusal of these classes has at least one finding.
    problems.first().map_or_else(|| internal(error), |first| said(class, first)).details(details)
}

pub(crate) fn use_fault(error: &UseError) -> Fault {
    let conflict = |code: &'static str, en: &'static str, zh: &'static str| {
        Fault::new(ErrorCode::Conflict, Text::fixed(en, zh)).code(code)
    };
    match error {
        UseError::Unknown(id) => unknown(id.as_str()),
        UseError::NotConfirmed(_) => {
            conflict("not_confirmed", "the question was not confirmed", "该问题未获确认")
        }
        UseError::Changed => conflict(
            Code::ShownMismatch.as_str(),
            "what was approved is not what would happen now",
            "所同意的内容与当前将要执行的不一致",
        ),
        UseError::AlreadyUsed => conflict(
            "already_used",
            "the approval was used already; it allows nothing a second time",
            "这次同意已被使用，不能再次生效",
        ),
        UseError::Records(error) => records_fault(error),
    }
}

pub(crate) fn query_fault(error: &QueryError) -> Fault {
    match error {
        QueryError::Cursor(text) => {
            wrong("cursor", text, "the cursor of the page before", "上一页给出的 cursor")
        }
        QueryError::NotReady(error) => not_ready(error),
    }
}

pub(crate) fn archive_fault(error: &ArchiveError) -> Fault {
    match error {
        ArchiveError::Append(error) => append_fault(error),
        ArchiveError::Records(error) => records_fault(error),
        ArchiveError::NotReady(error) => not_ready(error),
        ArchiveError::Previous(why) => Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!(
                    "the last archive is not finished: other programs may still write to the old file {why}"
                ),
                format!("上一次归档尚未结束：其他程序可能仍在写入旧文件 {why}"),
            ),
        )
        .code("archive_pending")
        .hint(Text::fixed(
            "try again when that file was quiet for 24 hours and no program has it open",
            "请等待该文件静止 24 小时且没有程序打开它之后再试",
        )),
        ArchiveError::Locked => Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("another process is writing to the prompt log", "另一个进程正在写入交互日志"),
        )
        .hint(Text::fixed("try again in a moment", "请稍后重试")),
        ArchiveError::Io { source, path } => {
            let class = if source.kind() == std::io::ErrorKind::StorageFull {
                ErrorCode::ResourceExhausted
            } else {
                ErrorCode::Unavailable
            };
            Fault::new(
                class,
                Text::new(
                    format!("cannot archive the prompt log: {}", path.display()),
                    format!("无法归档交互日志：{}", path.display()),
                ),
            )
            .caused_by(source)
        }
    }
}

/// `unknown_request`.
pub(crate) fn unknown(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("no question has the id `{id}`"), format!("没有 ID 为 `{id}` 的问题")),
    )
    .code(Code::UnknownRequest.as_str())
    .hint(Text::fixed(
        "list what waits with `chatos prompts list`",
        "用 `chatos prompts list` 查看待处理的问题",
    ))
}

/// A query or body value nobody can use.
pub(crate) fn wrong(name: &str, value: &str, en: &str, zh: &str) -> Fault {
    let shown: String = value.chars().take(60).collect();
    let path = format!("/{name}");
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`{name}` cannot be `{shown}`"), format!("`{name}` 不能是 `{shown}`")),
    )
    .hint(Text::new(format!("use {en}"), format!("请使用{zh}")))
    .details(
        json!({ "errors": [{ "path": path, "code": "invalid_argument", "message": format!("use {en}") }] }),
    )
}

pub(crate) fn records_fault(error: &RecordsError) -> Fault {
    match error {
        RecordsError::Full => Fault::new(
            ErrorCode::ResourceExhausted,
            Text::fixed("the disk is full; nothing was recorded", "磁盘已满；没有记录任何内容"),
        )
        .code("disk_full")
        .hint(Text::fixed("free some space and try again", "请释放空间后重试")),
        RecordsError::Unavailable(why) | RecordsError::Corrupt(why) => Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("the prompt records cannot be used: {why}"),
                format!("无法使用交互记录：{why}"),
            ),
        )
        .code("database_unavailable")
        .hint(Text::fixed("see `chatos doctor`", "请运行 `chatos doctor` 查看")),
    }
}

fn append_fault(error: &AppendError) -> Fault {
    let (class, path) = match error {
        AppendError::Full { path, .. } => (ErrorCode::ResourceExhausted, path),
        AppendError::Unavailable { path, .. } => (ErrorCode::Unavailable, path),
    };
    let fault = Fault::new(
        class,
        Text::new(
            format!("the prompt log cannot be written; nothing was saved: {}", path.display()),
            format!("无法写入交互日志，没有保存任何内容：{}", path.display()),
        ),
    )
    .code("log_unavailable")
    .hint(Text::fixed(
        "make the file writable or free some space, then answer again",
        "请让该文件可写或释放空间，然后重新作答",
    ));
    match std::error::Error::source(error) {
        Some(source) => fault.caused_by(source),
        None => fault,
    }
}

fn not_ready(error: &NotReady) -> Fault {
    match error {
        NotReady::Loading { done, total } => Fault::new(
            ErrorCode::Unavailable,
            Text::new(error.to_string(), format!("正在读取交互日志（{done} / {total} 字节）")),
        )
        .code("loading")
        .hint(Text::fixed("it takes a moment after a start; try again", "启动后需要片刻，请重试"))
        .details(json!({ "phase": "loading", "done": done, "total": total })),
        NotReady::Failed(why) => records_fault(&RecordsError::Unavailable(why.clone())),
    }
}

fn invalid(class: ErrorCode, problems: &[Problem], lang: Lang) -> Fault {
    let errors: Vec<Value> = problems.iter().map(|problem| problem.to_json(self::lang(lang))).collect();
    let fault = match problems.first() {
        Some(first) => said(class, first),
        None => Fault::new(class, Text::fixed("the payload is not valid", "内容无效")),
    };
    fault.details(json!({ "errors": errors }))
}

// The first finding speaks for all; the others are in the details.
fn said(class: ErrorCode, problem: &Problem) -> Fault {
    let at = |text: String| if problem.path.is_empty() { text } else { format!("{}: {text}", problem.path) };
    Fault::new(class, Text::new(at(problem.message(PromptLang::En)), at(problem.message(PromptLang::Zh))))
        .code(problem.code.as_str())
        .hint(Text::new(problem.hint(PromptLang::En), problem.hint(PromptLang::Zh)))
}

fn internal(error: &dyn std::error::Error) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same(error.to_string()))
}
