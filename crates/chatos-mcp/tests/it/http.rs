//! Streamable HTTP in both eras, the older transport, credentials, redirects, and servers that cheat.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatos_mcp::{Addresses, Auth, Endpoint, Era, Failure, NoHooks, Times};
use hyper::Method;
use serde_json::{Value, json};

use crate::support::{call, eventually, pool_of, pool_with, request, spec, text, within};
use crate::web::{Answer, Seen, event, events, json_answer, old_server, plain, serve, status, stream};

fn auth() -> Auth {
    Auth { token: Some("s3cret".into()), headers: vec![("X-Team".into(), "a".into())], ..Auth::default() }
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint::remote(url, &auth(), Addresses::Private).unwrap()
}

/// An old server with a session: answers as JSON or as a stream.
fn with_session(seen: &Seen, as_stream: bool) -> Answer {
    let message = seen.json();
    if seen.method == Method::DELETE {
        return status(200);
    }
    if seen.method == Method::GET {
        return status(405);
    }
    if message["method"] != "initialize" && seen.header("mcp-session-id").as_deref() != Some("abc") {
        return plain(400, "text/plain", "no session");
    }
    let Some(reply) = old_server(&message) else { return status(202) };
    let mut answer =
        if as_stream { events(vec![": hi\n\n".into(), event(&reply)]) } else { json_answer(&reply) };
    if message["method"] == "initialize" {
        answer.headers_mut().insert("mcp-session-id", "abc".parse().unwrap());
    }
    answer
}

#[tokio::test]
async fn an_old_http_server_keeps_its_session_and_gets_the_credentials() {
    for as_stream in [false, true] {
        let web = serve(move |seen: Seen| async move { with_session(&seen, as_stream) }).await;
        let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
        assert_eq!(within(pool.tools(&key)).await.unwrap().tools.len(), 1);
        for n in 0..20 {
            assert_eq!(
                text(&pool, &key, "echo", json!({ "text": format!("上{n}") })).await,
                format!("上{n}")
            );
        }
        assert_eq!(pool.status(&key).unwrap().peer.unwrap().era, Era::Legacy);
        pool.close().await;
        let seen = web.seen();
        assert!(seen.iter().all(|seen| seen.header("authorization").as_deref() == Some("Bearer s3cret")));
        assert!(seen.iter().all(|seen| seen.header("x-team").as_deref() == Some("a")));
        let calls: Vec<_> = seen.iter().filter(|seen| seen.json()["method"] == "tools/call").collect();
        assert!(
            calls.iter().all(|seen| seen.header("mcp-protocol-version").as_deref() == Some("2025-03-26"))
        );
        assert!(seen.iter().any(|seen| seen.method == Method::DELETE), "the session was not ended");
    }
}

