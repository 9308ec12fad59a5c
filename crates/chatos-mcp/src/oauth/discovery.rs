//! Where to sign in: the server's description of its sign-in (RFC 9728), the authorization server's
//! description of itself (RFC 8414, OpenID Connect Discovery), and which scopes to ask for.

use hyper::Uri;
use serde_json::{Map, Value};

use super::challenge::Challenge;
use super::error::{Document, SignInError, quote};
use super::fetch::Web;
use super::grant::{Grant, Method};
use super::options::SignInOptions;
use super::scopes::clean;
use crate::endpoint::Remote;
use crate::failure::Failure;
use crate::net::Origin;

/// Authorization servers of one server that are looked at.
const SERVERS: usize = 20;
/// Lets a client stay signed in without the person (SEP-2207).
const OFFLINE: &str = "offline_access";

/// What a server says about its sign-in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resource {
    /// Itself, exactly as it writes it.
    pub(super) resource: String,
    issuers: Vec<String>,
    scopes: Vec<String>,
    /// It said nothing, and this is what an older revision took for granted.
    assumed: bool,
}

/// What an authorization server says about itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Server {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Uri,
    pub(super) token_endpoint: Uri,
    pub(super) registration_endpoint: Option<Uri>,
    pub(super) revocation_endpoint: Option<Uri>,
    /// How clients may show who they are; `None` when it does not say.
    pub(super) methods: Option<Vec<Method>>,
    pub(super) reads_documents: bool,
    pub(super) names_itself: bool,
    pub(super) can_refresh: bool,
    scopes: Vec<String>,
    pkce: bool,
}

impl Resource {
    /// Where to sign in. The issuer of an earlier grant stays while the server still names it.
    fn issuer(&self, before: Option<&str>) -> Result<&str, SignInError> {
        let known = self.issuers.iter().find(|issuer| Some(issuer.as_str()) == before);
        known.or(self.issuers.first()).map(String::as_str).ok_or(SignInError::NotOffered)
    }

    /// The one a person wants, when there is a choice; a client of theirs goes to no other anyway.
    pub(super) fn choose<'a>(
        &'a self,
        options: &SignInOptions,
        before: Option<&str>,
    ) -> Result<&'a str, SignInError> {
        match options.issuer.as_deref() {
            Some(wanted) if self.names(wanted) => self.issuer(Some(wanted)),
            Some(wanted) if options.client_id.is_none() => Err(SignInError::IssuerNotOffered {
                wanted: quote(wanted),
                offered: self.offered().iter().map(|issuer| quote(issuer)).collect(),
            }),
            _ => self.issuer(before),
        }
    }

    /// What the server itself names.
    pub(super) fn offered(&self) -> &[String] {
        if self.assumed { &[] } else { &self.issuers }
    }

    pub(super) fn names(&self, issuer: &str) -> bool {
        self.issuers.iter().any(|known| known == issuer)
    }
}

/// Whether a server says anywhere where to sign in. For refusals that do not say it themselves.
pub(crate) async fn offers_sign_in(remote: &Remote) -> bool {
    let Ok(web) = Web::of(remote).await else { return false };
    match published(web, remote).await {
        Ok(Some(_)) | Err(SignInError::OtherResource { .. }) => true,
        Ok(None) => find(web, &assumed(remote), None).await.is_ok(),
        Err(_) => false,
    }
}

/// The server's description. The challenge says where it is; otherwise it is looked for.
pub(super) async fn resource(
    web: Web,
    remote: &Remote,
    challenge: Option<&Challenge>,
) -> Result<Resource, SignInError> {
    if let Some(address) = challenge.and_then(|challenge| challenge.resource_metadata.as_deref()) {
        let uri = web.address(address, Document::Resource, "resource_metadata")?;
        let reply = web.get(&uri, Document::Resource).await?;
        if !reply.status.is_success() {
            let detail = format!("it is not there (HTTP {})", reply.status.as_u16());
            return Err(SignInError::unusable(Document::Resource, detail));
        }
        let wrong = || SignInError::unusable(Document::Resource, "it is not a JSON object");
        return described(web, remote, &reply.json.ok_or_else(wrong)?);
    }
    Ok(published(web, remote).await?.unwrap_or_else(|| assumed(remote)))
}

/// The first revision with sign-in had no such description: the server was its own issuer. How it writes
/// itself, with a slash or without, it did not say.
fn assumed(remote: &Remote) -> Resource {
    let origin = origin_of(&remote.uri);
    let issuers = vec![origin.clone(), format!("{origin}/")];
    Resource { resource: canonical(&remote.uri), issuers, scopes: Vec::new(), assumed: true }
}

