//! One language, by the locale, for people, models and clients alike: the command line, `chatos mcp`, the gateway,
//! the system prompt, tool descriptions, results and summaries.

use chatos_testkit::{McpClient, McpEra, Sandbox, Script, ScriptedModel};
use serde_json::{Value, json};

use crate::support::{last, send, session, until};

/// `lc_developer`: every built-in server.
const DEVELOPER: &str = "lc_developer";

fn is_chinese(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter) || ('\u{3000}'..='\u{303f}').contains(&letter)
}

/// Without what is the same in every language: code, quoted words, paths.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    for (index, part) in text.split('`').enumerate() {
        prose.push_str(if index % 2 == 0 { part } else { "·" });
    }
    prose
}

/// The first sentence of the other language in a text, if there is one.
fn foreign(text: &str, zh: bool) -> Option<String> {
    let prose = prose(text);
    if !zh {
        return prose.lines().find(|line| line.chars().any(is_chinese)).map(str::to_owned);
    }
    // Names and technical words stand in Chinese texts; five plain words in a row are a sentence.
    let mut run: Vec<&str> = Vec::new();
    for word in prose.split_whitespace() {
        // What Chinese stands next to is a name in a Chinese sentence; a sentence may begin behind it.
        let (before, word) = match word.char_indices().rfind(|(_, letter)| !letter.is_ascii()) {
            Some((at, letter)) => word.split_at(at + letter.len_utf8()),
            None => ("", word),
        };
        if !before.is_empty() {
            run.clear();
        }
        let plain = word.trim_end_matches([',', '.', ';', ':']);
        if plain.len() > 1 && plain.chars().all(|c| c.is_ascii_alphabetic() || c == '\'') {
            run.push(word);
            if run.len() == 5 {
                return Some(run.join(" "));
            }
        } else {
            run.clear();
        }
    }
    None
}

/// Every text a person or a model would read below a value: descriptions, titles and the like.
fn texts(value: &Value, path: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::String(text)
            if path.ends_with("/description")
                || path.ends_with("/title")
                || path.ends_with("/instructions") =>
        {
            out.push((path.to_owned(), text.clone()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, &format!("{path}/{index}"), out);
            }
        }
        Value::Object(map) => map.iter().for_each(|(key, item)| texts(item, &format!("{path}/{key}"), out)),
        _ => {}
    }
}

/// Fails on the first text of `value` with a sentence of the other language, or without one of its own.
fn assert_spoken(what: &str, value: &Value, zh: bool) {
    let mut found = Vec::new();
    texts(value, "", &mut found);
    assert!(!found.is_empty(), "{what}: no texts in {value}");
    for (path, text) in &found {
        assert_eq!(foreign(text, zh), None, "{what}{path}: {text}");
    }
    let chinese = found.iter().any(|(_, text)| text.chars().any(is_chinese));
    assert_eq!(chinese, zh, "{what}: is it Chinese? {:?}", found.first());
}

#[test]
fn the_checker_knows_a_sentence_when_it_sees_one() {
    assert_eq!(foreign("Reads `文件` of the project", false), None);
    assert_eq!(foreign("Reads files。", false), Some("Reads files。".to_owned()));
    assert_eq!(foreign("读取 UTF-8 文本，见 RFC 8785 与 JSON Schema draft 2020-12", true), None);
    assert_eq!(
        foreign("读取文件。It reads one file at a time.", true),
        Some("It reads one file at".to_owned())
    );
}

const LOCALES: [(Option<&str>, bool); 5] = [
    (Some("C"), false),
    (Some("en_US.UTF-8"), false),
    (Some("de_DE.UTF-8"), false),
    (None, false),
    (Some("zh_CN.UTF-8"), true),
];

/// A program with this locale. The sandbox names one of its own; without any it is blank, which counts as unset.
fn place(locale: Option<&str>) -> Sandbox {
    let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    sandbox.set_variable("LANG", locale.unwrap_or(""));
    sandbox
}

