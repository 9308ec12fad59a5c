//! `chatos mcp servers sign-in` and `sign-out`: the browser does the signing in, this waits for it.

use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;
use std::time::Duration;

use chatos_paths::{Environment, StateDir};
use chatos_server::{App, AppOptions, LocalApi, ServeOptions, Server};
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::{Value, json};

use super::{print_one, text};
use crate::args::Global;
use crate::command::open::open_browser;
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on, existing_dir};
use chatos_terminal::output::{Output, Paint, visible};

/// How often the host is asked whether the browser came back.
const POLL: Duration = Duration::from_millis(300);

/// What to sign in to, and where.
pub(super) struct Wanted<'a> {
    pub(super) server: &'a str,
    pub(super) issuer: Option<&'a str>,
}

pub(super) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    wanted: &Wanted<'_>,
    no_open: bool,
) -> Result<ExitCode, Fault> {
    let display = environment.has_display() && !no_open;
    let api = Api::connect(global, environment.clone())?;
    let dir = existing_dir(global, &environment)?.filter(|_| display);
    block_on(async {
        let api = reachable(api).await?;
        let interrupted = tokio::signal::ctrl_c();
        let done = tokio::select! {
            done = sign_in(&api, output, wanted, dir.as_ref()) => done,
            _ = interrupted => Err(stopped(wanted.server)),
        };
        api.finish().await;
        done
    })
}

/// An API to whose port a browser can come back. Without a running host this process listens itself,
/// on loopback, behind the same guard, with a token nobody is told.
async fn reachable(api: Api) -> Result<Api, Fault> {
    let Api::Embedded(local) = &api else { return Ok(api) };
    let wanted = ServeOptions { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, exact: false };
    let listening = Server::bind(&wanted).await.map_err(|_| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("cannot listen for the browser's return", "无法监听浏览器的返回"),
        )
        .hint(Text::fixed("start `chatos serve` first", "请先运行 `chatos serve`"))
    })?;
    let host = local.host().clone();
    let app = App::new(
        host,
        AppOptions { port: listening.port(), page: chatos_assets::PAGE, ..AppOptions::default() },
    );
    // Ends with the host's shutdown, which `finish` begins.
    tokio::spawn(listening.run(app.clone()));
    Ok(api.replaced(LocalApi::of(app)))
}

async fn sign_in(
    api: &Api,
    output: &Output,
    wanted: &Wanted<'_>,
    dir: Option<&StateDir>,
) -> Result<ExitCode, Fault> {
    let (lang, server) = (output.lang, wanted.server);
    let path = format!("/api/v1/mcp-servers/{}", encode(server));
    let body = match wanted.issuer {
        Some(issuer) => json!({ "issuer": issuer }),
        None => json!({}),
    };
    let begun = api.call(Method::POST, &format!("{path}/sign-in"), Some(&body), lang).await?;
    let url = begun["url"].as_str().unwrap_or_default();
    if output.json {
        output.json_line(&begun);
    } else {
        let host = output.paint(Paint::Bold, &text(&begun, "host"));
        output.say(&Text::new(format!("sign in at {host}:"), format!("请在 {host} 登录：")));
        output.line(&visible(url));
        let scopes = words(&begun["scopes"]);
        if !scopes.is_empty() {
            output.say(&Text::new(format!("it is asked for: {scopes}"), format!("将请求的权限：{scopes}")));
        }
        let places = begun["issuers"].as_array().map_or(0, Vec::len);
        if places > 1 {
            let places = words(&begun["issuers"]);
            output.say(&Text::new(
                format!("choose another place with --issuer: {places}"),
                format!("可用 --issuer 选择其他登录处：{places}"),
            ));
        }
    }
    if let Some(dir) = dir
        && (url.starts_with("https://") || url.starts_with("http://"))
    {
        open_browser(dir, url);
    }
    let until = begun["expiresAt"].as_str().unwrap_or_default().to_owned();
    loop {
        tokio::time::sleep(POLL).await;
        let now = api.get_json(&path, lang).await?;
        let sign_in = &now["signIn"];
        if let Some(message) = sign_in["error"]["message"].as_str() {
            return Err(refused(server, message, sign_in["error"]["code"].as_str()));
        }
        match sign_in["state"].as_str() {
            Some("pending") => {}
            Some("signed_in") => break,
            // Between the redirect and the end of the exchange it is neither.
            _ if chatos_store::now_iso() < until => {}
            _ => return Err(late(server)),
        }
    }
    let ready = api.call_patiently(Method::POST, &format!("{path}/connect"), Some(&json!({})), lang).await?;
    if output.json {
        output.json_line(&ready);
    } else {
        output.say(&Text::new(format!("you are signed in to `{server}`"), format!("你已登录 `{server}`")));
        print_one(output, &ready);
    }
    Ok(ExitCode::SUCCESS)
}

