//! Checking, parsing and fitting the values of settings.

use chatos_tool::Text;
use serde_json::{Map, Value};

use crate::spec::{EnvRule, SettingKind, SettingSpec};

/// One reason why a value is refused, with a JSON pointer into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingIssue {
    /// JSON pointer below `/value`.
    pub path: String,
    /// `type`, `range`, `enum`, `length`, `format` or `exclusive`.
    pub code: &'static str,
    /// What is wrong.
    pub message: Text,
    /// What would be right.
    pub hint: Text,
}

impl SettingSpec {
    /// Parses text from a command line: JSON, or the bare forms people type (`on`, `2MiB`, `a:b`).
    pub fn parse(&self, text: &str) -> Result<Value, Vec<SettingIssue>> {
        let trimmed = text.trim();
        let value = match self.kind {
            SettingKind::Bool => parse_bool(trimmed).map(Value::Bool),
            SettingKind::Int { .. } => parse_int(trimmed).map(Value::from),
            SettingKind::Enum { .. } | SettingKind::Text { .. } | SettingKind::Proxy | SettingKind::Hours => {
                Some(serde_json::from_str::<String>(trimmed).map_or_else(|_| Value::from(text), Value::from))
            }
            SettingKind::List { .. } if trimmed.starts_with('[') => serde_json::from_str(trimmed).ok(),
            SettingKind::List { .. } => Some(split_list(trimmed)),
            SettingKind::IntMap { .. } => serde_json::from_str(trimmed).ok(),
        };
        match value {
            Some(value) => check(self, &value),
            None => Err(vec![self.issue("", "type")]),
        }
    }

    /// What a legal value looks like.
    pub fn expectation(&self) -> Text {
        match self.kind {
            SettingKind::Bool => Text::fixed("use true or false", "请使用 true 或 false"),
            SettingKind::Int { min, max, zero_off: false } => Text::new(
                format!("use a whole number from {min} to {max}"),
                format!("请使用 {min} 到 {max} 之间的整数"),
            ),
            SettingKind::Int { min, max, zero_off: true } => Text::new(
                format!("use 0 (off) or a whole number from {min} to {max}"),
                format!("请使用 0（关闭）或 {min} 到 {max} 之间的整数"),
            ),
            SettingKind::Enum { options, .. } => Text::new(
                format!("use one of {}", options.join(", ")),
                format!("请使用以下之一：{}", options.join("、")),
            ),
            SettingKind::Text { max } => Text::new(
                format!("use a text of at most {max} bytes"),
                format!("请使用不超过 {max} 字节的文本"),
            ),
            SettingKind::Proxy => Text::fixed(
                "use http://host:port or https://host:port without a name and a password, `off`, or nothing",
                "请使用 http://主机:端口 或 https://主机:端口（不含用户名与密码）、off，或留空",
            ),
            SettingKind::Hours => Text::fixed(
                "use two times as in 22:00-07:00, with days as in 22:00-07:00 mon-fri, or nothing",
                "请使用两个时间，例如 22:00-07:00，可加星期，例如 22:00-07:00 mon-fri，或留空",
            ),
            SettingKind::List { max_items, absolute_paths: true } => Text::new(
                format!("use a list of at most {max_items} absolute paths"),
                format!("请使用不超过 {max_items} 个绝对路径的列表"),
            ),
            SettingKind::List { max_items, .. } => Text::new(
                format!("use a list of at most {max_items} texts"),
                format!("请使用不超过 {max_items} 个文本的列表"),
            ),
            SettingKind::IntMap { min, max } => Text::new(
                format!("use an object whose values are whole numbers from {min} to {max}"),
                format!("请使用值为 {min} 到 {max} 之间整数的对象"),
            ),
        }
    }

    fn issue(&self, path: &str, code: &'static str) -> SettingIssue {
        let message = match code {
            "range" => {
                Text::new(format!("`{}` is out of range", self.key), format!("`{}` 超出范围", self.key))
            }
            "enum" => Text::new(
                format!("`{}` does not know this value", self.key),
                format!("`{}` 没有这个取值", self.key),
            ),
            "length" => Text::new(format!("`{}` is too long", self.key), format!("`{}` 过长", self.key)),
            "format" if matches!(self.kind, SettingKind::Proxy) => Text::new(
                format!("`{}` is not the address of a proxy", self.key),
                format!("`{}` 不是代理地址", self.key),
            ),
            "format" if matches!(self.kind, SettingKind::Hours) => Text::new(
                format!("`{}` is not a part of the day", self.key),
                format!("`{}` 不是有效的时段", self.key),
            ),
            "format" => Text::new(
                format!("`{}` holds something that is not an absolute path", self.key),
                format!("`{}` 含有不是绝对路径的内容", self.key),
            ),
            _ => Text::new(
                format!("`{}` has the wrong type of value", self.key),
                format!("`{}` 的值类型不正确", self.key),
            ),
        };
        SettingIssue { path: format!("/value{path}"), code, message, hint: self.expectation() }
    }
}

