//! Which language is spoken: to people, and to models and MCP clients. The only place that decides it.

use std::collections::BTreeMap;

use chatos_tool::Lang;

use crate::settings::Settings;

/// The two languages in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Languages {
    /// Of the command line, messages and questions (`language`). The page follows its browser.
    pub people: Lang,
    /// Of what models and MCP clients get, `promptLanguage`: system prompts, tool descriptions, results, errors.
    pub models: Lang,
}

/// What the settings say; where they say `auto`, people are spoken to as the environment asks for and models as
/// people are. An environment that names no language, or one that ChatOS does not speak, means English.
pub fn languages(env: &BTreeMap<String, String>, settings: &Settings) -> Languages {
    let chosen = |key: &str| settings.text(key).parse().ok();
    let people =
        chosen("language").unwrap_or_else(|| Lang::of_variables(|name| env.get(name).map(String::as_str)));
    Languages { people, models: chosen("promptLanguage").unwrap_or(people) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::settings::SettingsInput;

    fn spoken(env: &[(&str, &str)], stored: &[(&str, &str)]) -> (Lang, Lang) {
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let settings = Settings::unstored(SettingsInput { flags: BTreeMap::new(), env: env.clone() });
        for (key, value) in stored {
            settings.note_stored(key, Some((json!(value), 0)));
        }
        let languages = languages(&env, &settings);
        (languages.people, languages.models)
    }

    #[test]
    fn the_environment_decides_for_everybody_until_somebody_says_otherwise() {
        type Variables = &'static [(&'static str, &'static str)];
        let (en, zh) = (Lang::En, Lang::Zh);
        let cases: [(Variables, (Lang, Lang)); 12] = [
            (&[], (en, en)),
            (&[("LANG", "C")], (en, en)),
            (&[("LANG", "POSIX")], (en, en)),
            (&[("LANG", "C.UTF-8")], (en, en)),
            (&[("LANG", "en_US.UTF-8")], (en, en)),
            (&[("LANG", "de_DE.UTF-8")], (en, en)),
            (&[("LANG", "zh_CN.UTF-8")], (zh, zh)),
            (&[("LANG", "zh_TW")], (zh, zh)),
            (&[("LC_ALL", "zh_CN.UTF-8"), ("LANG", "en_US.UTF-8")], (zh, zh)),
            (&[("LC_ALL", ""), ("LC_MESSAGES", "zh_CN"), ("LANG", "en_US")], (zh, zh)),
            (&[("LC_ALL", "C"), ("LANG", "zh_CN")], (en, en)),
            (&[("LANG", "zh_CN"), ("MODEL_CLI_PROMPT_LANGUAGE", "en")], (zh, en)),
        ];
        for (env, expected) in cases {
            assert_eq!(spoken(env, &[]), expected, "{env:?}");
        }
    }

    #[test]
    fn what_was_set_is_kept() {
        let zh = [("LANG", "zh_CN")];
        assert_eq!(spoken(&zh, &[("promptLanguage", "en")]), (Lang::Zh, Lang::En));
        assert_eq!(spoken(&zh, &[("language", "en")]), (Lang::En, Lang::En));
        assert_eq!(spoken(&[], &[("promptLanguage", "zh")]), (Lang::En, Lang::Zh));
        assert_eq!(spoken(&[], &[("language", "zh"), ("promptLanguage", "auto")]), (Lang::Zh, Lang::Zh));
        // Flag above environment above setting.
        let both = [("LANG", "zh_CN"), ("MODEL_CLI_PROMPT_LANGUAGE", "zh")];
        assert_eq!(spoken(&both, &[("promptLanguage", "en")]), (Lang::Zh, Lang::Zh));
        let flags = [("promptLanguage".to_owned(), Value::from("en"))].into();
        let env: BTreeMap<String, String> =
            both.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let settings = Settings::unstored(SettingsInput { flags, env: env.clone() });
        assert_eq!(languages(&env, &settings).models, Lang::En);
    }
}