#[tokio::test]
async fn a_modern_http_server_gets_what_it_needs_in_headers() {
    let web = serve(|seen: Seen| async move {
        let message = seen.json();
        let id = &message["id"];
        if seen.header("mcp-method").as_deref() != message["method"].as_str()
            || seen.header("mcp-protocol-version").as_deref() != Some("2026-07-28")
        {
            return plain(400, "application/json", json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32020, "message": "headers" } }).to_string());
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" => json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" }),
            "tools/list" => json!({ "resultType": "complete", "tools": [
                { "name": "区域", "inputSchema": { "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } } },
                { "name": "bad", "inputSchema": { "type": "object", "x-mcp-header": "X" } } ] }),
            "tools/call" => json!({ "resultType": "complete", "content": [{ "type": "text", "text": format!("{:?} {:?}", seen.header("mcp-name"), seen.header("mcp-param-region")) }] }),
            _ => return plain(404, "application/json", json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" } }).to_string()),
        };
        json_answer(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    let list = within(pool.tools(&key)).await.unwrap();
    assert_eq!((list.tools.len(), list.problems.len()), (1, 1));
    let said = text(&pool, &key, "区域", json!({ "region": "eu" })).await;
    assert_eq!(said, r#"Some("=?base64?5Yy65Z+f?=") Some("eu")"#);
    assert_eq!(pool.status(&key).unwrap().peer.unwrap().era, Era::Modern);
    let connection = within(pool.connect(&key)).await.unwrap();
    let error = within(connection.request("x/y", serde_json::Map::new(), Duration::from_secs(30))).await;
    assert!(matches!(error, Err(Failure::Rpc(error)) if error.code == -32601));
    pool.close().await;
}

#[tokio::test]
async fn the_older_transport_is_found_when_the_new_one_is_refused() {
    let (sender, _keep) = tokio::sync::broadcast::channel::<String>(64);
    let out = sender.clone();
    let web = serve(move |seen: Seen| {
        let out = out.clone();
        async move {
            match (seen.method.as_str(), seen.path.as_str()) {
                ("GET", "/sse") => {
                    let inbox = out.subscribe();
                    let hello = "event: endpoint\ndata: /messages?id=7\n\n".to_owned();
                    let rest = futures_util::stream::unfold(inbox, |mut inbox| async move {
                        Some((inbox.recv().await.ok()?, inbox))
                    });
                    use futures_util::StreamExt;
                    stream(SyncStream(Mutex::new(Box::pin(futures_util::stream::iter([hello]).chain(rest)))))
                }
                ("POST", "/messages?id=7") => {
                    if let Some(reply) = old_server(&seen.json()) {
                        out.send(event(&reply)).ok();
                    }
                    status(202)
                }
                _ => status(405),
            }
        }
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/sse")));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "old" })).await, "old");
    assert!(web.seen().iter().all(|seen| seen.header("authorization").is_some()));
    pool.close().await;
    drop(sender);
}

/// A stream may be moved between threads but is polled by one at a time.
struct SyncStream<S>(Mutex<S>);

impl<S: futures_util::Stream + Unpin> futures_util::Stream for SyncStream<S> {
    type Item = S::Item;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let mut inner = self.0.lock().unwrap();
        std::pin::Pin::new(&mut *inner).poll_next(cx)
    }
}

#[tokio::test]
async fn an_address_for_messages_on_another_server_is_refused() {
    let web = serve(|seen: Seen| async move {
        match seen.method {
            Method::GET => events(vec!["event: endpoint\ndata: http://127.0.0.1:9/steal\n\n".into()]),
            _ => status(404),
        }
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/")));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(
        matches!(&failure, Failure::Protocol { detail } if detail.contains("another server")),
        "{failure:?}"
    );
    pool.close().await;
}

#[tokio::test]
async fn a_redirect_to_another_origin_carries_no_credentials() {
    let thief = serve(|seen: Seen| async move { with_session(&seen, false) }).await;
    let target = thief.url("/mcp");
    let honest = serve(move |_seen: Seen| {
        let target = target.clone();
        async move {
            let mut answer = status(307);
            answer.headers_mut().insert("location", target.parse().unwrap());
            answer
        }
    })
    .await;
    let (pool, key) = pool_of(endpoint(&honest.url("/mcp")));
    // It may or may not work there; it never gets what belongs to the first server.
    within(pool.connect(&key)).await.ok();
    let seen = thief.seen();
    assert!(!seen.is_empty());
    assert!(
        seen.iter().all(|seen| seen.header("authorization").is_none() && seen.header("x-team").is_none())
    );
    assert!(seen.iter().all(|seen| seen.header("mcp-session-id").is_none()));
    assert!(honest.seen().iter().all(|seen| seen.header("authorization").is_some()));
    pool.close().await;
}

#[tokio::test]
async fn redirects_within_the_origin_are_followed_and_others_checked() {
    let web = serve(|seen: Seen| async move {
        if seen.path == "/mcp" {
            let mut answer = status(308);
            answer.headers_mut().insert("location", "/mcp/".parse().unwrap());
            return answer;
        }
        with_session(&seen, false)
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "there" })).await, "there");
    pool.close().await;

    for (location, expected) in [
        ("http://169.254.169.254/latest/meta-data", "address"),
        ("/again", "redirect"),
        ("file:///etc/passwd", "redirect"),
    ] {
        let web = serve(move |_seen: Seen| async move {
            let mut answer = status(302);
            answer.headers_mut().insert("location", location.parse().unwrap());
            answer
        })
        .await;
        let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
        let failure = within(pool.connect(&key)).await.err().unwrap().failure;
        match expected {
            "address" => {
                assert!(matches!(failure, Failure::AddressRefused { can_allow: false, .. }), "{failure:?}");
            }
            _ => assert!(matches!(failure, Failure::Redirect { .. }), "{location}: {failure:?}"),
        }
        pool.close().await;
    }
}

#[tokio::test]
async fn local_addresses_need_consent_also_by_name() {
    let web = serve(|seen: Seen| async move { with_session(&seen, false) }).await;
    let port = web.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]"] {
        let url = format!("http://{host}:{port}/mcp");
        let (pool, key) = pool_of(Endpoint::remote(&url, &auth(), Addresses::Public).unwrap());
        let failure = within(pool.connect(&key)).await.err().unwrap().failure;
        assert!(matches!(failure, Failure::AddressRefused { can_allow: true, .. }), "{host}: {failure:?}");
        assert!(failure.hint().is_some());
        pool.close().await;
    }
    assert!(web.seen().is_empty(), "something was sent");
}

#[tokio::test]
async fn refusals_are_told_as_what_they_are() {
    let web = serve(|_seen: Seen| async move { plain(401, "text/plain", "who are you") }).await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    assert_eq!(within(pool.connect(&key)).await.err().unwrap().failure, Failure::AuthRefused { status: 401 });
    pool.close().await;

    let web = serve(|_seen: Seen| async move { plain(404, "text/html", "<h1>not here</h1>") }).await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert_eq!(failure, Failure::Http { status: 404, body: "<h1>not here</h1>".into() });
    pool.close().await;

    let (pool, key) = pool_of(endpoint(&web.url("/mcp").replace("http://", "https://")));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(matches!(failure, Failure::Tls { .. }), "{failure:?}");
    pool.close().await;

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = listener.local_addr().unwrap();
    drop(listener);
    let (pool, key) = pool_of(endpoint(&format!("http://{closed}/")));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(matches!(failure, Failure::Unreachable { .. }), "{failure:?}");
    pool.close().await;
}

#[tokio::test]
async fn answers_that_are_too_large_compressed_or_foreign_are_refused() {
    let web = serve(|seen: Seen| async move {
        let message = seen.json();
        if message["method"] != "tools/call" {
            return with_session(&seen, false);
        }
        match message["params"]["arguments"]["how"].as_str().unwrap_or_default() {
            "large" => json_answer(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": "z".repeat(9_000_000) }),
            ),
            "large-stream" => events((0..10).map(|_| format!("data: {}\n", "z".repeat(1_000_000))).collect()),
            "gzip" => {
                let mut answer = plain(200, "application/json", vec![0x1f, 0x8b, 0, 0]);
                answer.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
                answer
            }
            "foreign" => json_answer(&json!({ "jsonrpc": "2.0", "id": 999_999, "result": {} })),
            "nothing" => status(202),
            "broken-stream" => events(vec!["data: {\"jsonrpc\":".into()]),
            _ => stream(futures_util::stream::pending()),
        }
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    let fail = async |how: &str| call(&pool, &key, "echo", json!({ "how": how })).await.unwrap_err().failure;
    assert_eq!(fail("large").await, Failure::TooLong);
    assert_eq!(fail("large-stream").await, Failure::TooLong);
    assert!(matches!(fail("gzip").await, Failure::Protocol { .. }));
    assert!(matches!(fail("foreign").await, Failure::Protocol { .. }));
    assert!(matches!(fail("nothing").await, Failure::Protocol { .. }));
    assert!(matches!(fail("broken-stream").await, Failure::Closed { .. }));
    let mut half_open = request("echo", json!({ "how": "half-open" }));
    half_open.idle = Some(Duration::from_millis(200));
    let error = within(pool.call(&key, half_open)).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut { .. }), "{error:?}");
    // The others of this server go on.
    assert_eq!(within(pool.tools(&key)).await.unwrap().tools.len(), 1);
    pool.close().await;
}

#[tokio::test]
async fn an_interrupted_stream_is_taken_up_where_it_broke() {
    let reply: Arc<Mutex<Option<Value>>> = Arc::default();
    let kept = Arc::clone(&reply);
    let web = serve(move |seen: Seen| {
        let kept = Arc::clone(&kept);
        async move {
            let message = seen.json();
            if seen.method == Method::GET {
                return match (seen.header("last-event-id").as_deref(), kept.lock().unwrap().take()) {
                    (Some("e-1"), Some(reply)) => events(vec![format!("id: e-2\n{}", event(&reply))]),
                    _ => status(405),
                };
            }
            if message["method"] == "tools/call" {
                *kept.lock().unwrap() = old_server(&message);
                return events(vec!["id: e-1\nretry: 10\ndata:\n\n".into()]);
            }
            with_session(&seen, false)
        }
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "whole" })).await, "whole");
    pool.close().await;
}

