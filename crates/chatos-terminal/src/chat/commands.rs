//! The commands of a chat in the terminal: `/word`, `!text`, or something to say (working-day §9).

use chatos_commands::built_in::{self, ALL};
use chatos_tool::{ErrorCode, Fault, Text};

/// What the chat in a terminal does for a word of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Help,
    New,
    Resume,
    Chats,
    Agent,
    Model,
    Options,
    Compact,
    Attach,
    Retry,
    Edit,
    Fork,
    Export,
    Queue,
    Steer,
    Stop,
    Tools,
    Access,
    Prompts,
    Quit,
}

/// What each word of the table does here.
const NAMES: [(&str, Name); 20] = [
    ("/help", Name::Help),
    ("/new", Name::New),
    ("/resume", Name::Resume),
    ("/chats", Name::Chats),
    ("/agent", Name::Agent),
    ("/model", Name::Model),
    ("/options", Name::Options),
    ("/compact", Name::Compact),
    ("/attach", Name::Attach),
    ("/retry", Name::Retry),
    ("/edit", Name::Edit),
    ("/fork", Name::Fork),
    ("/export", Name::Export),
    ("/queue", Name::Queue),
    ("/steer", Name::Steer),
    ("/stop", Name::Stop),
    ("/tools", Name::Tools),
    ("/access", Name::Access),
    ("/prompts", Name::Prompts),
    ("/quit", Name::Quit),
];

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Nothing,
    Say(String),
    Steer(String),
    Do(Name, String),
    /// A command of the person or of a server; the host knows it or says that there is none.
    Fill(String),
}

pub(super) fn read(line: &str) -> Line {
    let text = line.trim();
    if text.is_empty() {
        return Line::Nothing;
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Line::Say(format!("/{rest}"));
    }
    if let Some(rest) = text.strip_prefix('!') {
        let rest = rest.trim();
        return if rest.is_empty() { Line::Nothing } else { Line::Steer(rest.to_owned()) };
    }
    if !text.starts_with('/') {
        return Line::Say(text.to_owned());
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match NAMES.iter().find(|(known, _)| *known == word) {
        Some((_, name)) => Line::Do(*name, rest.trim().to_owned()),
        None => Line::Fill(text.to_owned()),
    }
}

/// A command that needs something behind it.
pub(super) fn lacks(name: Name) -> Fault {
    let word = NAMES.iter().find(|(_, known)| *known == name).map_or("", |(word, _)| *word);
    let takes =
        built_in::find(word.trim_start_matches('/')).map_or(Text::same(""), |known| known.takes.clone());
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("use `{word} {}`", takes.en), format!("用法：`{word} {}`", takes.zh)),
    )
}

/// The lines of `/help`.
pub(super) fn help(lang: chatos_tool::Lang) -> Vec<(String, String)> {
    let line = |command: &built_in::BuiltIn| {
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
            ("/review a.txt", Line::Fill("/review a.txt".to_owned())),
        ] {
            assert_eq!(read(typed), expected, "{typed}");
        }
    }

    #[test]
    fn every_word_of_the_table_does_something_here() {
        let words: Vec<&str> = ALL.iter().map(|command| command.word).collect();
        let known: Vec<&str> = NAMES.iter().map(|(word, _)| *word).collect();
        assert_eq!(words, known);
        assert_eq!(lacks(Name::Attach).message.en, "use `/attach FILE…`");
    }
}