/// The description at its usual places: below the server's path, then at its root.
async fn published(web: Web, remote: &Remote) -> Result<Option<Resource>, SignInError> {
    let path = remote.uri.path().trim_end_matches('/');
    let well_known = "/.well-known/oauth-protected-resource";
    let mut places = vec![format!("{well_known}{path}"), well_known.to_owned()];
    places.dedup();
    for place in places {
        let uri = at(&remote.uri, &place, Document::Resource)?;
        let reply = match web.get(&uri, Document::Resource).await {
            // Many servers send whoever asks for a missing page somewhere else.
            Err(SignInError::Net { failure: Failure::Redirect { .. }, .. }) => continue,
            reply => reply?,
        };
        match reply.json {
            Some(json) if reply.status.is_success() && json.contains_key("resource") => {
                return described(web, remote, &json).map(Some);
            }
            _ if reply.status.is_server_error() => {
                let detail = format!("it answered HTTP {}", reply.status.as_u16());
                return Err(SignInError::unusable(Document::Resource, detail));
            }
            // A page for people in place of a missing file is no description either.
            _ => {}
        }
    }
    Ok(None)
}

fn described(web: Web, remote: &Remote, json: &Map<String, Value>) -> Result<Resource, SignInError> {
    let missing = || SignInError::unusable(Document::Resource, "`resource` is missing");
    let resource = json.get("resource").and_then(Value::as_str).ok_or_else(missing)?;
    if !is_about(resource, &remote.uri) {
        return Err(SignInError::OtherResource { found: quote(resource) });
    }
    let issuers = strings(json.get("authorization_servers"));
    let mut usable = Vec::new();
    let mut problem = None;
    for issuer in issuers.into_iter().take(SERVERS) {
        match web.address(&issuer, Document::Resource, "authorization_servers") {
            Ok(uri) if uri.query().is_none() => usable.push(issuer),
            Ok(_) => {}
            Err(error) => problem = Some(error),
        }
    }
    if let (true, Some(problem)) = (usable.is_empty(), problem) {
        return Err(problem);
    }
    Ok(Resource {
        resource: resource.to_owned(),
        issuers: usable,
        scopes: clean(strings(json.get("scopes_supported"))),
        assumed: false,
    })
}

/// Whether a name of a resource covers the server: its own address, or one above it on its origin.
pub(super) fn is_about(resource: &str, server: &Uri) -> bool {
    if resource.len() > 2_048 || resource.contains('#') {
        return false;
    }
    let Ok(named) = resource.parse::<Uri>() else { return false };
    if Origin::of(&named).is_none() || Origin::of(&named) != Origin::of(server) {
        return false;
    }
    if named.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return false;
    }
    if named.query().is_some() && named.query() != server.query() {
        return false;
    }
    let (above, below) = (named.path().trim_end_matches('/'), server.path().trim_end_matches('/'));
    below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The authorization server to sign in at. `before` is the issuer of an earlier grant.
pub(super) async fn find(web: Web, resource: &Resource, before: Option<&str>) -> Result<Server, SignInError> {
    let issuer = resource.issuer(before)?;
    let found = authorization_server(web, issuer).await;
    match (&found, resource.issuers.iter().find(|other| *other != issuer)) {
        (Err(SignInError::OtherIssuer { .. }), Some(other)) if resource.assumed => {
            authorization_server(web, other).await
        }
        _ => found,
    }
}

/// The authorization server's description, from the places the revisions know, in their order.
async fn authorization_server(web: Web, issuer: &str) -> Result<Server, SignInError> {
    let uri = web.address(issuer, Document::Resource, "authorization_servers")?;
    let path = uri.path().trim_end_matches('/');
    let mut places = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{path}/.well-known/openid-configuration"));
    }
    let mut seen = String::from("there is none");
    for place in places {
        let reply = web.get(&at(&uri, &place, Document::Server)?, Document::Server).await?;
        match reply.json {
            Some(json) if reply.status.is_success() => return server(web, issuer, &json),
            _ if reply.status.is_success() => seen = "it is not a JSON object".to_owned(),
            _ if reply.status.is_server_error() => {
                seen = format!("it answered HTTP {}", reply.status.as_u16());
            }
            _ => {}
        }
    }
    Err(SignInError::unusable(Document::Server, seen))
}

fn server(web: Web, issuer: &str, json: &Map<String, Value>) -> Result<Server, SignInError> {
    let text = |field: &str| json.get(field).and_then(Value::as_str);
    // Compared as text: whoever normalises here can be talked into another issuer (RFC 8414 §3.3).
    match text("issuer") {
        Some(found) if found == issuer => {}
        found => {
            let found = found.map(quote);
            return Err(SignInError::OtherIssuer { expected: quote(issuer), found });
        }
    }
    let address = |field: &'static str| web.address(text(field).unwrap_or_default(), Document::Server, field);
    let optional =
        |field: &'static str| text(field).map(|text| web.address(text, Document::Server, field)).transpose();
    let flag = |field: &str| json.get(field) == Some(&Value::Bool(true));
    let methods = json.get("token_endpoint_auth_methods_supported").filter(|value| value.is_array());
    let grants = json.get("grant_types_supported").filter(|value| value.is_array());
    Ok(Server {
        issuer: issuer.to_owned(),
        authorization_endpoint: address("authorization_endpoint")?,
        token_endpoint: address("token_endpoint")?,
        registration_endpoint: optional("registration_endpoint")?,
        revocation_endpoint: optional("revocation_endpoint")?,
        methods: methods.map(|list| strings(Some(list)).iter().filter_map(|name| method(name)).collect()),
        reads_documents: flag("client_id_metadata_document_supported"),
        names_itself: flag("authorization_response_iss_parameter_supported"),
        can_refresh: grants.is_none_or(|list| strings(Some(list)).iter().any(|name| name == "refresh_token")),
        scopes: clean(strings(json.get("scopes_supported"))),
        pkce: strings(json.get("code_challenge_methods_supported")).iter().any(|name| name == "S256"),
    })
}

