//! Signing in: the way over the browser, what a grant is used for, renewal, and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatos_mcp::{
    Challenge, Failure, Grant, Grants, Pending, Phase, Secret, SignInError, SignInOptions, Turn, revoke_grant,
};
use serde_json::{Value, json};

use crate::support::{call, eventually, pool_of, text, within};
use crate::town::{Kept, Town, options, query_value};

/// The same grant, changed in what is written down.
fn changed(grant: &Grant, pointer: &str, value: Value) -> Grant {
    let mut json = serde_json::to_value(grant).unwrap();
    *json.pointer_mut(pointer).unwrap() = value;
    serde_json::from_value(json).unwrap()
}

fn challenge(failure: &Failure) -> (Challenge, bool) {
    match failure {
        Failure::SignInNeeded { challenge, had_grant } => ((**challenge).clone(), *had_grant),
        other => panic!("no sign-in is needed: {other:?}"),
    }
}

#[tokio::test]
async fn a_person_signs_in_and_the_server_works() {
    let town = Town::new().await;
    let kept = Arc::new(Kept::default());
    let endpoint = town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>);
    let (pool, key) = pool_of(endpoint.clone());
    let lease = pool.lease(&key);
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    let (said, had_grant) = challenge(&failure);
    assert_eq!((said.scope.as_deref(), had_grant), (Some("read"), false));
    // Nothing is tried again by itself, although somebody holds it.
    eventually("it waits for a person", || pool.status(&key).unwrap().phase == Phase::SignIn).await;
    let before = town.mcp.seen().len();
    assert_eq!(within(pool.connect(&key)).await.err().unwrap().failure, failure);
    assert_eq!(town.mcp.seen().len(), before);

    let pending = town.begin_with(&options(), Some(&said), None).await.unwrap();
    assert_eq!(
        (pending.issuer(), pending.scopes()),
        (town.issuer.url("").as_str(), &["read".to_owned()][..])
    );
    let registered = &town.asked("/register")[0].json();
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["grant_types"], json!(["authorization_code", "refresh_token"]));
    // Written down and read again, as by a host that was killed meanwhile.
    let pending: Pending = serde_json::from_str(&serde_json::to_string(&pending).unwrap()).unwrap();
    let query = town.browse(&pending);
    let again = pending.clone();
    let grant = town.finish(pending, &query).await.unwrap();
    assert!(grant.can_refresh() && grant.expires_at().is_some());
    assert_eq!((grant.client_id(), grant.resource()), ("c-1", town.mcp.url("/mcp").as_str()));
    // A second use of the same answer gives nothing.
    assert!(matches!(town.finish(again, &query).await, Err(SignInError::Refused { .. })));

    kept.save(Some(&grant)).unwrap();
    assert!(pool.restart(&key));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "hi" })).await, "hi");
    // The token went to the server and not to its issuer.
    assert!(town.mcp.seen().iter().any(|seen| seen.header("authorization").as_deref() == Some("Bearer a-1")));
    assert!(town.issuer.seen().iter().all(|seen| seen.header("authorization").is_none()));
    drop(lease);
    pool.close().await;
}

#[tokio::test]
async fn nothing_secret_can_be_read() {
    let town = Town::new().await;
    town.state().client = Some(json!({ "client_id": "c-1", "client_secret": "k3y",
        "token_endpoint_auth_method": "client_secret_basic" }));
    let pending = town.begin(None).await.unwrap();
    let query = town.browse(&pending);
    let state = query_value(pending.url(), "state").unwrap();
    let shown = format!("{pending:?}");
    let grant = town.finish(pending, &query).await.unwrap();
    let shown = format!("{shown}{grant:?}{:?}{:?}", Kept::with(&grant), Secret::new("k3y"));
    for secret in [state.as_str(), "a-1", "r-1", "k3y", "c0de"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    let sent = town.asked("/token")[0].header("authorization");
    assert_eq!(sent.as_deref(), Some("Basic Yy0xOmszeQ=="));
}

#[tokio::test]
async fn many_calls_share_one_renewal_and_the_next_token_is_kept_first() {
    let town = Town::new().await;
    let grant = town.signed_in().await;
    let kept = Kept::with(&grant);
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
    // The server forgets the token; the issuer would refuse a second use of the refresh token.
    town.state().valid.clear();
    let calls = (0..20).map(|n| text(&pool, &key, "echo", json!({ "text": n.to_string() })).boxed());
    use futures_util::FutureExt;
    for (n, said) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(said, n.to_string());
    }
    assert_eq!(town.asked("/token").len(), 2, "one code and one renewal");
    let saved = kept.saved.lock().unwrap().clone();
    assert_eq!(saved.len(), 1);
    assert!(serde_json::to_string(&saved[0]).unwrap().contains("r-2"));
    pool.close().await;
}

