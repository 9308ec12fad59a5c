//! Signing in at the authorization server of a server over HTTP (decision 0015).
//!
//! Three steps with a person in the middle: [`begin`] finds out where to sign in and makes the address a
//! browser has to open, the person signs in there, and [`finish`] turns what the browser brings back
//! into a [`Grant`]. From then on the connection of the server uses and renews the grant by itself
//! ([`Keeper`]). Nothing here opens a browser.
//!
//! Whatever a server says about its authorization server is a stranger's word: every address passes the
//! policy of [`fetch`], every document is bounded, and a grant belongs to the issuer that gave it.

mod authorize;
mod challenge;
mod discovery;
mod error;
mod fetch;
mod form;
mod grant;
mod keeper;
mod registration;
mod token;

pub use authorize::Pending;
pub use challenge::Challenge;
pub use error::SignInError;
pub use grant::{Grant, Grants, Secret, Turn};
pub(crate) use keeper::{Bearer, Keeper};

pub(crate) use discovery::offers_sign_in;

use std::time::Duration;

use crate::endpoint::Remote;
use crate::failure::{Failure, Waited};
use authorize::Answer;
use error::Document;
use fetch::Web;

/// What a sign-in needs beside the server's address.
#[derive(Debug, Clone, Default)]
pub struct SignInOptions {
    /// Where the browser comes back to, such as `http://127.0.0.1:4040/oauth/callback`.
    pub redirect_uri: String,
    /// Our name, as the authorization server shows it to the person.
    pub client_name: String,
    /// The id a person registered beforehand.
    pub client_id: Option<String>,
    /// The secret that goes with it.
    pub client_secret: Option<Secret>,
    /// The issuer to sign in at, where the server names several. With a client id: the one that gave it;
    /// it is used with no other. Without it the one of an earlier grant counts, then the first.
    pub issuer: Option<String>,
    /// Where a document about us is published, for servers that read such a thing.
    pub client_metadata_url: Option<String>,
    /// The scopes a person wants instead of those the server asks for.
    pub scopes: Option<Vec<String>>,
}

/// A whole step, however many documents it needs: who answers every one slowly does not hold it up.
const STEP: Duration = Duration::from_secs(45);

async fn bounded<T>(
    document: Document,
    step: impl Future<Output = Result<T, SignInError>>,
) -> Result<T, SignInError> {
    let failure = Failure::TimedOut { what: Waited::Request, after: STEP, noise: None };
    let late = || Err(SignInError::Net { document, failure });
    tokio::time::timeout(STEP, Box::pin(step)).await.unwrap_or_else(|_| late())
}

/// Finds out where to sign in, makes us known there, and gives the address a browser has to open.
///
/// `challenge` is what the server said when it refused, `before` the grant it refused, if there was one.
pub async fn begin(
    remote: &Remote,
    options: &SignInOptions,
    challenge: Option<&Challenge>,
    before: Option<&Grant>,
) -> Result<Pending, SignInError> {
    bounded(Document::Server, prepare(remote, options, challenge, before)).await
}

async fn prepare(
    remote: &Remote,
    options: &SignInOptions,
    challenge: Option<&Challenge>,
    before: Option<&Grant>,
) -> Result<Pending, SignInError> {
    let web = Web::of(remote).await?;
    let resource = discovery::resource(web, remote, challenge).await?;
    let issuer = resource.choose(options, before.map(Grant::issuer))?;
    let server = discovery::find(web, &resource, Some(issuer)).await?;
    server.check(web).await?;
    // A grant belongs to the issuer that gave it: with another one nothing of it is used, neither its
    // scopes nor the client it was given to (SEP-2352).
    let before_here = before.filter(|grant| grant.issuer() == server.issuer);
    let registration = registration::client(web, &server, options, before, before_here).await?;
    let scopes = discovery::scopes(&resource, &server, options, challenge, before_here);
    authorize::pending(remote, options, resource, server, registration, scopes)
}

/// Takes what the browser came back with (the query of the address, or the whole address), checks it,
/// and exchanges the code for tokens.
pub async fn finish(remote: &Remote, pending: Pending, query: &str) -> Result<Grant, SignInError> {
    let code = match pending.answer(remote, query)? {
        Answer::Code(code) => code,
        Answer::Error { error } => return Err(SignInError::refused(&error, None)),
    };
    let exchange = bounded(Document::Token, async {
        let web = Web::of(remote).await?;
        token::request(web, &pending.grant, pending.exchange(&code), Document::Token).await
    });
    let tokens = exchange.await?;
    Ok(pending.granted(tokens))
}

/// Ends a grant at its authorization server, where that offers it. Says whether it did; tokens of a
/// server that does not end by themselves.
pub async fn revoke(remote: &Remote, grant: &Grant) -> Result<bool, SignInError> {
    bounded(Document::Revocation, async {
        let web = Web::of(remote).await?;
        token::revoke(web, grant).await
    })
    .await
}
