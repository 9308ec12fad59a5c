//! What a person means by a name: one rule for agents, models, chats, permissions profiles and servers (working-day §9).
//!
//! The command line uses it on the lists of the API, the host where it takes names itself. Programs that hold ids do
//! not need it.

use crate::error_code::ErrorCode;
use crate::fault::Fault;
use crate::text::Text;
use crate::validation::nearest;

/// The code of a name that several things answer to; the command line ends with 2 for it.
pub const AMBIGUOUS: &str = "ambiguous_name";

/// Candidates that a message names; more would hide the question in the list.
const SHOWN: usize = 8;

/// What is looked for: the noun in both languages, and the command that lists what there is.
#[derive(Debug, Clone, Copy)]
pub struct Noun {
    pub en: &'static str,
    pub zh: &'static str,
    pub list: &'static str,
    /// The code when there is none.
    pub missing: &'static str,
}

impl Noun {
    pub const AGENT: Self =
        Self { en: "agent", zh: "智能体", list: "chatos agent list", missing: "not_found" };
    pub const MODEL: Self =
        Self { en: "model", zh: "模型", list: "chatos models list", missing: "model_missing" };
    pub const CHAT: Self = Self { en: "chat", zh: "对话", list: "chatos chats list", missing: "not_found" };
    pub const PROFILE: Self =
        Self {
            en: "permissions profile", zh: "授权配置", list: "chatos land list", missing: "not_found"
        };
    pub const SERVER: Self =
        Self { en: "server", zh: "服务器", list: "chatos mcp servers", missing: "not_found" };
}

/// One thing and what it answers to.
#[derive(Debug, Clone)]
pub struct Named {
    pub id: String,
    /// The first is the one it is shown by.
    pub names: Vec<String>,
}

impl Named {
    pub fn new(id: impl Into<String>, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names = names.into_iter().map(Into::into).filter(|name| !name.is_empty()).collect();
        Self { id: id.into(), names }
    }

    fn shown(&self) -> String {
        match self.names.first() {
            Some(name) if *name != self.id => format!("{name} ({})", self.id),
            _ => self.id.clone(),
        }
    }
}

/// The one thing a name means: its id, then its name, then its name in other letters, then the name without the
/// ` (Provider)` behind it, then a beginning only it has. What several answer to equally well is refused.
pub fn pick<'a>(noun: Noun, written: &str, known: &'a [Named]) -> Result<&'a Named, Fault> {
    let written = written.trim();
    let lower = written.to_lowercase();
    let plain = |name: &str| name.split(" (").next().unwrap_or(name).to_lowercase();
    type Step<'s> = &'s dyn Fn(&Named) -> bool;
    let steps: [Step<'_>; 5] = [
        &|one| one.id == written,
        &|one| one.names.iter().any(|name| name == written),
        &|one| one.names.iter().any(|name| name.to_lowercase() == lower),
        &|one| one.names.iter().any(|name| plain(name) == lower),
        &|one| {
            one.id.starts_with(written)
                || one.names.iter().any(|name| name.to_lowercase().starts_with(&lower))
        },
    ];
    for step in steps.iter().filter(|_| !written.is_empty()) {
        let mut found: Vec<&Named> = known.iter().filter(|one| step(one)).collect();
        found.dedup_by(|a, b| a.id == b.id);
        match found[..] {
            [] => {}
            [one] => return Ok(one),
            _ => return Err(ambiguous(noun, written, &found)),
        }
    }
    let names = known.iter().flat_map(|one| one.names.iter().chain([&one.id]));
    Err(unknown(noun, written, nearest(written, names.map(String::as_str))))
}

/// Nothing answers to a name.
pub fn unknown(noun: Noun, written: &str, near: Option<&str>) -> Fault {
    let fault = Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no {} `{written}`", noun.en), format!("没有{} `{written}`", noun.zh)),
    );
    fault.code(noun.missing).hint(match near {
        Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
        None => Text::new(
            format!("`{}` shows what there is", noun.list),
            format!("`{}` 会列出现有内容", noun.list),
        ),
    })
}

fn ambiguous(noun: Noun, written: &str, found: &[&Named]) -> Fault {
    let mut shown: Vec<String> = found.iter().take(SHOWN).map(|one| one.shown()).collect();
    if found.len() > SHOWN {
        shown.push("…".to_owned());
    }
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("{} {}s answer to `{written}`: {}", found.len(), noun.en, shown.join(", ")),
            format!("有 {} 个{}符合 `{written}`：{}", found.len(), noun.zh, shown.join("、")),
        ),
    )
    .code(AMBIGUOUS)
    .hint(Text::fixed("write more of the name, or the ID", "请写出更完整的名称，或使用 ID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Named> {
        vec![
            Named::new("a1", ["Writer"]),
            Named::new("a2", ["writer's friend"]),
            Named::new("m1", ["gpt-5 (OpenAI)", "gpt-5"]),
            Named::new("m2", ["gpt-5-mini (OpenAI)"]),
            Named::new("m3", ["Mistral (Local)"]),
            Named::new("d1", ["Double"]),
            Named::new("d2", ["double"]),
            Named::new("z1", ["写作 助手"]),
        ]
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let known = known();
        for (written, id) in [
            ("a1", "a1"),
            ("Writer", "a1"),
            ("WRITER", "a1"),
            ("writer'", "a2"),
            ("gpt-5", "m1"),
            ("GPT-5-mini", "m2"),
            ("mistral", "m3"),
            ("mis", "m3"),
            ("Double", "d1"),
            ("double", "d2"),
            (" 写作 助手 ", "z1"),
            ("写", "z1"),
        ] {
            assert_eq!(pick(Noun::MODEL, written, &known).unwrap().id, id, "{written}");
        }
    }

    #[test]
    fn what_several_answer_to_is_refused_with_their_names() {
        let known = known();
        for written in ["DOUBLE", "gpt", "d"] {
            let fault = pick(Noun::AGENT, written, &known).unwrap_err();
            assert_eq!((fault.code.as_ref(), fault.class), (AMBIGUOUS, ErrorCode::Conflict), "{written}");
        }
        let fault = pick(Noun::AGENT, "gpt", &known).unwrap_err();
        assert_eq!(
            fault.message.en,
            "2 agents answer to `gpt`: gpt-5 (OpenAI) (m1), gpt-5-mini (OpenAI) (m2)"
        );
    }

    #[test]
    fn what_nobody_answers_to_is_said_with_the_nearest() {
        let known = known();
        let fault = pick(Noun::AGENT, "Wrtier", &known).unwrap_err();
        assert_eq!(fault.class, ErrorCode::NotFound);
        assert_eq!(fault.hint.unwrap().en, "did you mean `Writer`?");
        assert!(pick(Noun::AGENT, "  ", &known).is_err());
    }
}
