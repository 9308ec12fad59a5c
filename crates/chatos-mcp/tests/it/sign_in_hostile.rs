//! Servers and authorization servers that want something else than a sign-in.

use chatos_mcp::{Addresses, Auth, Challenge, Endpoint, Failure, SignInError, begin_sign_in, finish_sign_in};
use futures_util::stream;
use serde_json::{Value, json};

use crate::town::{Town, escaped, options};
use crate::web::{plain, serve, stream as pieces};

/// Begins after a change of the documents; nothing but documents may have been asked for.
async fn refused(change: impl FnOnce(&Town)) -> SignInError {
    let town = Town::new().await;
    change(&town);
    let error = town.begin(None).await.expect_err("the sign-in began");
    assert!(town.issuer.seen().iter().all(|seen| seen.method == hyper::Method::GET), "{error}");
    error
}

#[tokio::test]
async fn documents_that_lead_elsewhere_are_refused() {
    let prm = |field: &'static str, value: Value| move |town: &Town| town.state().prm[field] = value;
    let meta = |field: &'static str, value: Value| move |town: &Town| town.state().metadata[field] = value;
    let error = refused(prm("resource", json!("https://evil.example/mcp"))).await;
    assert_eq!(error, SignInError::OtherResource { found: "https://evil.example/mcp".to_owned() });
    let error = refused(prm("authorization_servers", json!([]))).await;
    assert_eq!(error, SignInError::NotOffered);
    for address in ["http://10.0.0.1/", "http://evil.example"] {
        let error = refused(prm("authorization_servers", json!([address]))).await;
        assert!(matches!(error, SignInError::Insecure { .. }), "{error:?}");
    }
    for issuer in [json!("https://evil.example"), json!("HTTP://127.0.0.1"), Value::Null] {
        let error = refused(meta("issuer", issuer)).await;
        assert!(matches!(error, SignInError::OtherIssuer { .. }), "{error:?}");
    }
    for methods in [json!(["plain"]), json!("S256"), Value::Null] {
        let error = refused(meta("code_challenge_methods_supported", methods)).await;
        assert_eq!(error, SignInError::NoPkce);
    }
    for endpoint in
        ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]
    {
        for address in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://u:p@a.example/",
            "//a.example",
            "https://a.example/#x",
            "",
        ] {
            let error = refused(meta(endpoint, json!(address))).await;
            assert!(matches!(error, SignInError::BadAddress { .. }), "{endpoint} {address} {error:?}");
        }
        let error = refused(meta(endpoint, json!("http://a.example/"))).await;
        assert!(matches!(error, SignInError::Insecure { .. }), "{error:?}");
    }
    let error = refused(meta("registration_endpoint", Value::Null)).await;
    assert_eq!(error, SignInError::NoRegistration);
}

#[tokio::test]
async fn the_place_of_the_description_is_a_strangers_word_too() {
    let town = Town::new().await;
    let begin = |address: &str| {
        let challenge = Challenge { resource_metadata: Some(address.to_owned()), ..Challenge::default() };
        let town = &town;
        async move { town.begin_with(&options(), Some(&challenge), None).await.err().unwrap() }
    };
    assert!(matches!(begin("http://10.1.2.3/x").await, SignInError::Insecure { .. }));
    assert!(matches!(begin("ftp://127.0.0.1/x").await, SignInError::BadAddress { .. }));
    assert!(matches!(begin(&town.mcp.url("/nothing")).await, SignInError::Unusable { .. }));
    // The address rules hold for it: link-local metadata services are never asked.
    let error = begin("https://169.254.169.254/latest").await;
    assert!(matches!(error, SignInError::Net { failure: Failure::AddressRefused { .. }, .. }), "{error:?}");
}