/// Checks a value strictly and returns its normal form, or every reason against it.
pub(crate) fn check(spec: &SettingSpec, value: &Value) -> Result<Value, Vec<SettingIssue>> {
    let one = |path: &str, code| Err(vec![spec.issue(path, code)]);
    match spec.kind {
        SettingKind::Bool if value.is_boolean() => Ok(value.clone()),
        SettingKind::Int { min, max, zero_off } => match value.as_i64() {
            Some(number) if (min..=max).contains(&number) || (zero_off && number == 0) => Ok(value.clone()),
            Some(_) => one("", "range"),
            None => one("", "type"),
        },
        SettingKind::Enum { options, aliases } => match value.as_str().map(str::trim) {
            Some(word) if options.contains(&word) => Ok(Value::from(word)),
            Some(word) => match aliases.iter().find(|(alias, _)| *alias == word) {
                Some((_, meaning)) => Ok(Value::from(*meaning)),
                None => one("", "enum"),
            },
            None => one("", "type"),
        },
        SettingKind::Text { max } => match value.as_str() {
            Some(text) if text.len() <= max && !text.contains('\0') => Ok(value.clone()),
            Some(_) => one("", "length"),
            None => one("", "type"),
        },
        SettingKind::Proxy => match value.as_str().map(str::trim) {
            Some(text) if text.is_empty() || text == "off" || is_proxy(text) => Ok(Value::from(text)),
            Some(_) => one("", "format"),
            None => one("", "type"),
        },
        SettingKind::Hours => match value.as_str().map(str::trim) {
            Some(text) if text.is_empty() || is_hours(text) => Ok(Value::from(text)),
            Some(_) => one("", "format"),
            None => one("", "type"),
        },
        SettingKind::List { max_items, absolute_paths } => {
            let Some(items) = value.as_array() else { return one("", "type") };
            let mut issues = Vec::new();
            if items.len() > max_items {
                issues.push(spec.issue("", "length"));
            }
            for (index, item) in items.iter().enumerate() {
                let path = format!("/{index}");
                match item.as_str() {
                    None | Some("") => issues.push(spec.issue(&path, "type")),
                    Some(text) if text.len() > 4096 || text.contains('\0') => {
                        issues.push(spec.issue(&path, "length"));
                    }
                    Some(text) if absolute_paths && !text.starts_with('/') => {
                        issues.push(spec.issue(&path, "format"));
                    }
                    Some(_) => {}
                }
            }
            if issues.is_empty() { Ok(value.clone()) } else { Err(issues) }
        }
        SettingKind::IntMap { min, max } => {
            let Some(map) = value.as_object() else { return one("", "type") };
            let issues: Vec<_> = map
                .iter()
                .filter(|(_, item)| !item.as_i64().is_some_and(|n| (min..=max).contains(&n)))
                .map(|(key, _)| {
                    spec.issue(&format!("/{}", key.replace('~', "~0").replace('/', "~1")), "range")
                })
                .collect();
            if issues.is_empty() { Ok(value.clone()) } else { Err(issues) }
        }
        SettingKind::Bool => one("", "type"),
    }
}

/// `HH:MM-HH:MM`, then perhaps days: `mon-fri`, `sat,sun`.
fn is_hours(text: &str) -> bool {
    let time = |text: &str| {
        let Some((hour, minute)) = text.split_once(':') else { return false };
        let below = |text: &str, end: u8| {
            text.len() == 2
                && text.bytes().all(|b| b.is_ascii_digit())
                && text.parse::<u8>().is_ok_and(|number| number < end)
        };
        below(hour, 24) && below(minute, 60)
    };
    let day = |text: &str| matches!(text, "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun");
    let days = |text: &str| {
        text.split(',').all(|part| part.split_once('-').map_or(day(part), |(a, b)| day(a) && day(b)))
    };
    let mut parts = text.split_whitespace();
    let times = parts.next().and_then(|part| part.split_once('-'));
    times.is_some_and(|(from, to)| time(from) && time(to) && from != to)
        && parts.next().is_none_or(days)
        && parts.next().is_none()
}

