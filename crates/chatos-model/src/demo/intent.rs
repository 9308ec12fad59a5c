//! What a message asks for, by a few words of English and Chinese.

/// What the demo model can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Intent {
    Greet,
    Help,
    Time,
    ListFiles,
    /// With the title that was given, if any.
    AddTask(String),
    ListTasks,
    AskForm,
    AskChoice,
    Diff,
    SubAgent,
    /// With the text that was given, if any.
    Summarise(String),
    Unknown,
}

/// The intent of a message.
pub(super) fn intent_of(text: &str) -> Intent {
    let text = text.trim();
    let lower = text.to_lowercase();
    let tokens: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let word = |words: &[&str]| words.iter().any(|word| tokens.contains(word));
    let part = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));

    // What carries a text of its own comes first: that text may contain any word.
    for start in ["summarise", "summarize", "summary", "总结", "概括", "摘要", "请总结", "帮我总结"]
    {
        if let Some(rest) = lower.strip_prefix(start) {
            // Lower case may have other lengths; the rest is cut from the text as written.
            let rest = text.chars().skip(text.chars().count().saturating_sub(rest.chars().count()));
            return Intent::Summarise(without_lead(&rest.collect::<String>()));
        }
    }
    for start in [
        "add a task",
        "add task",
        "new task",
        "todo",
        "添加任务",
        "新建任务",
        "新增任务",
        "加一个任务",
        "记一个任务",
    ] {
        if let Some(at) = lower.find(start) {
            let rest: String =
                text.chars().skip(lower[..at].chars().count() + start.chars().count()).collect();
            return Intent::AddTask(without_lead(&rest).chars().take(200).collect());
        }
    }
    if part(&["sub agent", "sub-agent", "subagent", "子代理", "子智能体"]) {
        return Intent::SubAgent;
    }
    if word(&["diff", "approve", "approval"])
        || part(&[
            "change a file",
            "write a file",
            "edit a file",
            "修改文件",
            "写文件",
            "改文件",
            "差异",
            "审批",
            "批准",
            "需要同意",
        ])
    {
        return Intent::Diff;
    }
    if word(&["choose", "choice", "options"]) || part(&["选择", "选项", "让我选"]) {
        return Intent::AskChoice;
    }
    if part(&["ask me", "问我", "提问", "表单"]) || word(&["form", "question"]) {
        return Intent::AskForm;
    }
    if word(&["task", "tasks"]) || part(&["任务", "待办"]) {
        return Intent::ListTasks;
    }
    if word(&["files", "file", "directory", "folder", "ls"]) || part(&["文件", "目录"]) {
        return Intent::ListFiles;
    }
    if word(&["time", "date", "clock"]) || part(&["几点", "时间", "日期"]) {
        return Intent::Time;
    }
    if word(&["help"])
        || part(&["what can you", "who are you", "能做什么", "会做什么", "帮助", "你是谁", "怎么用"])
    {
        return Intent::Help;
    }
    if word(&["summarise", "summarize", "summary"]) || part(&["总结", "概括", "摘要"]) {
        return Intent::Summarise(String::new());
    }
    if word(&["hi", "hello", "hey"]) || part(&["你好", "您好", "嗨", "哈喽"]) {
        return Intent::Greet;
    }
    Intent::Unknown
}

/// Without the colon and the filler between an order and what it is about.
fn without_lead(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "：:，,-—".contains(c));
    let filler = ["this text", "this", "the text", "the following", "一下", "这段话", "这段文字", "to "];
    for word in filler {
        if let Some(rest) = text.strip_prefix(word) {
            return without_lead(rest);
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_of_two_languages() {
        let task = |title: &str| Intent::AddTask(title.to_owned());
        for (text, expected) in [
            ("Hi!", Intent::Greet),
            ("你好", Intent::Greet),
            ("What can you do?", Intent::Help),
            ("你能做什么", Intent::Help),
            ("list the files here", Intent::ListFiles),
            ("看看目录里有什么文件", Intent::ListFiles),
            ("add a task: Water the plants", task("Water the plants")),
            ("TODO buy milk", task("buy milk")),
            ("添加任务：写周报", task("写周报")),
            ("show my tasks", Intent::ListTasks),
            ("有哪些任务", Intent::ListTasks),
            ("ask me something", Intent::AskForm),
            ("问我一个问题", Intent::AskForm),
            ("let me choose", Intent::AskChoice),
            ("show me a diff to approve", Intent::Diff),
            ("写文件给我看", Intent::Diff),
            ("run a sub agent", Intent::SubAgent),
            ("用子代理看看文件", Intent::SubAgent),
            ("what time is it", Intent::Time),
            ("summarise: a task about files", Intent::Summarise("a task about files".to_owned())),
            ("总结一下：今天完成了任务。", Intent::Summarise("今天完成了任务。".to_owned())),
            ("thinking about this", Intent::Unknown),
            ("量子力学是什么", Intent::Unknown),
            ("", Intent::Unknown),
        ] {
            assert_eq!(intent_of(text), expected, "{text}");
        }
    }

    #[test]
    fn letters_whose_lower_case_is_longer_break_nothing() {
        for text in ["SUMMARISE İİİ text", "İİ add task İx", "总结İ", "\u{130}TODO\u{130}"] {
            intent_of(text);
        }
    }
}