#[tokio::test]
async fn a_lost_session_is_a_new_connection() {
    lose_session(|| status(404)).await;
    let words = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "Bad Request: No valid session ID" } });
    lose_session(move || plain(400, "application/json", words.to_string())).await;
}

async fn lose_session(refuse: impl Fn() -> Answer + Send + Sync + 'static) {
    let refuse = Arc::new(refuse);
    let sessions = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&sessions);
    let web = serve(move |seen: Seen| {
        let (sessions, refuse) = (Arc::clone(&counted), Arc::clone(&refuse));
        async move {
            let message = seen.json();
            if seen.method != Method::POST {
                return status(405);
            }
            let mut count = sessions.lock().unwrap();
            if message["method"] == "initialize" {
                *count += 1;
            } else if message["method"] == "tools/call" && *count == 1 {
                return refuse();
            }
            let mut answer = old_server(&message).map_or_else(|| status(202), |reply| json_answer(&reply));
            answer.headers_mut().insert("mcp-session-id", format!("s{count}").parse().unwrap());
            answer
        }
    })
    .await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    let error = call(&pool, &key, "echo", json!({ "text": "x" })).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Closed { .. }), "{error:?}");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "again" })).await, "again");
    assert_eq!(*sessions.lock().unwrap(), 2);
    pool.close().await;
}

