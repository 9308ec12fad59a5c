//! Making, changing and removing models (agents §1.1).

use chatos_store::{DEMO_MODEL, ModelRecord, StoreErrorKind, is_secret_name};
use chatos_tool::{ErrorCode, Fault, Issues, Text, overlay};
use chatos_wire::event::{ChangedId, HostEvent};
use serde_json::{Map, Value, json};

use super::presets::{PRESETS, default_base};
use super::{Models, address, facts, no_model};
use crate::protocol::protocol_of;
use crate::request::Effort;
use crate::usage::Prices;

/// Members of a model as the API gives it that nobody can set.
const READ_ONLY: [&str; 9] =
    ["id", "usable", "problem", "warnings", "lastTest", "createdAt", "updatedAt", "sources", "facts"];
/// Sources a caller may name.
const SOURCES: [&str; 3] = ["user", "detected", "import"];
/// Headers that belong to the connection or to us.
const OWN_HEADERS: [&str; 8] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "content-type",
    "accept-encoding",
    "upgrade",
    "te",
];

impl Models {
    /// All models, the built-in one last.
    pub fn list(&self) -> Result<Vec<ModelRecord>, Fault> {
        self.parts().store.models().map_err(Fault::from)
    }

    /// One model by id or name, enabled or not.
    pub fn get(&self, written: &str) -> Result<ModelRecord, Fault> {
        let found = self.parts().store.model(written)?;
        found.ok_or_else(|| no_model(written))
    }

    /// The model a patch would make, checked, without saving it.
    pub fn drafted(
        &self,
        base: Option<&ModelRecord>,
        patch: Map<String, Value>,
    ) -> Result<ModelRecord, Fault> {
        let fresh;
        let base = match base {
            Some(base) => base,
            None => {
                fresh = ModelRecord::new("", "", "");
                &fresh
            }
        };
        if base.id == DEMO_MODEL {
            return Err(built_in());
        }
        let mut model = overlay(base, patch, &READ_ONLY)?;
        model.id.clone_from(&base.id);
        model.name = model.name.trim().to_owned();
        model.model = model.model.trim().to_owned();
        model.provider = model.provider.trim().to_ascii_lowercase();
        model.api_key_name = model.api_key_name.trim().to_owned();
        if model.provider.is_empty() && model.base_url.trim().is_empty() {
            of_its_maker(&mut model);
        }
        if model.base_url.trim().is_empty() {
            model.base_url = default_base(&model.provider).unwrap_or_default().to_owned();
        } else if let Some(normal) = address::normalised(&model.base_url) {
            model.base_url = normal;
        }
        if model.name.is_empty() {
            model.name.clone_from(&model.model);
        }
        check(&model)?;
        facts::edited(base, &mut model);
        Ok(model)
    }

    /// What the key of this address is called where nobody names it.
    pub fn key_name(base_url: &str) -> String {
        let vendor = facts::vendor_of_address(base_url);
        let preset = PRESETS.iter().find(|preset| Some(preset.id) == vendor);
        preset.map_or_else(|| address::key_name(base_url), |preset| preset.api_key_name.to_owned())
    }

    /// Adds a model. The first one becomes the default.
    pub fn create(&self, patch: Map<String, Value>) -> Result<ModelRecord, Fault> {
        let model = self.drafted(None, patch)?;
        let name = model.name.clone();
        let saved = self.parts().store.add_model(model).map_err(|error| name_fault(&name, &error))?;
        self.changed(&saved.id);
        Ok(saved)
    }

    /// Changes a model: what the patch does not name stays.
    pub fn update(&self, written: &str, patch: Map<String, Value>) -> Result<ModelRecord, Fault> {
        let _alone = self.editing();
        let before = self.get(written)?;
        let model = self.drafted(Some(&before), patch)?;
        let name = model.name.clone();
        let saved = self.parts().store.update_model(model).map_err(|error| name_fault(&name, &error))?;
        self.changed(&saved.id);
        Ok(saved)
    }

