//! What is known about a model, and who said so: `person > vendor > learned > catalogue > guess > default`.
//! The record holds the value in force of each member; `sources` holds who it is of. A person's value is never
//! overwritten.

use chatos_store::{ModelFacts, ModelRecord, PriceTier, now_ms};
use chatos_tool::Fault;

use super::presets::PRESETS;
use super::{Models, address};
use crate::catalog::{self, Fact, Match};
use crate::protocol::{Protocol, protocol_of};

/// Who said something about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Default,
    /// The shipped snapshot, about a model like it.
    Guess,
    Catalogue,
    /// A refusal of the vendor.
    Learned,
    /// The vendor's or the server's own list.
    Vendor,
    Person,
}

impl Source {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Guess => "guess",
            Self::Catalogue => "catalogue",
            Self::Learned => "learned",
            Self::Vendor => "vendor",
            Self::Person => "person",
        }
    }

    fn parse(word: &str) -> Self {
        let all = [Self::Guess, Self::Catalogue, Self::Learned, Self::Vendor, Self::Person];
        all.into_iter().find(|source| source.as_str() == word).unwrap_or(Self::Default)
    }

    /// Who said this member of a model.
    pub fn of(model: &ModelRecord, member: &str) -> Self {
        model.sources.get(member).map_or(Self::Default, |word| Self::parse(word))
    }
}

/// How many tokens a model reads and writes in one call, and who said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub tokens: u64,
    pub source: Source,
}

/// Where nobody knows the window: small enough for what runs on this machine, usual for vendors.
const LOCAL_WINDOW: u64 = 8_192;
const HOSTED_WINDOW: u64 = 128_000;

/// The window of a model: what its record says, else what is shipped about it, else a careful number.
pub fn window_of(model: &ModelRecord) -> Window {
    if model.context_tokens > 0 {
        return Window {
            tokens: u64::from(model.context_tokens),
            source: Source::of(model, "contextTokens").max(Source::Guess),
        };
    }
    let (known, source) = shipped(model);
    match known.context {
        Some(tokens) if tokens > 0 => Window { tokens: u64::from(tokens), source },
        _ if address::is_local(&model.base_url) => Window { tokens: LOCAL_WINDOW, source: Source::Default },
        _ => Window { tokens: HOSTED_WINDOW, source: Source::Default },
    }
}

impl Models {
    /// The window calls to a model have. Of Ollama's it is chosen here: what the model takes, within the setting, unless
    /// a person said it of this very model.
    pub fn window(&self, model: &ModelRecord) -> Window {
        let most = u64::try_from(self.parts().settings.int("ollamaContextTokens")).unwrap_or(LOCAL_WINDOW);
        chosen(model, window_of(model), most)
    }
}

fn chosen(model: &ModelRecord, known: Window, most: u64) -> Window {
    if protocol_of(&model.provider) != Some(Protocol::Ollama) || known.source == Source::Person {
        return known;
    }
    match known.source {
        // It is asked to keep this much ready, and says so where it cannot.
        Source::Default => Window { tokens: most, source: Source::Guess },
        source => Window { tokens: known.tokens.min(most), source },
    }
}

/// What one source knows of a model; absent is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Known {
    pub(super) context: Option<u32>,
    pub(super) output: Option<u32>,
    pub(super) vision: Option<bool>,
    pub(super) tools: Option<bool>,
    pub(super) reasoning: Option<bool>,
    pub(super) pdf: Option<bool>,
    pub(super) efforts: Option<Vec<String>>,
    pub(super) replay: Option<bool>,
    pub(super) cache_control: Option<bool>,
    pub(super) max_tools: Option<u32>,
    pub(super) prices: Option<KnownPrices>,
    /// The window a local server has this model loaded with; smaller than what the model could take.
    pub(super) loaded: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct KnownPrices {
    /// Input, output, read from a cache, written to one.
    pub(super) row: [Option<f64>; 4],
    pub(super) tiers: Vec<PriceTier>,
    pub(super) as_of: String,
}

