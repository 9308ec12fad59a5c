//! `chatos models`: which models there are, and whether they answer.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use crate::args::{AddModel, Global, Models};
use crate::client::{Api, block_on, encode};
use crate::command::secrets::read_value;
use crate::output::{Output, Paint, pad, visible, width};

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
                if let Some(problem) = model.get("problem") {
                    output.say(&Text::same(text(problem, "message")));
                }
            }
            Models::Remove { model } => {
                let done = api.call(Method::DELETE, &path(&model), None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                output.say(&Text::new(format!("`{model}` is removed"), format!("已删除 `{model}`")));
            }
            Models::Test { model } => {
                let model = match model {
                    Some(model) => model,
                    None => default_of(&api, output).await?,
                };
                let path = format!("{}/test", path(&model));
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
            Models::Default { model } => {
                let path = format!("{}/default", path(&model));
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

async fn default_of(api: &Api, output: &Output) -> Result<String, Fault> {
    let list = api.get_json("/api/v1/models", output.lang).await?;
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = items.iter().find(|item| item["isDefault"] == true);
    Ok(found.map(|item| item["id"].as_str().unwrap_or_default().to_owned()).unwrap_or_default())
}

fn body_of(add: &AddModel, presets: &Value, key: Option<Zeroizing<String>>) -> Result<Value, Fault> {
    let mut body = Map::new();
    let mut put = |member: &str, value: Value| body.insert(member.to_owned(), value);
    put("model", json!(add.model));
    put("name", json!(add.name.as_ref().unwrap_or(&add.model)));
    let items = presets["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted =
        add.provider.as_deref().unwrap_or(if add.url.is_some() { "openai_compatible" } else { "openai" });
    let preset = items.iter().find(|preset| preset["id"] == wanted);
    match preset {
        Some(preset) => {
            put("provider", preset["provider"].clone());
            put("baseUrl", add.url.as_ref().map_or_else(|| preset["baseUrl"].clone(), |url| json!(url)));
            // Another address is somebody else's: the vendor's key is not for it.
            if add.url.is_none() {
                put("apiKeyName", preset["apiKeyName"].clone());
            }
        }
        None => {
            put("provider", json!(wanted));
            put("baseUrl", json!(add.url.as_deref().unwrap_or_default()));
        }
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