#[test]
fn clients_and_the_terminal_are_spoken_to_by_the_locale() {
    for (locale, zh) in LOCALES {
        let sandbox = place(locale);
        // Every server with every description of every argument.
        assert_spoken(&format!("{locale:?} list"), &sandbox.run(&["mcp", "list", "--json"]).json(), zh);
        let (mut client, hello) =
            McpClient::connect(sandbox.command(&["mcp", "code_maintainer"]), McpEra::Legacy, json!({}));
        assert_spoken(&format!("{locale:?} hello"), &hello, zh);
        assert_spoken(&format!("{locale:?} tools"), &client.request("tools/list", json!({})), zh);
        let failed = client.call("read_file", json!({ "path": "missing.txt" }));
        let said = failed["content"][0]["text"].as_str().unwrap();
        assert_eq!((foreign(said, zh), said.chars().any(is_chinese)), (None, zh), "{locale:?}: {said}");
        let wrong = sandbox.run(&["settings", "get", "nothing"]);
        assert_eq!(wrong.stderr.chars().any(is_chinese), zh, "{locale:?}: {}", wrong.stderr);
    }
}

#[test]
fn a_run_and_the_gateway_are_in_one_language() {
    for (locale, zh) in LOCALES {
        let sandbox = place(locale);
        let model = ScriptedModel::start(|request| match last(request) {
            (role, _) if role == "tool" => Script::say("done"),
            (_, text) if text == "fail" => {
                let tools = request["tools"].as_array().unwrap();
                let names = tools.iter().filter_map(|tool| tool["function"]["name"].as_str());
                let read = names.into_iter().find(|name| name.ends_with("_read_file")).unwrap();
                Script::call("c1", read, &json!({ "path": "missing.txt" }))
            }
            _ => Script::say("short"),
        });
        let host = sandbox.serve();
        let post = |path: &str, body: Value| host.ask("POST", &format!("/api/v1/{path}"), Some(&body)).json();
        let made = post(
            "models",
            json!({ "name": "s", "provider": "openai", "model": "s", "baseUrl": model.base_url() }),
        );
        post(&format!("models/{}/default", made["id"].as_str().unwrap()), json!({}));
        let agent = post("agents", json!({ "name": "dev", "mode": "flow", "landConfigId": DEVELOPER }));
        let agent = agent["id"].as_str().unwrap().to_owned();
        let chat = session(&host, &agent);
        until(&host, &send(&host, &chat, "fail"), &["done"]);
        let requests = model.requests();
        let system: Vec<&str> = requests[0]["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "system" || message["role"] == "developer")
            .filter_map(|message| message["content"].as_str())
            .collect();
        assert!(!system.is_empty(), "{}", requests[0]);
        for text in system {
            assert_eq!((foreign(text, zh), text.chars().any(is_chinese)), (None, zh), "{locale:?}: {text}");
        }
        assert_spoken(&format!("{locale:?} tools of a run"), &requests[0]["tools"], zh);
        let (_, told) = last(requests.last().unwrap());
        assert_eq!((foreign(&told, zh), told.chars().any(is_chinese)), (None, zh), "{locale:?}: {told}");

        // The agent's own word wins, and the gateway hears the setting.
        let command = sandbox.command(&["gateway", "--agent", &agent]);
        let (mut client, hello) = McpClient::connect(command, McpEra::Legacy, json!({}));
        assert_spoken(&format!("{locale:?} gateway"), &hello, zh);
        assert_spoken(&format!("{locale:?} gateway tools"), &client.request("tools/list", json!({})), zh);
        drop(client);
        let other = if zh { "en" } else { "zh" };
        assert_eq!(sandbox.run(&["settings", "set", "promptLanguage", other]).status, 0);
        let command = sandbox.command(&["gateway", "--agent", &agent]);
        let (mut client, _) = McpClient::connect(command, McpEra::Legacy, json!({}));
        assert_spoken(&format!("{locale:?} set to {other}"), &client.request("tools/list", json!({})), !zh);
        let asked = model.requests().len();
        until(&host, &send(&host, &session(&host, &agent), "hello"), &["done"]);
        assert_spoken(&format!("{locale:?} run set to {other}"), &model.requests()[asked]["tools"], !zh);
        host.stop();
    }
}

#[test]
fn the_language_that_was_set_is_the_one_of_the_command_line_too() {
    let sandbox = place(Some("C"));
    let said = |args: &[&str]| sandbox.run(args).stderr.chars().any(is_chinese);
    assert!(!said(&["settings", "get", "nothing"]), "nobody has said anything");
    assert_eq!(sandbox.run(&["settings", "set", "language", "zh"]).status, 0);
    assert!(said(&["settings", "get", "nothing"]));
    assert!(!said(&["settings", "get", "nothing", "--lang", "en"]), "a flag is stronger");
    // With a host that has the database open, and after it was killed.
    let host = sandbox.serve();
    assert!(said(&["settings", "get", "nothing"]));
    host.kill();
    assert!(said(&["settings", "get", "nothing"]));
    let chinese = place(Some("zh_CN.UTF-8"));
    assert_eq!(chinese.run(&["settings", "set", "language", "en"]).status, 0);
    assert!(!chinese.run(&["settings", "get", "nothing"]).stderr.chars().any(is_chinese));
}

#[test]
fn a_summary_is_asked_for_in_the_language_of_the_prompts() {
    for (locale, zh) in LOCALES {
        let sandbox = place(locale);
        let model = ScriptedModel::start(|request| match request.get("tools") {
            None => Script::say("in short"),
            Some(_) => Script::say("word ".repeat(400)),
        });
        let host = sandbox.serve();
        let post = |path: &str, body: Value| host.ask("POST", &format!("/api/v1/{path}"), Some(&body)).json();
        let made = post(
            "models",
            json!({ "name": "s", "provider": "openai", "model": "s", "baseUrl": model.base_url() }),
        );
        post(&format!("models/{}/default", made["id"].as_str().unwrap()), json!({}));
        let agent = post("agents", json!({ "name": "dev", "mode": "flow", "landConfigId": DEVELOPER }));
        let chat = session(&host, agent["id"].as_str().unwrap());
        for text in ["one", "two", "three"] {
            until(&host, &send(&host, &chat, text), &["done"]);
        }
        let compacted = host.ask(
            "POST",
            &format!("/api/v1/sessions/{chat}/compact"),
            Some(&json!({ "instructions": "42" })),
        );
        assert_eq!(compacted.status, 200, "{}", compacted.text());
        let requests = model.requests();
        let asked =
            requests.iter().filter(|request| request.get("tools").is_none()).map(|request| last(request).1);
        let order =
            asked.filter_map(|text| text.split_once("---\n").map(|(_, order)| order.to_owned())).next_back();
        let order = order.unwrap();
        assert_eq!((foreign(&order, zh), order.chars().any(is_chinese)), (None, zh), "{locale:?}: {order}");
        // What stands for the beginning afterwards, too.
        until(&host, &send(&host, &chat, "four"), &["done"]);
        let block = model.requests().last().unwrap()["messages"].to_string();
        assert!(
            block.contains(if zh { "本对话的开头已被总结" } else { "was summarized to save room" }),
            "{block}"
        );
        host.stop();
    }
}

#[test]
fn a_text_in_the_other_language_is_used_and_told() {
    let sandbox = place(Some("C"));
    let model = ScriptedModel::start(|_| Script::say("short"));
    let host = sandbox.serve();
    let post = |path: &str, body: Value| {
        let made = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()
    };
    let made = post(
        "models",
        json!({ "name": "s", "provider": "openai", "model": "s", "baseUrl": model.base_url() }),
    );
    post(&format!("models/{}/default", made["id"].as_str().unwrap()), json!({}));
    for (name, content) in [("house_rules", "请始终使用简洁的语言。"), ("my_rules", "Always be brief.")]
    {
        post("system-prompts", json!({ "name": name, "content": content }));
    }
    let land = post(
        "land-configs",
        json!({ "name": "ruled", "main": { "mcpServers": [], "prompts": [{ "key": "house_rules" }, { "key": "my_rules" }] }, "sub": {} }),
    );
    let agent = post("agents", json!({ "name": "ruled", "mode": "flow", "landConfigId": land["id"] }));
    let chat = session(&host, agent["id"].as_str().unwrap());
    let heard = |since: u64| {
        host.ask("GET", &format!("/api/v1/sessions/{chat}/events?since={since}&waitMs=0"), None).json()
    };
    let before = heard(0)["next"].as_u64().unwrap();
    until(&host, &send(&host, &chat, "hello"), &["done"]);
    let events = heard(before);
    let notices: Vec<&str> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "notice" && event["code"] == "missing_prompt")
        .filter_map(|event| event["message"].as_str())
        .collect();
    assert!(notices.len() == 1 && notices[0].contains("house_rules"), "{events}");
    let system = model.requests()[0]["messages"][0]["content"].to_string();
    assert!(system.contains("请始终") && system.contains("Always be brief"), "{system}");
}

