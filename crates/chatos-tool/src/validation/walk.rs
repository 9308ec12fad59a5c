//! Walks a value and its schema side by side.

use serde_json::{Map, Number, Value};

use super::{Issue, IssueCode, nearest, pointer};
use crate::limits;
use crate::text::Text;

/// One walk: what was found so far. `root` is where `$ref` points into.
pub(super) struct Walk<'a> {
    root: &'a Value,
    pub(super) issues: Vec<Issue>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, issues: Vec::new() }
    }

    fn push(&mut self, path: &str, code: IssueCode, message: Text) {
        self.issues.push(Issue::new(path, code, message));
    }

    /// Checks and converts one value.
    pub(super) fn value(&mut self, schema: &'a Value, value: &mut Value, path: &str, depth: usize) {
        if depth > limits::ARGUMENT_DEPTH {
            self.push(path, IssueCode::Format, Text::fixed("nested too deeply", "嵌套过深"));
            return;
        }
        let Some(schema) = self.resolve(schema).as_object() else { return };
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = schema.get(key) {
                self.alternatives(branches, value, path, depth);
                return;
            }
        }
        if let Some(wanted) = schema.get("const") {
            if value != wanted {
                self.push(
                    path,
                    IssueCode::Enum,
                    Text::new(format!("must be {wanted}"), format!("必须是 {wanted}")),
                );
            }
            return;
        }
        if let Some(types) = types(schema)
            && !convert(&types, value)
        {
            let wanted = types.join(" / ");
            let found = type_name(value);
            self.push(
                path,
                IssueCode::Type,
                Text::new(
                    format!("must be {wanted}, not {found}"),
                    format!("类型应为 {wanted}，而不是 {found}"),
                ),
            );
            return;
        }
        if let Some(Value::Array(allowed)) = schema.get("enum") {
            self.listed(allowed, value, path);
            return;
        }
        match value {
            Value::String(text) => self.string(schema, text, path),
            Value::Number(number) => self.number(schema, number, path),
            Value::Array(items) => self.array(schema, items, path, depth),
            Value::Object(map) => self.object(schema, map, path, depth),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
        target.and_then(|at| self.root.pointer(at)).unwrap_or(schema)
    }

    /// The first branch that takes the value as it is, else the first that can convert it; when none
    /// does, the problems of the branch of the value's own type say most.
    fn alternatives(&mut self, branches: &'a [Value], value: &mut Value, path: &str, depth: usize) {
        let mut closest: Option<Vec<Issue>> = None;
        let mut wanted: Vec<&str> = Vec::new();
        let found = type_name(value);
        let own_first = |branch: &&Value| {
            let resolved = self.resolve(branch);
            resolved.as_object().and_then(types).is_none_or(|types| !types.contains(&found))
        };
        let mut ordered: Vec<&'a Value> = branches.iter().collect();
        ordered.sort_by_key(own_first);
        for branch in ordered {
            let own =
                self.resolve(branch).as_object().and_then(types).is_some_and(|types| types.contains(&found));
            wanted.extend(self.resolve(branch).as_object().and_then(types).unwrap_or_default());
            let mut walk = Walk::new(self.root);
            let mut copy = value.clone();
            walk.value(branch, &mut copy, path, depth + 1);
            if walk.issues.is_empty() {
                *value = copy;
                return;
            }
            if own && closest.is_none() {
                closest = Some(walk.issues);
            }
        }
        match closest {
            Some(issues) => self.issues.extend(issues),
            None => {
                let wanted = wanted.join(" / ");
                self.push(
                    path,
                    IssueCode::Type,
                    Text::new(
                        format!("must be {wanted}, not {found}"),
                        format!("类型应为 {wanted}，而不是 {found}"),
                    ),
                );
            }
        }
    }

    fn listed(&mut self, allowed: &[Value], value: &Value, path: &str) {
        if allowed.contains(value) {
            return;
        }
        let names: Vec<String> = allowed.iter().map(plain).collect();
        let list = names.join(", ");
        let mut issue = Issue::new(
            path,
            IssueCode::Enum,
            Text::new(format!("must be one of {list}"), format!("必须是以下之一：{list}")),
        );
        if let Some(near) = value.as_str().and_then(|text| nearest(text, names.iter().map(String::as_str))) {
            issue = issue.hint(did_you_mean(near));
        }
        self.issues.push(issue);
    }

    fn string(&mut self, schema: &Map<String, Value>, text: &str, path: &str) {
        let chars = text.chars().count();
        if let Some(min) = size(schema, "minLength").filter(|min| chars < *min) {
            let message = if min == 1 {
                Text::fixed("must not be empty", "不能为空")
            } else {
                Text::new(
                    format!("has {chars} characters, at least {min} are needed"),
                    format!("有 {chars} 个字符，至少需要 {min} 个"),
                )
            };
            self.push(path, IssueCode::Length, message);
        }
        if let Some(max) = size(schema, "maxLength").filter(|max| chars > *max) {
            self.push(
                path,
                IssueCode::Length,
                Text::new(
                    format!("has {chars} characters, at most {max} are allowed"),
                    format!("有 {chars} 个字符，最多允许 {max} 个"),
                ),
            );
        }
        let bytes = text.len();
        if let Some(max) = size(schema, "x-max-bytes").filter(|max| bytes > *max) {
            self.push(
                path,
                IssueCode::Length,
                Text::new(
                    format!("has {bytes} bytes, at most {max} are allowed"),
                    format!("有 {bytes} 字节，最多允许 {max} 字节"),
                ),
            );
        }
        if schema.get("x-no-nul") == Some(&Value::Bool(true)) && text.contains('\0') {
            let message = Text::fixed("must not contain a NUL character", "不能包含 NUL 字符");
            self.push(path, IssueCode::Format, message);
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            // A pattern that does not compile is found by the lint of every tool's schema.
            let fits = regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(text));
            if !fits {
                self.push(
                    path,
                    IssueCode::Pattern,
                    Text::new(format!("must match {pattern}"), format!("必须匹配 {pattern}")),
                );
            }
        }
    }

    fn number(&mut self, schema: &Map<String, Value>, number: &Number, path: &str) {
        let bound = |key: &str| schema.get(key).and_then(Value::as_number);
        let (min, max) = (bound("minimum"), bound("maximum"));
        let below = min.is_some_and(|min| less(number, min));
        let above = max.is_some_and(|max| less(max, number));
        if !below && !above {
            return;
        }
        let range = match (min, max) {
            (Some(min), Some(max)) => format!("{min}..{max}"),
            (Some(min), None) => format!("{min}.."),
            (None, Some(max)) => format!("..{max}"),
            (None, None) => return,
        };
        self.push(
            path,
            IssueCode::Range,
            Text::new(
                format!("is {number}, must be in {range}"),
                format!("是 {number}，必须在 {range} 之间"),
            ),
        );
    }

    fn array(&mut self, schema: &'a Map<String, Value>, items: &mut [Value], path: &str, depth: usize) {
        let count = items.len();
        let (min, max) = (size(schema, "minItems"), size(schema, "maxItems"));
        if min.is_some_and(|min| count < min) || max.is_some_and(|max| count > max) {
            let range = format!(
                "{}..{}",
                min.unwrap_or_default(),
                max.map(|max| max.to_string()).unwrap_or_default()
            );
            self.push(
                path,
                IssueCode::Length,
                Text::new(
                    format!("has {count} items, {range} are allowed"),
                    format!("有 {count} 项，允许 {range} 项"),
                ),
            );
        }
        let Some(item_schema) = schema.get("items") else { return };
        // Beyond the limit nothing is looked at: the list is refused anyway.
        for (index, item) in items.iter_mut().take(max.unwrap_or(usize::MAX)).enumerate() {
            self.value(item_schema, item, &format!("{path}/{index}"), depth + 1);
        }
    }

    fn object(
        &mut self,
        schema: &'a Map<String, Value>,
        map: &mut Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = properties.unwrap_or(&empty);
        let required: Vec<&str> = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        // tools §3: null for an optional property means "absent".
        map.retain(|key, value| {
            !value.is_null() || required.contains(&key.as_str()) || !known.contains_key(key)
        });
        for name in &required {
            if map.get(*name).is_none_or(Value::is_null) {
                self.push(&pointer(path, name), IssueCode::Missing, Text::fixed("is required", "为必填项"));
            }
        }
        for (key, value) in map.iter_mut() {
            if let Some(schema) = properties.and_then(|properties| properties.get(key)) {
                if !value.is_null() {
                    self.value(schema, value, &pointer(path, key), depth + 1);
                }
                continue;
            }
            match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => self.unknown(key, known, path),
                Some(schema) => self.value(schema, value, &pointer(path, key), depth + 1),
                None => {}
            }
        }
    }

    fn unknown(&mut self, key: &str, known: &Map<String, Value>, path: &str) {
        // A key of a megabyte must not become an answer of a megabyte.
        let shown: String = key.chars().take(limits::TOOL_NAME_CHARS).collect();
        let mut issue =
            Issue::new(pointer(path, &shown), IssueCode::UnknownKey, Text::fixed("unknown key", "未知的键"));
        issue = match nearest(key, known.keys().map(String::as_str)) {
            Some(near) => issue.hint(did_you_mean(near)),
            None if known.is_empty() => issue.hint(Text::fixed("no keys are known here", "此处没有可用的键")),
            None => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let names = names.join(", ");
                issue.hint(Text::new(format!("known keys: {names}"), format!("可用的键：{names}")))
            }
        };
        self.issues.push(issue);
    }
}

