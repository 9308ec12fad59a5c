//! `chatos mcp NAME --http`: where it listens, with which token, and who may call (tools §16.3).

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use chatos_desk::Beside;
use chatos_layer::{Endpoint, Gate, HttpListener};
use chatos_tool::{ErrorCode, Fault, Text};
use tokio_util::sync::CancellationToken;

use super::ready;
use crate::args::Mcp;
use chatos_terminal::output::Output;

/// A token that can be guessed is none.
const TOKEN_CHARS: usize = 32;

/// Refuses what cannot be meant, before anything is opened.
pub(super) fn check(options: &Mcp, beside: &Beside) -> Result<(), Fault> {
    let Some(address) = options.http else { return Ok(()) };
    let usage =
        |en: String, zh: String| Fault::new(ErrorCode::InvalidArgument, Text::new(en, zh)).code("usage");
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
    };
    if let Some(bad) = options.allow_host.iter().find(|host| !name(host)) {
        return Err(usage(
            format!("--allow-host `{bad}` is not a host name"),
            format!("--allow-host `{bad}` 不是主机名"),
        )
        .hint(Text::fixed("give the bare name, without scheme and port", "请只给出名称，不含协议和端口")));
    }
    let origin = |text: &str| {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        rest.is_some_and(|rest| {
            let (host, port) = rest.split_once(':').unwrap_or((rest, "80"));
            name(host) && port.parse::<u16>().is_ok()
        })
    };
    if let Some(bad) = options.allow_origin.iter().find(|text| !origin(text)) {
        return Err(usage(
            format!("--allow-origin `{bad}` is not an origin"),
            format!("--allow-origin `{bad}` 不是来源"),
        )
        .hint(Text::fixed("write it as in https://app.example", "请写成 https://app.example 的形式")));
    }
    let given = given_token(options, beside)?;
    if address.ip().is_loopback() {
        return Ok(());
    }
    if !options.allow_remote || options.allow_host.is_empty() || given.is_none() {
        return Err(usage(
            format!("{address} can be reached from the network"),
            format!("{address} 可以从网络访问"),
        )
        .code("remote_not_allowed")
        .hint(Text::fixed(
            "add --allow-remote, at least one --allow-host NAME and a token of 32 characters or more (--token-file or CHATOS_MCP_TOKEN)",
            "请加上 --allow-remote、至少一个 --allow-host 名称，以及至少 32 个字符的令牌（--token-file 或 CHATOS_MCP_TOKEN）",
        )));
    }
    Ok(())
}

/// The token a person gave, if one did.
fn given_token(options: &Mcp, beside: &Beside) -> Result<Option<String>, Fault> {
    let token = match &options.token_file {
        Some(path) => Some(read(path)?),
        None => beside.mcp_token().map(|token| token.trim().to_owned()),
    };
    let Some(token) = token else { return Ok(None) };
    if token.len() < TOKEN_CHARS || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed(
                "the token has fewer than 32 characters, or some that a header cannot carry",
                "令牌少于 32 个字符，或含有请求头无法携带的字符",
            ),
        )
        .code("usage")
        .hint(Text::fixed(
            "leave it out: a good one is then made and kept in the state directory",
            "可以省略：程序会自动生成令牌并保存在状态文件夹",
        )));
    }
    Ok(Some(token))
}

fn read(path: &Path) -> Result<String, Fault> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("the token cannot be read: {}", path.display()),
                format!("无法读取令牌：{}", path.display()),
            ),
        )
        .code("usage")
        .caused_by(&error)
    })?;
    Ok(text.trim().to_owned())
}

pub(super) async fn serve(
    output: &Output,
    options: &Mcp,
    endpoint: Arc<Endpoint>,
    address: SocketAddr,
    beside: &Arc<Beside>,
    stop: CancellationToken,
) -> Result<ExitCode, Fault> {
    let listener = HttpListener::bind(address).await.map_err(|error| {
        let fault = Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("cannot listen on {address}"), format!("无法监听 {address}")),
        );
        fault.code("listen_failed").caused_by(&error).hint(Text::fixed(
            "choose another port, or 0 for any free one",
            "请选择其他端口，或用 0 使用任意空闲端口",
        ))
    })?;
    let (token, place) = match given_token(options, beside)? {
        Some(token) => (token, None),
        None => {
            let (token, place) = beside.shared_mcp_token()?;
            (token, Some(place))
        }
    };
    let bound = listener.address();
    let gate = Gate::new(bound, &options.allow_host, &options.allow_origin, &token);
    let url = format!("http://{bound}/mcp");
    let name = endpoint.name().to_owned();
    ready(output, &Text::new(format!("{name} is ready: {url}"), format!("{name} 已就绪：{url}")));
    if let Some(place) = place {
        let place = place.display();
        ready(output, &Text::new(format!("the token is in {place}"), format!("令牌保存在 {place}")));
    }
    if !bound.ip().is_loopback() {
        let names = options.allow_host.join(", ");
        ready(
            output,
            &Text::new(
                format!("warning: this server can be reached from the network (as {names})"),
                format!("警告：网络上的其他机器可以访问此服务（{names}）"),
            ),
        );
    }
    Box::pin(chatos_layer::serve_http(endpoint, listener, gate, stop)).await;
    Ok(ExitCode::SUCCESS)
}
