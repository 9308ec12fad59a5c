//! Reading typed fields out of JSON objects while collecting problems. Every parser of this crate
//! is written with [`Object`] and [`Report`], so pointers, labels and unknown keys are treated in
//! one way everywhere.

use serde_json::{Map, Value};

use crate::{
    AppRef, Dropped, PathFault, PluginId, Problem, ProblemCode, RelPath, Severity, Source, Text, json,
    limits, quote,
};

/// Returned when a value could not be used and the problem has been recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

pub(crate) type Read<T> = Result<T, Refused>;

/// Where problems are collected, with what is known about the place so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) problems: Vec<Problem>,
    pub(crate) plugin_id: Option<PluginId>,
    pub(crate) app: Option<AppRef>,
}

/// What a problem in an object would drop, and which activity it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) source: Source,
    pub(crate) dropped: Dropped,
}

impl Report {
    /// Records a problem at `pointer` and says so.
    pub(crate) fn refuse(
        &mut self,
        scope: Scope,
        code: ProblemCode,
        pointer: String,
        message: Text,
    ) -> Refused {
        let message = match (&self.app, scope.source) {
            // A field of the app itself: its id may be the broken part, so it is named by place.
            (Some(app), Source::Manifest) => Text::new(
                format!("App #{}: {}", app.index + 1, message.en),
                format!("第 {} 个应用：{}", app.index + 1, message.zh),
            ),
            _ => message,
        };
        let mut problem = Problem::new(code, pointer, message).source(scope.source).dropping(scope.dropped);
        problem.plugin_id.clone_from(&self.plugin_id);
        problem.app.clone_from(&self.app);
        self.problems.push(problem);
        Refused
    }

    /// Records a warning; nothing is dropped.
    pub(crate) fn warn(&mut self, source: Source, code: ProblemCode, pointer: String, message: Text) {
        debug_assert_eq!(code.severity(), Severity::Warning);
        let Refused = self.refuse(Scope { source, dropped: Dropped::Nothing }, code, pointer, message);
    }
}

/// One JSON object of the manifest with its place and name.
#[derive(Debug, Clone)]
pub(crate) struct Object<'v> {
    pub(crate) map: &'v Map<String, Value>,
    /// JSON pointer of the object.
    pub(crate) pointer: String,
    /// How fields are called in messages: `"name"` at the top, `entry.path` below `entry`.
    pub(crate) label: &'static str,
    pub(crate) scope: Scope,
}

impl<'v> Object<'v> {
    /// `value` as an object, or a `wrong_type` problem.
    pub(crate) fn of(
        value: &'v Value,
        pointer: String,
        label: &'static str,
        scope: Scope,
        report: &mut Report,
    ) -> Read<Self> {
        match value {
            Value::Object(map) => Ok(Self { map, pointer, label, scope }),
            other => {
                let en = format!("{label} must be an object, found {}", json::type_name(other));
                let zh = format!("{label} 必须是对象，实际为 {}", json::type_name(other));
                Err(report.refuse(scope, ProblemCode::WrongType, pointer, Text::new(en, zh)))
            }
        }
    }

    /// The pointer of `key`.
    pub(crate) fn at(&self, key: &str) -> String {
        format!("{}/{}", self.pointer, json::pointer_token(key))
    }

    /// What `key` is called in messages.
    pub(crate) fn name(&self, key: &str) -> String {
        if self.label.is_empty() { format!("\"{key}\"") } else { format!("{}.{key}", self.label) }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.get(key)
    }

    pub(crate) fn refuse(&self, report: &mut Report, code: ProblemCode, key: &str, message: Text) -> Refused {
        report.refuse(self.scope, code, self.at(key), message)
    }

    pub(crate) fn wrong_type(
        &self,
        report: &mut Report,
        key: &str,
        wanted_en: &str,
        wanted_zh: &str,
        found: &Value,
    ) -> Refused {
        let name = self.name(key);
        let found = json::type_name(found);
        let message = Text::new(
            format!("{name} must be {wanted_en}, found {found}"),
            format!("{name} 必须是{wanted_zh}，实际为 {found}"),
        );
        self.refuse(report, ProblemCode::WrongType, key, message)
    }

    pub(crate) fn missing(&self, report: &mut Report, key: &str) -> Refused {
        let name = self.name(key);
        let message = Text::new(format!("{name} is required"), format!("缺少必填项 {name}"));
        self.refuse(report, ProblemCode::MissingField, key, message)
    }

