//! What the demo model says, in the language it was spoken to.

use serde_json::{Value, json};

/// Where a real model is added.
const MODELS: &str = "#/agents/models";

/// A text in a fence that no fence in it can end.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// The language of an answer.
pub(super) struct Words {
    zh: bool,
}

impl Words {
    /// Chinese for whoever writes Chinese, else English.
    pub(super) fn of(text: &str) -> Self {
        Self { zh: text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) }
    }

    fn pick(&self, en: impl Into<String>, zh: impl Into<String>) -> String {
        if self.zh { zh.into() } else { en.into() }
    }

    pub(super) fn greeting(&self) -> String {
        self.pick(
            "Hello! I’m the demo model of ChatOS. I need no key and no network, and I only know a few things. \
             Ask “what can you do?” to see them.",
            "你好！我是 ChatOS 的演示模型，不需要密钥，也不联网，只会几件事。问我“你能做什么”就能看到。",
        )
    }

    pub(super) fn help(&self, tools: &[&str]) -> String {
        let has = |tool: &str| tools.contains(&tool);
        let mut lines = Vec::new();
        let mut line = |there: bool, en: &str, zh: &str| {
            let mark = match (there, self.zh) {
                (true, _) => "",
                (false, true) => "（该智能体未获授权）",
                (false, false) => " (not granted to this agent)",
            };
            lines.push(format!("- {}{mark}", if self.zh { zh } else { en }));
        };
        line(has("list_directory"), "“list files”: what is in the workspace", "“列出文件”：查看工作目录");
        line(has("add_task"), "“add a task: …” and “list tasks”", "“添加任务：……”与“有哪些任务”");
        line(
            has("prompt_key_values"),
            "“ask me something” or “let me choose”: a form for you",
            "“问我一个问题”或“让我选择”：给你一个表单",
        );
        line(
            has("write_file"),
            "“show me a diff to approve”: a file change that waits for your approval",
            "“给我看差异”：一个需要你同意的文件改动",
        );
        line(
            has("run_sub_agent"),
            "“run a subagent”: another agent looks at the files",
            "“运行子智能体”：由另一个智能体查看文件",
        );
        line(true, "“summarize: …”: the main sentences of a text", "“总结：……”：摘出一段文字中的几句");
        let head = self.pick(
            "I’m the demo model. This is what I can do, with real tools:",
            "我是演示模型，会做这些事，用的是真正的工具：",
        );
        format!("{head}\n\n{}", lines.join("\n"))
    }

    pub(super) fn calling(&self) -> String {
        self.pick("Let me check.", "我查一下。")
    }

    pub(super) fn adding(&self) -> String {
        self.pick("I’ll add it.", "我来添加。")
    }

    pub(super) fn asking(&self) -> String {
        self.pick("I have a question for you.", "我有个问题想问你。")
    }

    pub(super) fn proposing(&self, file: &str) -> String {
        self.pick(
            format!("I’d like to write `{file}`. You see the difference first, then decide."),
            format!("我想写入 `{file}`。你会先看到差异，再做决定。"),
        )
    }

    pub(super) fn delegating(&self) -> String {
        self.pick(
            "I’ll hand this to a subagent and wait for its report.",
            "我把这件事交给子智能体，并等待它的报告。",
        )
    }

    pub(super) fn added(&self) -> String {
        self.pick("The task is added. This is the list now:", "任务已添加。现在的列表是：")
    }

    pub(super) fn result(&self, content: &str) -> String {
        let head = self.pick("Here’s what I found:", "结果如下：");
        format!("{head}\n\n{}", fenced(content))
    }

    pub(super) fn answered(&self, content: &str) -> String {
        let head = self.pick("Thank you. Your answer reached me as:", "谢谢。我收到的回答是：");
        format!("{head}\n\n{}", fenced(content))
    }

    pub(super) fn written(&self, file: &str) -> String {
        self.pick(
            format!("I wrote `{file}`. You can undo it under Changes, or delete the file."),
            format!("已写入 `{file}`。可以在“更改”中撤销，也可以直接删除这个文件。"),
        )
    }

    pub(super) fn declined(&self) -> String {
        self.pick("You said no, so I left it. Nothing was changed.", "你拒绝了，我没有动手，什么都没有更改。")
    }

    pub(super) fn reported(&self, content: &str) -> String {
        let head = self.pick("The subagent reports:", "子智能体的报告：");
        format!("{head}\n\n{content}")
    }

    pub(super) fn failed(&self, content: &str) -> String {
        let head = self.pick("That didn’t work. The tool said:", "没有成功。工具返回：");
        format!("{head}\n\n{}", fenced(content))
    }

    pub(super) fn bad_order(&self, wrong: &str) -> String {
        let head = self.pick("I can’t read this command", "无法识别这条指令");
        format!(
            "{head} ({wrong}).\n\n```\n/call TOOL {{\"name\": \"value\"}}\n/calls [{{\"tool\": \"TOOL\", \"args\": {{}}}}]\n```"
        )
    }

    pub(super) fn no_such_tool(&self, tool: &str, offered: &[&str]) -> String {
        let head = self.pick(
            format!("I don’t have a tool `{tool}`. These are the ones I have:"),
            format!("我没有工具 `{tool}`。我有这些工具："),
        );
        let list: Vec<String> = offered.iter().map(|name| format!("- `{name}`")).collect();
        format!("{head}\n\n{}", list.join("\n"))
    }

    pub(super) fn not_granted(&self, what: &str) -> String {
        self.pick(
            format!(
                "That needs `{what}`, which this agent can’t use. The Agents page shows why; a permissions profile \
                 that lists it would allow it."
            ),
            format!("这需要 `{what}`，而该智能体无权使用。“智能体”页面会说明原因；列出它的授权配置可以放行。"),
        )
    }

    pub(super) fn cannot_write(&self) -> String {
        self.pick(
            "This agent has no tool that writes files, and that is on purpose: the profile “Safe default” only \
             reads. Give the agent the permissions profile “Developer” and ask me again; you see every change as \
             a difference before anything is written.",
            "该智能体没有写文件的工具，这是有意的：“安全默认”只读。请为智能体选择授权配置“开发者”后再试；\
             每次改动都会先以差异形式给你看，再写入。",
        )
    }

    pub(super) fn cannot_see(&self) -> String {
        self.pick("I can’t see pictures.", "我看不到图片。")
    }

    pub(super) fn unknown(&self) -> String {
        self.pick(
            format!(
                "I don’t understand that: I’m a demo with a few fixed rules. For real answers, add a model under \
                 [Models]({MODELS}): paste a key, pick a model server found on this computer, or enter any \
                 OpenAI-compatible address. Ask “what can you do?” for what works without one."
            ),
            format!(
                "我听不懂：我只是按固定规则回答的演示。要得到真正的回答，请在[模型]({MODELS})中添加：粘贴密钥、选择本机\
                 检测到的模型服务器，或填写任意兼容 OpenAI 的地址。没有模型时能做的事，问我“你能做什么”。"
            ),
        )
    }

    pub(super) fn nothing_to_summarise(&self) -> String {
        self.pick("Give me a text: “summarize: …”.", "请给我一段文字：“总结：……”。")
    }

    pub(super) fn summary(&self, sentences: &[String]) -> String {
        let head = self.pick("The sentences that stand out:", "比较突出的句子：");
        let lines: Vec<String> = sentences.iter().map(|sentence| format!("- {sentence}")).collect();
        format!("{head}\n\n{}", lines.join("\n"))
    }

    pub(super) fn task_title(&self) -> &'static str {
        if self.zh { "试用 ChatOS" } else { "Try ChatOS" }
    }

    /// What the sub agent is asked; the same rules answer it.
    pub(super) fn sub_task(&self) -> &'static str {
        if self.zh {
            "列出工作目录中的文件并报告。"
        } else {
            "List the files of the workspace and report."
        }
    }

    pub(super) fn file(&self) -> &'static str {
        if self.zh {
            "# ChatOS 演示\n\n这个文件由演示模型写入，并经过你的同意。可以删除。\n"
        } else {
            "# ChatOS demo\n\nThe demo model wrote this file after you approved it. It can be deleted.\n"
        }
    }

    pub(super) fn form(&self) -> Value {
        if self.zh {
            json!({ "title": "认识一下", "message": "演示模型想知道：", "fields": [
                { "key": "name", "label": "怎么称呼你？" },
                { "key": "wish", "label": "想用 ChatOS 做什么？", "multiline": true }] })
        } else {
            json!({ "title": "Nice to meet you", "message": "The demo model would like to know:", "fields": [
                { "key": "name", "label": "What should I call you?" },
                { "key": "wish", "label": "What would you like to do with ChatOS?", "multiline": true }] })
        }
    }

    pub(super) fn choice(&self) -> Value {
        if self.zh {
            json!({ "title": "选一个", "message": "下一步想试什么？", "options": [
                { "value": "files", "label": "列出文件" },
                { "value": "tasks", "label": "添加任务" },
                { "value": "subagent", "label": "运行子智能体" }] })
        } else {
            json!({ "title": "Choose one", "message": "What would you like to try next?", "options": [
                { "value": "files", "label": "List files" },
                { "value": "tasks", "label": "Add a task" },
                { "value": "subagent", "label": "Run a subagent" }] })
        }
    }
}
