//! `chatos mcp servers` and `chatos import mcp`: every MCP server the host knows, in a terminal.

mod sign_in;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::agent::ServerUser;
use hyper::Method;
use serde_json::{Map, Value, json};

use super::grant::{after, check};
use crate::args::{Global, GrantFlags, Import, ServerParts, Servers};
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, usage_fault, visible, width};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Servers,
) -> Result<ExitCode, Fault> {
    // What a person gave is read before anything is opened.
    let body = match &action {
        Servers::Add(add) => {
            let mut body = match parts(&add.parts, &environment) {
                Ok(body) => body,
                Err(fault) => return Ok(usage_fault(output, &fault)),
            };
            body.insert("name".to_owned(), json!(add.name));
            match (&add.url, add.program.as_slice()) {
                (Some(url), _) => body.insert("url".to_owned(), json!(url)),
                (None, []) => return Ok(usage_fault(output, &no_place())),
                (None, program) => body.insert("argv".to_owned(), json!(program)),
            };
            Some(Value::Object(body))
        }
        Servers::Edit(edit) => {
            let mut body = match parts(&edit.parts, &environment) {
                Ok(body) => body,
                Err(fault) => return Ok(usage_fault(output, &fault)),
            };
            let given = [("name", &edit.rename), ("url", &edit.url)];
            for (key, value) in given {
                if let Some(value) = value {
                    body.insert(key.to_owned(), json!(value));
                }
            }
            if !edit.program.is_empty() {
                body.insert("argv".to_owned(), json!(edit.program));
            }
            if edit.enable || edit.disable {
                body.insert("enabled".to_owned(), json!(edit.enable));
            }
            Some(Value::Object(body))
        }
        _ => None,
    };
    if let Servers::SignIn { server, no_open, issuer } = &action {
        let wanted = sign_in::Wanted { server, issuer: issuer.as_deref() };
        return sign_in::run(global, environment, output, &wanted, *no_open);
    }
    let api = Api::connect(global, environment)?;
    block_on(async {
        let done = act(&api, output, action, body.as_ref()).await;
        api.finish().await;
        done
    })
}

