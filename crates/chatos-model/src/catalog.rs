//! What is known about models before anybody asks a vendor: the snapshot this program ships (`data/catalog.json`,
//! made by `cargo xtask catalog`). It is read once and never fetched.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

const SNAPSHOT: &str = include_str!("../data/catalog.json");

/// How sure an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The vendor's own entry for this very model; its prices count.
    Exact,
    /// A model of the same name elsewhere, or of the same family: never its prices.
    Guess,
}

/// What the snapshot says about one model. Absent is unknown.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Fact {
    /// Tokens of question and answer together.
    pub context: Option<u32>,
    pub output: Option<u32>,
    pub vision: Option<bool>,
    pub pdf: Option<bool>,
    pub reasoning: Option<bool>,
    /// Words for how hard it may think.
    pub efforts: Option<Vec<String>>,
    /// Its thinking has to be sent back with tool results.
    pub replay: Option<bool>,
    /// It takes marks for what to cache.
    pub cache_control: Option<bool>,
    pub max_tools: Option<u32>,
    /// Per million tokens: input, output, read from a cache, written to one.
    pub prices: Option<[Option<f64>; 4]>,
    /// Other prices for calls whose whole input is above a number of tokens.
    pub tiers: Option<Vec<(u64, [Option<f64>; 4])>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot {
    as_of: String,
    defaults: BTreeMap<String, Fact>,
    families: BTreeMap<String, Fact>,
    vendors: BTreeMap<String, BTreeMap<String, Fact>>,
}

fn snapshot() -> &'static Snapshot {
    static READ: OnceLock<Snapshot> = OnceLock::new();
    READ.get_or_init(|| {
        serde_json::from_str(SNAPSHOT).unwrap_or_else(|error| {
            tracing::error!(%error, "the shipped facts about models cannot be read");
            Snapshot {
                as_of: String::new(),
                defaults: BTreeMap::new(),
                families: BTreeMap::new(),
                vendors: BTreeMap::new(),
            }
        })
    })
}

/// The day the snapshot's prices are of, as `2026-01-31`.
pub fn as_of() -> &'static str {
    &snapshot().as_of
}

/// Whose model an id usually is, where exactly one vendor sells it under this name itself.
pub fn vendor_of(id: &str) -> Option<&'static str> {
    let name = plain(id);
    let sells = |models: &BTreeMap<String, Fact>| models.contains_key(id) || models.contains_key(&name);
    let all = || snapshot().vendors.iter().filter(|(vendor, _)| vendor.as_str() != "openrouter");
    let mut found = all().filter(|(_, models)| sells(models)).map(|(vendor, _)| vendor.as_str());
    // A vendor that resells another's has it too; the maker's name is in the id then.
    let first = found.next();
    match found.next() {
        None => first,
        Some(_) => all().map(|(vendor, _)| vendor.as_str()).find(|vendor| name.starts_with(*vendor)),
    }
}

/// What is known about a model of a vendor (the id of its preset), or of somebody the snapshot does not know.
pub fn find(vendor: Option<&str>, id: &str) -> Option<(Fact, Match)> {
    let known = snapshot();
    let own = vendor.and_then(|vendor| known.vendors.get(vendor));
    let id = id.strip_prefix("models/").unwrap_or(id);
    let name = plain(id);
    let (fact, how) = own
        .and_then(|models| models.get(id).or_else(|| models.get(&name)))
        .map(|fact| (fact, Match::Exact))
        .or_else(|| Some((family(own?, &name)?, Match::Guess)))
        .or_else(|| {
            // Somebody else's server under the maker's name: the model is the same, the money is not.
            let maker = vendor_of(id)?;
            let models = known.vendors.get(maker)?;
            models.get(id).or_else(|| models.get(&name)).map(|fact| (fact, Match::Guess))
        })
        .or_else(|| family(&known.families, &name).map(|fact| (fact, Match::Guess)))?;
    let mut fact = fact.clone();
    if let Some(rest) = vendor.and_then(|vendor| known.defaults.get(vendor)) {
        // Pages are looked at: a model that does not see reads none.
        fact.pdf = fact.pdf.or(rest.pdf.filter(|_| fact.vision != Some(false)));
        fact.cache_control = fact.cache_control.or(rest.cache_control);
        fact.max_tools = fact.max_tools.or(rest.max_tools);
    }
    if vendor.is_none() && fact.pdf.is_none() {
        // What the maker's model reads it reads elsewhere, too; a server that refuses files gets their text.
        let maker = vendor_of(id).and_then(|maker| known.defaults.get(maker));
        fact.pdf = maker.and_then(|rest| rest.pdf).filter(|_| fact.vision != Some(false));
    }
    if how == Match::Guess {
        (fact.prices, fact.tiers) = (None, None);
    }
    Some((fact, how))
}

