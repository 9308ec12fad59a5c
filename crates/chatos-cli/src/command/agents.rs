//! `chatos agent` and `chatos land`: who may use what, in a terminal.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::rule::RulesTried;
use hyper::Method;
use serde_json::{Map, Value, json};

use crate::args::{Agent, AgentFields, Global, Land, RoleArg};
use chatos_desk::encode;
use chatos_terminal::client::{Answer, Api, block_on};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, pad, visible, width};

/// Larger than any land_config or prompt that is accepted.
const READ: u64 = 2 * 1024 * 1024;

pub(crate) fn run_agent(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Agent,
) -> Result<ExitCode, Fault> {
    let current = environment.current_dir().to_owned();
    let named = global.project.as_ref().map(|project| current.join(project));
    let project = named.clone().unwrap_or_else(|| current.clone());
    let project = std::fs::canonicalize(&project).unwrap_or(project);
    let api = Api::connect(global, environment)?;
    block_on(async {
        let names = Names::new(&api, output.lang);
        match action {
            Agent::List => {
                let list = api.get_json("/api/v1/agents", output.lang).await?;
                if output.json { output.json_line(&list) } else { print_agents(output, &list) }
            }
            Agent::Show { agent } => {
                let id = names.agent(&agent).await?;
                show(output, &api.get_json(&format!("/api/v1/agents/{}", encode(&id)), output.lang).await?);
            }
            Agent::Detect => {
                let list = api.get_json("/api/v1/acp/detect", output.lang).await?;
                if output.json { output.json_line(&list) } else { print_found(output, &list) }
            }
            Agent::Add { acp, name, workspace, land, pass_env, no_gateway, yes, command } => {
                let root = current.join(workspace.unwrap_or_default());
                let root = std::path::absolute(&root).unwrap_or(root);
                // `DIR/.` is `DIR`.
                let root: std::path::PathBuf = root.components().collect();
                let mut body = json!({
                    "workspaceRoot": root, "passEnv": pass_env, "withoutGateway": no_gateway, "confirmed": yes,
                });
                match command.split_first() {
                    Some((program, args)) => {
                        body["program"] = json!(program);
                        body["args"] = json!(args);
                    }
                    None => body["knownId"] = json!(acp),
                }
                if let Some(name) = name {
                    body["name"] = json!(name);
                }
                if let Some(land) = land {
                    body["landConfigId"] = json!(names.profile(&land).await?);
                }
                let path = "/api/v1/acp/agents";
                let mut added = api.call(Method::POST, path, Some(&body), output.lang).await;
                // The host says what would be started; only a person at a terminal can agree to it here.
                if let Err(fault) = &added
                    && fault.code == "not_confirmed"
                    && agreed(output, fault.message.get(output.lang))
                {
                    body["confirmed"] = json!(true);
                    added = api.call(Method::POST, path, Some(&body), output.lang).await;
                }
                let added = added.map_err(|fault| match fault.code.as_ref() {
                    "not_confirmed" => fault.hint(Text::fixed("agree with `--yes`", "用 `--yes` 表示同意")),
                    _ => fault,
                })?;
                show(output, &added);
            }
            Agent::Create(fields) => {
                let body = body_with_ids(&fields, &current, names).await?;
                show(output, &api.call(Method::POST, "/api/v1/agents", Some(&body), output.lang).await?);
            }
            Agent::Edit { agent, fields } => {
                let id = names.agent(&agent).await?;
                let body = body_with_ids(&fields, &current, names).await?;
                let path = format!("/api/v1/agents/{}", encode(&id));
                show(output, &api.call(Method::PUT, &path, Some(&body), output.lang).await?);
            }
            Agent::Remove { agent } => {
                let id = names.agent(&agent).await?;
                let path = format!("/api/v1/agents/{}", encode(&id));
                let done = api.call(Method::DELETE, &path, None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                output.say(&Text::new(format!("`{agent}` is removed"), format!("已删除 `{agent}`")));
            }
            Agent::Explain { agent, tool, args, role } => {
                let id = names.agent(&agent).await?;
                let role = match role {
                    RoleArg::Main => "main",
                    RoleArg::Sub => "sub",
                };
                let mut path = format!("/api/v1/agents/{}/explain?role={role}", encode(&id));
                if let Some(tool) = &tool {
                    path.push_str(&format!("&tool={}", encode(tool)));
                }
                let mut explained = api.get_json(&path, output.lang).await?;
                if let Some(tool) = &tool {
                    let arguments = super::rules::arguments(args.as_deref())?;
                    let call = json!({
                        "tool": tool, "arguments": arguments, "agent": id, "role": role, "project": project,
                    });
                    decide(&api, output, &mut explained, &call).await?;
                }
                let texts = match &named {
                    Some(project) => Some(super::instructions::of(&api, output, project).await?),
                    None => None,
                };
                if output.json {
                    if let Some(texts) = &texts {
                        explained["instructions"] = json!(texts);
                    }
                    output.json_line(&explained);
                } else {
                    explain(output, &explained);
                    if let Some(texts) = &texts {
                        super::instructions::print(output, texts);
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

pub(crate) fn run_land(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Land,
) -> Result<ExitCode, Fault> {
    let file = match &action {
        Land::Import { file } => Some(read_json(&environment.current_dir().join(file), file)?),
        _ => None,
    };
    let api = Api::connect(global, environment)?;
    block_on(async {
        let path = |id: &str| format!("/api/v1/land-configs/{}", encode(id));
        let names = Names::new(&api, output.lang);
        match action {
            Land::List => {
                let list = api.get_json("/api/v1/land-configs", output.lang).await?;
                if output.json {
                    output.json_line(&list);
                } else {
                    print_lands(output, &list);
                }
            }
            Land::Show { id } | Land::Export { id } => {
                let id = names.profile(&id).await?;
                let mut land = api.get_json(&path(&id), output.lang).await?;
                if let Some(map) = land.as_object_mut() {
                    // Only what `import` takes back.
                    for member in ["usedBy", "builtin", "warnings", "locked"] {
                        map.remove(member);
                    }
                }
                if output.json { output.json_line(&land) } else { output.line(&pretty(&land)) }
            }
            Land::Import { .. } => {
                let body = file.unwrap_or_default();
                let known = match body["id"].as_str() {
                    Some(id) => api.get_json(&path(id), output.lang).await.is_ok(),
                    None => false,
                };
                let saved = match body["id"].as_str().filter(|_| known) {
                    Some(id) => api.call(Method::PUT, &path(id), Some(&body), output.lang).await?,
                    None => api.call(Method::POST, "/api/v1/land-configs", Some(&body), output.lang).await?,
                };
                if output.json {
                    output.json_line(&saved);
                }
                for warning in saved["warnings"].as_array().map(Vec::as_slice).unwrap_or_default() {
                    output.say(&Text::same(visible(warning.as_str().unwrap_or_default())));
                }
                let id = saved["id"].as_str().unwrap_or_default();
                output.say(&Text::new(format!("saved as `{id}`"), format!("已保存为 `{id}`")));
            }
            Land::Remove { id } => {
                let found = names.profile(&id).await?;
                let done = api.call(Method::DELETE, &path(&found), None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                output.say(&Text::new(format!("`{id}` is removed"), format!("已删除 `{id}`")));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The flags as the API takes them, with the ids of what they name.
async fn body_with_ids(fields: &AgentFields, current: &Path, names: Names<'_>) -> Result<Value, Fault> {
    let mut body = body_of(fields, current)?;
    if let Some(land) = fields.land.as_deref().filter(|land| !land.is_empty()) {
        body["landConfigId"] = json!(names.profile(land).await?);
    }
    if let Some(model) = fields.model.as_deref().filter(|model| !matches!(*model, "" | "default")) {
        body["modelId"] = json!(names.model(model).await?);
    }
    Ok(body)
}

fn body_of(fields: &AgentFields, current: &Path) -> Result<Value, Fault> {
    let mut body = Map::new();
    let mut put = |member: &str, value: Value| body.insert(member.to_owned(), value);
    for (member, value) in [
        ("name", &fields.name),
        ("description", &fields.description),
        ("mode", &fields.mode),
        ("landConfigId", &fields.land),
        ("promptLang", &fields.prompt_lang),
    ] {
        if let Some(value) = value {
            put(member, json!(value));
        }
    }
    if let Some(model) = &fields.model {
        put("modelId", if model == "default" { Value::Null } else { json!(model) });
    }
    if let Some(prompt) = &fields.prompt {
        let text = match prompt.strip_prefix('@') {
            Some(file) => read_text(&current.join(file), Path::new(file))?,
            None => prompt.clone(),
        };
        put("prompt", json!(text));
    }
    if let Some(workspace) = &fields.workspace {
        let place = current.join(workspace);
        put("workspaceRoot", json!(std::fs::canonicalize(&place).unwrap_or(place)));
    }
    if fields.all_servers {
        put("mcpServerIds", Value::Null);
    } else if !fields.server.is_empty() {
        let servers: Vec<&String> = fields.server.iter().filter(|server| *server != "none").collect();
        put("mcpServerIds", json!(servers));
    }
    if !fields.prompts.is_empty() {
        put("promptIds", json!(fields.prompts));
    }
    if !fields.app.is_empty() {
        let mut apps = Vec::new();
        for app in &fields.app {
            let Some((plugin, id)) = app.split_once('/') else {
                return Err(Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::new(format!("`{app}` names no app"), format!("`{app}` 不是应用")),
                )
                .hint(Text::fixed("write PLUGIN/APP", "请写成 插件/应用")));
            };
            apps.push(json!({ "pluginId": plugin, "appId": id }));
        }
        put("uiApps", json!(apps));
    }
    Ok(Value::Object(body))
}

fn read_text(path: &Path, written: &Path) -> Result<String, Fault> {
    let fail = |error: std::io::Error| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("cannot read `{}`", written.display()),
                format!("无法读取 `{}`", written.display()),
            ),
        )
        .caused_by(&error)
    };
    let mut text = String::new();
    if written == Path::new("-") {
        std::io::stdin().lock().take(READ).read_to_string(&mut text).map_err(fail)?;
    } else {
        std::fs::File::open(path).and_then(|file| file.take(READ).read_to_string(&mut text)).map_err(fail)?;
    }
    Ok(text)
}

fn read_json(path: &Path, written: &Path) -> Result<Value, Fault> {
    serde_json::from_str(&read_text(path, written)?).map_err(|error| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("`{}` is not JSON", written.display()),
                format!("`{}` 不是 JSON", written.display()),
            ),
        )
        .caused_by(&error)
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn text(value: &Value, member: &str) -> String {
    visible(value[member].as_str().unwrap_or_default())
}

/// Asks at a terminal; anywhere else nobody agreed.
fn agreed(output: &Output, what: &str) -> bool {
    use std::io::IsTerminal as _;
    if output.json || !std::io::stdin().is_terminal() {
        return false;
    }
    let what = what.trim_start_matches("/confirmed").trim_start_matches([':', '：', ' ']);
    output.say(&Text::same(visible(what)));
    output.say(&Text::fixed("Add it? [y/N] ", "添加它？[y/N] "));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

fn print_found(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let widest = items.iter().map(|item| width(&text(item, "title"))).max().unwrap_or_default();
    for item in items {
        let id = text(item, "id");
        let note = match (item["agentId"].is_string(), text(item, "state").as_str()) {
            (true, _) => Text::fixed("added already", "已添加"),
            (false, "ready") => Text::new(
                format!("found; add it: chatos agent add --acp {id}"),
                format!("已找到；添加：chatos agent add --acp {id}"),
            ),
            (false, "adapter_missing") => Text::new(
                format!("found, its adapter is missing: {}", text(item, "install")),
                format!("已找到，但缺少适配器：{}", text(item, "install")),
            ),
            _ => Text::fixed("not found", "未找到"),
        };
        output.line(&format!("{}  {}", pad(&text(item, "title"), widest), note.get(output.lang)));
    }
}

fn print_agents(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        output.say(&Text::fixed("there are no agents", "没有智能体"));
    }
    let widest = items.iter().map(|item| width(&text(item, "name"))).max().unwrap_or_default();
    for item in items {
        let land = match text(item, "landConfigId") {
            land if land.is_empty() => "lc_safe_default".to_owned(),
            land => land,
        };
        let mut line =
            format!("{}  {}  {land}", pad(&text(item, "name"), widest), pad(&text(item, "mode"), 6));
        let problems = item["problems"].as_array().map_or(0, Vec::len);
        if problems > 0 {
            let note = Text::new(format!("{problems} problem(s)"), format!("{problems} 个问题"));
            line.push_str(&format!("  {}", output.paint(Paint::Warn, note.get(output.lang))));
        }
        line.push_str(&format!("  {}", output.paint(Paint::Dim, &text(item, "id"))));
        output.line(&line);
    }
}

fn show(output: &Output, agent: &Value) {
    if output.json {
        output.json_line(agent);
        return;
    }
    output.line(&output.paint(Paint::Bold, &text(agent, "name")));
    for (member, value) in agent.as_object().into_iter().flatten() {
        if member == "name"
            || member == "problems"
            || value.is_null()
            || *value == json!("")
            || *value == json!([])
        {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        output.line(&format!("  {}  {}", pad(member, 16), visible(&value)));
    }
    for problem in agent["problems"].as_array().map(Vec::as_slice).unwrap_or_default() {
        output.line(&format!("  {}", output.paint(Paint::Warn, &text(problem, "message"))));
    }
}

fn print_lands(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let widest = items.iter().map(|item| width(&text(item, "name"))).max().unwrap_or_default();
    for item in items {
        let count = |flow: &str| item[flow]["mcpServers"].as_array().map_or(0, Vec::len);
        let (main, sub) = (count("main"), count("sub"));
        let users = item["usedBy"].as_array().map_or(0, Vec::len);
        let note = if output.lang == Lang::Zh {
            format!("主 {main} 子 {sub} 个服务，{users} 个智能体使用")
        } else {
            format!("main {main}, sub {sub} server(s), used by {users} agent(s)")
        };
        let lock = if item["locked"] == true { " 🔒" } else { "" };
        output.line(&format!(
            "{}  {note}{lock}  {}",
            pad(&text(item, "name"), widest),
            output.paint(Paint::Dim, &text(item, "id"))
        ));
    }
}

/// What the rules would say about this very call, for each server that may be used for it.
async fn decide(api: &Api, output: &Output, explained: &mut Value, call: &Value) -> Result<(), Fault> {
    for server in explained["servers"].as_array_mut().into_iter().flatten() {
        let name = server["name"].as_str().unwrap_or_default().to_owned();
        // The built-in ones are known by their names.
        let own = chatos_builtin::server_info(&name).is_some();
        let identity = if own { json!(name) } else { server["identity"].clone() };
        for tool in server["tools"].as_array_mut().into_iter().flatten() {
            if tool["granted"] != true || tool["tool"] != call["tool"] {
                continue;
            }
            let mut body = call.clone();
            body["server"] = identity.clone();
            let tried: Answer<RulesTried> =
                api.ask(Method::POST, "/api/v1/rules/decide", Some(&body), output.lang).await?;
            tool["rules"] = tried.raw.clone();
        }
    }
    Ok(())
}

/// Rules and floor of one call, with the line that decides.
fn explain_rules(output: &Output, tool: &Value) {
    let Ok(tried) = serde_json::from_value::<RulesTried>(tool["rules"].clone()) else { return };
    let name = |id: &String| {
        tried.rules.iter().find(|rule| rule.rule == *id).map_or(id.clone(), |rule| rule.name.clone())
    };
    let by = tried.by.as_ref().map(name).unwrap_or_default();
    let asks = tool["ask"] == true;
    let line = match tried.decision.as_str() {
        "allow" => Text::new(format!("→ not asked: your rule “{by}”"), format!("→ 不询问：你的规则“{by}”")),
        "deny" => Text::new(format!("→ refused: your rule “{by}”"), format!("→ 拒绝：你的规则“{by}”")),
        _ if asks => Text::new(
            format!("→ asked: the profile says so; {}", tried.why),
            format!("→ 询问：授权配置要求；{}", tried.why),
        ),
        _ => Text::new(
            format!("→ asked where Settings say so; {}", tried.why),
            format!("→ 若设置要求则询问；{}", tried.why),
        ),
    };
    output.line(&format!("      {}", output.paint(Paint::Bold, &visible(line.get(output.lang)))));
    super::rules::tell_steps(output, &tried);
}

fn explain(output: &Output, explained: &Value) {
    if let Some(stop) = explained.get("stop") {
        output.line(&output.paint(Paint::Bad, &text(stop, "message")));
        return;
    }
    for server in explained["servers"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let granted = server["granted"] == true;
        let (mark, paint) = if granted { ("✓", Paint::Good) } else { ("✗", Paint::Bad) };
        let why = if granted { text(server, "rule") } else { text(server, "message") };
        output.line(&format!(
            "{} {}  {}",
            output.paint(paint, mark),
            output.paint(Paint::Bold, &text(server, "name")),
            output.paint(Paint::Dim, &why)
        ));
        if !granted {
            continue;
        }
        if server["toolsFrom"] == "lastSeen" {
            let note =
                Text::fixed("not connected; its tools as last seen:", "未连接；以下为上次所见的工具：");
            output.line(&format!("    {}", output.paint(Paint::Dim, note.get(output.lang))));
        }
        for tool in server["tools"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let (mark, paint) = match (tool["granted"] == true, tool["ask"] == true) {
                (true, true) => ("?", Paint::Warn),
                (true, false) => ("✓", Paint::Good),
                (false, _) => ("✗", Paint::Bad),
            };
            output.line(&format!(
                "    {} {}  {}",
                output.paint(paint, mark),
                pad(&text(tool, "tool"), 24),
                output.paint(Paint::Dim, &text(tool, "rule"))
            ));
            explain_rules(output, tool);
        }
    }
    for prompt in explained["prompts"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let (mark, paint) =
            if prompt["included"] == true { ("✓", Paint::Good) } else { ("✗", Paint::Warn) };
        let kind = Text::fixed("prompt", "提示词");
        output.line(&format!(
            "{} {} {}  {}",
            output.paint(paint, mark),
            kind.get(output.lang),
            text(prompt, "key"),
            output.paint(Paint::Dim, &text(prompt, "why"))
        ));
    }
}