fn did_you_mean(name: &str) -> Text {
    Text::new(format!("did you mean \"{name}\"?"), format!("你是否想写 \"{name}\"？"))
}

fn types(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// Brings the value into one of the types where nothing is lost; false when it has none of them.
fn convert(types: &[&str], value: &mut Value) -> bool {
    let fits = |name: &str| match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        _ => false,
    };
    if types.iter().any(|name| fits(name)) {
        return true;
    }
    let converted = types.iter().find_map(|name| match (*name, &*value) {
        ("integer", Value::String(text)) => whole_text(text),
        ("integer", Value::Number(number)) => whole_float(number),
        ("boolean", Value::String(text)) => match text.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    });
    match converted {
        Some(converted) => {
            *value = converted;
            true
        }
        None => false,
    }
}

/// `"12"`: digits, at most a minus in front, no other spelling.
fn whole_text(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

/// `12.0` is the integer 12 in JSON Schema; beyond 2^53 a float no longer names one integer.
fn whole_float(number: &Number) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Value::from(float as i64))
}

fn less(a: &Number, b: &Number) -> bool {
    match (a.as_i64(), b.as_i64(), a.as_u64(), b.as_u64()) {
        (Some(a), Some(b), ..) => a < b,
        (_, _, Some(a), Some(b)) => a < b,
        _ => a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a < b),
    }
}

fn size(schema: &Map<String, Value>, key: &str) -> Option<usize> {
    schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
