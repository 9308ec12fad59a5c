//! `chatos reach`: where you are told that a question waits.

use std::io::Read;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::channel::ChannelType;
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Global, Reach, ReachAdd};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, visible};

const CHANNELS: &str = "/api/v1/channels";

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Reach,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Reach::List => {
                let list = api.get_json(CHANNELS, output.lang).await?;
                if output.json {
                    output.json_line(&list);
                } else {
                    print(output, &list);
                }
            }
            Reach::Add(wanted) => {
                let body = new(&wanted)?;
                let made = api.call(Method::POST, CHANNELS, Some(&body), output.lang).await?;
                let name = visible(made["name"].as_str().unwrap_or_default());
                warn(output, &made);
                if made["state"] == "waiting" {
                    connect(&api, output, &made).await?;
                    return Ok(ExitCode::SUCCESS);
                }
                done(
                    output,
                    &made,
                    format!("{name} is added; try `chatos reach test`"),
                    format!("已添加 {name}；可运行 `chatos reach test` 测试"),
                );
            }
            Reach::Change(wanted) => {
                let id = find(&api, output, &wanted.channel).await?;
                let mut patch = json!({});
                if let Some(privacy) = wanted.privacy {
                    patch["privacy"] = json!(privacy);
                }
                if let Some(delay) = wanted.delay {
                    patch["delay"] = json!(delay);
                }
                if let Some(answer) = wanted.answer {
                    patch["answer"] = json!(answer);
                }
                let path = format!("{CHANNELS}/{id}");
                let changed = api.call(Method::PATCH, &path, Some(&patch), output.lang).await?;
                warn(output, &changed);
                let shown = visible(&wanted.channel);
                done(output, &changed, format!("{shown} is changed"), format!("已更改 {shown}"));
            }
            Reach::Connect { channel } => {
                let id = find(&api, output, &channel).await?;
                let path = format!("{CHANNELS}/{id}/connect");
                let waiting = api.call(Method::POST, &path, Some(&json!({})), output.lang).await?;
                connect(&api, output, &waiting).await?;
            }
            Reach::Test { channel } => {
                let id = find(&api, output, &channel).await?;
                let path = format!("{CHANNELS}/{id}/test");
                let sent = api.call(Method::POST, &path, Some(&json!({})), output.lang).await?;
                done(output, &sent, "the test was sent".to_owned(), "已发送测试通知".to_owned());
            }
            Reach::Pause { channel } => pause(&api, output, &channel, true).await?,
            Reach::Resume { channel } => pause(&api, output, &channel, false).await?,
            Reach::Remove { channel } => {
                let id = find(&api, output, &channel).await?;
                let path = format!("{CHANNELS}/{id}");
                let gone = api.call(Method::DELETE, &path, None, output.lang).await?;
                let shown = visible(&channel);
                done(output, &gone, format!("{shown} is removed"), format!("已移除 {shown}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn new(wanted: &ReachAdd) -> Result<Value, Fault> {
    let mut secret = None;
    if wanted.key || wanted.kind == ChannelType::Telegram {
        let mut text = String::new();
        std::io::stdin().take(64 * 1024).read_to_string(&mut text).map_err(|error| {
            Fault::new(ErrorCode::InvalidArgument, Text::fixed("cannot read the key", "无法读取密钥"))
                .caused_by(&error)
        })?;
        secret = Some(text.trim_end_matches(['\r', '\n']).to_owned());
    }
    Ok(json!({
        "type": wanted.kind,
        "name": wanted.name.clone().unwrap_or_else(|| wanted.kind.to_string()),
        "url": wanted.url.clone().unwrap_or_default(),
        "secret": secret,
        "privacy": wanted.privacy,
        "delay": wanted.delay,
        "onMyNetwork": wanted.on_my_network,
        "answer": wanted.answer,
    }))
}

/// Says what a person lets in who lets a channel answer.
fn warn(output: &Output, channel: &Value) {
    let telegram = channel["type"] == "telegram";
    let text = match channel["answer"].as_str() {
        Some("reject") => {
            Text::fixed("From there questions can be rejected and put off.", "可在该渠道拒绝或推迟问题。")
        }
        Some("direct") if telegram => Text::fixed(
            "Warning: whoever holds your unlocked phone, and Telegram itself, can then approve commands of low and medium risk.",
            "警告：持有你已解锁手机的人以及 Telegram 本身，都将能同意低风险和中风险的命令。",
        ),
        Some("direct") => Text::fixed(
            "Warning: anyone who can read this topic, and its server, can then approve commands of low and medium risk.",
            "警告：任何能读取该主题的人及其服务器，都将能同意低风险和中风险的命令。",
        ),
        _ => return,
    };
    output.aside(Paint::Bad, text.get(output.lang));
}

/// Shows how a chat is connected, and waits until somebody pressed Start or the code is over.
async fn connect(api: &Api, output: &Output, waiting: &Value) -> Result<(), Fault> {
    if output.json {
        output.json_line(waiting);
    } else {
        let code = |key: &str| visible(waiting["connect"][key].as_str().unwrap_or_default());
        let (url, text, bot) = (code("url"), code("text"), code("bot"));
        output.say(&Text::new(
            format!(
                "Open {url} on your phone and press Start,\nor write to @{bot}: {text}\nWaiting (15 minutes; Ctrl-C ends it) …"
            ),
            format!("请在手机上打开 {url} 并点“开始”，\n或向 @{bot} 发送：{text}\n等待中（15 分钟；按 Ctrl-C 结束）…"),
        ));
    }
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let list = api.get_json(CHANNELS, output.lang).await?;
        let mut items = list["items"].as_array().into_iter().flatten();
        let Some(now) = items.find(|item| item["id"] == waiting["id"]) else {
            return Err(not_connected());
        };
        if !now["connect"].is_null() {
            continue;
        }
        if now["person"].is_null() || now["state"] == "waiting" {
            return Err(not_connected());
        }
        let person = visible(now["person"].as_str().unwrap_or_default());
        done(
            output,
            now,
            format!("connected with {person}; try `chatos reach test`"),
            format!("已与 {person} 连接；可运行 `chatos reach test` 测试"),
        );
        return Ok(());
    }
}

fn not_connected() -> Fault {
    Fault::new(ErrorCode::Unavailable, Text::fixed("nobody pressed Start in time", "未在规定时间内点“开始”"))
        .code("channel_waiting")
        .hint(Text::fixed("try again with `chatos reach connect`", "请用 `chatos reach connect` 重试"))
}

async fn pause(api: &Api, output: &Output, channel: &str, paused: bool) -> Result<(), Fault> {
    let id = find(api, output, channel).await?;
    let path = format!("{CHANNELS}/{id}");
    let changed = api.call(Method::PATCH, &path, Some(&json!({ "paused": paused })), output.lang).await?;
    let shown = visible(channel);
    if paused {
        done(output, &changed, format!("{shown} is paused"), format!("已暂停 {shown}"));
    } else {
        done(output, &changed, format!("{shown} is told again"), format!("已恢复 {shown}"));
    }
    Ok(())
}

/// The channel a person means: by its id, its beginning, or its name.
async fn find(api: &Api, output: &Output, wanted: &str) -> Result<String, Fault> {
    let list = api.get_json(CHANNELS, output.lang).await?;
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let exact = items.iter().find(|item| text(item, "id") == wanted);
    let fits = |item: &&Value| {
        text(item, "name") == wanted || (wanted.len() >= 4 && text(item, "id").starts_with(wanted))
    };
    let found: Vec<&Value> = exact.map_or_else(|| items.iter().filter(fits).collect(), |one| vec![one]);
    match found.as_slice() {
        [one] => Ok(text(one, "id")),
        [] => Err(Fault::new(
            ErrorCode::NotFound,
            Text::new(format!("there is no channel `{wanted}`"), format!("没有通知渠道 `{wanted}`")),
        )
        .code("unknown_channel")
        .hint(Text::fixed("`chatos reach list` names them", "`chatos reach list` 会列出全部渠道"))),
        _ => Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("several channels are called `{wanted}`"),
                format!("有多个渠道名为 `{wanted}`"),
            ),
        )
        .hint(Text::fixed("use its id", "请使用其 ID"))),
    }
}