/// Whose help is shown, what it says below each name, and the commands it lists.
fn help_of(sandbox: &Sandbox, command: &[String], lang: &str) -> (String, Vec<String>) {
    let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
    args.extend(["--help", "--lang", lang]);
    let outcome = sandbox.run(&args);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{args:?}: {outcome:?}");
    let listed = outcome.stdout.lines().skip_while(|line| !["Commands:", "命令："].contains(line)).skip(1);
    let names = listed.take_while(|line| line.starts_with("  ")).filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        (!line.starts_with("   ") && name != "help").then(|| name.to_owned())
    });
    let names = names.collect();
    (outcome.stdout, names)
}

/// Sentences of help: without the line that shows the usage, names of arguments and of values.
fn sentences(help: &str) -> impl Iterator<Item = String> + '_ {
    let usage =
        |line: &str| ["Usage:", "用法：", "chatos "].iter().any(|begin| line.trim_start().starts_with(begin));
    let told = help.lines().filter(move |line| !usage(line));
    told.filter_map(|line| {
        let text = line.trim_start();
        let value = text.strip_prefix("- ").map(|value| value.split_once(':').map_or("", |(_, said)| said));
        let listed = line.starts_with("  ") && !line.starts_with("   ");
        let said = match value {
            Some(said) => said,
            None if text.starts_with('-') || text.starts_with('<') || text.starts_with('[') => return None,
            None if listed => text.split_once("  ").map_or("", |(_, said)| said),
            None => text,
        };
        let said = said.trim().to_owned();
        (!said.is_empty()).then_some(said)
    })
}

