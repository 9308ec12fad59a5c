//! Help and errors of the command line in Chinese. The texts beside the arguments are English, as clap reads them; when
//! there is something to show, and only then, the commands are built again with the words of `help.zh.tsv`. clap's own
//! words have no place to be changed at, so they are replaced in what it wrote.

use std::ffi::OsString;

use chatos_paths::Environment;
use chatos_tool::Lang;
use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

/// One text per line: English, a tab, Chinese.
const TABLE: &str = include_str!("help.zh.tsv");

/// What clap writes by itself. Longer words stand before those they contain.
const OWN: [(&str, &str); 15] = [
    ("Print this message or the help of the given subcommand(s)", "显示此帮助，或指定子命令的帮助"),
    ("Print help (see more with '--help')", "显示帮助（`--help` 显示更多）"),
    ("Print help (see a summary with '-h')", "显示帮助（`-h` 显示摘要）"),
    ("Print help", "显示帮助"),
    ("Print version", "显示版本"),
    ("Usage: ", "用法："),
    ("Usage:", "用法："),
    ("Commands:", "命令："),
    ("Arguments:", "参数："),
    ("Options:", "选项："),
    ("Settings:", "设置："),
    ("Possible values:", "可选值："),
    ("[possible values: ", "[可选值："),
    ("[default: ", "[默认："),
    ("[env: ", "[环境变量："),
];

/// The language somebody who types these words is answered in: what they say, else what the environment asks for. The
/// stored setting is not looked at: where the words are wrong, so may be the state they name.
pub(crate) fn asked_for(words: &[OsString], environment: &Environment) -> Lang {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let named = words.find_map(|word| word.strip_prefix("--lang").map(str::to_owned));
    let value = match named.as_deref() {
        Some("") => words.next().map(str::to_owned),
        Some(rest) => rest.strip_prefix('=').map(str::to_owned),
        None => None,
    };
    let value = value.and_then(|value| value.parse().ok());
    value.unwrap_or_else(|| Lang::of_variables(|name| environment.get(name)))
}

/// What clap has to say about these words, in Chinese; in colours where they are wanted.
pub(crate) fn told(command: Command, words: &[OsString], colors: bool) -> Option<String> {
    let error = spoken(command).try_get_matches_from(words).err()?;
    let text = match error.kind() {
        ErrorKind::DisplayVersion => return None,
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let text = error.render();
            if colors { text.ansi().to_string() } else { text.to_string() }
        }
        kind => wrong(&error, kind, colors)?,
    };
    Some(OWN.iter().fold(text, |text, (en, zh)| text.replace(en, zh)))
}

/// Wrong usage: what is wrong, how it is meant, where more is said.
fn wrong(error: &clap::Error, kind: ErrorKind, colors: bool) -> Option<String> {
    let given = |kind: ContextKind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join("、")),
        ContextValue::StyledStrs(texts) => {
            Some(texts.iter().map(StyledStr::to_string).collect::<Vec<_>>().join("；"))
        }
        ContextValue::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let named = given(ContextKind::InvalidArg).unwrap_or_default();
    let value = given(ContextKind::InvalidValue).unwrap_or_default();
    let message = match kind {
        ErrorKind::InvalidSubcommand => format!("没有命令 `{}`", given(ContextKind::InvalidSubcommand)?),
        ErrorKind::MissingSubcommand => "缺少命令".to_owned(),
        ErrorKind::UnknownArgument => format!("没有参数 `{named}`"),
        ErrorKind::MissingRequiredArgument => format!("缺少参数：{named}"),
        ErrorKind::InvalidValue if value.is_empty() => format!("`{named}` 缺少值"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => format!("`{value}` 不能用作 `{named}` 的值"),
        ErrorKind::ArgumentConflict => match given(ContextKind::PriorArg) {
            Some(other) if other != named => format!("`{named}` 不能与 `{other}` 同时使用"),
            _ => format!("`{named}` 只能使用一次"),
        },
        ErrorKind::TooManyValues => format!("`{named}` 的值过多：`{value}`"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => format!("`{named}` 的值数量不对"),
        ErrorKind::NoEquals => format!("`{named}` 须写作 `{named}=值`"),
        ErrorKind::InvalidUtf8 => "参数中有不是 UTF-8 的文字".to_owned(),
        _ => return None,
    };
    let mut text = format!("{}{message}\n", if colors { "\u{1b}[1;31m错误：\u{1b}[0m" } else { "错误：" });
    if let Some(values) = given(ContextKind::ValidValue).filter(|values| !values.is_empty()) {
        text.push_str(&format!("  可选值：{values}\n"));
    }
    let meant = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    // Of several the last is the one most like it.
    let nearest = |kind| match error.get(kind)? {
        ContextValue::Strings(texts) => texts.last().cloned(),
        _ => given(kind),
    };
    if let Some(other) = meant.into_iter().find_map(nearest) {
        text.push_str(&format!("\n  你是不是想写 `{other}`？\n"));
    }
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        text.push_str(&format!("\n{usage}\n"));
    }
    text.push_str("\n查看帮助：`--help`\n");
    Some(text)
}

/// The command with all that is below it, in Chinese.
fn spoken(mut command: Command) -> Command {
    if let Some(text) = command.get_about().map(in_chinese) {
        command = command.about(text);
    }
    if let Some(text) = command.get_long_about().map(in_chinese) {
        command = command.long_about(text);
    }
    if let Some(text) = command.get_after_help().map(in_chinese) {
        command = command.after_help(text);
    }
    if let Some(text) = command.get_after_long_help().map(in_chinese) {
        command = command.after_long_help(text);
    }
    command.mut_args(argument).mut_subcommands(spoken)
}

fn argument(mut arg: Arg) -> Arg {
    if let Some(text) = arg.get_help().map(in_chinese) {
        arg = arg.help(text);
    }
    if let Some(text) = arg.get_long_help().map(in_chinese) {
        arg = arg.long_help(text);
    }
    let values = arg.get_possible_values();
    if values.iter().any(|value| value.get_help().is_some()) {
        arg = arg.value_parser(PossibleValuesParser::new(values.into_iter().map(|value| {
            let text = value.get_help().map(in_chinese);
            text.into_iter().fold(value, PossibleValue::help)
        })));
    }
    arg
}

/// Paragraph by paragraph; one that has no Chinese stays as it is, for a test to find.
fn in_chinese(text: &StyledStr) -> String {
    let paragraphs = text.to_string();
    let told = paragraphs.split("\n\n").map(|paragraph| {
        let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = TABLE.lines().filter_map(|line| line.split_once('\t')).find(|(en, _)| *en == words);
        found.map_or_else(|| paragraph.to_owned(), |(_, zh)| zh.to_owned())
    });
    told.collect::<Vec<_>>().join("\n\n")
}
