//! A person with a browser, for servers that want somebody to sign in: opens the address, agrees at once,
//! and brings back what the authorization server said.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use chatos_mcp::{
    Challenge, Endpoint, Grant, Grants, Secret, SignInOptions, Turn, begin_sign_in, finish_sign_in,
};
use http_body_util::{BodyExt, Empty};
use hyper::header::{HOST, LOCATION};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// How often one server may ask before it is left alone.
const PATIENCE: usize = 3;
/// The document about the client that the suite knows.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// Nobody listens there: the answer is read from the redirect.
const REDIRECT: &str = "http://127.0.0.1:43210/oauth/callback";

/// Who signs in.
pub(crate) struct Person {
    options: SignInOptions,
    kept: Arc<Kept>,
    asked: Mutex<usize>,
}

/// The grant, in memory.
#[derive(Debug, Default)]
struct Kept(Mutex<Option<Grant>>);

impl Grants for Kept {
    fn load(&self) -> Option<Grant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn save(&self, grant: Option<&Grant>) -> Result<(), String> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = grant.cloned();
        Ok(())
    }

    fn replace(&self, before: &Grant, grant: Option<&Grant>) -> Result<bool, String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = kept.as_ref() == Some(before);
        if is_there {
            *kept = grant.cloned();
        }
        Ok(is_there)
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        // One process and one endpoint.
        Ok(Some(Turn::free()))
    }
}

impl Person {
    /// With the client a scenario registered beforehand, if it did.
    pub(crate) fn new(context: &Value) -> Self {
        let text = |field: &str| context[field].as_str().map(str::to_owned);
        let options = SignInOptions {
            redirect_uri: REDIRECT.to_owned(),
            client_name: "ChatOS".to_owned(),
            client_id: text("client_id"),
            client_secret: text("client_secret").map(Secret::new),
            issuer: text("issuer"),
            client_metadata_url: Some(DOCUMENT.to_owned()),
            scopes: None,
        };
        Self { options, kept: Arc::default(), asked: Mutex::new(0) }
    }

    pub(crate) fn grants(&self) -> Arc<dyn Grants> {
        Arc::clone(&self.kept) as Arc<dyn Grants>
    }

    pub(crate) async fn sign_in(&self, endpoint: &Endpoint, challenge: &Challenge) -> io::Result<()> {
        {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            *asked += 1;
            if *asked > PATIENCE {
                return Err(io::Error::other("it asks for a sign-in again and again"));
            }
        }
        let remote = endpoint.as_remote().ok_or_else(|| io::Error::other("not a server over HTTP"))?;
        let before = self.kept.load();
        let pending = begin_sign_in(remote, &self.options, Some(challenge), before.as_ref()).await;
        let pending = pending.map_err(io::Error::other)?;
        let back = visit(pending.url()).await?;
        let grant = finish_sign_in(remote, pending, &back).await.map_err(io::Error::other)?;
        self.kept.save(Some(&grant)).map_err(io::Error::other)
    }
}

/// Opens an address and gives where it sends the browser.
async fn visit(url: &str) -> io::Result<String> {
    let uri: Uri = url.parse().map_err(io::Error::other)?;
    let (host, port) = (uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(80));
    let stream = TcpStream::connect((host, port)).await?;
    let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = shaken.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request =
        Request::get(path).header(HOST, format!("{host}:{port}")).body(Empty::<bytes::Bytes>::new());
    let answer = sender.send_request(request.map_err(io::Error::other)?).await.map_err(io::Error::other)?;
    let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let status = answer.status();
    answer.into_body().collect().await.map_err(io::Error::other)?;
    location.ok_or_else(|| io::Error::other(format!("no redirect from the sign-in page (HTTP {status})")))
}
