//! `kind="choice"`: one or several of a list of options (seed 004 §6).

use serde_json::Value;

use super::Checker;
use super::common::whole;
use crate::json::Object;
use crate::problem::{Code, Problem, quoted};

pub const MAX_OPTIONS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub multiple: bool,
    pub options: Vec<Choosable>,
    /// At most one when single.
    pub default: Vec<String>,
    /// Bounds on how many; `1..=1` when single.
    pub min: usize,
    pub max: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choosable {
    pub value: String,
    pub label: Option<String>,
    pub description: Option<String>,
}

pub(super) fn check(ck: &mut Checker, prompt: &Object, normal: &mut Object) -> Option<Choice> {
    let multiple = ck.flag(prompt, "multiple", "/prompt", false);
    if prompt.get("multiple").is_some_and(Value::is_boolean) {
        normal.insert("multiple".into(), multiple.into());
    }
    let options = options(ck, prompt, normal);
    // A broken option list would only make every default unknown; say the one thing that helps.
    let options = options?;
    let count = options.len();
    let (min, max) = if multiple { bounds(ck, prompt, count) } else { (1, 1) };
    let default = default(ck, prompt, multiple, &options, max);
    if let Some(default) = &default {
        let form = if multiple { default.clone().into() } else { default.first().cloned().into() };
        normal.insert("default".into(), form);
    }
    for (key, kept) in [("minSelections", min), ("maxSelections", max)] {
        if let Some(given) = prompt.get(key) {
            // ui-prompts §5: when single both keys are ignored, whatever they hold.
            normal.insert(key.into(), if multiple { kept.into() } else { given.clone() });
        }
    }
    Some(Choice { multiple, options, default: default.unwrap_or_default(), min, max })
}

fn options(ck: &mut Checker, prompt: &Object, normal: &mut Object) -> Option<Vec<Choosable>> {
    const AT: &str = "/prompt/options";
    const KNOWN: [&str; 3] = ["value", "label", "description"];
    let Some(Value::Array(given)) = prompt.get("options") else {
        ck.fatal(Problem::new(Code::OptionsRequired, AT));
        return None;
    };
    if given.is_empty() || given.len() > MAX_OPTIONS {
        ck.fatal(Problem::new(Code::OptionsCount, AT).arg(given.len()));
        return None;
    }
    let mut options: Vec<Choosable> = Vec::with_capacity(given.len());
    let mut written = Vec::with_capacity(given.len());
    for (i, item) in given.iter().enumerate() {
        let at = format!("{AT}/{i}");
        let Some(map) = item.as_object() else {
            ck.repairable(Problem::new(Code::OptionObject, at).arg(i + 1));
            continue;
        };
        let value = map.get("value").and_then(Value::as_str).unwrap_or("").trim().to_owned();
        if value.is_empty() {
            ck.repairable(Problem::new(Code::OptionValueRequired, at).arg(i + 1));
            continue;
        }
        if options.iter().any(|o| o.value == value) {
            ck.repairable(Problem::new(Code::OptionValueDuplicate, at).arg(quoted(&value)));
            continue;
        }
        let mut form = Object::new();
        form.insert("value".into(), value.as_str().into());
        let label = ck.text(map, "label", &at, &mut form);
        let description = ck.text(map, "description", &at, &mut form);
        for (name, extra) in map {
            if !KNOWN.contains(&name.as_str()) {
                form.insert(name.clone(), extra.clone());
            }
        }
        options.push(Choosable { value, label, description });
        written.push(Value::Object(form));
    }
    if options.is_empty() {
        if !ck.strict() {
            ck.fatal(Problem::new(Code::OptionsCount, AT).arg(0));
        }
        return None;
    }
    normal.insert("options".into(), written.into());
    Some(options)
}

fn bounds(ck: &mut Checker, prompt: &Object, count: usize) -> (usize, usize) {
    let read = |ck: &mut Checker, key: &str, code: Code, low: i64, default: usize| -> usize {
        let Some(value) = prompt.get(key) else { return default };
        let high = i64::try_from(count).unwrap_or(i64::MAX);
        let number = whole(value);
        if let Some(n) = number.filter(|n| (low..=high).contains(n)) {
            return usize::try_from(n).unwrap_or(default);
        }
        ck.repairable(Problem::new(code, format!("/prompt/{key}")).arg(count));
        number.map_or(default, |n| usize::try_from(n.clamp(low, high)).unwrap_or(default))
    };
    let min = read(ck, "minSelections", Code::MinRange, 0, 0);
    let max = read(ck, "maxSelections", Code::MaxRange, 1, count);
    if min > max {
        ck.repairable(Problem::new(Code::MinGtMax, "/prompt/minSelections").arg(min).arg(max));
        return (max, max);
    }
    (min, max)
}

fn default(
    ck: &mut Checker,
    prompt: &Object,
    multiple: bool,
    options: &[Choosable],
    max: usize,
) -> Option<Vec<String>> {
    const AT: &str = "/prompt/default";
    let value = prompt.get("default")?;
    let texts: Option<Vec<&str>> = match value {
        Value::String(text) if !multiple => Some(vec![text.trim()]),
        Value::Array(items) if multiple => items.iter().map(|i| i.as_str().map(str::trim)).collect(),
        _ => None,
    };
    let Some(texts) = texts else {
        let wanted = if multiple { "string[]" } else { "string" };
        ck.repairable(Problem::new(Code::DefaultType, AT).arg(wanted));
        return None;
    };
    let mut kept: Vec<String> = Vec::with_capacity(texts.len());
    for text in &texts {
        if !options.iter().any(|o| o.value == *text) {
            ck.repairable(Problem::new(Code::DefaultUnknown, AT).arg(quoted(text)));
        } else if kept.iter().any(|k| k == text) {
            ck.repairable(Problem::new(Code::DefaultDuplicate, AT).arg(quoted(text)));
        } else if kept.len() == max {
            ck.repairable(Problem::new(Code::DefaultUnknown, AT).arg(quoted(text)));
        } else {
            kept.push((*text).to_owned());
        }
    }
    if kept.is_empty() && !texts.is_empty() { None } else { Some(kept) }
}
