//! `chatos tools call`: one call from its arguments to its exit status. What it asks a person is asked in
//! this terminal, whether or not a host runs; without a terminal it is said where the question waits.

use std::io::{IsTerminal, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use chatos_paths::Environment;
use chatos_prompts::RequestId;
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::{Map, Value, json};

use crate::args::{Global, ToolsCall};
use crate::command::mcp::watch_signals;
use chatos_desk::{CallNews, encode};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, usage_fault, visible};
use chatos_terminal::prompts::{Desk, answer_here, input};

/// How long the confirmation of an answer may follow the result it led to.
const CONFIRMING: Duration = Duration::from_millis(500);
/// How long a canceled call may take to say so (tools §12, cli: Ctrl-C within 3 s).
const ENDING: Duration = Duration::from_millis(2_500);

pub(super) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    wanted: ToolsCall,
) -> Result<ExitCode, Fault> {
    let here = environment.current_dir().to_owned();
    let body = match body(&wanted.pairs, wanted.args.as_deref(), wanted.meta.as_deref()) {
        Ok(body) => body,
        Err(fault) => return Ok(usage_fault(output, &fault)),
    };
    let root = wanted.root.or_else(|| global.project.clone());
    let mut body = with_place(body, root.as_deref(), &here, wanted.session);
    let is_agents = wanted.agent.is_some();
    if let Some(agent) = wanted.agent {
        body["agent"] = Value::from(agent);
    }
    let call_id = RequestId::mint().to_string();
    body["callId"] = Value::from(call_id.as_str());
    let api = Api::connect(global, environment.clone())?;
    let asks_here = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !output.json;
    if asks_here {
        api.attend();
    }
    let desk = Desk::over(api, global, environment);
    let result = block_on(async {
        let api =
            desk.api().ok_or_else(|| Fault::new(ErrorCode::Internal, Text::same("the call has no host")))?;
        // An agent's tools are known by the names of their servers alone.
        let server = if is_agents {
            Names::new(api, output.lang).server(&wanted.server).await?
        } else {
            wanted.server.clone()
        };
        let path = format!("/api/v1/tools/{}/{}/call", encode(&server), encode(&wanted.tool));
        let call = Call { desk: &desk, api, output, call_id: &call_id, asks_here };
        if let Some(arguments) = body["arguments"].as_object_mut().filter(|_| wanted.args.is_none()) {
            call.fit(&server, &wanted.tool, arguments).await;
        }
        let result = call.run(&path, &body).await;
        api.finish().await;
        result
    })?;
    Ok(print_result(output, &result))
}

/// One call and who waits for it.
struct Call<'a> {
    desk: &'a Desk,
    api: &'a Api,
    output: &'a Output,
    call_id: &'a str,
    asks_here: bool,
}

impl Call<'_> {
    /// Makes numbers and truth values of what was written as `a=2`, where the tool's schema wants them. Our own tools do
    /// that themselves; those of other makers refuse the text.
    async fn fit(&self, server: &str, tool: &str, arguments: &mut Map<String, Value>) {
        if !arguments.values().any(|value| plain(value).is_some()) {
            return;
        }
        let path = format!("/api/v1/tools/{}", encode(server));
        // What is wrong with the server is said by the call itself.
        let Ok(found) = self.api.call_patiently(Method::GET, &path, None, self.output.lang).await else {
            return;
        };
        let tools = found["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(known) = tools.iter().find(|known| known["name"] == tool) else { return };
        for (name, value) in arguments {
            let wanted = known["inputSchema"]["properties"][name.as_str()]["type"].as_str();
            let meant = plain(value).filter(|meant| match wanted {
                Some("integer") => meant.is_i64() || meant.is_u64(),
                Some("number") => meant.is_number(),
                Some("boolean") => meant.is_boolean(),
                _ => false,
            });
            if let Some(meant) = meant {
                *value = meant;
            }
        }
    }

    async fn run(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        let result = self.api.call_patiently(Method::POST, path, Some(body), self.output.lang);
        // The person interrupts, the terminal hangs up, or the process is asked to end.
        let stop = watch_signals()?;
        tokio::pin!(result);
        let (mut asked, mut said) = (0, 0);
        loop {
            let news = tokio::select! {
                biased;
                done = &mut result => return done,
                () = stop.cancelled() => break,
                news = self.api.call_news(self.call_id, asked, said, self.output.lang) => news,
            };
            let question = match news {
                CallNews::Says(spoken, count) => {
                    said = count;
                    if !spoken.message.is_empty() {
                        self.tell(&spoken.message);
                    }
                    continue;
                }
                CallNews::Asks(question) => question,
            };
            asked += 1;
            if !self.asks_here {
                self.tell_where(&question);
                continue;
            }
            let answering = answer_here(self.desk, self.output, &question);
            tokio::pin!(answering);
            let answered = tokio::select! {
                biased;
                answered = &mut answering => answered?,
                () = stop.cancelled() => {
                    input::abandon();
                    break;
                }
                done = &mut result => {
                    // A quick tool ends before the answer to it is confirmed; that is still said. Else it was
                    // answered elsewhere, or its time was over.
                    if tokio::time::timeout(CONFIRMING, answering).await.is_err() {
                        input::abandon();
                    }
                    return done;
                }
            };
            // Where a host serves the queue the question can be answered there; else nobody is left to.
            if !answered && !self.api.is_remote() {
                break;
            }
            if !answered {
                self.tell_where(&question);
            }
        }
        self.cancel().await;
        match tokio::time::timeout(ENDING, &mut result).await {
            Ok(done) => done,
            Err(_) => {
                Err(Fault::new(ErrorCode::Canceled, Text::fixed("the call was canceled", "调用已取消")))
            }
        }
    }

    async fn cancel(&self) {
        let path = format!("/api/v1/tools/calls/{}/cancel", encode(self.call_id));
        if let Err(fault) = self.api.call(Method::POST, &path, Some(&json!({})), self.output.lang).await {
            // The call ends with this process all the same.
            self.output.fault(&fault);
        }
    }

    /// Beside the result, for whoever looks.
    fn tell(&self, message: &str) {
        if !self.output.quiet {
            // There is nothing to be done when nobody reads it.
            writeln!(std::io::stderr(), "{}", visible(message)).ok();
        }
    }

    fn tell_where(&self, id: &str) {
        let text = Text::new(
            format!("waiting for an answer: `chatos prompts answer {id}`, or in the page of the host"),
            format!("正在等待回答：`chatos prompts answer {id}`，或在主机页面中回答"),
        );
        self.tell(text.get(self.output.lang));
    }
}

