//! What a person and the host decide about a sign-in before it begins.

use super::grant::Secret;

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