#[tokio::test]
async fn an_ending_token_is_renewed_before_it_is_used() {
    let town = Town::new().await;
    let grant = changed(&town.signed_in().await, "/tokens/expiresAt", json!(1));
    let kept = Kept::with(&grant);
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
    let used: Vec<_> = town.mcp.seen().iter().filter_map(|seen| seen.header("authorization")).collect();
    assert!(!used.is_empty() && used.iter().all(|used| used == "Bearer a-2"), "{used:?}");
    pool.close().await;
}

#[tokio::test]
async fn a_refused_renewal_ends_the_grant_and_asks_the_person() {
    let town = Town::new().await;
    let kept = Kept::with(&town.signed_in().await);
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
    {
        let mut state = town.state();
        (state.valid, state.refresh) = (std::collections::HashSet::new(), None);
    }
    let error = call(&pool, &key, "echo", json!({})).await.unwrap_err();
    assert!(challenge(&error.failure).1);
    assert_eq!(kept.load(), None);
    eventually("it waits for a person", || pool.status(&key).unwrap().phase == Phase::SignIn).await;
    pool.close().await;
}

#[tokio::test]
async fn an_issuer_that_is_down_costs_no_grant() {
    let town = Town::new().await;
    let kept = Kept::with(&town.signed_in().await);
    town.state().valid.clear();
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    for (status, body) in [
        (503, "<h1>later</h1>"),
        (500, r#"{"error":"invalid_grant"}"#),
        (429, r#"{"error":"invalid_request"}"#),
        (400, r#"{"error":"temporarily_unavailable"}"#),
    ] {
        town.state().token = Some((status, "application/json", body.to_owned()));
        pool.restart(&key);
        let failure = within(pool.connect(&key)).await.err().unwrap().failure;
        assert!(!matches!(failure, Failure::SignInNeeded { .. }), "{failure:?}");
        assert!(kept.load().is_some());
    }
    // It comes back, and the server with it.
    town.state().token = None;
    pool.restart(&key);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
    pool.close().await;
}

#[tokio::test]
async fn what_another_process_renewed_is_taken() {
    let town = Town::new().await;
    let kept = Kept::with(&town.signed_in().await);
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
    let other = town.signed_in().await;
    *kept.now.lock().unwrap() = Some(other);
    let before = town.asked("/token").len();
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "2" })).await, "2");
    assert_eq!(town.asked("/token").len(), before, "nothing was renewed");
    pool.close().await;
}

#[tokio::test]
async fn a_call_that_needs_more_asks_for_both() {
    let town = Town::new().await;
    town.state().call_scope = Some("write");
    let grant = town.signed_in().await;
    let kept = Kept::with(&grant);
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    let error = call(&pool, &key, "echo", json!({})).await.unwrap_err();
    let (said, had_grant) = challenge(&error.failure);
    assert!(said.wants_more() && had_grant);
    // The rest of it still works.
    assert_eq!(pool.status(&key).unwrap().phase, Phase::Ready);
    let pending = town.begin_with(&options(), Some(&said), Some(&grant)).await.unwrap();
    assert_eq!(pending.scopes(), ["read", "write"]);
    assert_eq!(town.asked("/register").len(), 1, "the client is used again");
    let query = town.browse(&pending);
    kept.save(Some(&town.finish(pending, &query).await.unwrap())).unwrap();
    pool.restart(&key);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
    pool.close().await;
}

