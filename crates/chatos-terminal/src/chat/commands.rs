//! The commands of a chat in the terminal: `/word`, `!text`, or something to say (working-day §9).

use chatos_tool::validation::nearest;
use chatos_tool::{ErrorCode, Fault, Text};

/// A command and its line in `/help`.
pub(super) struct Command {
    pub(super) word: &'static str,
    takes: Text,
    does: Text,
    pub(super) name: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Help,
    New,
    Resume,
    Chats,
    Agent,
    Model,
    Compact,
    Attach,
    Retry,
    Fork,
    Export,
    Queue,
    Steer,
    Stop,
    Prompts,
    Quit,
}

const fn command(
    word: &'static str,
    name: Name,
    takes: [&'static str; 2],
    does: [&'static str; 2],
) -> Command {
    Command { word, name, takes: Text::fixed(takes[0], takes[1]), does: Text::fixed(does[0], does[1]) }
}

pub(super) static ALL: [Command; 16] = [
    command("/help", Name::Help, ["", ""], ["List these commands", "列出这些命令"]),
    command("/new", Name::New, ["[AGENT]", "[智能体]"], ["Start a new chat", "开始新对话"]),
    command(
        "/resume",
        Name::Resume,
        ["[CHAT]", "[对话]"],
        ["Go to another chat, or to the one before this", "转到其他对话，或上一个对话"],
    ),
    command("/chats", Name::Chats, ["", ""], ["List your newest chats", "列出最近的对话"]),
    command(
        "/agent",
        Name::Agent,
        ["AGENT", "智能体"],
        ["Switch the agent from the next message on", "从下一条消息起切换智能体"],
    ),
    command(
        "/model",
        Name::Model,
        ["MODEL", "模型"],
        ["Switch the model from the next message on", "从下一条消息起切换模型"],
    ),
    command(
        "/compact",
        Name::Compact,
        ["[WHAT TO KEEP]", "[要保留的内容]"],
        ["Summarize the beginning for the model", "为模型总结对话开头"],
    ),
    command(
        "/attach",
        Name::Attach,
        ["FILE…", "文件…"],
        ["Send files along with the next message", "随下一条消息发送文件"],
    ),
    command(
        "/retry",
        Name::Retry,
        ["[MODEL]", "[模型]"],
        ["Regenerate the last answer", "重新生成上一条回答"],
    ),
    command(
        "/fork",
        Name::Fork,
        ["[N]", "[N]"],
        ["New chat from here, or from N answers before", "从此处或往前第 N 条回答处新建对话"],
    ),
    command(
        "/export",
        Name::Export,
        ["[FILE]", "[文件]"],
        ["Write the chat to a file: .md or .json", "将对话写入文件：.md 或 .json"],
    ),
    command(
        "/queue",
        Name::Queue,
        ["TEXT", "文本"],
        [
            "Say it when the agent is done, as every line typed meanwhile",
            "智能体完成后再发送，运行中输入的文字均如此",
        ],
    ),
    command(
        "/steer",
        Name::Steer,
        ["TEXT", "文本"],
        ["Steer the agent now; also `!TEXT`", "立即引导智能体；也可用 `!文本`"],
    ),
    command("/stop", Name::Stop, ["", ""], ["Stop the agent; also Ctrl-C", "停止智能体；也可按 Ctrl-C"]),
    command(
        "/prompts",
        Name::Prompts,
        ["", ""],
        ["Answer questions waiting for you", "回答等待你处理的问题"],
    ),
    command("/quit", Name::Quit, ["", ""], ["Leave; also Ctrl-D", "离开；也可按 Ctrl-D"]),
];

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Nothing,
    Say(String),
    Steer(String),
    Do(Name, String),
}

pub(super) fn read(line: &str) -> Result<Line, Fault> {
    let text = line.trim();
    if text.is_empty() {
        return Ok(Line::Nothing);
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Ok(Line::Say(format!("/{rest}")));
    }
    if let Some(rest) = text.strip_prefix('!') {
        let rest = rest.trim();
        return Ok(if rest.is_empty() { Line::Nothing } else { Line::Steer(rest.to_owned()) });
    }
    if !text.starts_with('/') {
        return Ok(Line::Say(text.to_owned()));
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match ALL.iter().find(|command| command.word == word) {
        Some(command) => Ok(Line::Do(command.name, rest.trim().to_owned())),
        None => Err(unknown(word)),
    }
}

fn unknown(word: &str) -> Fault {
    let near = nearest(word, ALL.iter().map(|command| command.word));
    let fault = Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no command `{word}`"), format!("没有命令 `{word}`")),
    );
    fault.hint(match near {
        Some(near) => Text::new(
            format!("did you mean `{near}`? `/{word}` sends it as text"),
            format!("是否指 `{near}`？`/{word}` 会作为文字发送"),
        ),
        None => Text::new(
            format!("`/help` lists them; `/{word}` sends it as text"),
            format!("`/help` 会列出全部；`/{word}` 会作为文字发送"),
        ),
    })
}

/// A command that needs something behind it.
pub(super) fn lacks(name: Name) -> Fault {
    let (word, takes) = ALL
        .iter()
        .find(|command| command.name == name)
        .map_or(("", Text::same("")), |command| (command.word, command.takes.clone()));
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("use `{word} {}`", takes.en), format!("用法：`{word} {}`", takes.zh)),
    )
}

/// The lines of `/help`.
pub(super) fn help(lang: chatos_tool::Lang) -> Vec<(String, String)> {
    let line = |command: &Command| {
        let head = format!("{} {}", command.word, command.takes.get(lang));
        (head.trim_end().to_owned(), command.does.get(lang).to_owned())
    };
    ALL.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_a_correction_or_something_to_say() {
        for (typed, expected) in [
            ("  ", Line::Nothing),
            ("hello there ", Line::Say("hello there".to_owned())),
            ("//call x", Line::Say("/call x".to_owned())),
            ("! be brief", Line::Steer("be brief".to_owned())),
            ("!", Line::Nothing),
            ("/quit", Line::Do(Name::Quit, String::new())),
            ("/attach a b.txt", Line::Do(Name::Attach, "a b.txt".to_owned())),
            ("/compact 保留 名字", Line::Do(Name::Compact, "保留 名字".to_owned())),
        ] {
            assert_eq!(read(typed).unwrap(), expected, "{typed}");
        }
    }

    #[test]
    fn an_unknown_command_is_not_sent() {
        let fault = read("/hlep me").unwrap_err();
        assert_eq!(fault.message.en, "there is no command `/hlep`");
        assert_eq!(fault.hint.unwrap().en, "did you mean `/help`? `//hlep` sends it as text");
        assert!(read("/etc/passwd?").unwrap_err().hint.unwrap().en.contains("`//etc/passwd?`"));
    }
}
