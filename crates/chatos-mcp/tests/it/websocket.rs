//! Servers behind a WebSocket.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use chatos_mcp::{Addresses, Auth, Endpoint, Failure};
use futures_util::{SinkExt, StreamExt};
use hyper::HeaderMap;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};

use crate::support::{call, pool_of, text, within};
use crate::web::old_server;

async fn socket_server(refuse: bool) -> (SocketAddr, Arc<Mutex<Option<HeaderMap>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let headers: Arc<Mutex<Option<HeaderMap>>> = Arc::default();
    let seen = Arc::clone(&headers);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let check = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
                    *seen.lock().unwrap() = Some(request.headers().clone());
                    if refuse {
                        let mut refusal = ErrorResponse::new(None);
                        *refusal.status_mut() = hyper::StatusCode::UNAUTHORIZED;
                        return Err(refusal);
                    }
                    response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().unwrap());
                    Ok(response)
                };
                let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(stream, check).await else { return };
                while let Some(Ok(message)) = socket.next().await {
                    let Message::Text(line) = message else { continue };
                    let message: Value = serde_json::from_str(&line).unwrap();
                    let how = message["params"]["arguments"]["how"].as_str().unwrap_or_default();
                    match how {
                        "close" => {
                            socket.close(None).await.ok();
                            return;
                        }
                        "large" => {
                            socket.send(Message::text("z".repeat(9_000_000))).await.ok();
                            continue;
                        }
                        "noise" => {
                            socket.send(Message::binary(vec![0, 1, 2])).await.ok();
                            socket.send(Message::text("not json")).await.ok();
                        }
                        _ => {}
                    }
                    if let Some(reply) = old_server(&message) {
                        socket.send(Message::text(reply.to_string())).await.ok();
                    }
                }
            });
        }
    });
    (address, headers)
}

fn endpoint(address: SocketAddr) -> Endpoint {
    let auth = Auth { token: Some("t".into()), ..Auth::default() };
    Endpoint::remote(&format!("ws://{address}/mcp"), &auth, Addresses::Private).unwrap()
}

#[tokio::test]
async fn a_socket_works_and_gets_the_credentials() {
    let (address, headers) = socket_server(false).await;
    let (pool, key) = pool_of(endpoint(address));
    assert_eq!(within(pool.tools(&key)).await.unwrap().tools.len(), 1);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "线" })).await, "线");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "x", "how": "noise" })).await, "x");
    let headers = headers.lock().unwrap().clone().unwrap();
    assert_eq!(headers["authorization"], "Bearer t");
    assert_eq!(headers["sec-websocket-protocol"], "mcp");
    assert_eq!(pool.status(&key).unwrap().kind, "ws");
    pool.close().await;
}

#[tokio::test]
async fn a_socket_that_closes_or_floods_is_opened_anew() {
    let (address, _) = socket_server(false).await;
    let (pool, key) = pool_of(endpoint(address));
    let closed = call(&pool, &key, "echo", json!({ "how": "close" })).await.unwrap_err();
    assert!(matches!(closed.failure, Failure::Closed { .. }), "{closed:?}");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "again" })).await, "again");
    let large = call(&pool, &key, "echo", json!({ "how": "large" })).await.unwrap_err();
    assert_eq!(large.failure, Failure::TooLong);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "and again" })).await, "and again");
    pool.close().await;
}

#[tokio::test]
async fn a_refused_socket_says_why() {
    let (address, _) = socket_server(true).await;
    let (pool, key) = pool_of(endpoint(address));
    assert_eq!(within(pool.connect(&key)).await.err().unwrap().failure, Failure::AuthRefused { status: 401 });
    pool.close().await;
}