#[tokio::test]
async fn a_grant_stays_with_its_issuer() {
    let (town, other) = (Town::new().await, Town::new().await);
    let own = SignInOptions {
        client_id: Some("mine".to_owned()),
        client_secret: Some(Secret::new("k3y")),
        ..options()
    };
    let pending = town.begin_with(&own, None, None).await.unwrap();
    let query = town.browse(&pending);
    let mine = town.finish(pending, &query).await.unwrap();
    let grant = town.signed_in().await;
    // The server moves to another issuer.
    town.state().prm["authorization_servers"] = json!([other.issuer.url("")]);
    let pending = town.begin(Some(&grant)).await.unwrap();
    assert_eq!(pending.issuer(), other.issuer.url(""));
    assert_eq!(other.asked("/register").len(), 1);
    // A person's client is not taken along, with or without its issuer written down.
    let moved = town.begin_with(&own, None, Some(&mine)).await;
    assert!(matches!(moved, Err(SignInError::OtherClientIssuer { .. })), "{moved:?}");
    let bound = SignInOptions { issuer: Some(town.issuer.url("")), ..own };
    let moved = town.begin_with(&bound, None, None).await;
    assert!(matches!(moved, Err(SignInError::OtherClientIssuer { .. })), "{moved:?}");
    // Nor does a renewal after a refusal go on with the old issuer.
    town.state().valid.clear();
    let before = town.asked("/token").len();
    let kept = Kept::with(&grant);
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(challenge(&failure).1);
    assert_eq!(town.asked("/token").len(), before);
    pool.close().await;
}

#[tokio::test]
async fn signing_out_ends_both_tokens() {
    let town = Town::new().await;
    let grant = town.signed_in().await;
    let endpoint = town.endpoint();
    assert_eq!(revoke_grant(endpoint.as_remote().unwrap(), &grant).await, Ok(true));
    let ended: Vec<_> = town
        .asked("/revoke")
        .iter()
        .filter_map(|seen| query_value(&format!("?{}", String::from_utf8_lossy(&seen.body)), "token"))
        .collect();
    assert_eq!(ended, ["r-1", "a-1"]);
    let without = changed(&grant, "/registration/revocationEndpoint", Value::Null);
    assert_eq!(revoke_grant(endpoint.as_remote().unwrap(), &without).await, Ok(false));
}

#[tokio::test]
async fn a_server_that_only_wants_a_key_is_not_one_to_sign_in_to() {
    let town = Town::new().await;
    town.state().prm = Value::Null;
    let kept = Arc::new(Kept::default());
    let (pool, key) = pool_of(town.endpoint().with_grants(kept));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert_eq!(failure, Failure::AuthRefused { status: 401 });
    pool.close().await;
}

#[tokio::test]
async fn a_grant_does_not_follow_a_changed_address() {
    let (town, other) = (Town::new().await, Town::new().await);
    let kept = Kept::with(&town.signed_in().await);
    let (pool, key) = pool_of(other.endpoint().with_grants(kept));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(!challenge(&failure).1);
    assert!(other.mcp.seen().iter().all(|seen| seen.header("authorization").is_none()));
    pool.close().await;
}

#[tokio::test]
async fn a_client_is_known_in_the_way_the_issuer_says() {
    let own = SignInOptions {
        client_id: Some("mine".to_owned()),
        client_secret: Some(Secret::new("k:3 y")),
        ..options()
    };
    for (methods, header, form) in [
        (json!(["client_secret_basic", "client_secret_post"]), Some("Basic bWluZTprJTNBMyUyMHk="), None),
        (json!(["client_secret_post"]), None, Some("k:3 y")),
        (Value::Null, Some("Basic bWluZTprJTNBMyUyMHk="), None),
    ] {
        let town = Town::new().await;
        town.state().metadata["token_endpoint_auth_methods_supported"] = methods;
        let pending = town.begin_with(&own, None, None).await.unwrap();
        let query = town.browse(&pending);
        town.finish(pending, &query).await.unwrap();
        let sent = &town.asked("/token")[0];
        assert_eq!(sent.header("authorization").as_deref(), header);
        let body = format!("?{}", String::from_utf8_lossy(&sent.body));
        assert_eq!(query_value(&body, "client_secret").as_deref(), form);
        assert!(town.asked("/register").is_empty());
    }
    let town = Town::new().await;
    town.state().metadata["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
    let told = town.begin_with(&own, None, None).await;
    assert!(matches!(told, Err(SignInError::Unusable { .. })), "{told:?}");
    // One that is only given an id has nothing to show.
    let town = Town::new().await;
    town.state().metadata["token_endpoint_auth_methods_supported"] = Value::Null;
    town.state().client = Some(json!({ "client_id": "c-2" }));
    assert_eq!(town.signed_in().await.client_id(), "c-2");
}

#[tokio::test]
async fn an_older_server_is_its_own_issuer() {
    for slash in ["", "/"] {
        let town = Town::new().await;
        let origin = town.mcp.url("");
        town.state().prm = Value::Null;
        town.state().own = true;
        town.state().metadata["issuer"] = json!(format!("{origin}{slash}"));
        let kept = Arc::new(Kept::default());
        let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>));
        let failure = within(pool.connect(&key)).await.err().unwrap().failure;
        let pending = town.begin_with(&options(), Some(&challenge(&failure).0), None).await.unwrap();
        assert_eq!(pending.issuer(), format!("{origin}{slash}"));
        assert_eq!(pending.resource(), town.mcp.url("/mcp"));
        let query = town.browse(&pending);
        kept.save(Some(&town.finish(pending, &query).await.unwrap())).unwrap();
        pool.restart(&key);
        assert_eq!(text(&pool, &key, "echo", json!({ "text": "1" })).await, "1");
        // A renewal after a refusal still goes to it.
        town.state().valid.clear();
        assert_eq!(text(&pool, &key, "echo", json!({ "text": "2" })).await, "2");
        pool.close().await;
    }
}

