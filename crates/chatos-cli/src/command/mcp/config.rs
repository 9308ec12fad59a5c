//! `--print-config`: what to paste into the configuration of a client that starts this server.

use std::io::Write;
use std::path::Path;

use chatos_layer::Root;
use chatos_tool::Text;
use serde_json::{Value, json};

use crate::args::{ConfigClient, Gateway, Global, Mcp};
use chatos_terminal::output::Output;

/// Prints the configuration on stdout, and where it belongs on stderr.
pub(super) fn print(
    client: ConfigClient,
    global: &Global,
    output: &Output,
    options: &Mcp,
    root: Option<&Root>,
) {
    let name = options.shown_name.clone().unwrap_or_else(|| options.server().to_owned());
    let text = match &options.http {
        Some(address) => http(client, &name, &format!("http://{address}/mcp")),
        None => stdio(client, &name, &program(), &arguments(global, options, root)),
    };
    output.line(&text);
    if !output.quiet {
        let place = place(client);
        let note = Text::new(format!("paste into {}", place.en), format!("请粘贴到 {}", place.zh));
        writeln!(std::io::stderr(), "{}", note.get(output.lang)).ok();
    }
}

/// How long a client is told to wait for a call, in seconds: a person may be asked in the middle of it.
const WAIT_S: u64 = 86_400;

/// How long clients whose limit cannot be raised wait, in seconds; the shortest of those limits is a minute.
const HOLD_S: u64 = 45;

/// As `print`, for the gateway.
pub(super) fn print_gateway(
    client: ConfigClient,
    global: &Global,
    environment: &chatos_paths::Environment,
    output: &Output,
    options: &Gateway,
) {
    let text = match &options.http {
        Some(address) => http(client, &options.shown_name, &format!("http://{address}/mcp")),
        None => {
            let mut args = vec!["gateway".to_owned()];
            if options.agent != "default" {
                args.extend(["--agent".to_owned(), options.agent.clone()]);
            }
            let root = options.root.as_ref().map(|root| environment.current_dir().join(root));
            // Elsewhere the client starts its servers in the project.
            let outside = matches!(
                client,
                ConfigClient::ClaudeDesktop
                    | ConfigClient::LmStudio
                    | ConfigClient::Cline
                    | ConfigClient::Goose
            );
            let root = root.or_else(|| outside.then(|| environment.current_dir().to_owned()));
            if let Some(root) = root {
                args.extend(["--root".to_owned(), path_text(&root)]);
            }
            // Where no longer limit can be set, the model waits instead of the client.
            let impatient = matches!(
                client,
                ConfigClient::ClaudeDesktop
                    | ConfigClient::Cursor
                    | ConfigClient::Windsurf
                    | ConfigClient::LmStudio
            );
            let hold = options.hold.map(|hold| hold.as_secs()).or(impatient.then_some(HOLD_S));
            if let Some(hold) = hold {
                args.extend(["--hold".to_owned(), format!("{hold}s")]);
            }
            for (word, given) in [
                ("--tools", options.tools.map(|word| format!("{word:?}").to_lowercase())),
                ("--session", options.session.clone()),
            ] {
                args.extend(given.into_iter().flat_map(|value| [word.to_owned(), value]));
            }
            if options.serve {
                args.push("--serve".to_owned());
            }
            let lang = global.lang.unwrap_or(output.lang);
            args.extend(["--lang".to_owned(), lang.as_str().to_owned()]);
            let named = environment.get("CHATOS_STATE_DIR").filter(|dir| !dir.is_empty()).map(Into::into);
            if let Some(dir) = global.state_dir.clone().or(named) {
                let whole = std::path::absolute(&dir).unwrap_or(dir);
                args.extend(["--state-dir".to_owned(), path_text(&whole)]);
            }
            patient(client, &options.shown_name, &program(), &args)
        }
    };
    output.line(&text);
    if !output.quiet {
        let place = place(client);
        let note = Text::new(format!("paste into {}", place.en), format!("请粘贴到 {}", place.zh));
        writeln!(std::io::stderr(), "{}", note.get(output.lang)).ok();
    }
}