async fn act(api: &Api, output: &Output, action: Servers, body: Option<&Value>) -> Result<ExitCode, Fault> {
    const ALL: &str = "/api/v1/mcp-servers";
    let lang = output.lang;
    let path = |server: &str, rest: &str| format!("{ALL}/{}{rest}", encode(server));
    let show = |value: &Value, human: &dyn Fn(&Output, &Value)| {
        if output.json {
            output.json_line(value);
        } else {
            human(output, value);
        }
    };
    match action {
        Servers::List => show(&api.get_json(ALL, lang).await?, &print_list),
        Servers::Show { server } => show(&api.get_json(&path(&server, ""), lang).await?, &print_one),
        Servers::Add(add) => {
            check(api, output, &add.grant).await?;
            let mut made = api.call(Method::POST, ALL, body, lang).await?;
            let name = text(&made, "name");
            output.say(&Text::new(format!("`{name}` is added"), format!("已添加 `{name}`")));
            let id = made["id"].as_str().unwrap_or_default().to_owned();
            let using =
                after(api, output, &add.grant, |server| server.row_id.as_deref() == Some(&id)).await?;
            if output.json {
                made["grantedTo"] = json!(using);
                output.json_line(&made);
            }
        }
        Servers::Edit(edit) => {
            let done = api.call(Method::PUT, &path(&edit.server, ""), body, lang).await?;
            show(&done, &print_one);
        }
        Servers::Remove { server } => {
            let done = api.call(Method::DELETE, &path(&server, ""), None, lang).await?;
            show(&done, &|output, _| {
                output.say(&Text::new(format!("`{server}` is removed"), format!("已移除 `{server}`")));
            });
        }
        Servers::Connect { server } => {
            show(
                &api.call_patiently(Method::POST, &path(&server, "/connect"), Some(&json!({})), lang).await?,
                &print_one,
            );
        }
        Servers::Restart { server } => {
            show(
                &api.call_patiently(Method::POST, &path(&server, "/restart"), Some(&json!({})), lang).await?,
                &print_one,
            );
        }
        Servers::Stop { server } => {
            show(&api.call(Method::POST, &path(&server, "/stop"), Some(&json!({})), lang).await?, &print_one);
        }
        // Has a road of its own: the browser has to come back to somebody.
        Servers::SignIn { .. } => {}
        Servers::SignOut { server } => {
            let done = api.call(Method::DELETE, &path(&server, "/sign-in"), None, lang).await?;
            show(&done, &|output, done| output.say(&sign_in::signed_out(&server, done["revoked"] == true)));
        }
        Servers::Tools { server } => {
            let tools = api.call_patiently(Method::GET, &path(&server, "/tools"), None, lang).await?;
            show(&tools, &print_tools);
        }
        Servers::Logs { server, limit } => {
            show(&api.get_json(&path(&server, &format!("/log?limit={limit}")), lang).await?, &print_log);
        }
        Servers::Pins { server } => {
            let query = server.map(|server| format!("?server={}", encode(&server))).unwrap_or_default();
            show(&api.get_json(&format!("/api/v1/tool-pins{query}"), lang).await?, &print_pins);
        }
        Servers::Approve { server, tools } => {
            let waiting =
                api.get_json(&format!("/api/v1/tool-pins?server={}", encode(&server)), lang).await?;
            let waiting: Vec<&Value> = waiting["items"].as_array().into_iter().flatten().collect();
            let wanted: Vec<Value> = if tools.is_empty() {
                waiting.iter().map(|pin| json!({ "tool": pin["tool"], "digest": pin["digest"] })).collect()
            } else {
                tools
                    .iter()
                    .map(|tool| match waiting.iter().find(|pin| pin["tool"] == json!(tool)) {
                        Some(pin) => json!({ "tool": tool, "digest": pin["digest"] }),
                        None => json!(tool),
                    })
                    .collect()
            };
            let body = json!({ "identity": server, "tools": wanted });
            let done = api.call(Method::POST, "/api/v1/tool-pins/approve", Some(&body), lang).await?;
            show(&done, &|output, done| {
                let count = done["approved"].as_array().map_or(0, Vec::len);
                output
                    .say(&Text::new(format!("{count} tools are approved"), format!("已同意 {count} 个工具")));
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `chatos import mcp FILE`.
pub(crate) fn import(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Import,
) -> Result<ExitCode, Fault> {
    let Import::Mcp { file, dry_run, grant } = action;
    let content = read_file(&file)?;
    let api = Api::connect(global, environment)?;
    let body = json!({ "text": content, "apply": !dry_run });
    block_on(async {
        let done = import_into(&api, output, &body, dry_run, &grant).await;
        api.finish().await;
        done
    })
}

async fn import_into(
    api: &Api,
    output: &Output,
    body: &Value,
    dry_run: bool,
    grant: &GrantFlags,
) -> Result<ExitCode, Fault> {
    check(api, output, grant).await?;
    let mut done = api.call(Method::POST, "/api/v1/mcp-servers/import", Some(body), output.lang).await?;
    if !output.json {
        print_import(output, &done, dry_run);
    }
    let added = |server: &ServerUser| {
        let ids = done["imported"].as_array().into_iter().flatten();
        server.row_id.is_some() && ids.into_iter().any(|id| id.as_str() == server.row_id.as_deref())
    };
    let using = if dry_run { Vec::new() } else { after(api, output, grant, added).await? };
    if output.json {
        done["grantedTo"] = json!(using);
        output.json_line(&done);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_import(output: &Output, done: &Value, dry_run: bool) {
    for found in done["found"].as_array().into_iter().flatten() {
        output.line(&format!("{}  {}", output.paint(Paint::Bold, &text(found, "name")), text(found, "url")));
        for warning in found["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            output.line(&output.paint(Paint::Warn, &format!("  {}", visible(warning))));
        }
    }
    let count = done["imported"].as_array().map_or(0, Vec::len);
    output.say(&if dry_run {
        Text::fixed("nothing was changed", "没有任何更改")
    } else {
        Text::new(format!("{count} servers were added"), format!("已添加 {count} 个服务器"))
    });
}

/// The flags as the API takes them.
fn parts(parts: &ServerParts, environment: &Environment) -> Result<Map<String, Value>, Fault> {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    if let Some(text) = &parts.description {
        put("description", json!(text));
    }
    if let Some(cwd) = &parts.cwd {
        put("cwd", json!(environment.current_dir().join(cwd)));
    }
    if !parts.env.is_empty() {
        let mut env = Map::new();
        for entry in &parts.env {
            let (name, value) = match entry.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => {
                    let value = environment.variables().get(entry.as_str()).cloned();
                    (entry.as_str(), value.ok_or_else(|| wrong(&format!("the variable {entry} is not set")))?)
                }
            };
            env.insert(name.to_owned(), json!(value));
        }
        put("env", Value::Object(env));
    }
    if let Some(file) = &parts.token_file {
        put("auth", json!({ "kind": "token", "token": read_file(file)?.trim() }));
    }
    if let Some(file) = &parts.headers_file {
        let content = read_file(file)?;
        let mut headers = Map::new();
        for line in content.lines().filter(|line| !line.trim().is_empty()) {
            let (name, value) =
                line.split_once(':').ok_or_else(|| wrong("a line of the headers has no colon"))?;
            headers.insert(name.trim().to_owned(), json!(value.trim()));
        }
        put("auth", json!({ "kind": "headers", "headers": headers }));
    }
    let mut oauth = Map::new();
    if let Some(id) = &parts.client_id {
        oauth.insert("clientId".to_owned(), json!(id));
    }
    if let Some(file) = &parts.client_secret_file {
        oauth.insert("clientSecret".to_owned(), json!(read_file(file)?.trim()));
    }
    if !parts.scopes.is_empty() {
        oauth.insert("scopes".to_owned(), json!(parts.scopes));
    }
    if !oauth.is_empty() {
        put("oauth", Value::Object(oauth));
    }
    if let Some(ms) = parts.timeout {
        put("timeoutMs", json!(ms));
    }
    if let Some(ms) = parts.max_timeout {
        put("maxTimeoutMs", json!(ms));
    }
    if let Some(ms) = parts.start_timeout {
        put("startTimeoutMs", json!(ms));
    }
    if let Some(meta) = &parts.call_meta {
        let meta: Value = serde_json::from_str(meta)
            .map_err(|error| wrong(&format!("--call-meta is not JSON: {error}")))?;
        put("callMeta", meta);
    }
    if parts.allow_private {
        put("allowPrivate", json!(true));
    }
    if !parts.roots.is_empty() {
        let given = parts.roots.iter().filter(|root| !root.is_empty());
        let roots: Vec<PathBuf> = given.map(|root| environment.current_dir().join(root)).collect();
        put("roots", json!(roots));
    }
    if !parts.tags.is_empty() {
        put("tags", json!(parts.tags));
    }
    Ok(body)
}

fn wrong(reason: &str) -> Fault {
    Fault::new(ErrorCode::InvalidArgument, Text::same(reason.to_owned()))
}

fn no_place() -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::fixed("give an address, or a program after `--`", "请给出地址，或在 `--` 之后给出程序"),
    )
    .hint(Text::same("chatos mcp servers add files -- npx -y @modelcontextprotocol/server-filesystem /data"))
}

fn read_file(path: &Path) -> Result<String, Fault> {
    let read = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("cannot read the file: {}", path.display()),
                format!("无法读取文件：{}", path.display()),
            ),
        )
        .caused_by(&error)
    })
}

