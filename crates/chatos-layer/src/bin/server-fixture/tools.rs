//! The tools the suite calls by name.

use std::sync::atomic::Ordering;
use std::time::Duration;

use chatos_layer::{
    Body, BoxFuture, CallCx, Capability, Change, ClientAsk, ClientRound, Outcome, Server, ServerInfo,
    Severity, Tool,
};
use chatos_tool::{Annotations, Confirm, Content, Needed, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ENDPOINT;
use crate::offers::{self, form, optional_form};

/// A second of silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// The layer passes on at most five reports a second.
const STEP: Duration = Duration::from_millis(260);

type Said = Result<Outcome<Done>, ToolError>;
type Work<A> = for<'c> fn(A, &'c CallCx) -> BoxFuture<'c, Said>;

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
struct Prompt {
    /// What the model is asked
    #[schemars(extend("x-zh" = "向模型提出的问题"))]
    prompt: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Message {
    /// What the person reads
    #[schemars(extend("x-zh" = "显示给用户的文字"))]
    message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    /// It is done
    done: bool,
}

/// A tool made of a name and a function; its results hold media, or they do not.
struct Named<A, const MEDIA: bool> {
    spec: &'static ToolSpec,
    work: Work<A>,
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static, const MEDIA: bool> Tool for Named<A, MEDIA> {
    type Args = A;
    type Data = Done;
    const MEDIA: bool = MEDIA;

    fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    async fn call(&self, args: A, cx: &CallCx) -> Said {
        (self.work)(args, cx).await
    }
}

fn named<A>(name: &'static str, work: Work<A>) -> Named<A, false> {
    made(name, work)
}

fn shows<A>(name: &'static str, work: Work<A>) -> Named<A, true> {
    made(name, work)
}

fn made<A, const MEDIA: bool>(name: &'static str, work: Work<A>) -> Named<A, MEDIA> {
    let spec = ToolSpec {
        name,
        title: Text::fixed(name, name),
        description: Text::fixed("Does what the conformance suite expects.", "按一致性测试套件的要求运行。"),
        annotations: Annotations::of("R I"),
        confirm: Confirm::None,
        version: 1,
    };
    // One per tool, for the life of the process.
    Named { spec: Box::leak(Box::new(spec)), work }
}

/// The server with all its tools.
pub(super) fn server(info: &'static ServerInfo) -> Server {
    let server = Server::new(info)
        .with(named("test_simple_text", simple))
        .with(shows("test_image_content", image))
        .with(shows("test_audio_content", audio))
        .with(shows("test_embedded_resource", embedded))
        .with(shows("test_multiple_content_types", several))
        .with(named("test_tool_with_logging", logging))
        .with(named("test_logging_tool", logging))
        .with(named("test_error_handling", failing))
        .with(named("test_tool_with_progress", progress))
        .with(named("test_sampling", sampling))
        .with(named("test_elicitation", elicitation))
        .with(named("test_elicitation_sep1034_defaults", defaults))
        .with(named("test_elicitation_sep1330_enums", enums))
        .with(named("test_missing_capability", missing))
        .with(named("test_streaming_elicitation", elicited_name))
        .with(named("test_trigger_tool_change", trigger_tools))
        .with(named("test_trigger_prompt_change", trigger_prompts))
        .with(named("test_trigger_resource_change", trigger_resource));
    server
        .with(named("test_input_required_result_elicitation", elicited_name))
        .with(named("test_input_required_result_sampling", sampled_capital))
        .with(named("test_input_required_result_list_roots", roots))
        .with(named("test_input_required_result_request_state", stateful))
        .with(named("test_input_required_result_tampered_state", stateful))
        .with(named("test_input_required_result_multiple_inputs", several_inputs))
        .with(named("test_input_required_result_multi_round", two_rounds))
        .with(named("test_input_required_result_capabilities", what_is_offered))
}

fn said(text: impl Into<String>) -> Outcome<Done> {
    Outcome::Ok(Body::content(Done { done: true }, text))
}

fn with(part: Content) -> Outcome<Done> {
    Outcome::Ok(Body::content(Done { done: true }, "See the next part.").part(part))
}

fn simple(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async { Ok(said("This is a simple text response for testing.")) })
}

fn image(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async { Ok(with(offers::picture())) })
}

fn audio(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    let sound = Content::Audio { data: WAV.to_owned(), mime_type: "audio/wav".to_owned() };
    Box::pin(async { Ok(with(sound)) })
}

fn embedded(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    let inside =
        offers::text("test://embedded-resource", "text/plain", "This is an embedded resource content.");
    Box::pin(async { Ok(with(Content::document(inside))) })
}

fn several(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    let data = json!({"test": "data", "value": 123}).to_string();
    let inside = offers::text("test://mixed-content-resource", "application/json", data);
    let body = Body::content(Done { done: true }, "Multiple content types test:");
    Box::pin(async { Ok(Outcome::Ok(body.part(offers::picture()).part(Content::document(inside)))) })
}

fn logging(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            cx.log_to_client(Severity::Info, json!(line)).await;
            cx.unless_stopped(tokio::time::sleep(Duration::from_millis(50))).await?;
        }
        Ok(said("Three lines were logged."))
    })
}

fn failing(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    let message =
        Text::fixed("this tool intentionally returns an error for testing", "此工具为测试而返回错误");
    Box::pin(async { Err(ToolError::unavailable(Needed::Process, message)) })
}

fn progress(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        for value in [0.0, 50.0, 100.0] {
            cx.progress(Some(value), Some(100.0), &Text::fixed("working", "进行中"), None);
            cx.unless_stopped(tokio::time::sleep(STEP)).await?;
        }
        Ok(said("Progress was reported."))
    })
}

