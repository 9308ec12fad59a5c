//! `chatos models`: which models there are, and whether they answer.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use crate::args::{AddModel, Global, Models};
use crate::command::secrets::read_value;
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, pad, visible, width};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Models,
) -> Result<ExitCode, Fault> {
    // Read before anything is opened: a person may take a while to type.
    let key = match &action {
        Models::Add(add) if add.key => Some(read_value(output, "API key")?),
        _ => None,
    };
    let api = Api::connect(global, environment)?;
    block_on(async {
        let path = |model: &str| format!("/api/v1/models/{}", encode(model));
        let names = Names::new(&api, output.lang);
        match action {
            Models::List => {
                let list = api.get_json("/api/v1/models", output.lang).await?;
                if output.json { output.json_line(&list) } else { print(output, &list) }
            }
            Models::Add(add) => {
                let presets = api.get_json("/api/v1/models/presets", output.lang).await?;
                let body = body_of(&add, &presets, key)?;
                let model = api.call(Method::POST, "/api/v1/models", Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&model);
                }
                let name = text(&model, "name");
                output.say(&Text::new(
                    format!("`{name}` is added; `chatos models test` asks it for a word"),
                    format!("已添加 `{name}`；可用 `chatos models test` 测试"),
                ));
                output.say(&facts_of(&model));
                if let Some(problem) = model.get("problem") {
                    output.say(&Text::same(text(problem, "message")));
                }
            }
            Models::Remove { model } => {
                let id = names.model(&model).await?;
                let done = api.call(Method::DELETE, &path(&id), None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                output.say(&Text::new(format!("`{model}` is removed"), format!("已删除 `{model}`")));
            }
            Models::Test { model } => {
                let id = names.model(model.as_deref().unwrap_or("default")).await?;
                let path = format!("{}/test", path(&id));
                let model = model.unwrap_or(id);
                let answer = api.call(Method::POST, &path, Some(&json!({})), output.lang).await?;
                let ok = answer["ok"] == true;
                if output.json {
                    output.json_line(&answer);
                    // The same status as with words: the model is what is not there.
                    let status = if ok { 0 } else { ErrorCode::Unavailable.exit_status() };
                    return Ok(ExitCode::from(status));
                }
                let ms = &answer["latencyMs"];
                if !ok {
                    let (class, message) = (text(&answer, "class"), text(&answer, "message"));
                    return Err(Fault::new(
                        ErrorCode::Unavailable,
                        Text::new(
                            format!("`{model}` does not answer: {class}: {message}"),
                            format!("`{model}` 没有回答：{class}：{message}"),
                        ),
                    )
                    .code(class));
                }
                output.say(&Text::new(
                    format!("`{model}` answered in {ms} ms"),
                    format!("`{model}` 在 {ms} 毫秒内回答"),
                ));
            }
            Models::Detect { add } => {
                let found =
                    api.call(Method::POST, "/api/v1/models/detect", Some(&json!({})), output.lang).await?;
                let items = found["found"].as_array().cloned().unwrap_or_default();
                if output.json {
                    output.json_line(&found);
                }
                if items.is_empty() {
                    output.say(&Text::fixed(
                        "no model server answers on this machine",
                        "本机没有检测到模型服务",
                    ));
                }
                for item in items {
                    if !output.json {
                        output.line(&format!("{}  {}", text(&item, "name"), text(&item, "baseUrl")));
                    }
                    if add && item["added"] != true {
                        let body = json!({ "name": item["name"], "provider": item["provider"],
                            "baseUrl": item["baseUrl"], "model": item["model"], "source": "detected" });
                        api.call(Method::POST, "/api/v1/models", Some(&body), output.lang).await?;
                        let name = text(&item, "name");
                        output.say(&Text::new(format!("`{name}` is added"), format!("已添加 `{name}`")));
                    }
                }
            }
            Models::Refresh { model } => {
                let model = match model {
                    Some(model) => Some(names.model(&model).await?),
                    None => None,
                };
                let body = json!({ "model": model });
                let told = api.call(Method::POST, "/api/v1/models/refresh", Some(&body), output.lang).await?;
                if output.json { output.json_line(&told) } else { print_refreshed(output, &told) }
            }
            Models::Offered { provider, url, key_name } => {
                let presets = api.get_json("/api/v1/models/presets", output.lang).await?;
                let body = place_of(provider.as_deref(), url.as_deref(), key_name.as_deref(), &presets);
                let body = Value::Object(body);
                let list = api.call(Method::POST, "/api/v1/models/offered", Some(&body), output.lang).await?;
                if output.json { output.json_line(&list) } else { print_offered(output, &list) }
            }
            Models::Reset { model } => {
                let path = format!("{}/reset", path(&names.model(&model).await?));
                let saved = api.call(Method::POST, &path, Some(&json!({})), output.lang).await?;
                if output.json {
                    output.json_line(&saved);
                }
                let name = text(&saved, "name");
                output.say(&Text::new(
                    format!("`{name}` has its known values again"),
                    format!("`{name}` 已恢复为已知值"),
                ));
            }
            Models::Default { model } => {
                let path = format!("{}/default", path(&names.model(&model).await?));
                let saved = api.call(Method::POST, &path, Some(&json!({})), output.lang).await?;
                if output.json {
                    output.json_line(&saved);
                }
                let name = text(&saved, "name");
                output
                    .say(&Text::new(format!("`{name}` is the default now"), format!("`{name}` 已设为默认")));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn body_of(add: &AddModel, presets: &Value, key: Option<Zeroizing<String>>) -> Result<Value, Fault> {
    let mut body = Map::new();
    let mut put = |member: &str, value: Value| body.insert(member.to_owned(), value);
    put("model", json!(add.model));
    put("name", json!(add.name.as_ref().unwrap_or(&add.model)));
    // A model named alone is its maker's; the host knows whose it is.
    if add.provider.is_some() || add.url.is_some() {
        let place = place_of(add.provider.as_deref(), add.url.as_deref(), None, presets);
        place.into_iter().for_each(|(member, value)| drop(put(&member, value)));
    }
    if let Some(name) = &add.key_name {
        put("apiKeyName", json!(name));
    }
    if let Some(key) = key {
        put("apiKey", json!(key.as_str()));
    }
    if let Some(context) = add.context {
        put("contextTokens", json!(context));
    }
    if add.vision {
        put("supportsVision", json!(true));
    }
    if add.default {
        put("isDefault", json!(true));
    }
    if let Some(price) = &add.price {
        let parts: Vec<&str> = price.split(',').map(str::trim).collect();
        let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite());
        let [input, out, currency] = parts[..] else { return Err(bad_price(price)) };
        let (Some(input), Some(out)) = (number(input), number(out)) else { return Err(bad_price(price)) };
        put("priceInput", json!(input));
        put("priceOutput", json!(out));
        put("currency", json!(currency));
    }
    Ok(Value::Object(body))
}

/// Where a model answers: a vendor's place, or an address.
fn place_of(
    provider: Option<&str>,
    url: Option<&str>,
    key_name: Option<&str>,
    presets: &Value,
) -> Map<String, Value> {
    let mut place = Map::new();
    let mut put = |member: &str, value: Value| drop(place.insert(member.to_owned(), value));
    let items = presets["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted = provider.unwrap_or(if url.is_some() { "openai_compatible" } else { "openai" });
    match items.iter().find(|preset| preset["id"] == wanted) {
        Some(preset) => {
            put("provider", preset["provider"].clone());
            put("baseUrl", url.map_or_else(|| preset["baseUrl"].clone(), |url| json!(url)));
            // Another address is somebody else's: the vendor's key is not for it.
            if url.is_none() {
                put("apiKeyName", preset["apiKeyName"].clone());
            }
        }
        None => {
            put("provider", json!(wanted));
            put("baseUrl", json!(url.unwrap_or_default()));
        }
    }
    if let Some(name) = key_name {
        put("apiKeyName", json!(name));
    }
    place
}

/// What is known about a model, in a line.
fn facts_of(model: &Value) -> Text {
    let facts = &model["facts"];
    let window = facts["window"].as_u64().unwrap_or_default();
    let (mut en, mut zh) = (vec![format!("window {window}")], vec![format!("上下文 {window}")]);
    for (member, english, chinese) in [
        ("supportsVision", "images", "图像"),
        ("supportsReasoning", "thinking", "思考"),
        ("supportsTools", "tools", "工具"),
    ] {
        if model[member] == true {
            en.push(english.to_owned());
            zh.push(chinese.to_owned());
        }
    }
    if let (Some(input), Some(answer)) = (model["priceInput"].as_f64(), model["priceOutput"].as_f64()) {
        let (currency, day) = (text(model, "currency"), text(facts, "pricesAsOf"));
        en.push(format!("{input} / {answer} {currency} per million tokens ({day})"));
        zh.push(format!("每百万 token {input} / {answer} {currency}（{day}）"));
    }
    Text::new(en.join(" · "), zh.join(" · "))
}

fn print_refreshed(output: &Output, told: &Value) {
    let items = told["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let widest = items.iter().map(|item| width(&text(item, "name"))).max().unwrap_or_default();
    for item in items {
        let mut line = format!(
            "{}  {} ({})",
            pad(&text(item, "name"), widest),
            item["window"],
            text(item, "windowSource")
        );
        if let Some(problem) = item.get("problem") {
            line.push_str(&format!("  {}", output.paint(Paint::Warn, &text(problem, "message"))));
        }
        output.line(&line);
    }
}

fn print_offered(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let widest = items.iter().map(|item| width(&text(item, "id"))).max().unwrap_or_default();
    for item in items {
        let mark = if item["added"] == true { "*" } else { " " };
        let window = item["contextTokens"].as_u64().filter(|tokens| *tokens > 0);
        let window = window.map_or_else(|| "–".to_owned(), |tokens| tokens.to_string());
        output.line(&format!("{mark} {}  {window}", pad(&text(item, "id"), widest)));
    }
    if let Some(problem) = list.get("problem") {
        output.say(&Text::new(
            format!("this is what ChatOS ships; the vendor gave no list: {}", text(problem, "message")),
            format!("以上为 ChatOS 自带的列表；提供方未返回列表：{}", text(problem, "message")),
        ));
    }
}

fn bad_price(price: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`{price}` is no price"), format!("`{price}` 不是价格")),
    )
    .hint(Text::fixed("write INPUT,OUTPUT,CURRENCY as in 3,15,USD", "请写成 输入,输出,币种，例如 3,15,USD"))
}

fn text(value: &Value, member: &str) -> String {
    visible(value[member].as_str().unwrap_or_default())
}

fn print(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let widest = items.iter().map(|item| width(&text(item, "name"))).max().unwrap_or_default();
    for item in items {
        let mark = if item["isDefault"] == true { "*" } else { " " };
        let mut line = format!(
            "{mark} {}  {}  {}",
            pad(&text(item, "name"), widest),
            pad(&text(item, "provider"), 18),
            output.paint(Paint::Dim, &text(item, "baseUrl"))
        );
        if let Some(problem) = item.get("problem") {
            line.push_str(&format!("  {}", output.paint(Paint::Warn, &text(problem, "message"))));
        }
        output.line(&line);
    }
}
