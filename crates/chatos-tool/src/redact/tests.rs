//! The table of tools §9, every rule, and the property that no encoded form of a known secret survives.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn logged(value: Value) -> Value {
    Redactor::new().value(&value, 4000)
}

fn text(input: &str) -> String {
    Redactor::new().text(input).into_owned()
}

#[test]
fn the_table_of_the_specification() {
    let plain = json!({"author": "Li", "max_tokens": 512});
    assert_eq!(logged(plain.clone()), plain);
    assert_eq!(logged(json!({"apiKey": "abc"})), json!({"apiKey": "[redacted:key]"}));
    assert_eq!(logged(json!({"auth": {"basic": {"password": "p"}}})), json!({"auth": "[redacted:key]"}));
    assert_eq!(
        logged(json!({"env": {"MY_PASS": "hunter22"}})),
        json!({"env": {"MY_PASS": "[redacted:env]"}})
    );
    assert_eq!(
        logged(json!({"command": "curl -H 'Authorization: Bearer eyJhbGciOi…' https://u:p@h/x"})),
        json!({"command": "curl -H 'Authorization: Bearer [redacted:bearer]' https://[redacted:userinfo]@h/x"})
    );
    assert_eq!(
        logged(json!({"contents": "key = sk-live0123456789abcdef"})),
        json!({"contents": "key = [redacted:pattern]"})
    );
}

#[test]
fn everything_inside_env_and_headers_goes_and_the_keys_stay() {
    assert_eq!(
        logged(json!({"headers": {"X": ["a", 1], "Y": null}, "env": ["A=b"], "x": {"env": "raw"}})),
        json!({"headers": {"X": ["[redacted:headers]", "[redacted:headers]"], "Y": null},
               "env": ["[redacted:env]"], "x": {"env": "[redacted:env]"}})
    );
}

