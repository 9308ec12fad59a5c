//! What language servers answer, as far as tools use it.
//!
//! Answers that are only shown are read leniently: one odd entry does not cost the others. Edits are read
//! strictly: what is not understood is not applied (decision 0026).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::position::Range;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Location {
    pub(crate) uri: String,
    pub(crate) range: Range,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    target_uri: String,
    target_selection_range: Range,
}

/// One value or a list of them, or none; entries that cannot be read are left out.
pub(crate) fn each<T: DeserializeOwned>(value: Value) -> Vec<T> {
    let entries = match value {
        Value::Array(entries) => entries,
        Value::Null => Vec::new(),
        one => vec![one],
    };
    entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect()
}

/// Places, however a server gives them.
pub(crate) fn locations(value: Value) -> Vec<Location> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Location(Location),
        Link(Link),
    }
    let either = each::<Either>(value).into_iter();
    let mut found: Vec<Location> = Vec::new();
    for one in either {
        let one = match one {
            Either::Location(location) => location,
            Either::Link(link) => Location { uri: link.target_uri, range: link.target_selection_range },
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Text in one of the forms of the protocol.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().map(text).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
        }
        Value::Object(map) => {
            let body = map.get("value").and_then(Value::as_str).unwrap_or_default();
            match map.get("language").and_then(Value::as_str) {
                Some(language) => format!("```{language}\n{body}\n```"),
                None => body.to_owned(),
            }
        }
        _ => String::new(),
    }
}

/// What is found about a stretch of text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Diagnostic {
    pub(crate) range: Range,
    #[serde(default)]
    pub(crate) severity: Option<u8>,
    #[serde(default)]
    pub(crate) code: Value,
    #[serde(default)]
    pub(crate) source: Option<String>,
    #[serde(default)]
    pub(crate) message: Value,
    /// As it came: code actions want it back.
    #[serde(skip)]
    pub(crate) raw: Value,
}

/// A list of them; most are kept.
pub(crate) fn diagnostics(value: &Value) -> Vec<Diagnostic> {
    const MOST: usize = 2_000;
    let entries = value.as_array().into_iter().flatten().take(MOST);
    entries
        .filter_map(|entry| {
            let mut one: Diagnostic = serde_json::from_value(entry.clone()).ok()?;
            one.raw = entry.clone();
            Some(one)
        })
        .collect()
}

/// `error`, `warning`, `information`, `hint`.
pub(crate) fn severity(number: Option<u8>) -> &'static str {
    match number {
        Some(2) => "warning",
        Some(3) => "information",
        Some(4) => "hint",
        _ => "error",
    }
}

/// A symbol of a file, in either form.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Symbol {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: u8,
    #[serde(default)]
    pub(crate) detail: Option<String>,
    #[serde(default)]
    pub(crate) container_name: Option<String>,
    #[serde(default)]
    pub(crate) range: Option<Range>,
    #[serde(default)]
    pub(crate) selection_range: Option<Range>,
    #[serde(default)]
    pub(crate) location: Option<SymbolLocation>,
    #[serde(default)]
    pub(crate) children: Vec<Symbol>,
}

/// The line where a file declares a name, counted from 0. Some servers write the parameters behind it.
pub(crate) fn declared(list: &[Symbol], name: &str) -> Option<u32> {
    list.iter()
        .find_map(|one| {
            let own = one.name == name || one.name.split('(').next() == Some(name);
            let range = one.selection_range.or(one.range).or_else(|| one.location.as_ref()?.range);
            own.then_some(range).flatten().map(|range| range.start.line)
        })
        .or_else(|| list.iter().find_map(|one| declared(&one.children, name)))
}

/// Where a symbol is; some servers leave the range out until it is asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct SymbolLocation {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) range: Option<Range>,
}

/// The word for a kind of symbol.
pub(crate) fn symbol_kind(number: u8) -> &'static str {
    const WORDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "enum_member",
        "struct",
        "event",
        "operator",
        "type_parameter",
    ];
    WORDS.get(usize::from(number).wrapping_sub(1)).copied().unwrap_or("symbol")
}

/// The word for a kind of completion.
pub(crate) fn completion_kind(number: u8) -> &'static str {
    const WORDS: [&str; 25] = [
        "text",
        "method",
        "function",
        "constructor",
        "field",
        "variable",
        "class",
        "interface",
        "module",
        "property",
        "unit",
        "value",
        "enum",
        "keyword",
        "snippet",
        "color",
        "file",
        "reference",
        "folder",
        "enum_member",
        "constant",
        "struct",
        "event",
        "operator",
        "type_parameter",
    ];
    WORDS.get(usize::from(number).wrapping_sub(1)).copied().unwrap_or("text")
}