    /// A string as written.
    pub(crate) fn raw_str(&self, report: &mut Report, key: &str) -> Read<Option<&'v str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(report, key, "a string", "字符串", other)),
        }
    }

    /// A trimmed string.
    pub(crate) fn str(&self, report: &mut Report, key: &str) -> Read<Option<&'v str>> {
        Ok(self.raw_str(report, key)?.map(str::trim))
    }

    /// A trimmed string of at most `max` characters.
    pub(crate) fn short(&self, report: &mut Report, key: &str, max: usize) -> Read<Option<&'v str>> {
        let Some(text) = self.str(report, key)? else { return Ok(None) };
        self.check_chars(report, key, text, max)?;
        Ok(Some(text))
    }

    /// A name: trimmed, bounded, without control characters. Blank counts as given and empty.
    pub(crate) fn name_text(&self, report: &mut Report, key: &str) -> Read<Option<&'v str>> {
        let Some(text) = self.short(report, key, limits::NAME_CHARS)? else { return Ok(None) };
        self.check_control(report, key, text)?;
        Ok(Some(text))
    }

    /// A required name.
    pub(crate) fn required_name(&self, report: &mut Report, key: &str) -> Read<String> {
        match self.name_text(report, key)? {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(self.missing(report, key)),
        }
    }

    pub(crate) fn bool(&self, report: &mut Report, key: &str) -> Read<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(self.wrong_type(report, key, "true or false", " true 或 false", other)),
        }
    }

    pub(crate) fn array(&self, report: &mut Report, key: &str) -> Read<Option<&'v [Value]>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(self.wrong_type(report, key, "an array", "数组", other)),
        }
    }

    /// The object at `key`, with its own label and what its problems drop.
    pub(crate) fn object(
        &self,
        report: &mut Report,
        key: &str,
        label: &'static str,
        scope: Scope,
    ) -> Read<Option<Object<'v>>> {
        self.get(key).map(|value| Object::of(value, self.at(key), label, scope, report)).transpose()
    }

    /// An optional path string.
    pub(crate) fn path(&self, report: &mut Report, key: &str) -> Read<Option<RelPath>> {
        let Some(text) = self.str(report, key)? else { return Ok(None) };
        self.check_path(report, key, text).map(Some)
    }

    /// A required path string.
    pub(crate) fn required_path(&self, report: &mut Report, key: &str) -> Read<RelPath> {
        match self.path(report, key)? {
            Some(path) => Ok(path),
            None => Err(self.missing(report, key)),
        }
    }

    pub(crate) fn check_path(&self, report: &mut Report, key: &str, text: &str) -> Read<RelPath> {
        RelPath::parse(text).map_err(|fault: PathFault| {
            self.refuse(report, fault.code(), key, fault.message(&self.name(key), text))
        })
    }

    pub(crate) fn check_chars(&self, report: &mut Report, key: &str, text: &str, max: usize) -> Read<()> {
        let count = text.chars().count();
        if count <= max {
            return Ok(());
        }
        let name = self.name(key);
        let message = Text::new(
            format!("{name} has {count} characters; at most {max} are allowed"),
            format!("{name} 有 {count} 个字符；最多允许 {max} 个"),
        );
        Err(self.refuse(report, ProblemCode::ValueTooLong, key, message))
    }

    pub(crate) fn check_bytes(&self, report: &mut Report, key: &str, text: &str, max: usize) -> Read<()> {
        if text.len() <= max {
            return Ok(());
        }
        let name = self.name(key);
        let message = Text::new(
            format!("{name} has {} bytes; at most {max} are allowed", text.len()),
            format!("{name} 有 {} 字节；最多允许 {max} 字节", text.len()),
        );
        Err(self.refuse(report, ProblemCode::ValueTooLong, key, message))
    }

    pub(crate) fn check_control(&self, report: &mut Report, key: &str, text: &str) -> Read<()> {
        if !has_control(text) {
            return Ok(());
        }
        let name = self.name(key);
        let message = Text::new(
            format!("{name} holds a control character: {}", quote(text)),
            format!("{name} 含有控制字符：{}", quote(text)),
        );
        Err(self.refuse(report, ProblemCode::ValueInvalid, key, message))
    }

    pub(crate) fn check_count(&self, report: &mut Report, key: &str, count: usize, max: usize) -> Read<()> {
        if count <= max {
            return Ok(());
        }
        let name = self.name(key);
        let message = Text::new(
            format!("{name} has {count} entries; at most {max} are allowed"),
            format!("{name} 有 {count} 项；最多允许 {max} 项"),
        );
        Err(self.refuse(report, ProblemCode::TooManyItems, key, message))
    }

    /// The keys not in `known`, verbatim, each with a warning. `$schema` is every editor's key and
    /// never worth one.
    pub(crate) fn extra(&self, report: &mut Report, known: &[&str]) -> Map<String, Value> {
        let mut extra = Map::new();
        for (key, value) in self.map {
            if known.contains(&key.as_str()) {
                continue;
            }
            if key != "$schema" {
                let message = Text::new(
                    format!("Unknown key {} is ignored", quote(key)),
                    format!("未知的键 {} 被忽略", quote(key)),
                );
                report.warn(self.scope.source, ProblemCode::UnknownKey, self.at(key), message);
            }
            extra.insert(key.clone(), value.clone());
        }
        extra
    }
}

/// U+0000–001F and U+007F (plugin-manifest §2.1).
pub(crate) fn has_control(text: &str) -> bool {
    text.chars().any(|c| c <= '\u{1f}' || c == '\u{7f}')
}