    /// Removes a model; agents that name it show that as a problem.
    pub fn remove(&self, written: &str) -> Result<(), Fault> {
        let before = self.get(written)?;
        if before.id == DEMO_MODEL {
            return Err(built_in());
        }
        if !self.parts().store.remove_model(&before.id)? {
            return Err(no_model(written));
        }
        self.changed(&before.id);
        Ok(())
    }

    /// Makes a model the default.
    pub fn set_default(&self, written: &str) -> Result<ModelRecord, Fault> {
        let before = self.resolve(Some(written))?;
        let saved = self.parts().store.set_default_model(&before.id)?;
        self.changed(&saved.id);
        Ok(saved)
    }

    pub(super) fn changed(&self, id: &str) {
        self.parts().events.publish(HostEvent::ModelsChanged(ChangedId { id: id.to_owned() }));
    }
}

/// A model named alone is its maker's: where that answers, and what its key is usually called.
fn of_its_maker(model: &mut ModelRecord) {
    let maker = crate::catalog::vendor_of(&model.model).unwrap_or("openai");
    let Some(preset) = PRESETS.iter().find(|preset| preset.id == maker) else { return };
    preset.provider.clone_into(&mut model.provider);
    preset.base_url.clone_into(&mut model.base_url);
    if model.api_key_name.is_empty() {
        preset.api_key_name.clone_into(&mut model.api_key_name);
    }
}

fn check(model: &ModelRecord) -> Result<(), Fault> {
    let mut issues = Issues::default();
    issues.needed("/name", &model.name, 120);
    issues.needed("/model", &model.model, 200);
    issues.longest("/description", &model.description, 4_000);
    if protocol_of(&model.provider).is_none() {
        issues.add(
            "/provider",
            "enum",
            "use openai, openai_responses, openai_compatible, anthropic, gemini, ollama or lmstudio",
            "请使用 openai、openai_responses、openai_compatible、anthropic、gemini、ollama 或 lmstudio",
        );
    }
    if address::normalised(&model.base_url).is_none_or(|normal| normal != model.base_url) {
        issues.add(
            "/baseUrl",
            "format",
            "must be an http or https address without a name and password, as https://api.example.com/v1",
            "必须是不含用户名和密码的 http 或 https 地址，例如 https://api.example.com/v1",
        );
    }
    if !model.api_key_name.is_empty() && !is_secret_name(&model.api_key_name) {
        issues.add(
            "/apiKeyName",
            "format",
            "must be the name of a secret, as OPENAI_API_KEY; not the key itself",
            "必须是密钥的名称，例如 OPENAI_API_KEY；不是密钥本身",
        );
    }
    let efforts: Vec<&str> = std::iter::once("").chain(Effort::ALL.map(Effort::as_str)).collect();
    issues.one_of("/reasoningEffort", &model.reasoning_effort, &efforts);
    issues.one_of("/toolFollowup", &model.tool_followup, &["auto", "none"]);
    issues.one_of("/source", &model.source, &SOURCES);
    if model.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
        issues.add("/temperature", "range", "must be 0 to 2", "必须在 0 到 2 之间");
    }
    for (path, tokens) in
        [("/contextTokens", model.context_tokens), ("/maxOutputTokens", model.max_output_tokens)]
    {
        if tokens > 100_000_000 {
            issues.add(path, "range", "at most 100000000", "最多 100000000");
        }
    }
    for (path, price) in [
        ("/priceInput", model.price_input),
        ("/priceOutput", model.price_output),
        ("/priceCacheRead", model.price_cache_read),
        ("/priceCacheWrite", model.price_cache_write),
    ] {
        if price.is_some_and(|price| !price.is_finite() || price < 0.0) {
            issues.add(path, "range", "must be a number of at least 0", "必须是不小于 0 的数");
        }
    }
    if model.currency.len() > 8 || !model.currency.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        issues.add("/currency", "format", "use letters, as USD or CNY", "请使用字母，例如 USD 或 CNY");
    }
    if model.extra_headers.len() > 32 {
        issues.add("/extraHeaders", "length", "at most 32 headers", "最多 32 个请求头");
    }
    for (name, value) in &model.extra_headers {
        let path = format!("/extraHeaders/{}", name.replace('~', "~0").replace('/', "~1"));
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || name.len() > 128 || !name.bytes().all(token) {
            issues.add(&path, "format", "this cannot name a header", "不能用作请求头名称");
        } else if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            issues.add(&path, "format", "this header cannot be set", "不能设置该请求头");
        }
        let sound = |text: &str| text.len() <= 8_192 && text.bytes().all(|byte| byte >= 0x20 && byte != 0x7f);
        match value.as_str() {
            Some(text) if sound(text) && secret_reference(text).is_none_or(is_secret_name) => {}
            _ => issues.add(
                &path,
                "format",
                "must be a text of one line, or secret:NAME",
                "必须是单行文本，或 secret:名称",
            ),
        }
    }
    if json!(model.extra_body).to_string().len() > 64 * 1024 {
        issues.add("/extraBody", "length", "at most 64 KiB", "最多 64 KiB");
    }
    issues.done()
}