/// A function in a hierarchy of calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallItem {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: u8,
    #[serde(default)]
    pub(crate) detail: Option<String>,
    pub(crate) uri: String,
    pub(crate) selection_range: Range,
}

/// Who calls, or what is called.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallEdge {
    #[serde(alias = "to")]
    pub(crate) from: CallItem,
    #[serde(default)]
    pub(crate) from_ranges: Vec<Range>,
}

/// Another text for a stretch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextEdit {
    pub(crate) range: Range,
    pub(crate) new_text: String,
}

/// A change of several files.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceEdit {
    #[serde(default)]
    pub(crate) changes: Option<BTreeMap<String, Vec<TextEdit>>>,
    #[serde(default)]
    pub(crate) document_changes: Option<Vec<DocumentChange>>,
}

impl WorkspaceEdit {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.as_ref().is_none_or(BTreeMap::is_empty)
            && self.document_changes.as_ref().is_none_or(Vec::is_empty)
    }
}

/// One part of it, in order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum DocumentChange {
    /// Files come and go.
    File(FileChange),
    Text(DocumentEdit),
}

/// Files come and go.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum FileChange {
    Create {
        uri: String,
        #[serde(default)]
        options: Options,
    },
    Rename {
        #[serde(rename = "oldUri")]
        old_uri: String,
        #[serde(rename = "newUri")]
        new_uri: String,
        #[serde(default)]
        options: Options,
    },
    Delete {
        uri: String,
        #[serde(default)]
        options: Options,
    },
}

/// What happens when it is there already, or is not.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Options {
    pub(crate) overwrite: bool,
    pub(crate) ignore_if_exists: bool,
    pub(crate) ignore_if_not_exists: bool,
}

/// What a server wants changed in one text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentEdit {
    pub(crate) text_document: VersionedDocument,
    pub(crate) edits: Vec<TextEdit>,
}

/// Which text, of which version.
#[derive(Debug, Deserialize)]
pub(crate) struct VersionedDocument {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn range() -> Value {
        json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 4}})
    }

    #[test]
    fn places_come_in_every_form() {
        let plain = json!({"uri": "file:///a", "range": range()});
        let link = json!({"targetUri": "file:///b", "targetRange": range(), "targetSelectionRange": range()});
        assert_eq!(locations(Value::Null), []);
        assert_eq!(locations(plain.clone()).len(), 1);
        let found = locations(json!([plain, link, "nonsense", {"uri": 1}, plain]));
        assert_eq!(found.iter().map(|one| one.uri.as_str()).collect::<Vec<_>>(), ["file:///a", "file:///b"]);
    }

    #[test]
    fn a_text_comes_in_every_form() {
        assert_eq!(text(&json!("x")), "x");
        assert_eq!(text(&json!({"kind": "markdown", "value": "**x**"})), "**x**");
        assert_eq!(text(&json!(["a", "", {"language": "rs", "value": "fn x"}])), "a\n\n```rs\nfn x\n```");
        assert_eq!(text(&json!(7)), "");
    }

    #[test]
    fn an_edit_that_is_not_understood_is_no_edit() {
        let edit = |value: Value| serde_json::from_value::<WorkspaceEdit>(value);
        let good = json!({"documentChanges": [
            {"kind": "rename", "oldUri": "file:///a", "newUri": "file:///b", "options": {"overwrite": true}},
            {"textDocument": {"uri": "file:///b", "version": 3}, "edits": [{"range": range(), "newText": "x"}]},
            {"kind": "create", "uri": "file:///c"}, {"kind": "delete", "uri": "file:///d"},
        ]});
        let good = edit(good).unwrap().document_changes.unwrap();
        assert!(
            matches!(&good[0], DocumentChange::File(FileChange::Rename { options, .. }) if options.overwrite)
        );
        assert!(matches!(&good[1], DocumentChange::Text(text) if text.text_document.version == Some(3)));
        for bad in [
            json!({"documentChanges": [{"kind": "explode", "uri": "file:///a"}]}),
            json!({"documentChanges": [{"textDocument": {"uri": "file:///a"}, "edits": [{"newText": "x"}]}]}),
            json!({"changes": {"file:///a": [{"range": range()}]}}),
            json!({"changes": {"file:///a": [{"range": {"start": {"line": -1, "character": 0}, "end": {}}, "newText": ""}]}}),
        ] {
            assert!(edit(bad.clone()).is_err(), "{bad}");
        }
    }
}
