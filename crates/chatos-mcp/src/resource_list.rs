//! The resources of a server as data: read leniently, bounded, cleaned of nothing (who shows them cleans them).

use serde_json::Value;

use crate::limits::{LIST_RESOURCES, TOOL_BYTES, URI_BYTES};

/// Longest text that is kept of a resource.
const TEXT_CHARS: usize = 2_000;

/// What a server has to be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResourceList {
    /// Those with an address of their own.
    pub resources: Vec<Resource>,
    /// Families of them: addresses with places in braces.
    pub templates: Vec<Resource>,
}

/// A resource, or a template of such, as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its address; of a template with places in braces (RFC 6570).
    pub uri: String,
    /// The server's own name of it.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it is, in the words of the server.
    pub description: String,
    /// Its type, such as `text/plain`.
    pub mime: Option<String>,
    /// In bytes, where the server says it.
    pub size: Option<u64>,
    /// The whole entry, for whoever passes it on.
    pub raw: Value,
}

/// Adds the usable entries of a page, each address once; says whether there may be another page.
pub(crate) fn take(list: &mut Vec<Resource>, page: &[Value], key: &str) -> bool {
    for value in page {
        if list.len() == LIST_RESOURCES {
            return false;
        }
        if let Some(resource) = read(value, key)
            && !list.iter().any(|known| known.uri == resource.uri)
        {
            list.push(resource);
        }
    }
    true
}

fn read(value: &Value, key: &str) -> Option<Resource> {
    let uri = value[key].as_str()?;
    let usable = !uri.is_empty() && uri.len() <= URI_BYTES && !uri.chars().any(char::is_control);
    if !usable || value.to_string().len() > TOOL_BYTES {
        return None;
    }
    let text = |key: &str| value[key].as_str().filter(|text| !text.is_empty()).map(cut);
    Some(Resource {
        uri: uri.to_owned(),
        name: text("name").unwrap_or_default(),
        title: text("title"),
        description: text("description").unwrap_or_default(),
        mime: text("mimeType"),
        size: value["size"].as_u64(),
        raw: value.clone(),
    })
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_usable_is_kept_and_the_rest_is_not_there() {
        let mut list = Vec::new();
        let page = json!([
            { "uri": "file:///a.md", "name": "a", "mimeType": "text/markdown", "size": 7, "odd": [1] },
            { "uri": "file:///a.md", "name": "again" },
            { "uri": "" }, { "name": "nowhere" }, 7, { "uri": "a\nb" }, { "uri": "x".repeat(URI_BYTES + 1) },
            { "uri": "demo://bare", "size": -1, "description": 5 },
        ]);
        assert!(take(&mut list, page.as_array().unwrap(), "uri"));
        let uris: Vec<&str> = list.iter().map(|one| one.uri.as_str()).collect();
        assert_eq!(uris, ["file:///a.md", "demo://bare"]);
        assert_eq!((list[0].size, list[0].mime.as_deref()), (Some(7), Some("text/markdown")));
        assert_eq!(list[0].raw["odd"], json!([1]));
        let many: Vec<Value> =
            (0..LIST_RESOURCES + 5).map(|n| json!({ "uri": format!("x://{n}") })).collect();
        assert!(!take(&mut list, &many, "uri"));
        assert_eq!(list.len(), LIST_RESOURCES);
    }
}
