//! Which of the open questions are wanted, by what tells them apart: who asks, where, about what, how risky (inbox §3.2).
//! Only what the host itself knows of a question counts.

use std::collections::BTreeMap;

use chatos_prompts::Item;
use chatos_wire::prompt::{PromptFilter, PromptQuery};
use serde_json::{Value, json};

/// What questions are told apart by.
const FACETS: [&str; 7] = ["agent", "project", "client", "chat", "risk", "kind", "source"];

/// Which values are wanted; a facet without one holds nothing back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sieve {
    wanted: Vec<(&'static str, String)>,
}

impl Sieve {
    /// The facets of a list.
    pub(crate) fn of_query(wanted: &PromptQuery) -> Self {
        let PromptQuery { agent, project, client, chat, risk, .. } = wanted;
        Self::of([("agent", agent), ("project", project), ("client", client), ("chat", chat), ("risk", risk)])
    }

    /// The facets of an order about several questions.
    pub(crate) fn of_filter(wanted: &PromptFilter) -> Self {
        let PromptFilter { agent, project, client, chat, risk, kind, source, .. } = wanted;
        Self::of([
            ("agent", agent),
            ("project", project),
            ("client", client),
            ("chat", chat),
            ("risk", risk),
            ("kind", kind),
            ("source", source),
        ])
    }

    fn of<const N: usize>(wanted: [(&'static str, &Option<String>); N]) -> Self {
        let given = |(facet, value): (&'static str, &Option<String>)| {
            value.as_deref().filter(|value| !value.is_empty()).map(|value| (facet, value.to_owned()))
        };
        Self { wanted: wanted.into_iter().filter_map(given).collect() }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.wanted.is_empty()
    }

    pub(crate) fn fits(&self, item: &Item) -> bool {
        self.missed(item).is_none()
    }

    /// The only facet that does not fit; nothing where all do. `""` stands for several.
    fn missed(&self, item: &Item) -> Option<&'static str> {
        let mut missed =
            self.wanted.iter().filter(|(facet, value)| !values(item, facet).iter().any(|one| one == value));
        let first = missed.next()?;
        Some(if missed.next().is_some() { "" } else { first.0 })
    }
}

/// The values of a question in one facet. A project goes by its folder and its name, a question by the kind of its form
/// and by what it decides.
fn values(item: &Item, facet: &str) -> Vec<String> {
    let card = item.card.as_ref().unwrap_or(&Value::Null);
    let client = item.client.as_ref().unwrap_or(&Value::Null);
    let found = match facet {
        "agent" => vec![card["agent"].as_str()],
        "project" => vec![
            card["project"]["root"].as_str().or(client["root"].as_str()),
            card["project"]["name"].as_str().or(client["project"].as_str()),
        ],
        "client" => vec![client["name"].as_str().or(card["client"].as_str())],
        "chat" => vec![card["session"]["id"].as_str().or(item.session_id.as_deref())],
        "risk" => vec![card["risk"].as_str()],
        "kind" => vec![item.effect.as_deref(), item.kind.as_deref()],
        "source" => vec![item.source()],
        _ => Vec::new(),
    };
    found.into_iter().flatten().filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// How many questions there would be with each value, were it chosen and the other facets left as they are.
pub(crate) fn counted<'a>(items: impl Iterator<Item = &'a Item>, sieve: &Sieve) -> Value {
    let mut counted: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for item in items {
        let missed = sieve.missed(item);
        for facet in FACETS.iter().filter(|facet| missed.is_none_or(|only| only == **facet)) {
            // The first name of several is the one to choose by.
            if let Some(value) = values(item, facet).into_iter().next() {
                *counted.entry(facet).or_default().entry(value).or_default() += 1;
            }
        }
    }
    let rows = |facet: &&str| {
        let found = counted.get(*facet).into_iter().flatten();
        let rows: Vec<Value> =
            found.map(|(value, count)| json!({ "value": value, "count": count })).collect();
        ((*facet).to_owned(), Value::from(rows))
    };
    Value::Object(FACETS.iter().map(rows).collect())
}