fn done(output: &Output, value: &Value, en: String, zh: String) {
    if output.json {
        output.json_line(value);
    } else {
        output.say(&Text::new(en, zh));
    }
}

fn print(output: &Output, list: &Value) {
    for item in list["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let text = |key: &str| visible(item[key].as_str().unwrap_or_default());
        let zh = output.lang == Lang::Zh;
        let (word, paint) = match (item["state"].as_str().unwrap_or_default(), zh) {
            ("ok", false) => ("on", Paint::Good),
            ("ok", true) => ("已启用", Paint::Good),
            ("paused", false) => ("paused", Paint::Dim),
            ("paused", true) => ("已暂停", Paint::Dim),
            ("failing", false) => ("failing", Paint::Bad),
            ("failing", true) => ("发送失败", Paint::Bad),
            ("waiting", false) => ("waits for Start", Paint::Dim),
            ("waiting", true) => ("等待点“开始”", Paint::Dim),
            (_, false) => ("no desktop here", Paint::Dim),
            (_, true) => ("此处没有桌面", Paint::Dim),
        };
        let name = match (text("name"), zh) {
            (name, _) if !name.is_empty() => name,
            (_, true) => "此桌面".to_owned(),
            (_, false) => "this desktop".to_owned(),
        };
        let privacy = text("privacy");
        output.line(&format!(
            "{name}  {}  {}  {privacy}  {}",
            text("type"),
            output.paint(paint, word),
            text("id")
        ));
        if !text("url").is_empty() {
            output.line(&format!("    {}", output.paint(Paint::Dim, &text("url"))));
        }
        let answers = match (text("answer").as_str(), zh) {
            ("reject", false) => "can reject and put off",
            ("reject", true) => "可拒绝和推迟",
            ("direct", false) => "can reject, put off, and approve commands of low and medium risk",
            ("direct", true) => "可拒绝、推迟，并同意低风险和中风险的命令",
            _ => "",
        };
        let told: Vec<String> =
            [text("person"), answers.to_owned()].into_iter().filter(|part| !part.is_empty()).collect();
        if !told.is_empty() {
            output.line(&format!("    {}", output.paint(Paint::Dim, &told.join(" · "))));
        }
        // That there is no desktop is said above, in the person's language; the rest are words of the bus.
        if !text("problem").is_empty() && text("state") != "unavailable" {
            output.line(&format!("    {}", text("problem")));
        }
    }
}
