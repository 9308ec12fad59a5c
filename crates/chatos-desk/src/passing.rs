//! Prompts, resources and completions that the gateway passes on: whose a name or an address is, as the host told it.

use std::collections::HashMap;

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::tool::{PassedEntry, PassedOn};
use serde_json::{Map, Value, json};

/// Addresses of links in results that are remembered; older ones are forgotten all at once.
const LINKS: usize = 2_000;

/// What is known of them.
#[derive(Default)]
pub(crate) struct Passing {
    pub(crate) told: PassedOn,
    /// Addresses that results linked to, with the identity of their server.
    links: HashMap<String, String>,
}

/// A request for one server.
pub(crate) struct Passed {
    pub(crate) server: String,
    pub(crate) params: Map<String, Value>,
}

impl Passing {
    /// Remembers what a result of a server links to: it can be read although no list has it.
    pub(crate) fn see(&mut self, server: &str, result: &Value) {
        for block in result["content"].as_array().into_iter().flatten() {
            if block["type"] == "resource_link"
                && let Some(uri) = block["uri"].as_str()
            {
                if self.links.len() >= LINKS {
                    self.links.clear();
                }
                self.links.insert(uri.to_owned(), server.to_owned());
            }
        }
    }

    /// Whose request it is, with the server's own name in it.
    pub(crate) fn find(&self, method: &str, mut params: Map<String, Value>) -> Result<Passed, Fault> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let server = match method {
            "prompts/get" => {
                let name = text(params.get("name"));
                let entry = by_name(&self.told.prompts, &name).ok_or_else(|| unknown("prompt", &name))?;
                params.insert("name".to_owned(), json!(entry.own));
                entry.server.clone()
            }
            "resources/read" => {
                let uri = text(params.get("uri"));
                let (server, own) = self.resource(&uri).ok_or_else(|| unknown("resource", &uri))?;
                params.insert("uri".to_owned(), json!(own));
                server
            }
            _ => {
                let of = params.get("ref").cloned().unwrap_or_default();
                let (key, list) = match of["type"].as_str() {
                    Some("ref/prompt") => ("name", &self.told.prompts),
                    _ => ("uri", &self.told.templates),
                };
                let name = text(of.get(key));
                let entry = by_name(list, &name)
                    .or_else(|| by_name(&self.told.resources, &name))
                    .ok_or_else(|| unknown("prompt or template", &name))?;
                let mut of = of;
                of[key] = json!(entry.own);
                params.insert("ref".to_owned(), of);
                entry.server.clone()
            }
        };
        Ok(Passed { server, params })
    }

    /// The server of an address and its own word for it: of the list, of a link, or of a template that fits.
    fn resource(&self, uri: &str) -> Option<(String, String)> {
        if let Some(entry) = by_name(&self.told.resources, uri) {
            return Some((entry.server.clone(), entry.own.clone()));
        }
        if let Some(server) = self.links.get(uri) {
            return Some((server.clone(), uri.to_owned()));
        }
        let beginning = |name: &str| name.split('{').next().unwrap_or_default().to_owned();
        let fitting = self.told.templates.iter().filter(|entry| uri.starts_with(&beginning(&entry.name)));
        let entry = fitting.max_by_key(|entry| beginning(&entry.name).len())?;
        let rest = &uri[beginning(&entry.name).len()..];
        Some((entry.server.clone(), format!("{}{rest}", beginning(&entry.own))))
    }
}

fn by_name<'e>(list: &'e [PassedEntry], name: &str) -> Option<&'e PassedEntry> {
    list.iter().find(|entry| entry.name == name)
}

fn unknown(what: &str, name: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("unknown {what} `{name}`"), format!("未知的 {what} `{name}`")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, server: &str, own: &str) -> PassedEntry {
        let (name, server, own) = (name.to_owned(), server.to_owned(), own.to_owned());
        PassedEntry { name, server, own, definition: Value::Null }
    }

    fn passing() -> Passing {
        let told = PassedOn {
            prompts: vec![entry("mcp_a_review", "admin:a", "review")],
            resources: vec![entry("x://1", "admin:a", "x://1"), entry("chatos+b:x://1", "admin:b", "x://1")],
            templates: vec![
                entry("x://{id}", "admin:a", "x://{id}"),
                entry("chatos+b:x://days/{day}", "admin:b", "x://days/{day}"),
            ],
            ..PassedOn::default()
        };
        Passing { told, ..Passing::default() }
    }

    #[test]
    fn an_address_belongs_to_one_server() {
        let mut passing = passing();
        let read = |passing: &Passing, uri: &str| {
            let params = json!({ "uri": uri }).as_object().cloned().unwrap();
            let found = passing.find("resources/read", params).ok()?;
            Some((found.server, found.params["uri"].as_str().unwrap().to_owned()))
        };
        let of = |server: &str, uri: &str| Some((server.to_owned(), uri.to_owned()));
        assert_eq!(read(&passing, "x://1"), of("admin:a", "x://1"));
        assert_eq!(read(&passing, "chatos+b:x://1"), of("admin:b", "x://1"));
        assert_eq!(read(&passing, "x://7"), of("admin:a", "x://7"));
        assert_eq!(read(&passing, "chatos+b:x://days/monday"), of("admin:b", "x://days/monday"));
        assert_eq!(read(&passing, "y://1"), None);
        passing.see("admin:c", &json!({ "content": [{ "type": "resource_link", "uri": "y://1" }] }));
        assert_eq!(read(&passing, "y://1"), of("admin:c", "y://1"));
    }

    #[test]
    fn prompts_and_completions_go_to_their_server_under_its_own_names() {
        let passing = passing();
        let find = |method: &str, params: Value| passing.find(method, params.as_object().cloned().unwrap());
        let got = find("prompts/get", json!({ "name": "mcp_a_review", "arguments": { "x": "1" } })).unwrap();
        assert_eq!((got.server.as_str(), &got.params["name"]), ("admin:a", &json!("review")));
        let of = json!({ "ref": { "type": "ref/resource", "uri": "chatos+b:x://days/{day}" } });
        let got = find("completion/complete", of).unwrap();
        assert_eq!((got.server.as_str(), &got.params["ref"]["uri"]), ("admin:b", &json!("x://days/{day}")));
        assert!(find("prompts/get", json!({ "name": "review" })).is_err());
    }
}
