//! What an old server asks: the person, the model, the folders, nonsense.

use std::sync::{Arc, Mutex};

use chatos_mcp::{Asked, ElicitAnswer, Elicitation, Hooks, Later, NoHooks, Offers, Root};
use serde_json::{Value, json};

use crate::support::{eventually, fixture, pool_with, request, spec, text, within};

/// A host that says yes and writes down the question.
#[derive(Default)]
struct Willing {
    asked: Mutex<Vec<(Vec<String>, Elicitation)>>,
    withdrawn: Arc<Mutex<bool>>,
}

impl Hooks for Willing {
    fn elicit(&self, asked: Asked, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        self.asked.lock().unwrap().push((asked.calls.clone(), ask.clone()));
        let withdrawn = Arc::clone(&self.withdrawn);
        Box::pin(async move {
            if matches!(&ask, Elicitation::Form { message, .. } if message == "never mind") {
                let _told = TellOnDrop(withdrawn);
                std::future::pending::<()>().await;
            }
            Ok(ElicitAnswer::Accept(json!({ "n": 7 }).as_object().cloned().unwrap()))
        })
    }

    fn sample(&self, _asked: Asked, params: Value) -> Later<Result<Value, String>> {
        Box::pin(async move {
            if params["maxTokens"] == 1 {
                return Err("the person said no".to_owned());
            }
            Ok(json!({ "role": "assistant", "content": { "type": "text", "text": "hello" }, "model": "m" }))
        })
    }

    fn roots(&self, _asked: Asked) -> Later<Vec<Root>> {
        Box::pin(async { vec![Root { uri: "file:///project".into(), name: None }] })
    }
}

struct TellOnDrop(Arc<Mutex<bool>>);

impl Drop for TellOnDrop {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = true;
    }
}

async fn ask(
    pool: &chatos_mcp::Pool,
    key: &chatos_mcp::ServerKey,
    id: Value,
    method: &str,
    params: Value,
) -> Value {
    let mut call = request("ask", json!({ "id": id, "method": method, "params": params }));
    call.tag = Some("call_1".into());
    let outcome = within(pool.call(key, call)).await.unwrap();
    let chatos_mcp::CallOutcome::Complete(result) = outcome else { panic!("{outcome:?}") };
    serde_json::from_str(&result.text()).unwrap()
}

#[tokio::test]
async fn questions_reach_the_host_and_answers_the_server() {
    let hooks = Arc::new(Willing::default());
    let (pool, key) = pool_with(spec("s", fixture(&[])), Arc::clone(&hooks) as _);
    let form = json!({ "message": "how many?", "requestedSchema": { "type": "object" } });
    let answer = ask(&pool, &key, json!("q-1"), "elicitation/create", form).await;
    assert_eq!(
        answer,
        json!({ "jsonrpc": "2.0", "id": "q-1", "result": { "action": "accept", "content": { "n": 7 } } })
    );
    let asked = hooks.asked.lock().unwrap().clone();
    assert_eq!(asked[0].0, ["call_1"], "the question names the call it can belong to");
    let url = json!({ "mode": "url", "message": "sign in", "url": "https://a.example/login", "elicitationId": "e" });
    let answer = ask(&pool, &key, json!(4_000_000), "elicitation/create", url).await;
    assert_eq!(answer["result"]["action"], "accept");
    let bad =
        ask(&pool, &key, json!("x"), "elicitation/create", json!({ "mode": "url", "url": "file:///etc" }))
            .await;
    assert_eq!(bad["error"]["code"], -32602);
    let sampled = ask(&pool, &key, json!("s"), "sampling/createMessage", json!({ "messages": [] })).await;
    assert_eq!(sampled["result"]["content"]["text"], "hello");
    let refused = ask(&pool, &key, json!("s"), "sampling/createMessage", json!({ "maxTokens": 1 })).await;
    assert_eq!(refused["error"]["message"], "the person said no");
    let roots = ask(&pool, &key, json!("r"), "roots/list", json!({})).await;
    assert_eq!(roots["result"]["roots"], json!([{ "uri": "file:///project" }]));
    let ping = ask(&pool, &key, json!("i"), "ping", json!({})).await;
    assert_eq!(ping["result"], json!({}));
    let unknown = ask(&pool, &key, json!("u"), "shell/run", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    pool.close().await;
}

#[tokio::test]
async fn a_withdrawn_question_is_withdrawn_for_the_host_too() {
    let hooks = Arc::new(Willing::default());
    let (pool, key) = pool_with(spec("s", fixture(&[])), Arc::clone(&hooks) as _);
    assert_eq!(text(&pool, &key, "withdraw", json!({})).await, "withdrawn");
    let withdrawn = Arc::clone(&hooks.withdrawn);
    let asked = || hooks.asked.lock().unwrap().is_empty();
    eventually("the question is gone", || asked() || *withdrawn.lock().unwrap()).await;
    pool.close().await;
}

#[tokio::test]
async fn what_is_not_offered_is_refused_without_asking_anybody() {
    let mut closed = spec("s", fixture(&[]));
    closed.offers = Offers::default();
    let (pool, key) = pool_with(closed, Arc::new(NoHooks));
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let answer = ask(&pool, &key, json!("q"), method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    pool.close().await;
}

#[tokio::test]
async fn whether_a_server_may_ask_a_model_changes_while_it_runs() {
    for switches in [&[] as &[&str], &["era=modern"]] {
        let offering = |sampling: bool| {
            let mut spec = spec("s", fixture(switches));
            spec.offers.sampling = sampling;
            spec
        };
        let (pool, key) = pool_with(offering(false), Arc::new(Willing::default()));
        let pid = text(&pool, &key, "pid", json!({})).await;
        for (sampling, answer) in [(false, "/error/code"), (true, "/result/model"), (false, "/error/code")] {
            pool.put(offering(sampling));
            let answered = ask(&pool, &key, json!("s"), "sampling/createMessage", json!({})).await;
            assert!(answered.pointer(answer).is_some(), "{switches:?} {sampling} {answered}");
            let told: Value = serde_json::from_str(&text(&pool, &key, "meta", json!({})).await).unwrap();
            let told = &told["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(told["sampling"].is_object(), sampling && !switches.is_empty(), "{told}");
        }
        assert_eq!(text(&pool, &key, "pid", json!({})).await, pid, "{switches:?}: the same process");
        pool.close().await;
    }
}

/// A person who takes their time.
struct Slow;

impl Hooks for Slow {
    fn elicit(&self, _asked: Asked, _ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        Box::pin(async {
            tokio::time::sleep(std::time::Duration::from_secs(3)).await;
            Ok(ElicitAnswer::Decline)
        })
    }
}

#[tokio::test]
async fn a_call_lives_while_the_person_thinks() {
    let (pool, key) = pool_with(spec("s", fixture(&[])), Arc::new(Slow));
    let params = json!({ "message": "well?", "requestedSchema": { "type": "object" } });
    let mut call = request("ask", json!({ "id": "q", "method": "elicitation/create", "params": params }));
    // Far less than the person takes.
    call.idle = Some(std::time::Duration::from_secs(1));
    let outcome = within(pool.call(&key, call)).await;
    let Ok(chatos_mcp::CallOutcome::Complete(result)) = outcome else { panic!("{outcome:?}") };
    let answer: Value = serde_json::from_str(&result.text()).unwrap();
    assert_eq!(answer["result"]["action"], "decline");
    pool.close().await;
}
