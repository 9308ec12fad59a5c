//! One request to a channel, over the connections of `chatos-net`: bounded in time and size, no redirects, since a
//! notice goes where a person said and nowhere else.

use std::time::Duration;

use bytes::Bytes;
use chatos_net::{Addresses, Origin, connect};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;

/// A notice that takes longer has failed.
const TIME: Duration = Duration::from_secs(20);
/// What is read of an answer.
const ANSWER: usize = 64 * 1024;

/// Sends JSON; the error says what went wrong, without the address.
pub(crate) async fn post(
    url: &str,
    addresses: Addresses,
    headers: &[(&str, String)],
    body: Vec<u8>,
) -> Result<Bytes, String> {
    match tokio::time::timeout(TIME, ask(url, addresses, headers, body)).await {
        Ok(done) => done,
        Err(_) => Err("no answer within 20 seconds".to_owned()),
    }
}

async fn ask(
    url: &str,
    addresses: Addresses,
    headers: &[(&str, String)],
    body: Vec<u8>,
) -> Result<Bytes, String> {
    let uri: Uri = url.parse().map_err(|_| "the address cannot be read".to_owned())?;
    let origin = Origin::of(&uri).ok_or("the address has no host")?;
    let stream = connect(&origin, addresses).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let talk = async {
        let mut request = Request::post(uri.path_and_query().map_or("/", |path| path.as_str()))
            .header("host", origin.host_header())
            .header("user-agent", "chatos")
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|_| "the key has odd characters")?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER).collect().await;
        if !status.is_success() {
            return Err(format!("the server says {status}"));
        }
        body.map(|body| body.to_bytes()).map_err(|error| error.to_string())
    };
    tokio::pin!(talk);
    tokio::select! {
        done = &mut talk => done,
        // What a connection brought before its end is still to be read.
        _ = connection => talk.await,
    }
}
