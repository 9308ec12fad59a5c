//! Model servers on this machine (agents §1.4): looked for on loopback only, offered, never added by
//! themselves.

use std::time::Duration;

use chatos_tool::Fault;
use chatos_wire::model::DetectedModel;
use serde_json::Value;

use super::{Models, address};
use crate::http::get_local_json;

/// Each place may take this long.
const PATIENCE: Duration = Duration::from_millis(300);
/// Models offered of one server.
const MOST: usize = 100;

struct Place {
    base: String,
    path: &'static str,
    read: fn(&Value) -> Vec<String>,
    provider: &'static str,
    title: &'static str,
}

impl Models {
    /// Looks for model servers, all at once.
    pub async fn detect(&self) -> Result<Vec<DetectedModel>, Fault> {
        let places = [
            Place {
                base: ollama(self.parts().environment.get("OLLAMA_HOST")),
                path: "api/tags",
                read: |list| names(&list["models"], "name"),
                provider: "ollama",
                title: "Ollama",
            },
            Place {
                base: "http://127.0.0.1:1234".to_owned(),
                path: "v1/models",
                read: |list| names(&list["data"], "id"),
                provider: "lmstudio",
                title: "LM Studio",
            },
            Place {
                base: "http://127.0.0.1:8080".to_owned(),
                path: "v1/models",
                // Anything may listen on that port; this one says who it is.
                read: |list| {
                    let own = list["data"][0]["owned_by"] == "llamacpp";
                    if own { names(&list["data"], "id") } else { Vec::new() }
                },
                provider: "openai_compatible",
                title: "llama.cpp",
            },
        ];
        let connections = self.connections();
        let asked = places.iter().map(|place| get_local_json(connections, &place.base, place.path, PATIENCE));
        let answers = futures_util::future::join_all(asked).await;
        let known: Vec<(String, String)> =
            self.list()?.into_iter().map(|model| (model.base_url, model.model)).collect();
        let mut found = Vec::new();
        for (place, answer) in places.iter().zip(answers) {
            // Nobody there is the usual answer.
            let Ok(list) = answer else { continue };
            let base_url = format!("{}/v1", place.base);
            for model in (place.read)(&list) {
                found.push(DetectedModel {
                    provider: place.provider.to_owned(),
                    added: known.contains(&(base_url.clone(), model.clone())),
                    base_url: base_url.clone(),
                    name: format!("{model} ({})", place.title),
                    model,
                });
            }
        }
        Ok(found)
    }
}

fn names(list: &Value, member: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = items.iter().filter_map(|item| item[member].as_str());
    let sound = |name: &&str| !name.is_empty() && name.len() <= 200 && !name.chars().any(char::is_control);
    texts.filter(sound).take(MOST).map(str::to_owned).collect()
}

/// `OLLAMA_HOST` counts if it is this machine; it may be a port, a host, both, or an address.
fn ollama(variable: Option<&str>) -> String {
    let usual = "http://127.0.0.1:11434".to_owned();
    let Some(text) = variable.map(str::trim) else { return usual };
    let text = text.trim_end_matches('/');
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let with_scheme = match with_scheme.strip_prefix("http://:") {
        Some(port) => format!("http://127.0.0.1:{port}"),
        None => with_scheme,
    };
    let Some(base) = address::normalised(&with_scheme).filter(|base| address::is_loopback(base)) else {
        return usual;
    };
    let has_port = address::host_of(&base).rsplit(']').next().unwrap_or_default().contains(':');
    if has_port { base } else { format!("{base}:11434") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_counts_only_for_this_machine() {
        for (variable, expected) in [
            (None, "http://127.0.0.1:11434"),
            (Some("127.0.0.1:4000"), "http://127.0.0.1:4000"),
            (Some("localhost"), "http://localhost:11434"),
            (Some(":4000"), "http://127.0.0.1:4000"),
            (Some("http://[::1]:4000/"), "http://[::1]:4000"),
            (Some("0.0.0.0:11434"), "http://127.0.0.1:11434"),
            (Some("10.0.0.5:11434"), "http://127.0.0.1:11434"),
            (Some("https://models.example"), "http://127.0.0.1:11434"),
            (Some("http://user@localhost"), "http://127.0.0.1:11434"),
        ] {
            assert_eq!(ollama(variable), expected, "{variable:?}");
        }
    }

    #[test]
    fn lists_of_strangers_are_read_with_care() {
        let list = serde_json::json!([{ "id": "a" }, { "id": "" }, { "id": 7 }, {}, { "id": "x\u{7}" }, { "id": "b" }]);
        assert_eq!(names(&list, "id"), ["a", "b"]);
        assert!(names(&Value::Null, "id").is_empty());
    }
}