#[tokio::test]
async fn bodies_without_end_and_pages_are_no_documents() {
    let endless = serve(|_| async { pieces(stream::repeat_with(|| "x".repeat(64 * 1024))) }).await;
    let html = serve(|_| async { plain(200, "text/html", "<!doctype html>welcome") }).await;
    for (web, told) in [(&endless, "too long"), (&html, "not a JSON object")] {
        let town = Town::new().await;
        town.state().prm["authorization_servers"] = json!([web.url("")]);
        let error = town.begin(None).await.err().unwrap();
        assert!(error.to_string().contains(told), "{error}");
        let challenge = Challenge { resource_metadata: Some(web.url("/x")), ..Challenge::default() };
        let error = town.begin_with(&options(), Some(&challenge), None).await.err().unwrap();
        assert!(error.to_string().contains(told), "{error}");
        town.state().prm["authorization_servers"] = json!([town.issuer.url("")]);
        for endpoint in ["registration_endpoint", "token_endpoint"] {
            town.state().metadata[endpoint] = json!(web.url("/y"));
        }
        assert!(town.begin(None).await.is_err());
        town.state().metadata["registration_endpoint"] = json!(town.issuer.url("/register"));
        let pending = town.begin(None).await.unwrap();
        let query = town.browse(&pending);
        assert!(town.finish(pending, &query).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn silence_ends_by_itself() {
    let silent = serve(|_| std::future::pending()).await;
    let endpoint = Endpoint::remote(&silent.url("/mcp"), &Auth::default(), Addresses::Private).unwrap();
    let error = begin_sign_in(endpoint.as_remote().unwrap(), &options(), None, None).await.err().unwrap();
    assert!(matches!(error, SignInError::Net { failure: Failure::TimedOut { .. }, .. }), "{error:?}");
}

#[tokio::test]
async fn no_redirect_carries_a_secret() {
    let thief = serve(|_| async { plain(200, "application/json", "{}") }).await;
    for code in [301, 302, 303, 307, 308] {
        let to = thief.url("/steal");
        let redirect = serve(move |_| {
            let mut answer = plain(code, "text/plain", "");
            answer.headers_mut().insert("location", to.parse().unwrap());
            async move { answer }
        })
        .await;
        let town = Town::new().await;
        // A description is not fetched from another server either.
        let challenge = Challenge { resource_metadata: Some(redirect.url("/x")), ..Challenge::default() };
        let error = town.begin_with(&options(), Some(&challenge), None).await.err().unwrap();
        assert!(matches!(error, SignInError::Net { failure: Failure::Redirect { .. }, .. }), "{error:?}");
        town.state().metadata["token_endpoint"] = json!(redirect.url("/token"));
        let pending = town.begin(None).await.unwrap();
        let query = town.browse(&pending);
        let error = town.finish(pending, &query).await.err().unwrap();
        assert!(matches!(error, SignInError::Net { failure: Failure::Redirect { .. }, .. }), "{error:?}");
    }
    assert!(thief.seen().is_empty());
}

#[tokio::test]
async fn what_the_browser_brings_is_checked_before_the_code_is_sent() {
    let town = Town::new().await;
    let pending = town.begin(None).await.unwrap();
    let good = town.browse(&pending);
    let state = pending.state().to_owned();
    let issuer = escaped(pending.issuer());
    let try_with = |query: String| {
        let (town, pending) = (&town, pending.clone());
        async move { town.finish(pending, &query).await.err().unwrap() }
    };
    for other in
        ["code=c0de".to_owned(), format!("code=c0de&state={state}x&iss={issuer}"), good.replace(&state, "")]
    {
        assert_eq!(try_with(other).await, SignInError::OtherState);
    }
    // Another issuer, one that only looks the same, and none although it promised one.
    for iss in ["&iss=https%3A%2F%2Fevil.example".to_owned(), format!("&iss={issuer}%2F"), String::new()] {
        let error = try_with(format!("code=c0de&state={state}{iss}")).await;
        assert!(matches!(error, SignInError::OtherIssuer { .. }), "{error:?}");
    }
    for twice in [format!("{good}&code=other"), format!("{good}&state=x"), format!("{good}&iss=x")] {
        assert!(matches!(try_with(twice).await, SignInError::Answer { .. }));
    }
    for none in
        [format!("state={state}&iss={issuer}"), format!("code=&state={state}&iss={issuer}"), "%zz".to_owned()]
    {
        assert!(matches!(try_with(none).await, SignInError::Answer { .. }));
    }
    let denied = format!("error=access_denied&error_description=%3Cscript%3E&state={state}&iss={issuer}");
    assert_eq!(
        try_with(denied).await,
        SignInError::Refused { error: "access_denied".to_owned(), description: None }
    );
    let odd = format!("error=%3Cscript%3E&state={state}&iss={issuer}");
    assert_eq!(try_with(odd).await, SignInError::Refused { error: "error".to_owned(), description: None });
    // The answer of one server is not taken for another's.
    let other = Town::new().await;
    let error = finish_sign_in(other.endpoint().as_remote().unwrap(), pending.clone(), &good).await;
    assert_eq!(error.err(), Some(SignInError::OtherState));
    assert!(town.asked("/token").is_empty(), "the code was sent");
    assert!(town.finish(pending, &format!("/oauth/callback?{good}")).await.is_ok());
}

#[tokio::test]
async fn answers_with_tokens_are_taken_with_care() {
    let answer = |body: Value| async move {
        let town = Town::new().await;
        town.state().token = Some((200, "application/json", body.to_string()));
        let pending = town.begin(None).await.unwrap();
        let query = town.browse(&pending);
        town.finish(pending, &query).await
    };
    for bad in [
        json!({ "access_token": "a", "token_type": "DPoP" }),
        json!({ "access_token": "a" }),
        json!({ "token_type": "Bearer" }),
        json!({ "access_token": "", "token_type": "Bearer" }),
        json!({ "access_token": "a\r\nx: y", "token_type": "Bearer" }),
        json!({ "access_token": "x".repeat(40_000), "token_type": "Bearer" }),
        json!([]),
    ] {
        let error = answer(bad.clone()).await.err().unwrap();
        assert!(matches!(error, SignInError::Unusable { .. }), "{error:?}");
    }
    let year = 366 * 24 * 3_600 * 1_000;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    for (life, most) in [(json!(1e300), year), (json!(u64::MAX), year), (json!("60"), 60_000), (json!(-5), 0)]
    {
        let good = json!({ "access_token": "a", "token_type": "BEARER", "expires_in": life });
        let end = answer(good).await.unwrap().expires_at().unwrap();
        // Half a minute for a slow machine.
        assert!((now + most..now + most + 30_000).contains(&end), "{life}");
    }
    let none =
        json!({ "access_token": "a", "token_type": "Bearer", "expires_in": {}, "refresh_token": null });
    let grant = answer(none).await.unwrap();
    assert_eq!((grant.expires_at(), grant.can_refresh()), (None, false));
    // A refusal that repeats what it was sent.
    let error = answer(json!({ "error": "invalid_grant", "error_description": "no c0de\u{7} here" })).await;
    let text = error.err().unwrap().to_string();
    assert!(text.contains("no ******** here") && !text.contains("c0de"), "{text}");
}
