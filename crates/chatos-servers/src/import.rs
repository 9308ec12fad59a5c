//! Servers from the files of other MCP clients (`chatos import mcp`).

use std::collections::BTreeMap;

use chatos_contribution::cmd_url;
use chatos_store::ServerSource;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::server::{AuthInput, FoundServer, ServerImport, ServerInput};
use serde_json::{Map, Value};

use crate::servers::Servers;

/// Most servers of one file.
const SERVERS: usize = 200;

struct Read {
    shown: FoundServer,
    input: ServerInput,
    /// It says of itself that it cannot be taken over.
    usable: bool,
}

impl Servers {
    /// Reads the text of a file; takes the servers over when `apply`.
    pub async fn import(&self, text: &str, apply: bool, lang: Lang) -> Result<ServerImport, Fault> {
        let servers = entries(&parse(text)?)?;
        let mut found = Vec::new();
        let mut imported = Vec::new();
        for (name, entry) in servers {
            let mut read = read(&name, &entry, lang);
            let taken = self.inner().catalogue().await?.find(&read.shown.name).is_some();
            if taken {
                read.shown.warnings.push(
                    Text::fixed("a server of this name exists already", "已存在同名服务器")
                        .get(lang)
                        .to_owned(),
                );
            }
            if apply && read.usable {
                if taken {
                    let free = self.free_name(&read.shown.name).await?;
                    read.input.name = Some(free);
                }
                match self.add(read.input, ServerSource::Import, lang).await {
                    Ok(view) => imported.push(view.id),
                    Err(fault) => read.shown.warnings.push(fault.message.get(lang).to_owned()),
                }
            }
            found.push(read.shown);
        }
        Ok(ServerImport { found, imported })
    }

    async fn free_name(&self, name: &str) -> Result<String, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let taken =
            |name: &str| catalogue.servers.iter().any(|known| known.name().eq_ignore_ascii_case(name));
        let names = std::iter::once(format!("{name} (imported)"))
            .chain((2..1_000).map(|n| format!("{name} (imported {n})")));
        let mut names = names;
        names.find(|name| !taken(name)).ok_or_else(|| not_a_file("too many servers of one name"))
    }
}

/// JSON as other clients write it: with comments and trailing commas too.
fn parse(text: &str) -> Result<Value, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text)
        .or_else(|first| serde_json::from_str(&without_comments(text)).map_err(|_| first))
        .map_err(|error| not_a_file(&error.to_string()))
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_text = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_text => {
                out.push(c);
                out.extend(chars.next());
            }
            '"' => {
                in_text = !in_text;
                out.push(c);
            }
            '/' if !in_text && chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            '/' if !in_text && chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for next in chars.by_ref() {
                    if last == '*' && next == '/' {
                        break;
                    }
                    last = next;
                }
            }
            '}' | ']' if !in_text => {
                let kept = out.trim_end().len();
                if out[..kept].ends_with(',') {
                    out.truncate(kept - 1);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// The servers of a file, under whichever key its client keeps them.
fn entries(file: &Value) -> Result<Vec<(String, Value)>, Fault> {
    let map = file.as_object().ok_or_else(|| not_a_file("it is not an object"))?;
    let inner = map.get("mcp").and_then(Value::as_object);
    let place = ["mcpServers", "servers", "context_servers"]
        .iter()
        .find_map(|key| map.get(*key).or_else(|| inner?.get(*key)))
        .or_else(|| map.get("mcp"));
    let servers = place
        .and_then(Value::as_object)
        .ok_or_else(|| not_a_file("it has neither `mcpServers` nor `servers`"))?;
    if servers.len() > SERVERS {
        return Err(not_a_file("it has more than 200 servers"));
    }
    Ok(servers.iter().map(|(name, entry)| (name.clone(), entry.clone())).collect())
}

fn not_a_file(reason: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("this is no list of MCP servers: {reason}"),
            format!("这不是 MCP 服务器列表：{reason}"),
        ),
    )
    .code("import_unreadable")
    .hint(Text::fixed(
        r#"give a JSON file with {"mcpServers":{"name":{"command":"…","args":[…]}}}"#,
        r#"请提供包含 {"mcpServers":{"name":{"command":"…","args":[…]}}} 的 JSON 文件"#,
    ))
}

