//! Who goes through a proxy, and what is said to one.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::*;

fn origin(uri: &str) -> Origin {
    Origin::of(&uri.parse().unwrap()).unwrap()
}

#[test]
fn addresses_of_proxies_are_read_with_their_names_and_nothing_after() {
    let read = |text: &str| {
        parse_proxy(text)
            .map(|(origin, user)| (origin.secure, origin.target(), user.map(|user| user.to_string())))
    };
    assert_eq!(read("http://p.example:3128"), Some((false, "p.example:3128".into(), None)));
    assert_eq!(read(" p.example:8080 "), Some((false, "p.example:8080".into(), None)));
    assert_eq!(
        read("https://u:p%40x@P.example/"),
        Some((true, "p.example:443".into(), Some("u:p%40x".into())))
    );
    for wrong in
        ["", "socks5://h:1", "http://", "http://h/path", "http://h?x=1", "http://h:0", "ws://h:1", "::"]
    {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn what_is_excepted_and_what_is_this_machine() {
    let list =
        "example.org, .corp.example,10.0.0.0/8 192.0.2.7,[2001:db8::]/32,2001:db9::1,only.example:8443";
    for (uri, expected) in [
        ("https://example.org/", true),
        ("https://api.example.org/", true),
        ("https://notexample.org/", false),
        ("https://a.corp.example/", true),
        ("https://10.200.1.1/", true),
        ("https://11.0.0.1/", false),
        ("https://192.0.2.7:8/", true),
        ("https://192.0.2.8/", false),
        ("https://[2001:db9::1]/", true),
        ("https://[2001:dba::1]/", false),
        ("https://only.example/", false),
        ("https://only.example:8443/", true),
    ] {
        assert_eq!(is_excepted(list, &origin(uri)), expected, "{uri}");
    }
    assert!(is_excepted("*", &origin("https://any.example/")));
    assert!(!is_excepted(" , ,.", &origin("https://any.example/")));
    assert!(is_excepted("2001:db8::/32", &origin("https://[2001:db8::5]/")));
    assert!(
        is_excepted("0.0.0.0/0", &origin("https://9.9.9.9/"))
            && !is_excepted("1.1.1.1/99", &origin("https://1.1.1.1/"))
    );
    for (host, expected) in [
        ("localhost", true),
        ("LOCALHOST.", true),
        ("a.localhost", true),
        ("127.9.9.9", true),
        ("::1", true),
        ("::ffff:127.0.0.1", true),
        ("0.0.0.0", true),
        ("localhost.example", false),
        ("10.0.0.1", false),
    ] {
        assert_eq!(is_loopback(host), expected, "{host}");
    }
}

/// One proxy that says something to whoever comes and tells what it heard.
async fn proxy(says: &'static str) -> (Proxy, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\n") {
            heard.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(says.as_bytes()).await.unwrap();
        String::from_utf8(heard).unwrap()
    });
    let origin = origin(&format!("http://127.0.0.1:{port}"));
    (Proxy { origin, authorization: Some(Zeroizing::new("Basic dTpw".to_owned())) }, heard)
}

#[tokio::test]
async fn a_tunnel_is_asked_for_by_name_and_a_refusal_says_what_it_was() {
    let target = origin("https://model.invalid/v1");
    for (says, status, words) in [
        ("HTTP/1.1 407 Auth\r\n\r\n", Some(407), "does not take"),
        ("HTTP/1.0 503 Busy\r\nX: y\r\n\r\n", Some(503), "refused with 503"),
        ("SSH-2.0-x\r\n\r\n", None, "does not speak like a proxy"),
        ("HTTP/1.1 two\r\n\r\n", None, "does not speak like a proxy"),
        // Gone in the middle; how the system puts it is its own affair.
        ("HTTP/1.1 200", None, ""),
    ] {
        let (proxy, heard) = proxy(says).await;
        let error = connect_through(&proxy, &target, Addresses::Public).await.err().unwrap();
        let NetError::Proxy { status: was, error: text, .. } = &error else { panic!("{error}") };
        assert!(*was == status && text.contains(words), "{says}: {error}");
        assert!(!error.to_string().contains("dTpw") && !format!("{proxy:?}").contains("dTpw"));
        let heard = heard.await.unwrap();
        assert!(
            heard.starts_with("CONNECT model.invalid:443 HTTP/1.1\r\nHost: model.invalid:443\r\n"),
            "{heard}"
        );
        assert!(heard.contains("\r\nProxy-Authorization: Basic dTpw\r\n"), "{heard}");
    }
    // The tunnel is there, and what is behind it must prove itself.
    let (proxy, heard) = proxy("HTTP/1.1 200 Connection established\r\n\r\nnot TLS at all").await;
    let error = connect_through(&proxy, &target, Addresses::Public).await.err().unwrap();
    assert!(matches!(error, NetError::Tls { .. }), "{error}");
    heard.await.unwrap();
}

#[tokio::test]
async fn addresses_that_are_never_allowed_are_not_asked_of_a_proxy_either() {
    let nobody = Proxy { origin: origin("http://127.0.0.1:9"), authorization: None };
    for target in ["http://169.254.169.254/", "https://[fd00:ec2::254]/"] {
        let error = connect_through(&nobody, &origin(target), Addresses::Private).await.err().unwrap();
        assert!(matches!(error, NetError::AddressRefused { can_allow: false, .. }), "{error}");
    }
}