/// `http(s)://host[:port][/]`. A name and a password have no place in a setting that anybody may read.
fn is_proxy(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")) else {
        return false;
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (rest, None),
    };
    let port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port != 0));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = match bare {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
            !host.is_empty() && host.len() <= 253 && host.bytes().all(legal)
        }
    };
    port && host
}

/// Fits a stored value into the range, telling whether it had to be changed; `None` = unusable.
pub(crate) fn fit(spec: &SettingSpec, value: &Value) -> Option<(Value, bool)> {
    if let Ok(value) = check(spec, value) {
        return Some((value, false));
    }
    match spec.kind {
        SettingKind::Int { min, max, .. } => {
            let number = value.as_i64().or_else(|| value.as_f64().map(|n| n as i64))?;
            Some((Value::from(number.clamp(min, max)), true))
        }
        SettingKind::List { max_items, .. } => {
            let kept: Vec<Value> = value
                .as_array()?
                .iter()
                .filter(|item| check(spec, &Value::Array(vec![(*item).clone()])).is_ok())
                .take(max_items)
                .cloned()
                .collect();
            Some((Value::Array(kept), true))
        }
        SettingKind::IntMap { min, max } => {
            let fitted: Map<String, Value> = value
                .as_object()?
                .iter()
                .filter_map(|(key, item)| Some((key.clone(), Value::from(item.as_i64()?.clamp(min, max)))))
                .collect();
            Some((Value::Object(fitted), true))
        }
        _ => None,
    }
}

/// Reads an environment value: clamped when out of range, an error when unusable, `None` when the
/// variable says nothing about this setting.
pub(crate) fn from_env(spec: &SettingSpec, rule: EnvRule, text: &str) -> Result<Option<(Value, bool)>, ()> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let word = match rule {
        EnvRule::Value => text.to_owned(),
        EnvRule::OneMeans(meaning) => match parse_bool(text) {
            Some(true) => meaning.to_owned(),
            Some(false) => return Ok(None),
            None => return Err(()),
        },
        EnvRule::ZeroOne(zero, one) => match parse_bool(text) {
            Some(answer) => if answer { one } else { zero }.to_owned(),
            None => return Err(()),
        },
    };
    if let Ok(value) = spec.parse(&word) {
        return Ok(Some((value, false)));
    }
    let number = matches!(spec.kind, SettingKind::Int { .. }).then(|| parse_int(&word)).flatten();
    number.and_then(|number| fit(spec, &Value::from(number))).map(Some).ok_or(())
}

pub(crate) fn clamped(name: &str) -> Text {
    Text::new(
        format!("the value of `{name}` is out of range and was brought into it"),
        format!("`{name}` 的值超出范围，已调整到范围之内"),
    )
}

pub(crate) fn ignored(name: &str) -> Text {
    Text::new(
        format!("the value of `{name}` cannot be used and is ignored"),
        format!("`{name}` 的值无法使用，已忽略"),
    )
}

pub(crate) fn pair_issue() -> SettingIssue {
    SettingIssue {
        path: "/value".to_owned(),
        code: "exclusive",
        message: Text::fixed(
            "`mcpMaxTimeoutMs` must not be smaller than `mcpTimeoutMs`",
            "`mcpMaxTimeoutMs` 不能小于 `mcpTimeoutMs`",
        ),
        hint: Text::fixed("change the other one first", "请先修改另一个设置"),
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "y" | "on" => Some(true),
        "0" | "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// Whole numbers with `_` between digits and an optional binary unit.
fn parse_int(text: &str) -> Option<i64> {
    let text = text.replace('_', "");
    let units = [("KiB", 1024), ("MiB", 1024 * 1024), ("GiB", 1024 * 1024 * 1024)];
    for (unit, factor) in units {
        if let Some(number) = text.strip_suffix(unit) {
            return number.trim().parse::<i64>().ok()?.checked_mul(factor);
        }
    }
    text.parse().ok()
}

fn split_list(text: &str) -> Value {
    text.split(':').filter(|item| !item.is_empty()).map(Value::from).collect()
}

/// Levenshtein distance, for "did you mean".
pub(crate) fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let change = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[right.len()]
}
