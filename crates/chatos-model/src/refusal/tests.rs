//! Every body of the table is read as it is meant, and bodies that look like them and are not.

use serde_json::json;

use super::*;
use crate::Protocol;

#[path = "../../tests/refusals/mod.rs"]
#[expect(dead_code, reason = "what is done next is tried with the built program")]
mod bodies;

use bodies::{By, Refusal};

fn check(row: &Refusal) {
    let error = match row.by {
        By::Status(status) => Protocol::OpenAi.refused(status, None, row.body.to_string().as_bytes()),
        By::Stream => read(Place::Stream, &row.body).unwrap(),
    };
    assert_eq!(error.class.as_str(), row.class, "{}: {error:?}", row.name);
    let numbers = (error.limit, error.requested, error.input);
    assert_eq!(numbers, (row.limit, row.requested, row.input), "{}: {error:?}", row.name);
}

#[test]
fn too_long_in_the_words_of_every_vendor() {
    let rows = bodies::too_long();
    rows.iter().for_each(check);
    // Every sentence of the table is in one of the bodies.
    let all: String = rows.iter().map(|row| row.body.to_string().to_lowercase()).collect();
    for row in ROWS.iter().filter(|row| row.class == Class::ContextLength) {
        let there = row.sentences.iter().all(|part| all.contains(part));
        assert!(there, "no body for {} {:?}", row.vendor, row.sentences);
    }
}

#[test]
fn other_refusals_keep_their_class() {
    bodies::others().iter().for_each(check);
}

#[test]
fn what_only_looks_like_it_is_not() {
    bodies::controls().iter().for_each(check);
    assert!(read(Place::Status(400), &json!({ "ok": true })).is_none());
    assert!(read(Place::Status(400), &json!([])).is_none());
    // Gateways that wrap for ever are not followed for ever.
    let mut wrapped = json!({ "error": { "message": "prompt is too long" } });
    for _ in 0..6 {
        wrapped = json!({ "error": { "message": wrapped.to_string() } });
    }
    assert!(read(Place::Status(400), &wrapped).is_some());
}

#[test]
fn a_wait_that_stands_in_the_body_is_heard() {
    let body = |wait: &str| {
        json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded",
            "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait }] } })
        .to_string()
    };
    let wait =
        |header, text: &str| Protocol::Gemini.refused(429, header, body(text).as_bytes()).retry_after_ms;
    assert_eq!(wait(None, "31s"), Some(31_000));
    assert_eq!(wait(None, "1.5s"), Some(1_500));
    assert_eq!(wait(Some(7_000), "31s"), Some(7_000), "the header is the more exact word");
    assert_eq!((wait(None, "soon"), wait(None, "-1s")), (None, None));
}
