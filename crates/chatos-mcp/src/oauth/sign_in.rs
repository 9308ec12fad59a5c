//! The steps of a sign-in: finding out where, exchanging what the browser brought back, ending a grant. Each is bounded
//! as a whole.

use std::time::Duration;

use super::authorize::{self, Answer, Pending};
use super::challenge::Challenge;
use super::discovery;
use super::error::{Document, SignInError};
use super::fetch::Web;
use super::grant::Grant;
use super::options::SignInOptions;
use super::{registration, token};
use crate::endpoint::Remote;
use crate::failure::{Failure, Waited};

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
