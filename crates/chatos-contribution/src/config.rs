//! `ai.config` files: bytes to the object of one layer (ai-contributions §1).

use chatos_manifest::json::{self, FaultKind};
use chatos_manifest::{ProblemCode, Text, limits, quote};
use serde_json::{Map, Value};

use crate::yaml;

/// Why a config file could not be used: a code and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// `config_too_large` or `config_syntax`.
    pub code: ProblemCode,
    /// What is wrong and where.
    pub message: Text,
}

/// Reads the file called `name`: `.json` as JSON, `.yaml` and `.yml` as YAML, anything else by its
/// first character. The keys are checked later, by [`chatos_manifest::parse_layer`].
pub fn parse_config(bytes: &[u8], name: &str) -> Result<Map<String, Value>, ConfigFault> {
    if bytes.len() > limits::CONFIG_BYTES {
        return Err(ConfigFault::too_large(bytes.len() as u64));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| syntax("not valid UTF-8", "不是有效的 UTF-8"))?;
    let value = if is_json(name, text) { parse_json(text)? } else { parse_yaml(text)? };
    match value {
        Value::Object(map) => Ok(map),
        other => {
            let found = json::type_name(&other);
            Err(syntax(
                &format!("must hold an object, found {found}"),
                &format!("必须是对象，实际为 {found}"),
            ))
        }
    }
}

fn is_json(name: &str, text: &str) -> bool {
    let extension = name
        .rsplit('/')
        .next()
        .and_then(|file| file.rsplit_once('.'))
        .map(|(_, ext)| ext.to_ascii_lowercase());
    match extension.as_deref() {
        Some("json") => true,
        Some("yaml" | "yml") => false,
        _ => text.trim_start().starts_with('{'),
    }
}

fn parse_json(text: &str) -> Result<Value, ConfigFault> {
    json::parse(text, limits::JSON_DEPTH).map_err(|fault| {
        let line = fault.line;
        let (en, zh) = match &fault.kind {
            FaultKind::Empty => ("the file is empty".to_owned(), "文件为空".to_owned()),
            FaultKind::Syntax(expected) => {
                (format!("expected {expected}"), format!("语法错误，此处应为 {expected}"))
            }
            FaultKind::TooDeep(max) => {
                (format!("nested deeper than {max} levels"), format!("嵌套超过 {max} 层"))
            }
            FaultKind::DuplicateKey(key) => {
                (format!("key {} appears twice", quote(key)), format!("键 {} 出现了两次", quote(key)))
            }
        };
        syntax(&format!("{en} (line {line})"), &format!("{zh}（第 {line} 行）"))
    })
}

fn parse_yaml(text: &str) -> Result<Value, ConfigFault> {
    yaml::parse(text, limits::JSON_DEPTH).map_err(|fault| {
        let (en, zh) = fault.describe();
        syntax(&en, &zh)
    })
}

fn syntax(en: &str, zh: &str) -> ConfigFault {
    let message = Text::new(format!("ai.config: {en}"), format!("ai.config：{zh}"));
    ConfigFault { code: ProblemCode::ConfigSyntax, message }
}

impl ConfigFault {
    /// For a file that was not read because of its size.
    pub fn too_large(bytes: u64) -> Self {
        let max = limits::CONFIG_BYTES;
        let message = Text::new(
            format!("ai.config has {bytes} bytes; at most {max} are allowed"),
            format!("ai.config 有 {bytes} 字节；最多允许 {max} 字节"),
        );
        Self { code: ProblemCode::ConfigTooLarge, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ok(text: &str, name: &str) -> Value {
        Value::Object(parse_config(text.as_bytes(), name).unwrap())
    }

    fn fault(text: &[u8], name: &str) -> (&'static str, String) {
        let fault = parse_config(text, name).unwrap_err();
        (fault.code.as_str(), fault.message.en)
    }

    #[test]
    fn the_format_follows_the_name_then_the_first_character() {
        let json_text = "{\"prompts\": [\"default\"]}";
        for name in ["a/ai.json", "AI.JSON", "ai.yaml", "ai.yml", "config", "x.conf"] {
            assert_eq!(ok(json_text, name), json!({"prompts": ["default"]}), "{name}");
        }
        assert_eq!(ok("\u{feff}prompts:\n  - default\n", "config"), json!({"prompts": ["default"]}));
        assert_eq!(fault(b"prompts: true", "ai.json").0, "config_syntax");
        assert_eq!(ok("  \n {\"prompts\": true}", "a.b/config"), json!({"prompts": true}));
    }

    #[test]
    fn faults() {
        assert_eq!(
            fault(b"a: 1\nb: 2\nc: *x\n", "ai.yaml"),
            ("config_syntax", "ai.config: YAML aliases are not allowed (line 3)".into())
        );
        assert_eq!(
            fault(b"a: &x 1\n", "ai.yaml"),
            ("config_syntax", "ai.config: YAML anchors are not allowed (line 1)".into())
        );
        assert_eq!(
            fault(b"- a\n", "ai.yaml"),
            ("config_syntax", "ai.config: must hold an object, found array".into())
        );
        assert_eq!(
            fault(b"", "ai.yaml"),
            ("config_syntax", "ai.config: must hold an object, found null".into())
        );
        assert_eq!(
            fault(b"{\"a\":1,\n\"a\":2}", "ai.json"),
            ("config_syntax", "ai.config: key \"a\" appears twice (line 2)".into())
        );
        assert_eq!(fault(b"\xff", "ai.yaml").0, "config_syntax");
        let exact = format!("a: {}", "x".repeat(131_069));
        assert_eq!(exact.len(), 131_072);
        assert!(parse_config(exact.as_bytes(), "ai.yaml").is_ok());
        assert_eq!(fault(format!("{exact}y").as_bytes(), "ai.yaml").0, "config_too_large");
    }
}