/// Names of programs and formats, the same in every language.
const NAMES: [&str; 11] = [
    "Claude Desktop",
    "Claude Code",
    "Cursor",
    "VS Code",
    "Windsurf",
    "Zed",
    "Gemini CLI",
    "Codex (TOML)",
    "Markdown",
    "JSON (chatos-chat/1)",
    "ChatOS",
];

#[test]
fn all_help_of_the_command_line_is_in_one_language() {
    let sandbox = place(Some("C"));
    for (lang, zh) in [("en", false), ("zh", true)] {
        let mut waiting = vec![Vec::new()];
        let (mut seen, mut wrong) = (0, Vec::new());
        while let Some(command) = waiting.pop() {
            let (help, names) = help_of(&sandbox, &command, lang);
            seen += 1;
            waiting.extend(names.into_iter().map(|name| [command.clone(), vec![name]].concat()));
            for said in sentences(&help).filter(|said| !NAMES.contains(&said.as_str())) {
                let chinese = said.chars().any(is_chinese);
                if chinese != zh || foreign(&said, zh).is_some() {
                    wrong.push(format!("{}: {said}", command.join(" ")));
                }
            }
        }
        assert!(seen > 150, "only {seen} commands were found");
        assert_eq!(wrong, Vec::<String>::new(), "{lang}");
    }
}

#[test]
fn wrong_usage_is_told_in_one_language() {
    let sandbox = place(Some("zh_CN.UTF-8"));
    let cases: [(&[&str], &str); 6] = [
        (&["frob"], "没有命令 `frob`"),
        (&["stauts"], "你是不是想写 `status`？"),
        (&["plugin", "install"], "缺少参数：<PATH>"),
        (&["status", "--nothing"], "没有参数 `--nothing`"),
        (&["status", "--color", "blue"], "可选值：auto、always、never"),
        (&["status", "--quiet", "--verbose"], "不能与"),
    ];
    for (args, said) in cases {
        let outcome = sandbox.run(args);
        assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with("错误：") && outcome.stderr.contains(said), "{outcome:?}");
        assert_eq!(foreign(&outcome.stderr, true), None, "{outcome:?}");
        let usage = sandbox.run(&[args, &["--lang", "en"]].concat());
        assert!(usage.stderr.starts_with("error: "), "{usage:?}");
        assert_eq!(foreign(&usage.stderr, false), None, "{usage:?}");
    }
}