/// A store whose grant is taken away while it is renewed.
#[derive(Debug)]
struct Leaving {
    grant: Grant,
    is_gone: AtomicBool,
}

impl Grants for Leaving {
    fn load(&self) -> Option<Grant> {
        (!self.is_gone.load(Ordering::Relaxed)).then(|| self.grant.clone())
    }

    fn save(&self, _grant: Option<&Grant>) -> Result<(), String> {
        panic!("a renewal only puts one in the place of another");
    }

    fn replace(&self, _before: &Grant, _grant: Option<&Grant>) -> Result<bool, String> {
        self.is_gone.store(true, Ordering::Relaxed);
        Ok(false)
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        Ok(Some(Turn::free()))
    }
}

#[tokio::test]
async fn signing_out_during_a_renewal_is_not_undone() {
    let town = Town::new().await;
    let grant = town.signed_in().await;
    town.state().valid.clear();
    let leaving = Arc::new(Leaving { grant, is_gone: AtomicBool::new(false) });
    let (pool, key) = pool_of(town.endpoint().with_grants(Arc::clone(&leaving) as Arc<dyn Grants>));
    let failure = within(pool.connect(&key)).await.err().unwrap().failure;
    assert!(matches!(failure, Failure::SignInNeeded { .. }), "{failure:?}");
    assert_eq!(town.asked("/token").len(), 2, "it was renewed");
    eventually("what nobody keeps is ended", || {
        let bodies = town.asked("/revoke").into_iter().map(|seen| String::from_utf8(seen.body).unwrap());
        bodies.into_iter().any(|body| body.contains("token=r-2"))
    })
    .await;
    pool.close().await;
}

#[tokio::test]
async fn two_connections_of_one_grant_renew_it_once() {
    let town = Town::new().await;
    let kept = Kept::with(&town.signed_in().await);
    let endpoint = || town.endpoint().with_grants(Arc::clone(&kept) as Arc<dyn Grants>);
    let ((one, a), (two, b)) = (pool_of(endpoint()), pool_of(endpoint()));
    assert_eq!(text(&one, &a, "echo", json!({ "text": "1" })).await, "1");
    assert_eq!(text(&two, &b, "echo", json!({ "text": "1" })).await, "1");
    town.state().valid.clear();
    // Somebody has the turn: both are refused and wait.
    let turn = kept.turn().unwrap().unwrap();
    let (first, second) =
        (text(&one, &a, "echo", json!({ "text": "2" })), text(&two, &b, "echo", json!({ "text": "2" })));
    let called =
        || town.mcp.seen().iter().filter(|seen| seen.json()["params"]["arguments"]["text"] == "2").count();
    let free = async {
        eventually("both are refused", || called() >= 2).await;
        drop(turn);
    };
    let (first, second, ()) = tokio::join!(first, second, free);
    assert_eq!((first.as_str(), second.as_str()), ("2", "2"));
    assert_eq!(town.asked("/token").len(), 2, "one code and one renewal");
    one.close().await;
    two.close().await;
}