/// The vendor whose address this is, by the id of its preset. A local server is nobody's.
pub(super) fn vendor_of_address(base_url: &str) -> Option<&'static str> {
    let host = address::host_of(base_url);
    let hosted = PRESETS.iter().filter(|preset| preset.base_url.starts_with("https://"));
    hosted.into_iter().find(|preset| address::host_of(preset.base_url) == host).map(|preset| preset.id)
}

/// What the snapshot says about a model.
fn shipped(model: &ModelRecord) -> (Known, Source) {
    let Some((fact, how)) = catalog::find(vendor_of_address(&model.base_url), &model.model) else {
        return (Known::default(), Source::Default);
    };
    let Fact { context, output, vision, pdf, reasoning, efforts, replay, cache_control, max_tools, .. } =
        fact.clone();
    let prices = fact.prices.map(|row| KnownPrices {
        row,
        tiers: fact
            .tiers
            .unwrap_or_default()
            .into_iter()
            .map(|(above, [input, output, cache_read, cache_write])| PriceTier {
                above,
                input,
                output,
                cache_read,
                cache_write,
            })
            .collect(),
        as_of: catalog::as_of().to_owned(),
    });
    let known = Known {
        context,
        output,
        vision,
        reasoning,
        pdf,
        efforts,
        replay,
        cache_control,
        max_tools,
        prices,
        ..Known::default()
    };
    (known, if how == Match::Exact { Source::Catalogue } else { Source::Guess })
}

/// Takes over what the snapshot says.
pub(super) fn apply_shipped(model: &mut ModelRecord) {
    let (known, source) = shipped(model);
    apply(model, &known, source);
}

/// Takes over what a source knows, where nobody better has spoken.
pub(super) fn apply(model: &mut ModelRecord, known: &Known, source: Source) {
    let may = |model: &ModelRecord, member: &str| Source::of(model, member) <= source;
    macro_rules! take {
        ($member:literal, $value:expr, $place:expr) => {
            if let Some(value) = $value
                && may(model, $member)
            {
                $place = value;
                model.sources.insert($member.to_owned(), source.as_str().to_owned());
            }
        };
    }
    let context = known.loaded.or(known.context).filter(|tokens| *tokens > 0);
    take!("contextTokens", context, model.context_tokens);
    take!("maxOutputTokens", known.output.filter(|tokens| *tokens > 0), model.max_output_tokens);
    take!("supportsVision", known.vision, model.supports_vision);
    take!("supportsTools", known.tools, model.supports_tools);
    take!("supportsReasoning", known.reasoning, model.supports_reasoning);
    take!("pdf", known.pdf, model.facts.pdf);
    take!("efforts", known.efforts.clone(), model.facts.efforts);
    take!("reasoningReplay", known.replay, model.facts.reasoning_replay);
    take!("cacheControl", known.cache_control, model.facts.cache_control);
    take!("maxTools", known.max_tools.filter(|count| *count > 0), model.facts.max_tools);
    if let Some(prices) = &known.prices
        && may(model, "prices")
    {
        [model.price_input, model.price_output, model.price_cache_read, model.price_cache_write] = prices.row;
        "USD".clone_into(&mut model.currency);
        model.facts.price_tiers.clone_from(&prices.tiers);
        model.facts.prices_as_of.clone_from(&prices.as_of);
        model.sources.insert("prices".to_owned(), source.as_str().to_owned());
    }
}

/// Members of a record a person may set and a source may know.
const MEMBERS: [&str; 6] =
    ["contextTokens", "maxOutputTokens", "supportsVision", "supportsTools", "supportsReasoning", "prices"];

fn same(a: &ModelRecord, b: &ModelRecord, member: &str) -> bool {
    match member {
        "contextTokens" => a.context_tokens == b.context_tokens,
        "maxOutputTokens" => a.max_output_tokens == b.max_output_tokens,
        "supportsVision" => a.supports_vision == b.supports_vision,
        "supportsTools" => a.supports_tools == b.supports_tools,
        "supportsReasoning" => a.supports_reasoning == b.supports_reasoning,
        _ => {
            a.price_input == b.price_input
                && a.price_output == b.price_output
                && a.price_cache_read == b.price_cache_read
                && a.price_cache_write == b.price_cache_write
                && a.currency == b.currency
        }
    }
}

