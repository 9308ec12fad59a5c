//! `cargo xtask catalog DIR`: the facts about models that ChatOS ships, from an unpacked copy of the npm package
//! `@earendil-works/pi-ai` and our own `catalog.own.toml`. Own values win.
//!
//! Nothing is fetched, neither here nor by the program: `npm pack @earendil-works/pi-ai` and `tar xzf` come first.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::workspace::Workspace;

const OUT: &str = "crates/chatos-model/data/catalog.json";
const OWN: &str = "crates/chatos-model/data/catalog.own.toml";
/// The repository carries no more than this.
const LARGEST: usize = 400 * 1024;

/// Our vendors and the files of the package that know them; an earlier file wins over a later one.
const VENDORS: [(&str, &[&str], Money); 11] = [
    ("anthropic", &["anthropic"], Money::Kept),
    ("openai", &["openai"], Money::Kept),
    ("gemini", &["google"], Money::Kept),
    ("deepseek", &["deepseek"], Money::Kept),
    ("groq", &["groq"], Money::Kept),
    ("xai", &["xai"], Money::Kept),
    ("mistral", &["mistral"], Money::Kept),
    ("openrouter", &["openrouter"], Money::Kept),
    // Their addresses of the presets bill in yuan, by other lists than those of the package.
    ("kimi", &["moonshotai-cn", "moonshotai"], Money::Other),
    ("glm", &["zai", "zai-coding-cn"], Money::Other),
    ("qwen", &["qwen-token-plan-cn", "qwen-token-plan"], Money::Other),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Money {
    Kept,
    /// The prices are of another plan than the one a key of the preset is billed by.
    Other,
}

struct Options {
    package: PathBuf,
    /// litellm's `model_prices_and_context_window.json`, to compare with.
    compare: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<bool> {
    let options = parse(args)?;
    let own: toml::Table = workspace.read(OWN)?.parse().with_context(|| format!("cannot parse `{OWN}`"))?;
    let catalogue = make(&options.package, &own)?;
    let text = written(&catalogue)?;
    if text.len() > LARGEST {
        bail!("`{OUT}` would have {} bytes; at most {LARGEST} are kept", text.len());
    }
    fs::write(workspace.path(OUT), &text).with_context(|| format!("cannot write `{OUT}`"))?;
    println!("{OUT}: {} bytes", text.len());
    if let Some(file) = options.compare {
        compare(&catalogue, &file)?;
    }
    Ok(true)
}

fn parse(args: &[String]) -> Result<Options> {
    match args {
        [package] => Ok(Options { package: package.into(), compare: None }),
        [package, flag, file] if flag == "--compare" => {
            Ok(Options { package: package.into(), compare: Some(file.into()) })
        }
        _ => bail!("usage: cargo xtask catalog DIR [--compare FILE]; DIR is the unpacked package"),
    }
}

fn json_file(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("cannot parse `{}`", path.display()))
}

fn make(package: &Path, own: &toml::Table) -> Result<Value> {
    let about = json_file(&package.join("package.json"))?;
    let data = package.join("dist/providers/data");
    let made = json_file(&data.join(".manifest.json"))?;
    let as_of: String = made["generatedAt"].as_str().unwrap_or_default().chars().take(10).collect();
    let mut vendors: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for (vendor, files, money) in VENDORS {
        let models = vendors.entry(vendor.to_owned()).or_default();
        for file in files {
            let groups = json_file(&data.join(format!("{file}.json")))?;
            for model in groups.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_object) {
                for entry in model.values().filter(|entry| entry["type"] == "chat") {
                    let Some(id) = entry["id"].as_str() else { continue };
                    models.entry(id.to_owned()).or_insert_with(|| fact(entry, money));
                }
            }
        }
    }
    let (mut defaults, mut families) = (Map::new(), Map::new());
    for (vendor, table) in own {
        let table = table.as_table().with_context(|| format!("`{vendor}` is no table"))?;
        for (id, values) in table {
            let mut values = serde_json::to_value(values)?;
            let values = values.as_object_mut().with_context(|| format!("`{vendor}.{id}` is no table"))?;
            if values
                .remove("page")
                .is_none_or(|page| !page.as_str().is_some_and(|page| page.starts_with("https://")))
            {
                bail!("`{vendor}.{id}` does not name the page it was read from");
            }
            match (vendor.as_str(), id.as_str()) {
                ("local", id) => drop(families.insert(id.to_owned(), Value::Object(values.clone()))),
                (vendor, "*") => drop(defaults.insert(vendor.to_owned(), Value::Object(values.clone()))),
                (vendor, id) => {
                    let models = vendors.entry(vendor.to_owned()).or_default();
                    let entry = models.entry(id.to_owned()).or_insert_with(|| json!({}));
                    entry.as_object_mut().context("a fact is an object")?.append(values);
                }
            }
        }
    }
    Ok(json!({
        "package": format!("{} {}", about["name"].as_str().unwrap_or_default(), about["version"].as_str().unwrap_or_default()),
        "asOf": as_of, "defaults": defaults, "families": families, "vendors": vendors,
    }))
}