/// The name in `secret:<name>`.
pub(super) fn secret_reference(text: &str) -> Option<&str> {
    text.strip_prefix("secret:")
}

/// Whether this address belongs to a vendor that answers nobody without a key.
pub(super) fn needs_key(base_url: &str) -> bool {
    let host = address::host_of(base_url);
    PRESETS.iter().any(|preset| !preset.api_key_name.is_empty() && address::host_of(preset.base_url) == host)
}

/// How hard a model is asked to think, as its record says; where it is known not to have that word, the nearest lower
/// one, else its lowest.
pub fn effort_of(record: &ModelRecord) -> Option<Effort> {
    let wanted = Effort::parse(&record.reasoning_effort)?;
    let known: Vec<Effort> = record.facts.efforts.iter().filter_map(|word| Effort::parse(word)).collect();
    // Lists name how to think more; whether it can be left is known of those that have a word for hardly.
    if known.is_empty() || (wanted == Effort::None && !known.contains(&Effort::Minimal)) {
        return Some(wanted);
    }
    let place = |effort: &Effort| Effort::ALL.iter().position(|one| one == effort);
    let lower =
        known.iter().filter(|effort| place(effort) <= place(&wanted)).max_by_key(|effort| place(effort));
    lower.or_else(|| known.iter().min_by_key(|effort| place(effort))).copied()
}

/// What a person noted about the prices of a model.
pub fn prices_of(record: &ModelRecord) -> Prices {
    Prices {
        input: record.price_input,
        output: record.price_output,
        cache_read: record.price_cache_read,
        cache_write: record.price_cache_write,
        currency: record.currency.clone(),
        tiers: record.facts.price_tiers.clone(),
    }
}

fn built_in() -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::fixed("the demo model cannot be changed or removed", "演示模型不能修改或删除"),
    )
    .code("locked")
}

fn name_fault(name: &str, error: &chatos_store::StoreError) -> Fault {
    if error.kind != StoreErrorKind::Conflict {
        return Fault::from(error);
    }
    Fault::new(
        ErrorCode::Conflict,
        Text::new(format!("another model is called `{name}`"), format!("已有名为 `{name}` 的模型")),
    )
    .code("name_taken")
    .hint(Text::fixed("choose another name", "请换一个名称"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_lacks_the_word_gets_the_nearest_lower_one() {
        let asked = |wanted: &str, known: &[&str]| {
            let mut record = ModelRecord::new("m", "openai", "m");
            wanted.clone_into(&mut record.reasoning_effort);
            record.facts.efforts = known.iter().map(|word| (*word).to_owned()).collect();
            effort_of(&record).map(Effort::as_str)
        };
        assert_eq!(asked("", &["low"]), None);
        assert_eq!(asked("xhigh", &[]), Some("xhigh"));
        assert_eq!(asked("max", &["low", "high", "xhigh"]), Some("xhigh"));
        assert_eq!(asked("xhigh", &["minimal", "low", "medium", "high"]), Some("high"));
        assert_eq!(asked("minimal", &["high"]), Some("high"));
        assert_eq!(asked("none", &["minimal", "low"]), Some("minimal"));
        assert_eq!(asked("none", &["low", "medium", "high"]), Some("none"));
    }
}