fn text(value: &Value, key: &str) -> String {
    visible(value[key].as_str().unwrap_or_default())
}

fn phase_paint(phase: &str) -> Paint {
    match phase {
        "ready" => Paint::Good,
        "failed" => Paint::Bad,
        "backoff" | "starting" | "sign_in" => Paint::Warn,
        _ => Paint::Dim,
    }
}

fn print_list(output: &Output, list: &Value) {
    let items: Vec<&Value> = list["items"].as_array().into_iter().flatten().collect();
    let names = items.iter().map(|item| width(&text(item, "name"))).max().unwrap_or(4);
    for item in items {
        let phase = text(&item["state"], "phase");
        let tools = item["state"]["tools"].as_u64().map(|count| format!("{count} tools")).unwrap_or_default();
        output.line(&format!(
            "{}  {}  {}  {}  {}",
            pad(&text(item, "name"), names),
            output.paint(phase_paint(&phase), &pad(&phase, 8)),
            pad(&text(item, "source"), 7),
            pad(&text(item, "transport"), 10),
            tools
        ));
        if let Some(message) = item["state"]["lastError"]["message"].as_str() {
            output.line(&output.paint(Paint::Dim, &format!("    {}", visible(message))));
        }
        if item["signIn"]["state"] == "needed" {
            let hint = format!("    chatos mcp servers sign-in {}", text(item, "name"));
            output.line(&output.paint(Paint::Warn, &hint));
        }
    }
}

