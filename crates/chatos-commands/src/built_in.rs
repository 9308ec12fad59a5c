//! The commands that are part of a chat: their names are taken on every surface (working-day §9). What each does is
//! written where it is done.

use chatos_tool::Text;
use chatos_wire::command::{CommandKind, CommandView};

/// A command of the chat itself.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// What is typed, with its `/`.
    pub word: &'static str,
    /// What is typed behind it.
    pub takes: Text,
    /// What it does, in one line.
    pub does: Text,
}

const fn command(word: &'static str, takes: [&'static str; 2], does: [&'static str; 2]) -> BuiltIn {
    BuiltIn { word, takes: Text::fixed(takes[0], takes[1]), does: Text::fixed(does[0], does[1]) }
}

/// All of them, in the order of `/help`.
pub static ALL: [BuiltIn; 20] = [
    command("/help", ["", ""], ["List these commands", "列出这些命令"]),
    command("/new", ["[AGENT]", "[智能体]"], ["Start a new chat", "开始新对话"]),
    command(
        "/resume",
        ["[CHAT]", "[对话]"],
        ["Go to another chat, or to the one before this", "转到其他对话，或上一个对话"],
    ),
    command("/chats", ["", ""], ["List your newest chats", "列出最近的对话"]),
    command(
        "/agent",
        ["[AGENT]", "[智能体]"],
        ["List agents, or switch to one from the next message on", "列出智能体，或从下一条消息起切换"],
    ),
    command(
        "/model",
        ["[MODEL]", "[模型]"],
        ["List models, or switch to one from the next message on", "列出模型，或从下一条消息起切换"],
    ),
    command(
        "/options",
        ["[OPTION VALUE]", "[选项 值]"],
        ["Mode, model and options of another program", "其他程序的模式、模型和选项"],
    ),
    command(
        "/compact",
        ["[WHAT TO KEEP]", "[要保留的内容]"],
        ["Summarize the beginning for the model", "为模型总结对话开头"],
    ),
    command(
        "/attach",
        ["FILE…", "文件…"],
        ["Send files along with the next message", "随下一条消息发送文件"],
    ),
    command("/retry", ["[MODEL]", "[模型]"], ["Regenerate the last answer", "重新生成上一条回答"]),
    command(
        "/edit",
        ["[N]", "[N]"],
        [
            "Change your last message, or the Nth last, in your editor",
            "在编辑器中修改上一条或倒数第 N 条消息",
        ],
    ),
    command(
        "/fork",
        ["[N]", "[N]"],
        ["New chat from here, or from N answers before", "从此处或往前第 N 条回答处新建对话"],
    ),
    command(
        "/export",
        ["[FILE]", "[文件]"],
        ["Write the chat to a file: .md, .html or .json", "将对话写入文件：.md、.html 或 .json"],
    ),
    command(
        "/queue",
        ["TEXT", "文本"],
        [
            "Say it when the agent is done, as every line typed meanwhile",
            "智能体完成后再发送，运行中输入的文字均如此",
        ],
    ),
    command(
        "/steer",
        ["TEXT", "文本"],
        ["Steer the agent now; also `!TEXT`", "立即引导智能体；也可用 `!文本`"],
    ),
    command("/stop", ["", ""], ["Stop the agent; also Ctrl-C", "停止智能体；也可按 Ctrl-C"]),
    command("/tools", ["", ""], ["Show what the agent can call", "查看智能体可调用的工具"]),
    command(
        "/access",
        ["", ""],
        [
            "Show what the agent may reach, and what asks you first",
            "查看智能体可访问的内容，以及需要先问你的操作",
        ],
    ),
    command("/prompts", ["", ""], ["Answer questions waiting for you", "回答等待你处理的问题"]),
    command("/quit", ["", ""], ["Leave; also Ctrl-D", "离开；也可按 Ctrl-D"]),
];

/// What the demo model understands itself; it is sent as it is typed.
const FOR_THE_DEMO: [&str; 2] = ["call", "calls"];

/// Whether a name belongs to the chat itself.
pub(crate) fn is_taken(name: &str) -> bool {
    FOR_THE_DEMO.contains(&name) || find(name).is_some()
}

/// Whether a message that begins with this name is sent as it is typed.
pub(crate) fn is_literal(name: &str) -> bool {
    FOR_THE_DEMO.contains(&name)
}

/// The command of this name, without its `/`.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|command| command.word.strip_prefix('/') == Some(name))
}

/// As the list shows it.
pub(crate) fn view(command: &BuiltIn, lang: chatos_tool::Lang) -> CommandView {
    let name = command.word.trim_start_matches('/').to_owned();
    CommandView {
        key: name.clone(),
        name,
        kind: CommandKind::BuiltIn,
        title: String::new(),
        description: command.does.get(lang).to_owned(),
        argument_hint: command.takes.get(lang).to_owned(),
        arguments: Vec::new(),
        source: "chatos".to_owned(),
    }
}