fn put_back(model: &mut ModelRecord, from: &ModelRecord, member: &str) {
    match member {
        "contextTokens" => model.context_tokens = from.context_tokens,
        "maxOutputTokens" => model.max_output_tokens = from.max_output_tokens,
        "supportsVision" => model.supports_vision = from.supports_vision,
        "supportsTools" => model.supports_tools = from.supports_tools,
        "supportsReasoning" => model.supports_reasoning = from.supports_reasoning,
        _ => {
            model.price_input = from.price_input;
            model.price_output = from.price_output;
            model.price_cache_read = from.price_cache_read;
            model.price_cache_write = from.price_cache_write;
            model.currency.clone_from(&from.currency);
            model.facts.price_tiers = Vec::new();
            model.facts.prices_as_of = String::new();
        }
    }
    model.sources.remove(member);
}

/// What a person changed from `before` is the person's. A number or price that was taken away is asked of the
/// others again, and another model or address makes what was known of the old one void.
pub(super) fn edited(before: &ModelRecord, model: &mut ModelRecord) {
    let blank = ModelRecord::new("", "", "");
    let moved = before.model != model.model || before.base_url != model.base_url;
    for member in MEMBERS {
        let switch = member.starts_with("supports");
        if same(before, model, member) {
            if moved && Source::of(model, member) != Source::Person {
                put_back(model, &blank, member);
            }
        } else if same(&blank, model, member) && !switch {
            put_back(model, &blank, member);
        } else {
            model.sources.insert(member.to_owned(), Source::Person.as_str().to_owned());
            if member == "prices" {
                model.facts.price_tiers = Vec::new();
                model.facts.prices_as_of = chatos_store::iso_from_ms(now_ms()).chars().take(10).collect();
            }
        }
    }
    if moved {
        model.facts = ModelFacts::default();
        model.sources.retain(|member, _| MEMBERS.contains(&member.as_str()));
    }
    apply_shipped(model);
}

/// Everything a source may know, as nobody had said anything.
pub(super) fn forgotten(model: &mut ModelRecord) {
    let blank = ModelRecord::new("", "", "");
    for member in MEMBERS {
        put_back(model, &blank, member);
    }
    model.facts = ModelFacts::default();
    model.sources.clear();
    apply_shipped(model);
}

impl Models {
    /// *Reset to known values*: what a person set about the facts of a model is forgotten. Blocks.
    pub fn reset(&self, written: &str) -> Result<ModelRecord, Fault> {
        self.revise(written, forgotten)
    }

    /// Notes what a refusal taught about a model, for the calls to come: how many tools one request may hold. Blocks.
    pub fn learn_most_tools(&self, id: &str, count: u32) -> Result<ModelRecord, Fault> {
        let known = Known { max_tools: Some(count), ..Known::default() };
        self.revise(id, |model| apply(model, &known, Source::Learned))
    }