fn print_one(output: &Output, item: &Value) {
    let state = &item["state"];
    output.line(&format!("{}  {}", output.paint(Paint::Bold, &text(item, "name")), text(item, "identity")));
    if let Some(argv) = item["argv"].as_array() {
        let words: Vec<String> = argv.iter().filter_map(Value::as_str).map(visible).collect();
        output.line(&format!("  {}", words.join(" ")));
    } else {
        output.line(&format!("  {}", text(item, "url")));
    }
    let phase = text(state, "phase");
    let mut line = format!("  {}", output.paint(phase_paint(&phase), &phase));
    for (key, word) in [("era", ""), ("protocolVersion", ""), ("pid", "pid "), ("tools", "tools ")] {
        let value = &state[key];
        let shown = value.as_str().map(visible).or_else(|| value.as_u64().map(|n| n.to_string()));
        if let Some(shown) = shown {
            line.push_str(&format!("  {word}{shown}"));
        }
    }
    output.line(&line);
    for root in item["roots"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        output.line(&format!("  root {}", visible(root)));
    }
    sign_in::print(output, item);
    let error = &state["lastError"];
    if let Some(message) = error["message"].as_str() {
        output.line(&output.paint(Paint::Bad, &format!("  {}", visible(message))));
        if let Some(hint) = error["hint"].as_str() {
            output.line(&format!("  {}", visible(hint)));
        }
        for line in error["stderr"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            output.line(&output.paint(Paint::Dim, &format!("    {}", visible(line))));
        }
    }
}

fn print_tools(output: &Output, tools: &Value) {
    let items: Vec<&Value> = tools["items"].as_array().into_iter().flatten().collect();
    let names = items.iter().map(|item| width(&text(item, "name"))).max().unwrap_or(4);
    for item in items {
        let first = text(item, "description").chars().take(100).collect::<String>();
        let mark = if text(item, "state") == "approved" { "" } else { " (off)" };
        output.line(&format!("{}{mark}  {}", pad(&text(item, "name"), names), first.replace("\\n", " ")));
    }
    for problem in tools["problems"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        output.line(&output.paint(Paint::Warn, &visible(problem)));
    }
}

fn print_log(output: &Output, log: &Value) {
    for item in log["items"].as_array().into_iter().flatten() {
        output.line(&format!(
            "{} {} {}",
            text(item, "ts"),
            pad(&text(item, "source"), 7),
            text(item, "text")
        ));
    }
}

fn print_pins(output: &Output, pins: &Value) {
    for item in pins["items"].as_array().into_iter().flatten() {
        let (server, tool, state) = (text(item, "server"), text(item, "tool"), text(item, "state"));
        output.line(&format!("{}  {tool}  {}", server, output.paint(Paint::Warn, &state)));
        for (sign, key) in [("-", "approved"), ("+", "now")] {
            let said = item[key]["description"].as_str().or(item[key]["instructions"].as_str());
            for line in said.into_iter().flat_map(str::lines) {
                output.line(&format!("  {sign} {}", visible(line)));
            }
        }
    }
}