/// Ids of a vendor's models that the snapshot has, for a form without a key.
pub fn ids(vendor: &str) -> Vec<&'static str> {
    snapshot()
        .vendors
        .get(vendor)
        .map(|models| models.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// An id without its date or tag: `claude-sonnet-4-5-20250929`, `gpt-4o-2024-08-06`, `llama3.1:8b-instruct`,
/// The name without `-latest`, as in `x-latest`.
fn plain(id: &str) -> String {
    let id = id.to_ascii_lowercase();
    let id = id.split([':', '@']).next().unwrap_or_default();
    let id = id.strip_suffix("-latest").unwrap_or(id);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = id.split('-').collect();
    match parts.as_slice() {
        [head @ .., date] if date.len() == 8 && digits(date) => head.join("-"),
        [head @ .., year, month, day]
            if year.len() == 4
                && month.len() == 2
                && day.len() == 2
                && digits(&format!("{year}{month}{day}")) =>
        {
            head.join("-")
        }
        _ => id.to_owned(),
    }
}

/// The entry with the longest id that this name begins with, up to the end of a word.
fn family<'a>(models: &'a BTreeMap<String, Fact>, name: &str) -> Option<&'a Fact> {
    let begins = |id: &str| {
        let rest = name.strip_prefix(&id.to_ascii_lowercase());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', ':', '_']))
    };
    let found = models.iter().filter(|(id, _)| id.len() >= 4 && begins(id));
    found.max_by_key(|(id, _)| id.len()).map(|(_, fact)| fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_models_come_with_their_facts() {
        for (vendor, id, context, vision) in [
            ("anthropic", "claude-sonnet-4-5", 200_000, true),
            ("anthropic", "claude-sonnet-4-5-20250929", 200_000, true),
            ("openai", "gpt-5", 400_000, true),
            ("gemini", "gemini-2.5-pro", 1_048_576, true),
            ("gemini", "models/gemini-2.5-pro", 1_048_576, true),
            ("deepseek", "deepseek-v4-pro", 1_000_000, false),
        ] {
            let (fact, how) = find(Some(vendor), id).unwrap();
            assert_eq!((fact.context, fact.vision, how), (Some(context), Some(vision), Match::Exact), "{id}");
            assert!(fact.prices.is_some_and(|prices| prices[0].is_some_and(|input| input > 0.0)), "{id}");
            assert_eq!(fact.reasoning, Some(true), "{id}");
        }
        assert!(find(Some("anthropic"), "claude-sonnet-4-5").unwrap().0.cache_control.unwrap());
        assert_eq!(find(Some("openai"), "gpt-5").unwrap().0.max_tools, Some(128));
        assert_eq!(as_of().len(), 10);
    }

    #[test]
    fn a_guess_has_no_price() {
        // A model of the family that is not in the list.
        let (fact, how) = find(Some("openai"), "gpt-5-turbo-9").unwrap();
        assert_eq!((how, fact.prices, fact.tiers), (Match::Guess, None, None));
        assert!(fact.context.is_some());
        // The same model behind somebody's proxy.
        let (fact, how) = find(None, "claude-sonnet-4-5").unwrap();
        assert_eq!((how, fact.context, fact.prices), (Match::Guess, Some(200_000), None));
        let (fact, how) = find(None, "llama3.1:8b-instruct-q4_K_M").unwrap();
        assert_eq!((how, fact.context), (Match::Guess, Some(131_072)));
        assert_eq!(find(None, "nobody-knows-this"), None);
        assert_eq!(find(Some("openai"), ""), None);
    }

    #[test]
    fn the_maker_of_a_model_is_known_by_its_name() {
        assert_eq!(vendor_of("claude-sonnet-4-5"), Some("anthropic"));
        assert_eq!(vendor_of("gpt-5"), Some("openai"));
        assert_eq!(vendor_of("gemini-2.5-pro"), Some("gemini"));
        assert_eq!(vendor_of("deepseek-v4-pro"), Some("deepseek"));
        assert_eq!(vendor_of("nobody-knows-this"), None);
    }

    #[test]
    fn dates_and_tags_are_taken_off() {
        for (id, name) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("Llama3.1:8b", "llama3.1"),
            ("mistral-large-latest", "mistral-large"),
            ("deep-research-preview-04-2026", "deep-research-preview-04-2026"),
            ("", ""),
        ] {
            assert_eq!(plain(id), name);
        }
    }
}