#[test]
fn credentials_by_their_look() {
    for (input, output) in [
        ("x ghp_0123456789abcdefABCDEF0123456789abcd y", "x [redacted:pattern] y"),
        ("github_pat_11ABCDEFG0123456789_abc", "[redacted:pattern]"),
        ("xoxb-123456789012-abcdefghijkl", "[redacted:pattern]"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id [redacted:pattern]."),
        ("ASIAIOSFODNN7EXAMPLE", "[redacted:pattern]"),
        ("AIzaSyA-1234567890abcdefghijklmnopqrstu", "[redacted:pattern]"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_ end", "jwt [redacted:pattern] end"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
            "[redacted:pattern]\nafter",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE and no end", "[redacted:pattern]"),
        ("authorization: bearer abc.def", "authorization: bearer [redacted:bearer]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted:basic]"),
        (
            "git clone https://x-token-0123456789@host/r.git",
            "git clone https://[redacted:userinfo]@host/r.git",
        ),
        ("postgres://u:p%40w@db:5432/x", "postgres://[redacted:userinfo]@db:5432/x"),
        ("password=hunter2&user=me", "password=[redacted:assignment]&user=me"),
        ("Passwd : 'a b c' then", "Passwd : '[redacted:assignment]' then"),
        ("{\"token\": \"abc\"}", "{\"token\": \"[redacted:assignment]\"}"),
        (r#"{\"secret\":\"abc\"}"#, r#"{\"secret\":\"[redacted:assignment]\"}"#),
        ("export API_KEY=abc123", "export API_KEY=[redacted:assignment]"),
        ("api-key: abc, next", "api-key: [redacted:assignment], next"),
        ("mysql --password hunter2 -h x", "mysql --password [redacted:option] -h x"),
        ("tool --token=abc --x", "tool --token=[redacted:assignment] --x"),
        ("curl -u me:pw https://h", "curl -u [redacted:userinfo] https://h"),
        ("curl --user 'me:pw' https://h", "curl --user '[redacted:userinfo]' https://h"),
        ("password=\"it's é\\\" here\" x", "password=\"[redacted:assignment]\" x"),
    ] {
        assert_eq!(text(input), output, "{input}");
        assert_eq!(text(output), output, "doing it twice changes nothing: {output}");
    }
}

#[test]
fn ordinary_text_stays() {
    for input in [
        "author: Li, max_tokens: 512",
        "task-runner-with-a-long-name and risk-averse",
        "the tokens: 5, tokenizer: bpe",
        "https://example.com/a:b@c and mailto:me@example.com",
        "ssh://git@github.com/x",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "sort -u file, ls -u",
        "--password-file x",
        "basic training session",
        "AKIA is a prefix",
        "docker run -u 1000:1000x",
    ] {
        let expected = match input {
            // A numeric user and group has the same form as user:pass; hiding it is the safe side.
            "docker run -u 1000:1000x" => "docker run -u [redacted:userinfo]",
            other => other,
        };
        assert_eq!(text(input), expected);
    }
}

#[test]
fn a_sentence_for_a_person_keeps_its_words() {
    let redactor = Redactor::new();
    redactor.learn("correct horse battery");
    for (input, output) in [
        ("Enter the password: at least 8 letters", "Enter the password: at least 8 letters"),
        ("Which bearer token should be used?", "Which bearer token should be used?"),
        ("password: hunter22", "password: [redacted:assignment]"),
        ("it is correct horse battery", "it is [redacted:known]"),
        ("use sk-live0123456789abcdef", "use [redacted:pattern]"),
    ] {
        assert_eq!(redactor.message(input), output);
    }
}

#[test]
fn short_secrets_are_not_learnt() {
    let redactor = Redactor::new();
    redactor.learn("short");
    assert_eq!(redactor.text("a short word"), "a short word");
    assert_eq!(redactor.known("sk-live0123456789abcdef"), "sk-live0123456789abcdef", "only known ones");
}

#[test]
fn a_cut_never_exposes_half_a_secret() {
    let redactor = Redactor::new();
    let secret = "S3cret-value-that-is-long-0123456789";
    redactor.learn(secret);
    let input = format!("{}{secret}{}", "a".repeat(95), "b".repeat(100_000));
    let out = redactor.trimmed(&input, 100);
    assert!(!out.contains("S3"), "{out}");
    assert_eq!(
        out,
        format!("{}[reda…({} more chars)", "a".repeat(95), "cted:known]".len() + 2 + 100_000 - 2)
    );
    assert_eq!(redactor.trimmed("abc", 3), "abc");
    assert_eq!(redactor.trimmed("abcd", 3), "abc…(1 more chars)");
    assert_eq!(redactor.trimmed("汉字汉字", 2), "汉字…(2 more chars)");
    // A long key block in front shrinks to a few characters: what is shown then must still be vouched for.
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}", "A".repeat(50_000));
    assert!(!redactor.trimmed(&pem, 40).contains("AAAA"));
}

#[test]
fn the_finder_of_patterns_can_be_built() {
    assert_eq!(text("nothing here"), "nothing here");
}

fn percent(secret: &str, plain: &[bool], lower: bool) -> String {
    let mut out = String::new();
    for (at, byte) in secret.bytes().enumerate() {
        let keep = plain[at % plain.len()] && byte.is_ascii_alphanumeric();
        if keep {
            out.push(char::from(byte));
        } else if lower {
            out.push_str(&format!("%{byte:02x}"));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn escaped(secret: &str, plain: &[bool]) -> String {
    let mut out = String::new();
    for (at, c) in secret.chars().enumerate() {
        let inner = serde_json::to_string(&c).unwrap();
        if plain[at % plain.len()] {
            out.push_str(&inner[1..inner.len() - 1]);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units).iter() {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

proptest! {
    #[test]
    fn every_encoded_form_of_a_known_secret_is_found(
        secret in "[a-zA-Z0-9é汉😀 %+\\\\\"/=:@\n.-]{8,40}",
        before in "[a-z ]{0,12}",
        after in "[a-z ]{0,12}",
        plain in proptest::collection::vec(any::<bool>(), 1..6),
        lower in any::<bool>(),
    ) {
        prop_assume!(!before.contains(&secret) && !after.contains(&secret));
        let redactor = Redactor::new();
        redactor.learn(&secret);
        let around = |middle: &str| format!("{before}<{middle}>{after}");
        let joined = format!("{before}{secret}{after}");
        let forms = [
            secret.clone(),
            percent(&secret, &plain, lower),
            escaped(&secret, &plain),
            STANDARD.encode(&secret),
            STANDARD.encode(&joined),
            STANDARD_NO_PAD.encode(&joined),
            URL_SAFE.encode(&joined),
            URL_SAFE_NO_PAD.encode(&joined),
        ];
        for form in forms {
            let input = around(&form);
            let out = redactor.known(&input);
            prop_assert!(out.contains("[redacted:known]"), "{input:?} -> {out:?}");
            prop_assert!(!out.contains(&form), "{input:?} -> {out:?}");
            let (head, tail) = (format!("{before}<"), format!(">{after}"));
            prop_assert!(out.starts_with(&head) && out.ends_with(&tail), "nothing else goes: {input:?} -> {out:?}");
            // The same through the log's own path, cut anywhere.
            for max in [3, before.len() + 4, 4000] {
                let cut = redactor.trimmed(&input, max);
                prop_assert!(!cut.contains(&form), "{cut:?}");
            }
        }
    }

    #[test]
    fn redaction_never_breaks_a_text(input in "\\PC{0,200}") {
        let redactor = Redactor::new();
        redactor.learn("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}");
        let once = redactor.text(&input).into_owned();
        prop_assert!(redactor.trimmed(&input, 10).chars().count() <= 10 + "…(200000 more chars)".len());
        prop_assert!(once.len() <= input.len() + 32 * 200);
    }

    #[test]
    fn hostile_texts_around_the_words_of_the_table(parts in proptest::collection::vec(
        prop_oneof![
            Just("password"), Just("--token "), Just("="), Just("\""), Just("\\"), Just("\\\""), Just("é"), Just("汉"),
            Just("://"), Just("a:b@"), Just("bearer "), Just("-----BEGIN "), Just("PRIVATE KEY-----"), Just("-----END "),
            Just("-u "), Just("eyJabcdefgh."), Just("sk-"), Just(" "), Just("\n"), Just("authorization: basic "),
        ], 0..30)) {
        let input = parts.concat();
        let out = text(&input);
        prop_assert!(out.is_char_boundary(out.len()));
    }
}