fn sample(text: &str, tokens: u32) -> ClientAsk {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    ClientAsk::Sample(json!({"messages": [message], "maxTokens": tokens}))
}

fn sampled(answer: &Value) -> &str {
    answer["content"]["text"].as_str().unwrap_or_default()
}

fn sampling(args: Prompt, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let answers = cx.ask_client(ClientRound::one("answer", sample(&args.prompt, 100))).await?;
        Ok(said(format!("LLM response: {}", sampled(&answers["answer"]))))
    })
}

fn missing(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let answers = cx.ask_client(ClientRound::one("answer", sample("Hello", 10))).await?;
        Ok(said(sampled(&answers["answer"])))
    })
}

fn filled(answer: &Value) -> Outcome<Done> {
    said(format!("Elicitation completed: action={}, content={}", answer["action"], answer["content"]))
}

fn elicitation(args: Message, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let fields = json!({
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        });
        let answers = cx.ask_client(ClientRound::one("user", form(&args.message, fields))).await?;
        let user = &answers["user"];
        Ok(said(format!("User response: action={}, content={}", user["action"], user["content"])))
    })
}

fn defaults(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        }});
        let round = ClientRound::one("form", optional_form("Please check these values.", schema));
        Ok(filled(&cx.ask_client(round).await?["form"]))
    })
}

fn enums(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let plain = json!(["option1", "option2", "option3"]);
        let titled = |word: &str| {
            let option =
                |(value, nth): (&str, &str)| json!({"const": value, "title": format!("{nth} {word}")});
            let all = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
            all.map(option).to_vec()
        };
        let schema = json!({"type": "object", "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        }});
        let round = ClientRound::one("form", optional_form("Please choose.", schema));
        Ok(filled(&cx.ask_client(round).await?["form"]))
    })
}

fn name_form() -> ClientAsk {
    form("What is your name?", json!({"name": {"type": "string"}}))
}

fn name_of(answer: &Value) -> &str {
    answer["content"]["name"].as_str().unwrap_or("stranger")
}

fn elicited_name(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let answers = cx.ask_client(ClientRound::one("user_name", name_form())).await?;
        Ok(said(format!("Hello, {}!", name_of(&answers["user_name"]))))
    })
}

fn sampled_capital(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let round = ClientRound::one("capital_question", sample("What is the capital of France?", 100));
        let answers = cx.ask_client(round).await?;
        Ok(said(sampled(&answers["capital_question"])))
    })
}

fn roots(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let answers = cx.ask_client(ClientRound::one("client_roots", ClientAsk::Roots)).await?;
        Ok(said(format!("Roots: {}", answers["client_roots"]["roots"])))
    })
}

fn stateful(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let confirm = form("Please confirm", json!({"ok": {"type": "boolean"}}));
        cx.ask_client(ClientRound::one("confirm", confirm).state(json!({"round": 1}))).await?;
        Ok(said("state-ok"))
    })
}

fn several_inputs(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let round = ClientRound::one("user_name", name_form())
            .and("greeting", sample("Generate a greeting", 50))
            .and("client_roots", ClientAsk::Roots)
            .state(json!({"round": 1}));
        let answers = cx.ask_client(round).await?;
        let roots = answers["client_roots"]["roots"].as_array().map_or(0, Vec::len);
        let (greeting, name) = (sampled(&answers["greeting"]), name_of(&answers["user_name"]));
        Ok(said(format!("{greeting}, {name}! ({roots} roots)")))
    })
}

fn two_rounds(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        // What the first round brought comes back with the second.
        let second = cx.round_state().filter(|state| state["step"] == 2).cloned();
        let state = match second {
            Some(state) => state,
            None => {
                let ask = form("Step 1: What is your name?", json!({"name": {"type": "string"}}));
                let answers = cx.ask_client(ClientRound::one("step1", ask).state(json!({"step": 1}))).await?;
                json!({"step": 2, "name": name_of(&answers["step1"])})
            }
        };
        let name = state["name"].as_str().unwrap_or_default().to_owned();
        let ask = form("Step 2: What is your favorite color?", json!({"color": {"type": "string"}}));
        let answers = cx.ask_client(ClientRound::one("step2", ask).state(state)).await?;
        Ok(said(format!(
            "{name} likes {}.",
            answers["step2"]["content"]["color"].as_str().unwrap_or_default()
        )))
    })
}

fn what_is_offered(_: Nothing, cx: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async move {
        let mut round = ClientRound::default();
        if cx.client_offers(Capability::Elicitation) {
            round = round.and("user_name", name_form());
        }
        if cx.client_offers(Capability::Sampling) {
            round = round.and("greeting", sample("Generate a greeting", 50));
        }
        let answers = cx.ask_client(round).await?;
        Ok(said(format!("{} answers", answers.len())))
    })
}

fn change(change: Change) -> Outcome<Done> {
    if let Some(endpoint) = ENDPOINT.get() {
        endpoint.changed(change);
    }
    said("The clients were told.")
}

fn trigger_tools(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async { Ok(change(Change::Tools)) })
}

fn trigger_prompts(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    offers::EXTRA_PROMPT.fetch_xor(true, Ordering::Relaxed);
    Box::pin(async { Ok(change(Change::Prompts)) })
}

fn trigger_resource(_: Nothing, _: &CallCx) -> BoxFuture<'_, Said> {
    Box::pin(async { Ok(change(Change::Resource("test://watched-resource".to_owned()))) })
}