/// The number or truth value that a text spells.
fn plain(value: &Value) -> Option<Value> {
    let spelled = serde_json::from_str::<Value>(value.as_str()?).ok()?;
    (spelled.is_number() || spelled.is_boolean()).then_some(spelled)
}

/// The arguments and `_meta` as a person wrote them.
fn body(pairs: &[String], args: Option<&str>, meta: Option<&str>) -> Result<Map<String, Value>, Fault> {
    let arguments = match args {
        None => from_pairs(pairs)?,
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| unreadable("-", &error))?;
            object("--args", &text)?
        }
        Some(named) if named.starts_with('@') => {
            let text =
                std::fs::read_to_string(&named[1..]).map_err(|error| unreadable(&named[1..], &error))?;
            object("--args", &text)?
        }
        Some(text) => object("--args", text)?,
    };
    let mut body = Map::new();
    body.insert("arguments".to_owned(), Value::Object(arguments));
    if let Some(meta) = meta {
        body.insert("meta".to_owned(), Value::Object(object("--meta", meta)?));
    }
    Ok(body)
}

fn with_place(
    mut body: Map<String, Value>,
    root: Option<&Path>,
    here: &Path,
    session: Option<String>,
) -> Value {
    // The running host may have been started elsewhere; the person means the directory they are in.
    let root = root.map_or_else(|| here.to_owned(), |root| here.join(root));
    body.insert("root".to_owned(), Value::from(root.to_string_lossy().into_owned()));
    if let Some(session) = session {
        let meta = body.entry("meta").or_insert_with(|| json!({}));
        if meta["sessionId"].is_null() {
            meta["sessionId"] = Value::from(session.clone());
        }
        body.insert("session".to_owned(), Value::from(session));
    }
    Value::Object(body)
}

fn from_pairs(pairs: &[String]) -> Result<Map<String, Value>, Fault> {
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("`{pair}` is not name=value"), format!("`{pair}` 不是 name=value 形式")),
            )
            .hint(Text::fixed(
                "write for example path=src/main.rs, or give --args with a JSON object",
                "例如写 path=src/main.rs，或用 --args 给出 JSON 对象",
            )));
        };
        // The tool's own checks turn "12" into 12 and "true" into true; only lists and objects are JSON.
        let structured = value.starts_with('[') || value.starts_with('{');
        let value = structured.then(|| serde_json::from_str(value).ok()).flatten();
        let value = value.unwrap_or_else(|| Value::from(&pair[name.len() + 1..]));
        if arguments.insert(name.to_owned(), value).is_some() {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("`{name}` is given twice"), format!("`{name}` 重复给出")),
            )
            .hint(Text::fixed("write a list as name=[…]", "列表请写作 name=[…]")));
        }
    }
    Ok(arguments)
}

fn object(flag: &str, text: &str) -> Result<Map<String, Value>, Fault> {
    let wrong = |reason: String| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("{flag} is not a JSON object: {reason}"),
                format!("{flag} 不是 JSON 对象：{reason}"),
            ),
        )
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(wrong("another value".to_owned())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

fn unreadable(path: &str, error: &std::io::Error) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("the arguments cannot be read: {path}"), format!("无法读取参数：{path}")),
    )
    .caused_by(error)
}

/// The text, or the whole result, and the exit status: a refusal is 3, any other failure 1.
fn print_result(output: &Output, result: &Value) -> ExitCode {
    if output.json {
        output.json_line(result);
    } else {
        for block in result["content"].as_array().into_iter().flatten() {
            output.line(&visible(block["text"].as_str().unwrap_or_default()));
        }
    }
    // What the host says; a server of another maker writes what it likes into its own part.
    match result["_meta"]["chatos"]["status"].as_str() {
        Some("denied") => ExitCode::from(3),
        Some("canceled") => ExitCode::from(1),
        _ if result["isError"] == true => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    }
}
