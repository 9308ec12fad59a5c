//! One request to a channel, over the connections of `chatos-net`: bounded in time and size, no redirects, since a
//! notice goes where a person said and nowhere else. And a stream of lines, for what comes back.

use std::time::Duration;

use bytes::Bytes;
use chatos_net::{Addresses, Origin, Stream, connect};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;

/// A notice that takes longer has failed.
const TIME: Duration = Duration::from_secs(20);
/// What is read of an answer.
const ANSWER: usize = 64 * 1024;

/// The longest line of a stream that is read; longer ones are none of ours.
const LINE: usize = 8 * 1024;
/// A stream that is silent for this long is opened anew.
const SILENCE: Duration = Duration::from_secs(120);

/// What a server said.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// Sends JSON; the error says what went wrong, without the address.
pub(crate) async fn post(
    url: &str,
    addresses: Addresses,
    headers: &[(&str, String)],
    body: Vec<u8>,
) -> Result<Bytes, String> {
    let answer = ask(url, addresses, headers, body, TIME, ANSWER).await?;
    match answer.status {
        200..300 => Ok(answer.body),
        status => Err(format!("the server says {status}")),
    }
}

/// As [`post`], within this time and size, whatever the status.
pub(crate) async fn ask(
    url: &str,
    addresses: Addresses,
    headers: &[(&str, String)],
    body: Vec<u8>,
    time: Duration,
    most: usize,
) -> Result<Answer, String> {
    let asked = async {
        let (uri, origin) = place(url)?;
        let (mut sender, connection) = dial(&origin, addresses).await?;
        let request = Request::post(path(&uri)).header("content-type", "application/json");
        let request = headed(request, &origin, headers, Bytes::from(body))?;
        let talk = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), most).collect().await;
            body.map(|body| Answer { status, body: body.to_bytes() }).map_err(|error| error.to_string())
        };
        tokio::pin!(talk);
        tokio::select! {
            done = &mut talk => done,
            // What a connection brought before its end is still to be read.
            _ = connection => talk.await,
        }
    };
    match tokio::time::timeout(time, asked).await {
        Ok(done) => done,
        Err(_) => Err(format!("no answer within {} seconds", time.as_secs())),
    }
}

/// Reads lines as they come, until the server ends the stream or is silent for long.
pub(crate) async fn lines(
    url: &str,
    addresses: Addresses,
    headers: &[(&str, String)],
    heard: mpsc::Sender<String>,
) -> Result<(), String> {
    let (uri, origin) = place(url)?;
    let (mut sender, connection) = match tokio::time::timeout(TIME, dial(&origin, addresses)).await {
        Ok(dialled) => dialled?,
        Err(_) => return Err("no connection within 20 seconds".to_owned()),
    };
    let request = headed(Request::get(path(&uri)), &origin, headers, Bytes::new())?;
    let talk = async {
        let silent = |_| "the server is silent".to_owned();
        let response = tokio::time::timeout(TIME, sender.send_request(request)).await.map_err(silent)?;
        let response = response.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("the server says {}", response.status().as_u16()));
        }
        let mut body = response.into_body();
        let mut line = Vec::new();
        loop {
            let frame = tokio::time::timeout(SILENCE, body.frame()).await.map_err(silent)?;
            let Some(frame) = frame else { return Ok(()) };
            let frame = frame.map_err(|error| error.to_string())?;
            for byte in frame.data_ref().map(|data| data.as_ref()).unwrap_or_default() {
                if *byte != b'\n' {
                    // One byte more marks a line that is too long.
                    if line.len() <= LINE {
                        line.push(*byte);
                    }
                    continue;
                }
                let whole = std::mem::take(&mut line);
                let text = String::from_utf8(whole).ok().filter(|text| text.len() <= LINE);
                if let Some(text) = text
                    && heard.send(text).await.is_err()
                {
                    return Ok(());
                }
            }
        }
    };
    tokio::pin!(talk);
    tokio::select! {
        done = &mut talk => done,
        _ = connection => talk.await,
    }
}

fn place(url: &str) -> Result<(Uri, Origin), String> {
    let uri: Uri = url.parse().map_err(|_| "the address cannot be read".to_owned())?;
    let origin = Origin::of(&uri).ok_or("the address has no host")?;
    Ok((uri, origin))
}

fn path(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", |path| path.as_str())
}

type Dialled = (
    hyper::client::conn::http1::SendRequest<Full<Bytes>>,
    hyper::client::conn::http1::Connection<TokioIo<Stream>, Full<Bytes>>,
);

async fn dial(origin: &Origin, addresses: Addresses) -> Result<Dialled, String> {
    let stream = connect(origin, addresses).await.map_err(|error| error.to_string())?;
    hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())
}

fn headed(
    request: hyper::http::request::Builder,
    origin: &Origin,
    headers: &[(&str, String)],
    body: Bytes,
) -> Result<Request<Full<Bytes>>, String> {
    let mut request = request.header("host", origin.host_header()).header("user-agent", "chatos");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    request.body(Full::new(body)).map_err(|_| "the key has odd characters".to_owned())
}