    /// Changes the facts of a model; writes and tells only when something is other than before.
    pub(super) fn revise(
        &self,
        written: &str,
        change: impl FnOnce(&mut ModelRecord),
    ) -> Result<ModelRecord, Fault> {
        let _alone = self.editing();
        let before = self.get(written)?;
        if before.id == chatos_store::DEMO_MODEL {
            return Ok(before);
        }
        let mut model = before.clone();
        change(&mut model);
        if model == before {
            return Ok(before);
        }
        let saved = self.parts().store.update_model(model)?;
        self.changed(&saved.id);
        Ok(saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claude() -> ModelRecord {
        let mut model = ModelRecord::new("c", "anthropic", "claude-sonnet-4-5");
        "https://api.anthropic.com".clone_into(&mut model.base_url);
        let blank = ModelRecord::new("", "", "");
        edited(&blank, &mut model);
        model
    }

    #[test]
    fn a_known_model_comes_with_everything() {
        let model = claude();
        assert_eq!((model.context_tokens, model.max_output_tokens), (200_000, 64_000));
        assert!(
            model.supports_vision && model.supports_reasoning && model.facts.pdf && model.facts.cache_control
        );
        assert_eq!(
            (model.price_input, model.price_output, model.currency.as_str()),
            (Some(3.0), Some(15.0), "USD")
        );
        assert_eq!(model.facts.prices_as_of, catalog::as_of());
        assert_eq!(Source::of(&model, "contextTokens"), Source::Catalogue);
        assert_eq!(window_of(&model), Window { tokens: 200_000, source: Source::Catalogue });
    }

    #[test]
    fn a_persons_value_survives_everything_but_a_reset() {
        let before = claude();
        let mut model = ModelRecord { context_tokens: 50_000, supports_vision: false, ..before.clone() };
        edited(&before, &mut model);
        let vendor =
            Known { context: Some(1_000_000), vision: Some(true), output: Some(9), ..Known::default() };
        apply(&mut model, &vendor, Source::Vendor);
        assert_eq!(
            (model.context_tokens, model.supports_vision, model.max_output_tokens),
            (50_000, false, 9)
        );
        assert_eq!(window_of(&model).source, Source::Person);
        // Saving the form again changes nothing about who said what.
        let again = model.clone();
        edited(&again, &mut model);
        assert_eq!(model, again);
        // Taking the number away asks the others again.
        let mut cleared = ModelRecord { context_tokens: 0, ..model.clone() };
        edited(&model, &mut cleared);
        assert_eq!(window_of(&cleared), Window { tokens: 200_000, source: Source::Catalogue });
        forgotten(&mut model);
        assert_eq!((model.context_tokens, model.supports_vision), (200_000, true));
    }

    #[test]
    fn the_better_source_wins_whenever_it_speaks() {
        let mut model = claude();
        let said = |context| Known { context: Some(context), ..Known::default() };
        apply(&mut model, &said(1), Source::Learned);
        assert_eq!(model.context_tokens, 1);
        apply_shipped(&mut model);
        assert_eq!(model.context_tokens, 1);
        apply(&mut model, &said(2), Source::Vendor);
        apply(&mut model, &said(3), Source::Learned);
        assert_eq!((model.context_tokens, Source::of(&model, "contextTokens")), (2, Source::Vendor));
        // What a server has loaded is what can be used.
        apply(&mut model, &Known { loaded: Some(4_096), ..said(131_072) }, Source::Vendor);
        assert_eq!(model.context_tokens, 4_096);
    }

    #[test]
    fn another_model_has_other_facts() {
        let before = claude();
        let mut model = ModelRecord { model: "claude-nobody-9".to_owned(), ..before.clone() };
        edited(&before, &mut model);
        assert_eq!((model.price_input, model.facts.prices_as_of.as_str()), (None, ""));
        assert!(!model.sources.contains_key("prices"));
    }

    #[test]
    fn how_much_ollama_keeps_ready_is_chosen() {
        let mut model = ModelRecord::new("x", "ollama", "nobody-knows-this");
        "http://127.0.0.1:11434".clone_into(&mut model.base_url);
        let window = |model: &ModelRecord| chosen(model, window_of(model), 32_768);
        assert_eq!(window(&model), Window { tokens: 32_768, source: Source::Guess });
        apply(&mut model, &Known { context: Some(131_072), ..Known::default() }, Source::Vendor);
        assert_eq!(window(&model), Window { tokens: 32_768, source: Source::Vendor });
        apply(&mut model, &Known { context: Some(4_096), ..Known::default() }, Source::Vendor);
        assert_eq!(window(&model).tokens, 4_096);
        let before = model.clone();
        model.context_tokens = 65_536;
        edited(&before, &mut model);
        assert_eq!(window(&model), Window { tokens: 65_536, source: Source::Person });
        "lmstudio".clone_into(&mut model.provider);
        assert_eq!(window(&model).tokens, 65_536);
    }

    #[test]
    fn an_unknown_window_is_a_careful_one() {
        let mut model = ModelRecord::new("x", "openai_compatible", "nobody-knows-this");
        "http://127.0.0.1:8080/v1".clone_into(&mut model.base_url);
        assert_eq!(window_of(&model), Window { tokens: 8_192, source: Source::Default });
        "http://192.168.1.5:8080/v1".clone_into(&mut model.base_url);
        assert_eq!(window_of(&model).tokens, 8_192);
        "https://models.example/v1".clone_into(&mut model.base_url);
        assert_eq!(window_of(&model).tokens, 128_000);
    }
}
