//! Anthropic's cache over a run of fifty passes (working-day §5, §13 point 9): a server that keeps and looks up what it is
//! sent as Anthropic describes it, a host that is started anew on the way, and what a person is told of it.

use std::sync::{Arc, Mutex};

use chatos_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Stand, offered, send, session, until};

#[path = "../../../chatos-model/tests/cache/mod.rs"]
mod cache;

use cache::Cache;

const PASSES: usize = 50;

/// Calls of a pass: one or two, and now and then many at once, which is more than a cache looks back over.
fn calls(pass: usize) -> usize {
    if pass % 12 == 7 { 24 } else { 1 + pass % 2 }
}

#[test]
fn most_of_fifty_passes_is_read_from_the_cache_and_said() {
    let kept = Arc::new(Mutex::new((Cache::default(), 0)));
    let keeping = Arc::clone(&kept);
    let stand = Stand::speaking(
        &json!({ "provider": "anthropic", "reasoningEffort": "minimal", "maxOutputTokens": 1024,
            "contextTokens": 200_000, "priceInput": 3.0, "priceCacheRead": 0.3, "priceOutput": 15.0 }),
        move |request| {
            let mut kept = keeping.lock().unwrap();
            let (cached, all) = kept.0.ask(request);
            let pass = kept.1;
            kept.1 += 1;
            let said = if pass < PASSES {
                let call = |number| {
                    let arguments = json!({ "key": format!("k-{pass}-{number}"), "size": 900 });
                    (
                        format!("toolu_{pass}_{number}"),
                        offered(request, "big").unwrap(),
                        arguments.to_string(),
                    )
                };
                let text = if pass % 3 == 0 { "Next." } else { "" };
                let calls = (0..calls(pass)).map(call).collect();
                Script::thinking(format!("thought {pass}"), Script::Answer { text: text.into(), calls })
            } else {
                Script::say("done")
            };
            Script::cached(said, all as u64 / 4, cached as u64 / 4)
        },
    );
    let host = stand.sandbox.serve();
    for (key, value) in [("maxToolPasses", 500), ("runMaxToolCalls", 2000)] {
        let set = host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&json!({ "value": value })));
        assert!(set.status < 300, "{key}: {}", set.text());
    }
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, &"Do all of it. ".repeat(40));
    assert_eq!(until(&host, &run, &["done", "failed"])["state"], "done");
    host.stop();
    // The chat goes on in another process: what is sent is the same to the byte.
    let host = stand.sandbox.serve();
    let run = send(&host, &chat, "And now?");
    assert_eq!(until(&host, &run, &["done", "failed"])["state"], "done");
    let share = kept.lock().unwrap().0.share();
    assert_eq!(stand.model.asked(), PASSES + 2);
    assert!(share >= 85, "{share} % were read from the cache");
    // The same is what is counted and shown.
    let used = stand.sandbox.run(&["usage", "--json"]).json();
    let number = |member: &str| used["items"][0][member].as_u64().unwrap();
    let (fresh, read, wrote) = (number("input"), number("cacheRead"), number("cacheWrite"));
    let counted = (read * 100 / (fresh + read + wrote)) as usize;
    assert!(counted.abs_diff(share) <= 1, "{counted} % of {share} %: {used}");
    let shown = stand.sandbox.run(&["usage"]);
    assert!(shown.stdout.contains(&format!("{counted} %")), "{shown:?}");
    let free = used["items"][0]["cost"].as_f64().unwrap();
    assert!(free > 0.0 && free < (fresh + read) as f64 * 3e-6, "what is read costs less: {used}");
    host.stop();
}

/// A vendor's own requests after one another, as a check of the check: nothing is read of what changed at its beginning.
#[test]
fn a_request_with_another_beginning_reads_nothing() {
    let body = |system: &str| -> Value {
        let marked = json!({ "type": "ephemeral" });
        json!({ "tools": [{ "name": "t", "cache_control": marked }],
            "system": [{ "type": "text", "text": system, "cache_control": marked }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "x", "cache_control": marked }] }] })
    };
    let mut cache = Cache::default();
    assert_eq!(cache.ask(&body("one")).0, 0);
    let (read, all) = cache.ask(&body("one"));
    assert_eq!(read, all);
    assert!(cache.ask(&body("another")).0 < all / 2, "only the tools are the same");
}