impl Server {
    /// What must hold before anything is sent there or the person is.
    pub(super) async fn check(&self, web: Web) -> Result<(), SignInError> {
        if !self.pkce {
            return Err(SignInError::NoPkce);
        }
        web.vet(&self.authorization_endpoint, Document::Server).await
    }
}

/// The name of a way to show who we are, when it is one of ours.
pub(super) fn method(name: &str) -> Option<Method> {
    match name {
        "none" => Some(Method::None),
        "client_secret_basic" => Some(Method::Basic),
        "client_secret_post" => Some(Method::Post),
        _ => None,
    }
}

/// Which scopes to ask for: the person's, or those of the refused request, or all the server knows; and
/// nothing when nobody says any. What was permitted before stays (SEP-2350).
pub(super) fn scopes(
    resource: &Resource,
    server: &Server,
    options: &SignInOptions,
    challenge: Option<&Challenge>,
    before: Option<&Grant>,
) -> Vec<String> {
    let challenged = challenge.map(Challenge::scopes).unwrap_or_default();
    let more = challenge.is_some_and(Challenge::wants_more);
    let mut wanted = match &options.scopes {
        Some(own) if more => [own.clone(), challenged].concat(),
        Some(own) => own.clone(),
        None if challenged.is_empty() => resource.scopes.clone(),
        None => challenged,
    };
    if let (Some(before), None) = (before, &options.scopes) {
        wanted = [before.asked.clone(), wanted].concat();
    } else if let (Some(before), true) = (before, more) {
        wanted = [wanted, before.asked.clone()].concat();
    }
    let mut wanted = clean(wanted);
    let offline = server.can_refresh && server.scopes.iter().any(|scope| scope == OFFLINE);
    if offline && !wanted.is_empty() && !wanted.iter().any(|scope| scope == OFFLINE) {
        wanted.push(OFFLINE.to_owned());
    }
    wanted
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn at(base: &Uri, path: &str, document: Document) -> Result<Uri, SignInError> {
    let bad = SignInError::BadAddress { document, field: "url" };
    format!("{}{path}", origin_of(base)).parse().map_err(|_| bad)
}

/// Scheme, host and port, as an issuer writes itself.
fn origin_of(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
    format!("{}://{}", scheme.to_ascii_lowercase(), authority.to_ascii_lowercase())
}

/// The server's address as a name of itself: no query, no empty path.
pub(super) fn canonical(uri: &Uri) -> String {
    format!("{}{}", origin_of(uri), uri.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::super::fetch;
    use super::*;

    #[test]
    fn a_resource_covers_its_own_address_and_what_is_below() {
        let server: Uri = "https://a.example/team/mcp?x=1".parse().unwrap();
        for good in [
            "https://a.example/team/mcp",
            "https://A.example:443/team/mcp/",
            "https://a.example/team",
            "https://a.example",
            "https://a.example/team/mcp?x=1",
        ] {
            assert!(is_about(good, &server), "{good}");
        }
        for bad in [
            "https://evil.example/team/mcp",
            "http://a.example/team/mcp",
            "https://a.example:444/team/mcp",
            "https://a.example/team/mc",
            "https://a.example/team/mcp/more",
            "https://u@a.example/team/mcp",
            "https://a.example/team/mcp#x",
            "https://a.example/team/mcp?x=2",
            "a.example",
            "",
        ] {
            assert!(!is_about(bad, &server), "{bad}");
        }
    }

    #[test]
    fn a_server_names_itself_without_query_and_empty_path() {
        let name = |uri: &str| canonical(&uri.parse().unwrap());
        assert_eq!(name("https://A.example/"), "https://a.example");
        assert_eq!(name("http://localhost:8080/mcp?x=1"), "http://localhost:8080/mcp");
    }

    #[test]
    fn only_encrypted_or_own_addresses_get_secrets() {
        let safe = |uri: &str| fetch::is_safe(&Origin::of(&uri.parse().unwrap()).unwrap());
        for good in ["https://a.example/", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost/"] {
            assert!(safe(good), "{good}");
        }
        for bad in ["http://a.example/", "http://10.0.0.1/", "http://localhost.evil.example/"] {
            assert!(!safe(bad), "{bad}");
        }
    }
}