/// What is kept of one entry of the package.
fn fact(entry: &Value, money: Money) -> Value {
    let mut fact = Map::new();
    let mut put = |name: &str, value: Value| drop(fact.insert(name.to_owned(), value));
    if let Some(tokens) = entry["contextWindow"].as_u64().filter(|tokens| *tokens > 0) {
        put("context", json!(tokens));
    }
    if let Some(tokens) = entry["maxTokens"].as_u64().filter(|tokens| *tokens > 0) {
        put("output", json!(tokens));
    }
    let sees = entry["input"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "image"));
    put("vision", json!(sees));
    if entry["reasoning"] == true {
        put("reasoning", json!(true));
        let levels = entry["thinkingLevelMap"].as_object();
        let efforts: Vec<&str> = ["minimal", "low", "medium", "high", "xhigh", "max"]
            .into_iter()
            .filter(|level| match levels {
                // The package names only what differs from low, medium and high.
                Some(levels) => match levels.get(*level) {
                    Some(word) => !word.is_null(),
                    None => matches!(*level, "low" | "medium" | "high"),
                },
                None => matches!(*level, "low" | "medium" | "high"),
            })
            .collect();
        put("efforts", json!(efforts));
    }
    if entry["compat"]["requiresReasoningContentOnAssistantMessages"] == true {
        put("replay", json!(true));
    }
    let cost = &entry["cost"];
    let row = |cost: &Value| -> Value {
        ["input", "output", "cacheRead", "cacheWrite"].map(|part| cost[part].clone()).into_iter().collect()
    };
    // Nought for everything is "nobody told us", not "for nothing".
    let priced = cost["input"].as_f64().is_some_and(|price| price > 0.0);
    if money == Money::Kept && priced {
        put("prices", row(cost));
        let tiers: Vec<Value> = cost["tiers"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tier| json!([tier["inputTokensAbove"], row(tier)]))
            .collect();
        if !tiers.is_empty() {
            put("tiers", Value::Array(tiers));
        }
    }
    Value::Object(fact)
}

/// One model per line, so that a change of the snapshot can be read.
fn written(catalogue: &Value) -> Result<String> {
    let mut text = String::from("{\n");
    for key in ["package", "asOf", "defaults"] {
        text.push_str(&format!("\"{key}\":{},\n", catalogue[key]));
    }
    let lines = |models: &Map<String, Value>| -> Result<String> {
        let lines: Result<Vec<String>> =
            models.iter().map(|(id, fact)| Ok(format!("{}:{fact}", serde_json::to_string(id)?))).collect();
        Ok(format!("{{\n{}\n}}", lines?.join(",\n")))
    };
    let families = catalogue["families"].as_object().context("families")?;
    text.push_str(&format!("\"families\":{},\n\"vendors\":{{\n", lines(families)?));
    let vendors = catalogue["vendors"].as_object().context("vendors")?;
    let mut parts = Vec::new();
    for (vendor, models) in vendors {
        parts.push(format!("\"{vendor}\":{}", lines(models.as_object().context("models")?)?));
    }
    text.push_str(&format!("{}\n}}}}\n", parts.join(",\n")));
    Ok(text)
}

/// Prints entries whose windows another table has otherwise; people look at them.
fn compare(catalogue: &Value, file: &Path) -> Result<()> {
    let other = json_file(file)?;
    let mut differ = 0;
    for (vendor, models) in catalogue["vendors"].as_object().into_iter().flatten() {
        for (id, fact) in models.as_object().into_iter().flatten() {
            let named = [id.clone(), format!("{vendor}/{id}")];
            let Some(entry) = named.iter().find_map(|name| other.get(name)) else { continue };
            let (ours, theirs) = (fact["context"].as_u64(), entry["max_input_tokens"].as_u64());
            if let (Some(ours), Some(theirs)) = (ours, theirs)
                && ours != theirs
            {
                differ += 1;
                println!("{vendor} {id}: {ours} here, {theirs} there");
            }
        }
    }
    println!("{differ} windows differ");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_values_are_in_the_snapshot_and_win() {
        let workspace = Workspace::find().unwrap();
        let own: toml::Table = workspace.read(OWN).unwrap().parse().unwrap();
        let shipped: Value = serde_json::from_str(&workspace.read(OUT).unwrap()).unwrap();
        assert!(workspace.read(OUT).unwrap().len() <= LARGEST);
        for (vendor, table) in &own {
            for (id, values) in table.as_table().unwrap() {
                let there = match (vendor.as_str(), id.as_str()) {
                    ("local", id) => &shipped["families"][id],
                    (vendor, "*") => &shipped["defaults"][vendor],
                    (vendor, id) => &shipped["vendors"][vendor][id],
                };
                for (name, value) in values.as_table().unwrap().iter().filter(|(name, _)| *name != "page") {
                    let value = serde_json::to_value(value).unwrap();
                    assert_eq!(there[name], value, "{vendor}.{id}.{name}: run `cargo xtask catalog`");
                }
            }
        }
    }

    #[test]
    fn an_entry_keeps_what_is_known_and_no_price_that_is_not() {
        let entry = json!({ "contextWindow": 1000, "maxTokens": 10, "input": ["text", "image"], "reasoning": true,
            "thinkingLevelMap": { "off": null, "minimal": "minimal", "high": null },
            "cost": { "input": 1.0, "output": 2.0, "cacheRead": 0.5, "cacheWrite": 0.0,
                      "tiers": [{ "inputTokensAbove": 200, "input": 3.0, "output": 4.0, "cacheRead": 1.0, "cacheWrite": 0.0 }] } });
        assert_eq!(
            fact(&entry, Money::Kept),
            json!({ "context": 1000, "output": 10, "vision": true, "reasoning": true,
                    "efforts": ["minimal", "low", "medium"], "prices": [1.0, 2.0, 0.5, 0.0],
                    "tiers": [[200, [3.0, 4.0, 1.0, 0.0]]] })
        );
        let free = json!({ "cost": { "input": 0, "output": 0 }, "input": ["text"] });
        assert_eq!(fact(&free, Money::Kept), json!({ "vision": false }));
        assert_eq!(fact(&entry, Money::Other).get("prices"), None);
    }
}