/// The line of `show` about the sign-in.
pub(super) fn print(output: &Output, item: &Value) {
    let sign_in = &item["signIn"];
    let (issuer, scopes) = (text(sign_in, "issuer"), words(&sign_in["scopes"]));
    let name = text(item, "name");
    match sign_in["state"].as_str() {
        Some("signed_in") => {
            let until = text(sign_in, "expiresAt");
            let (en, zh) = match (until.is_empty(), sign_in["canRefresh"] == true) {
                (true, _) => (String::new(), String::new()),
                (false, true) => {
                    (format!(", renewed by itself after {until}"), format!("，{until} 后自动续期"))
                }
                (false, false) => (format!(" until {until}"), format!("，有效期至 {until}")),
            };
            output.say(&Text::new(format!("  signed in at {issuer}{en}"), format!("  已登录：{issuer}{zh}")));
            if !scopes.is_empty() {
                output.line(&output.paint(Paint::Dim, &format!("    {scopes}")));
            }
        }
        Some("pending") => {
            output.say(&Text::fixed("  a sign-in is under way in a browser", "  浏览器中正在登录"));
        }
        Some("needed") => {
            let wanted = words(&sign_in["wanted"]);
            let line = Text::new(
                format!("  needs you to sign in: chatos mcp servers sign-in {name}"),
                format!("  需要你登录：chatos mcp servers sign-in {name}"),
            );
            output.line(&output.paint(Paint::Warn, line.get(output.lang)));
            if !wanted.is_empty() {
                output.line(&output.paint(Paint::Dim, &format!("    {wanted}")));
            }
        }
        _ => {}
    }
    if let Some(message) = sign_in["error"]["message"].as_str() {
        output.line(&output.paint(Paint::Bad, &format!("  {}", visible(message))));
    }
}

/// What `sign-out` says, by whether the website ended the grant.
pub(super) fn signed_out(server: &str, revoked: bool) -> Text {
    if revoked {
        return Text::new(
            format!("signed out of `{server}`; what was given is ended there, too"),
            format!("已退出 `{server}`；对方也已撤销授权"),
        );
    }
    Text::new(
        format!("signed out of `{server}`; nothing is kept here, the other side did not confirm the end"),
        format!("已退出 `{server}`；本机不再保留授权，对方未确认撤销"),
    )
}

fn words(list: &Value) -> String {
    let words: Vec<String> =
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(visible).collect();
    words.join(" ")
}

fn refused(server: &str, message: &str, code: Option<&str>) -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(
            format!("cannot sign in to `{server}`: {message}"),
            format!("无法登录 `{server}`：{message}"),
        ),
    )
    .code(code.unwrap_or("sign_in_failed").to_owned())
}

fn late(server: &str) -> Fault {
    Fault::new(
        ErrorCode::Timeout,
        Text::new(
            format!("nobody signed in to `{server}` within ten minutes"),
            format!("十分钟内没有完成 `{server}` 的登录"),
        ),
    )
}

fn stopped(server: &str) -> Fault {
    Fault::new(
        ErrorCode::Canceled,
        Text::new(
            format!("the sign-in to `{server}` was not waited for"),
            format!("已不再等待 `{server}` 的登录"),
        ),
    )
}
