//! The admission table: names, origins, tokens and content types, each alone.

use super::*;

const TOKEN: &str = "0123456789abcdef";

fn ask(method: &str, uri: &str, headers: &[(&'static str, &str)]) -> Result<Admitted, u16> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let names = Names::new(7878, vec!["Box.Example".to_owned()]);
    admit(&names, &Auth::new(TOKEN), &method.parse().unwrap(), &uri.parse().unwrap(), Version::HTTP_11, &map)
        .map_err(|status| status.as_u16())
}

fn bearer_header() -> (&'static str, &'static str) {
    ("authorization", "Bearer 0123456789abcdef")
}

#[test]
fn our_names_are_accepted_in_any_case_and_nobody_elses() {
    for host in ["127.0.0.1:7878", "localhost:7878", "LOCALHOST:7878", "[::1]:7878", "box.example:7878"] {
        assert!(ask("GET", "/", &[("host", host)]).is_ok(), "{host}");
    }
    for host in [
        "evil.example:7878",
        "localhost.evil.example:7878",
        "localhost:7878.evil.example",
        "localhost",
        "localhost:80",
        "localhost:7879",
        "localhost:+7878",
        "localhost:07878",
        "127.0.0.1:07878",
        "[::1]:007878",
        "localhost:7878 ",
        "user@localhost:7878",
        "localhost:7878@evil.example",
        "127.0.0.1.nip.io:7878",
        "127.1:7878",
        "[::2]:7878",
        "[::1]7878",
        "0.0.0.0:7878",
        "",
        "p-zzzzzzzzzzzzzzzzzzzz.localhost:7878",
        "x.localhost:7878",
    ] {
        assert_eq!(ask("GET", "/", &[("host", host)]), Err(403), "{host}");
        assert_eq!(ask("GET", "/nothing", &[("host", host)]), Err(403), "{host}");
    }
    assert_eq!(ask("GET", "/", &[]), Err(403));
    assert_eq!(ask("GET", "/", &[("host", "localhost:7878"), ("host", "localhost:7878")]), Err(403));
}

#[test]
fn a_port_is_written_in_one_way_only() {
    let names = Names::new(80, Vec::new());
    assert!(names.target("localhost").is_some() && names.target("localhost:80").is_some());
    for host in ["localhost:080", "localhost:0080", "localhost:", "[::1]:080", "localhost:65616"] {
        assert_eq!(names.target(host), None, "{host}");
    }
}

#[test]
fn an_absolute_target_must_agree_with_the_header() {
    let host = ("host", "localhost:7878");
    assert!(ask("GET", "http://localhost:7878/", &[host]).is_ok());
    assert_eq!(ask("GET", "http://evil.example/", &[host]), Err(403));
    assert_eq!(ask("GET", "http://127.0.0.1:7878/", &[host]), Err(403));
}

#[test]
fn a_plugin_origin_reaches_frame_routes_only_even_with_the_token() {
    let host = ("host", "p-0123456789abcdef0123.localhost:7878");
    for path in ["/api", "/api/v1/status", "/api/v1/nothing"] {
        for method in ["GET", "POST", "OPTIONS"] {
            assert_eq!(ask(method, path, &[host, bearer_header()]), Err(404), "{method} {path}");
        }
    }
    assert_eq!(ask("GET", "/r/x/y", &[host, ("upgrade", "websocket")]), Err(404));
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        assert_eq!(ask(method, "/r/x/y", &[host, bearer_header()]), Err(405), "{method}");
    }
    let admitted = ask("GET", "/", &[host, bearer_header()]).unwrap();
    assert_eq!(admitted.target, Target::Plugin("0123456789abcdef0123".to_owned()));
    assert_eq!(admitted.session, None);
}

#[test]
fn the_api_needs_the_token_and_our_own_origin() {
    let host = ("host", "127.0.0.1:7878");
    let status = "/api/v1/status";
    assert!(ask("GET", status, &[host, bearer_header()]).unwrap().session.is_some());
    assert!(ask("GET", status, &[host, bearer_header(), ("origin", "http://127.0.0.1:7878")]).is_ok());
    for token in
        ["", "Bearer", "Bearer ", "Bearer 0123456789abcdeX", "Basic 0123456789abcdef", "0123456789abcdef"]
    {
        assert_eq!(ask("GET", status, &[host, ("authorization", token)]), Err(401), "{token}");
    }
    assert_eq!(ask("GET", status, &[host]), Err(401));
    assert_eq!(ask("GET", "/api/v1/unknown", &[host]), Err(401));
    for origin in [
        "http://evil.example",
        "null",
        "http://127.0.0.1:7879",
        "https://127.0.0.1:7878",
        "http://localhost:7878",
        "http://p-0123456789abcdef0123.localhost:7878",
        "http://127.0.0.1:7878/",
    ] {
        assert_eq!(ask("GET", status, &[host, bearer_header(), ("origin", origin)]), Err(403), "{origin}");
    }
    for site in ["cross-site", "same-site", "none"] {
        assert_eq!(
            ask("GET", status, &[host, bearer_header(), ("sec-fetch-site", site)]),
            Err(403),
            "{site}"
        );
    }
    let upgrade = [host, ("upgrade", "websocket"), ("origin", "http://evil.example")];
    assert_eq!(ask("GET", "/api/v1/events", &upgrade), Err(403));
}

#[test]
fn writes_need_json_and_preflights_are_refused() {
    let host = ("host", "127.0.0.1:7878");
    let put = "/api/v1/settings/retry";
    let with = |kind: &'static str| [host, bearer_header(), ("content-type", kind)];
    assert!(ask("PUT", put, &with("application/json; charset=utf-8")).is_ok());
    for kind in
        ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded", "application/jsonx"]
    {
        assert_eq!(ask("PUT", put, &with(kind)), Err(415), "{kind}");
        assert_eq!(ask("POST", "/api/v1/auth/exchange", &[host, ("content-type", kind)]), Err(415), "{kind}");
    }
    assert_eq!(ask("PUT", put, &[host, bearer_header()]), Err(415));
    assert!(ask("DELETE", put, &[host, bearer_header()]).is_ok());
    assert_eq!(ask("OPTIONS", put, &[host, bearer_header()]), Err(405));
    assert_eq!(ask("POST", "/", &[host]), Err(405));
}

#[test]
fn ambiguous_framing_and_old_versions_are_refused() {
    let headers = [("host", "127.0.0.1:7878"), ("transfer-encoding", "chunked"), ("content-length", "3")];
    assert_eq!(ask("GET", "/", &headers), Err(400));
    let names = Names::new(7878, Vec::new());
    let mut map = HeaderMap::new();
    map.append("host", "127.0.0.1:7878".parse().unwrap());
    let old = admit(&names, &Auth::new(TOKEN), &Method::GET, &"/".parse().unwrap(), Version::HTTP_10, &map);
    assert_eq!(old.unwrap_err(), StatusCode::FORBIDDEN);
}