fn read(name: &str, entry: &Value, lang: Lang) -> Read {
    let mut warnings: Vec<String> = Vec::new();
    let mut warn =
        |en: &str, zh: &str| warnings.push(Text::new(en.to_owned(), zh.to_owned()).get(lang).to_owned());
    let empty = Map::new();
    let map = entry.as_object().unwrap_or(&empty);
    let text = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let clean: String = name
        .chars()
        .filter(|c| !c.is_control())
        .map(|c| if "/:".contains(c) { '-' } else { c })
        .take(120)
        .collect();
    let clean = if clean.trim().is_empty() { "imported".to_owned() } else { clean.trim().to_owned() };
    if clean != name {
        warn("its name was changed", "名称已调整");
    }
    let mut input = ServerInput { name: Some(clean.clone()), ..ServerInput::default() };
    let argv = argv(map);
    let url = text(map, "url").or_else(|| text(map, "serverUrl")).or_else(|| text(map, "httpUrl"));
    let mut usable = true;
    match (&argv, url) {
        (Some(argv), _) => input.argv = Some(argv.clone()),
        (None, Some(url)) => {
            if on_this_machine(&url) {
                warn(
                    "its address is on this machine or its network; allow that in the server's settings",
                    "其地址位于本机或本地网络；请在服务器设置中允许",
                );
            }
            input.url = Some(url);
        }
        (None, None) => {
            usable = false;
            warn("it has neither a command nor an address", "既没有命令也没有地址");
        }
    }
    let env = strings(map.get("env").or_else(|| map.get("environment")), &mut |key| {
        warn(
            &format!("the variable `{key}` is no text and was left out"),
            &format!("变量 `{key}` 不是文本，已忽略"),
        );
    });
    let headers = strings(map.get("headers"), &mut |key| {
        warn(
            &format!("the header `{key}` is no text and was left out"),
            &format!("请求头 `{key}` 不是文本，已忽略"),
        );
    });
    let everything = entry.to_string();
    if everything.contains("${") {
        warn(
            "it holds placeholders such as ${…} that this program does not fill in",
            "包含 ${…} 等占位符，本程序不会替换",
        );
    }
    if map.get("disabled") == Some(&Value::Bool(true)) || map.get("enabled") == Some(&Value::Bool(false)) {
        input.enabled = Some(false);
        warn("it is switched off there and stays so", "在原处已禁用，保持禁用");
    }
    input.cwd = text(map, "cwd").filter(|cwd| cwd.starts_with('/'));
    input.description = text(map, "description");
    if let Some(seconds) = map.get("timeout").and_then(Value::as_u64) {
        // Some write seconds, some milliseconds; nobody means a timeout of 30 ms or of eight hours.
        let ms = if seconds < 1_000 { seconds * 1_000 } else { seconds };
        input.timeout_ms = Some(Some(ms.clamp(1_000, 86_400_000)));
    }
    let env_names = env.keys().cloned().collect();
    if !env.is_empty() {
        input.env = Some(env.into_iter().map(|(name, value)| (name, Some(value))).collect());
    }
    if !headers.is_empty() {
        let headers = headers.into_iter().map(|(name, value)| (name, Some(value))).collect();
        input.auth =
            Some(AuthInput { kind: "headers".to_owned(), headers: Some(headers), ..AuthInput::default() });
    }
    let url = match (&input.argv, &input.url) {
        (Some(argv), _) => cmd_url::build(argv).unwrap_or_default(),
        (None, Some(url)) => url.clone(),
        (None, None) => String::new(),
    };
    Read { shown: FoundServer { name: clean, url, argv, env_names, warnings }, input, usable }
}

/// `command` + `args`, a list, or an object with `path` and `args`.
fn argv(map: &Map<String, Value>) -> Option<Vec<String>> {
    let words = |value: Option<&Value>| -> Vec<String> {
        let list = value.and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    match map.get("command")? {
        Value::String(program) if !program.trim().is_empty() => {
            let mut argv = vec![program.clone()];
            argv.extend(words(map.get("args")));
            Some(argv)
        }
        list @ Value::Array(_) => Some(words(Some(list))).filter(|argv| !argv.is_empty()),
        Value::Object(command) => {
            let mut argv = vec![command.get("path")?.as_str()?.to_owned()];
            argv.extend(words(command.get("args")));
            Some(argv)
        }
        _ => None,
    }
}

fn strings(value: Option<&Value>, bad: &mut dyn FnMut(&str)) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (key, value) in value.and_then(Value::as_object).into_iter().flatten() {
        match value {
            Value::String(text) => {
                found.insert(key.clone(), text.clone());
            }
            Value::Number(_) | Value::Bool(_) => {
                found.insert(key.clone(), value.to_string());
            }
            _ => bad(key),
        }
    }
    found
}

fn on_this_machine(url: &str) -> bool {
    let host =
        url.split_once("://").map_or("", |(_, rest)| rest.split(['/', ':', '?']).next().unwrap_or_default());
    host == "localhost"
        || host.starts_with('[')
        || host
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|ip| ip.is_loopback() || ip.is_private() || ip.is_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_of_other_clients_are_read() {
        let text = r#"{ // comment
            "mcpServers": { "a/b": { "command": "npx", "args": ["-y", "x"], "env": {"K": "v", "N": 1, "O": {}}, "disabled": true },
              /* old */ "web": { "url": "http://localhost:3000/mcp", "headers": {"X-Key": "${input:key}"}, }, }, }"#;
        let servers = entries(&parse(text).unwrap()).unwrap();
        let first = read(&servers[0].0, &servers[0].1, Lang::En);
        assert_eq!(first.shown.name, "a-b");
        assert_eq!(first.shown.url, "cmd://npx -y x");
        assert_eq!(first.shown.env_names, ["K", "N"]);
        assert_eq!(first.input.enabled, Some(false));
        assert_eq!(first.shown.warnings.len(), 3);
        let second = read(&servers[1].0, &servers[1].1, Lang::En);
        assert!(second.usable && second.shown.warnings.len() == 2, "{:?}", second.shown.warnings);
        for other in [
            json!({ "servers": { "s": { "command": "x" } } }),
            json!({ "mcp": { "servers": { "s": { "command": "x" } } } }),
            json!({ "context_servers": { "s": { "command": { "path": "x", "args": ["y"] } } } }),
            json!({ "mcp": { "s": { "type": "local", "command": ["x", "y"] } } }),
        ] {
            let found = entries(&other).unwrap();
            assert!(read(&found[0].0, &found[0].1, Lang::En).usable, "{other}");
        }
    }

    #[test]
    fn what_is_no_such_file_is_said_so() {
        for bad in ["", "[]", "{}", "null", r#"{"mcpServers": []}"#, "{\"mcpServers\": {"] {
            assert!(parse(bad).and_then(|value| entries(&value)).is_err(), "{bad}");
        }
        let nothing = read("x", &json!({ "note": 1 }), Lang::En);
        assert!(!nothing.usable && nothing.shown.warnings.len() == 1);
    }
}
