//! Files of a release over HTTP, bounded in size and time.
//!
//! Encrypted, except from this machine itself: the signature says what is ours, but not that somebody on the way may
//! know who asks, or hold a release back.

use std::time::Duration;

use bytes::Bytes;
use chatos_net::{Addresses, Origin, Proxy, connect, connect_through, is_excepted, is_loopback, parse_proxy};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;

/// A home connection needs a few seconds for a release; a slow one gets this.
const TIME: Duration = Duration::from_secs(600);
/// Release pages lead to a store of files, that one perhaps to another.
const REDIRECTS: usize = 5;

/// Where releases are, and the way there.
pub(crate) struct Releases {
    address: String,
    proxy: Option<Proxy>,
    exceptions: String,
}

impl Releases {
    pub(crate) fn at(address: &str, environment: &Environment) -> Result<Self, Fault> {
        let address = address.trim_end_matches('/').to_owned();
        usable(&address, true)?;
        let named = |names: [&str; 2]| names.iter().find_map(|name| environment.get(name)).map(str::to_owned);
        let proxy = named(["https_proxy", "HTTPS_PROXY"]).and_then(|text| parse_proxy(&text));
        let proxy = proxy.map(|(origin, user)| Proxy {
            origin,
            authorization: user.map(|user| {
                use base64::Engine;
                let coded = base64::engine::general_purpose::STANDARD.encode(user.as_bytes());
                format!("Basic {coded}").into()
            }),
        });
        Ok(Self { address, proxy, exceptions: named(["no_proxy", "NO_PROXY"]).unwrap_or_default() })
    }

    /// A file of the newest release, or of one version.
    pub(crate) async fn file(&self, version: Option<&str>, name: &str, limit: usize) -> Result<Bytes, Fault> {
        let mut address = match version {
            Some(version) => format!("{}/download/v{version}/{name}", self.address),
            None => format!("{}/latest/download/{name}", self.address),
        };
        let work = async {
            for _ in 0..=REDIRECTS {
                match self.ask(&address, limit).await? {
                    Answer::Body(body) => return Ok(body),
                    Answer::Elsewhere(place) => address = place,
                }
            }
            Err(unreachable(&address, "it leads from place to place"))
        };
        match tokio::time::timeout(TIME, work).await {
            Ok(done) => done,
            Err(_) => Err(unreachable(&self.address, "it took longer than ten minutes")),
        }
    }

    async fn ask(&self, address: &str, limit: usize) -> Result<Answer, Fault> {
        let own = self.address.starts_with("http://");
        let (uri, origin) = usable(address, own)?;
        let told = |error: &dyn std::fmt::Display| unreachable(address, &error.to_string());
        let through = self.proxy.as_ref();
        let through =
            through.filter(|_| !is_loopback(&origin.host) && !is_excepted(&self.exceptions, &origin));
        let stream = match through {
            Some(proxy) => connect_through(proxy, &origin, Addresses::Private).await,
            None => connect(&origin, Addresses::Private).await,
        };
        let stream = stream.map_err(|error| told(&error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| told(&error))?;
        let talk = async {
            let request = Request::get(uri.path_and_query().map_or("/", |path| path.as_str()))
                .header("host", origin.host_header())
                .header("user-agent", concat!("chatos/", env!("CARGO_PKG_VERSION")))
                .body(Empty::<Bytes>::new())
                .map_err(|error| told(&error))?;
            let response = sender.send_request(request).await.map_err(|error| told(&error))?;
            let status = response.status();
            let place = response.headers().get("location").and_then(|place| place.to_str().ok());
            if let Some(place) = place.filter(|_| status.is_redirection()) {
                return Ok(Answer::Elsewhere(joined(&origin, place)));
            }
            if !status.is_success() {
                return Err(unreachable(address, &format!("the server says {status}")));
            }
            let body = Limited::new(response.into_body(), limit).collect().await;
            body.map(|body| Answer::Body(body.to_bytes())).map_err(|error| told(&error))
        };
        tokio::pin!(talk);
        tokio::select! {
            done = &mut talk => done,
            // What a connection brought before its end is still to be read.
            _ = connection => talk.await,
        }
    }
}

enum Answer {
    Body(Bytes),
    Elsewhere(String),
}

fn joined(origin: &Origin, place: &str) -> String {
    if place.starts_with('/') {
        let scheme = if origin.secure { "https" } else { "http" };
        return format!("{scheme}://{}{place}", origin.target());
    }
    place.to_owned()
}

/// `https`, or plain to this machine when that is where releases are asked for.
fn usable(address: &str, plain: bool) -> Result<(Uri, Origin), Fault> {
    let found = address.parse::<Uri>().ok().and_then(|uri| Some((Origin::of(&uri)?, uri)));
    match found {
        Some((origin, uri)) if origin.secure || (plain && is_loopback(&origin.host)) => Ok((uri, origin)),
        _ => Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("`{address}` is not an encrypted address"),
                format!("`{address}` 不是加密的地址"),
            ),
        )
        .code("release_address")
        .hint(Text::fixed("use one that begins with https://", "请使用以 https:// 开头的地址"))),
    }
}

fn unreachable(address: &str, reason: &str) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("cannot download {address}: {reason}; nothing was changed"),
            format!("无法下载 {address}：{reason}；没有任何更改"),
        ),
    )
    .code("release_unreachable")
    .hint(Text::fixed("check the connection and try again", "请检查网络连接后重试"))
}