/// The entry of a server that may wait for a person.
fn patient(client: ConfigClient, name: &str, program: &str, args: &[String]) -> String {
    let with = |key: &str, value: Value| {
        let mut entry: Value = serde_json::from_str(&stdio(client, name, program, args)).unwrap_or_default();
        entry["mcpServers"][name][key] = value;
        pretty(&entry)
    };
    match client {
        ConfigClient::ClaudeCode | ConfigClient::GeminiCli => with("timeout", json!(WAIT_S * 1_000)),
        ConfigClient::Cline => with("timeout", json!(WAIT_S)),
        ConfigClient::Codex => {
            let entry = stdio(client, name, program, args);
            format!("{entry}\nstartup_timeout_sec = 30\ntool_timeout_sec = {WAIT_S}")
        }
        _ => stdio(client, name, program, args),
    }
}

/// The program by its full path: clients rarely share the shell's PATH.
fn program() -> String {
    let path = std::env::current_exe();
    path.map_or_else(|_| "chatos".to_owned(), |path| path.display().to_string())
}

fn arguments(global: &Global, options: &Mcp, root: Option<&Root>) -> Vec<String> {
    let mut args = vec!["mcp".to_owned(), options.server().to_owned()];
    if let Some(root) = root {
        args.extend(["--root".to_owned(), root.path().display().to_string()]);
    }
    if options.write == Some(true) {
        args.push("--write".to_owned());
    }
    if let Some(config) = &options.config {
        args.push(format!("--config={}", config.display()));
    }
    if let Some(scope) = &options.scope {
        args.push(format!("--scope={scope}"));
    }
    if let Some(name) = &options.shown_name {
        args.push(format!("--name={name}"));
    }
    if let Some(lang) = global.lang {
        args.extend(["--lang".to_owned(), lang.as_str().to_owned()]);
    }
    if let Some(dir) = &global.state_dir {
        // A client starts the server in a directory of its own.
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        args.extend(["--state-dir".to_owned(), path_text(&whole)]);
    }
    args.extend(options.settings.typed());
    args
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

fn stdio(client: ConfigClient, name: &str, program: &str, args: &[String]) -> String {
    let plain = json!({ "command": program, "args": args });
    let entry = |key: &str, server: Value| pretty(&json!({ key: { name: server } }));
    match client {
        ConfigClient::Vscode => {
            entry("servers", json!({ "type": "stdio", "command": program, "args": args }))
        }
        ConfigClient::ClaudeCode => {
            entry("mcpServers", json!({ "type": "stdio", "command": program, "args": args }))
        }
        ConfigClient::Zed => entry("context_servers", plain),
        ConfigClient::Codex => {
            let args: Vec<String> = args.iter().map(|arg| toml(arg)).collect();
            format!(
                "[mcp_servers.{}]\ncommand = {}\nargs = [{}]",
                toml_key(name),
                toml(program),
                args.join(", ")
            )
        }
        ConfigClient::Opencode => {
            let command: Vec<&str> =
                std::iter::once(program).chain(args.iter().map(String::as_str)).collect();
            entry("mcp", json!({ "type": "local", "command": command, "enabled": true, "timeout": 30_000 }))
        }
        ConfigClient::Goose => {
            // Strings of JSON are strings of YAML.
            let args: Vec<String> = args.iter().map(|arg| toml(arg)).collect();
            let (name, program, args) = (toml(name), toml(program), args.join(", "));
            format!(
                "extensions:\n  {name}:\n    type: stdio\n    name: {name}\n    cmd: {program}\n    args: [{args}]\n    enabled: true\n    timeout: {WAIT_S}"
            )
        }
        ConfigClient::Cline => {
            entry("mcpServers", json!({ "command": program, "args": args, "disabled": false }))
        }
        ConfigClient::Copilot => {
            entry("mcpServers", json!({ "type": "local", "command": program, "args": args, "tools": ["*"] }))
        }
        ConfigClient::ClaudeDesktop
        | ConfigClient::Cursor
        | ConfigClient::Windsurf
        | ConfigClient::GeminiCli
        | ConfigClient::LmStudio
        | ConfigClient::Generic => entry("mcpServers", plain),
    }
}

fn http(client: ConfigClient, name: &str, url: &str) -> String {
    // The token stays out of what is printed: people paste it into chats and issues.
    let headers = json!({ "Authorization": "Bearer ${CHATOS_MCP_TOKEN}" });
    let typed = json!({ "type": "http", "url": url, "headers": headers });
    let plain = json!({ "url": url, "headers": headers });
    let entry = |key: &str, server: Value| pretty(&json!({ key: { name: server } }));
    match client {
        ConfigClient::Vscode => entry("servers", typed),
        ConfigClient::ClaudeCode
        | ConfigClient::ClaudeDesktop
        | ConfigClient::Copilot
        | ConfigClient::Generic => entry("mcpServers", typed),
        ConfigClient::Opencode => {
            entry("mcp", json!({ "type": "remote", "url": url, "headers": headers, "enabled": true }))
        }
        ConfigClient::Cline => {
            entry("mcpServers", json!({ "type": "streamableHttp", "url": url, "headers": headers }))
        }
        ConfigClient::Goose => {
            let (name, url) = (toml(name), toml(url));
            format!(
                "extensions:\n  {name}:\n    type: streamable_http\n    name: {name}\n    uri: {url}\n    headers: {{ Authorization: \"Bearer ${{CHATOS_MCP_TOKEN}}\" }}\n    enabled: true\n    timeout: {WAIT_S}"
            )
        }
        ConfigClient::Zed => entry("context_servers", plain),
        ConfigClient::Windsurf => entry("mcpServers", json!({ "serverUrl": url, "headers": headers })),
        ConfigClient::GeminiCli => entry("mcpServers", json!({ "httpUrl": url, "headers": headers })),
        ConfigClient::Cursor | ConfigClient::LmStudio => entry("mcpServers", plain),
        ConfigClient::Codex => format!(
            "[mcp_servers.{}]\nurl = {}\nbearer_token_env_var = \"CHATOS_MCP_TOKEN\"",
            toml_key(name),
            toml(url)
        ),
    }
}

fn pretty(value: &Value) -> String {
    // A value of strings always serialises.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A basic string of TOML; JSON's escapes are a subset of its own.
fn toml(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

fn toml_key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { name.to_owned() } else { toml(name) }
}

fn place(client: ConfigClient) -> Text {
    match client {
        ConfigClient::ClaudeDesktop => Text::fixed(
            "claude_desktop_config.json (Claude Desktop, Settings, Developer)",
            "claude_desktop_config.json（Claude Desktop 的设置，开发者）",
        ),
        ConfigClient::ClaudeCode => {
            Text::fixed("`.mcp.json` in the project (Claude Code)", "项目中的 `.mcp.json`（Claude Code）")
        }
        ConfigClient::Cursor => Text::fixed(
            "`~/.cursor/mcp.json` or `.cursor/mcp.json` in the project",
            "`~/.cursor/mcp.json` 或项目中的 `.cursor/mcp.json`",
        ),
        ConfigClient::Vscode => Text::fixed(
            "`.vscode/mcp.json` in the project (VS Code)",
            "项目中的 `.vscode/mcp.json`（VS Code）",
        ),
        ConfigClient::Windsurf => {
            Text::fixed("`~/.codeium/windsurf/mcp_config.json`", "`~/.codeium/windsurf/mcp_config.json`")
        }
        ConfigClient::Zed => Text::fixed("Zed's settings.json", "Zed 的 settings.json"),
        ConfigClient::GeminiCli => Text::fixed("`~/.gemini/settings.json`", "`~/.gemini/settings.json`"),
        ConfigClient::Codex => Text::fixed("`~/.codex/config.toml`", "`~/.codex/config.toml`"),
        ConfigClient::Opencode => Text::fixed(
            "`opencode.json` in the project, or `~/.config/opencode/opencode.json`",
            "项目中的 `opencode.json`，或 `~/.config/opencode/opencode.json`",
        ),
        ConfigClient::Goose => Text::fixed("`~/.config/goose/config.yaml`", "`~/.config/goose/config.yaml`"),
        ConfigClient::Cline => Text::fixed("Cline's MCP settings file", "Cline 的 MCP 设置文件"),
        ConfigClient::LmStudio => Text::fixed("LM Studio's mcp.json", "LM Studio 的 mcp.json"),
        ConfigClient::Copilot => Text::fixed("`~/.copilot/mcp-config.json`", "`~/.copilot/mcp-config.json`"),
        ConfigClient::Generic => Text::fixed("the client's MCP configuration", "客户端的 MCP 配置"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_quoted_for_their_format() {
        let args = vec!["mcp".to_owned(), "a \"b\"\n".to_owned()];
        let text = stdio(ConfigClient::Codex, "my server", "/opt/chat os", &args);
        assert_eq!(
            text,
            "[mcp_servers.\"my server\"]\ncommand = \"/opt/chat os\"\nargs = [\"mcp\", \"a \\\"b\\\"\\n\"]"
        );
        let json: Value =
            serde_json::from_str(&stdio(ConfigClient::Vscode, "x", "/opt/chatos", &args)).unwrap();
        assert_eq!(json["servers"]["x"]["args"][1], "a \"b\"\n");
    }
}