#[tokio::test]
async fn a_web_server_that_goes_away_is_seen_and_found_again() {
    let web = serve(|seen: Seen| async move { with_session(&seen, false) }).await;
    let (pool, key) = pool_of(endpoint(&web.url("/mcp")));
    text(&pool, &key, "echo", json!({ "text": "x" })).await;
    let address = web.address;
    web.stop();
    // The first call may still go to a connection that is just closing; then nobody is there.
    let mut failures = Vec::new();
    while pool.status(&key).unwrap().last_error.is_none() {
        let failure = call(&pool, &key, "echo", json!({ "text": "x" })).await.unwrap_err().failure;
        failures.push(failure);
        assert!(failures.len() < 50, "{failures:?}");
    }
    assert!(failures.iter().any(|failure| matches!(failure, Failure::Unreachable { .. })), "{failures:?}");
    let _again = crate::web::serve_at(address, |seen: Seen| async move { with_session(&seen, false) });
    pool.restart(&key);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "back" })).await, "back");
    pool.close().await;
}

#[tokio::test]
async fn notifications_of_an_old_server_come_over_its_own_stream() {
    let web = serve(|seen: Seen| async move {
        if seen.method == Method::GET {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let first = event(&changed);
            use futures_util::StreamExt;
            return stream(SyncStream(Mutex::new(Box::pin(
                futures_util::stream::iter([first]).chain(futures_util::stream::pending()),
            ))));
        }
        with_session(&seen, false)
    })
    .await;
    let hooks = Arc::new(crate::support::Recorder::default());
    let (pool, key) = pool_with(spec("s", endpoint(&web.url("/mcp"))), Arc::clone(&hooks) as _);
    within(pool.connect(&key)).await.unwrap();
    eventually("the change is told", || *hooks.changes.lock().unwrap() > 0).await;
    pool.close().await;
}

#[tokio::test]
async fn a_silent_web_server_fails_its_start_in_time() {
    let web = serve(|_seen: Seen| async move { std::future::pending::<Answer>().await }).await;
    let mut silent = spec("s", endpoint(&web.url("/mcp")));
    silent.times =
        Times { init: Duration::from_millis(400), probe: Duration::from_millis(100), ..Times::default() };
    let (pool, key) = pool_with(silent, Arc::new(NoHooks));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(matches!(failure, Failure::TimedOut { .. }), "{failure:?}");
    pool.close().await;
}
