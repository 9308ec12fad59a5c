//! Model servers on this machine (agents §1.4): looked for on loopback only, offered, never added by
//! themselves.

use std::time::Duration;

use chatos_tool::Fault;
use chatos_wire::model::DetectedModel;

use super::offered::{Asking, Offered};
use super::{Models, address};
use crate::http::Secrets;

/// Each place may take this long.
const PATIENCE: Duration = Duration::from_millis(300);
/// Models offered of one server.
const MOST: usize = 100;

struct Place {
    base: String,
    provider: &'static str,
    title: &'static str,
}

impl Models {
    /// Looks for model servers, all at once. What cannot chat is not offered.
    pub async fn detect(&self) -> Result<Vec<DetectedModel>, Fault> {
        let usual = |port: u16| format!("http://127.0.0.1:{port}");
        let places = [
            Place {
                base: ollama(self.parts().environment.get("OLLAMA_HOST")),
                provider: "ollama",
                title: "Ollama",
            },
            Place { base: usual(1234), provider: "lmstudio", title: "LM Studio" },
            Place { base: usual(8080), provider: "openai_compatible", title: "llama.cpp" },
        ];
        let nothing = Secrets::default();
        let bases = places.each_ref().map(|place| match place.provider {
            "ollama" => place.base.clone(),
            _ => format!("{}/v1", place.base),
        });
        let asking: Vec<Asking<'_>> = places
            .iter()
            .zip(&bases)
            .map(|(place, base_url)| Asking {
                provider: place.provider,
                base_url,
                secrets: &nothing,
                patience: PATIENCE,
            })
            .collect();
        let answers =
            futures_util::future::join_all(asking.iter().map(|asking| self.read_list(asking))).await;
        let place_of = |base_url: &str| address::unversioned(base_url).to_owned();
        let known: Vec<(String, String)> =
            self.list()?.into_iter().map(|model| (place_of(&model.base_url), model.model)).collect();
        let mut found = Vec::new();
        for ((place, base_url), answer) in places.iter().zip(&bases).zip(answers) {
            // Nobody there is the usual answer.
            let Ok(list) = answer else { continue };
            // Anything may listen on that port; this one says who it is.
            let own = |offered: &Offered| place.title != "llama.cpp" || offered.owner == "llamacpp";
            for offered in list.into_iter().filter(|offered| own(offered) && offered.is_chat()).take(MOST) {
                found.push(DetectedModel {
                    provider: place.provider.to_owned(),
                    added: known.contains(&(place_of(base_url), offered.id.clone())),
                    base_url: base_url.clone(),
                    name: format!("{} ({})", offered.id, place.title),
                    model: offered.id,
                });
            }
        }
        Ok(found)
    }
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
}
