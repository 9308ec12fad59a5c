//! The one way to write a tool: typed arguments in, an outcome out (tools §1.1).
//!
//! A tool knows nothing of protocols, logs, limits or envelopes; the layer does all of that.

use std::any::type_name;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chatos_tool::{
    Answer, Content, Cut, Ended, Issue, IssueCode, Keep, Opening, Text, ToolError, ToolSpec, output_schema,
    schema, validation, with_text,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::context::CallCx;

/// A future without a name, as the erased traits of this crate return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool of a built-in server.
pub trait Tool: Send + Sync + 'static {
    /// The arguments. Fields carry their English description as doc comment, the Chinese one as
    /// `x-zh`, and bounds; unknown fields are refused before this type is built.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// The shape of `data` when the call succeeded.
    type Data: Serialize + JsonSchema + Send + 'static;

    /// What the tool makes is text, and no field of [`Tool::Data`] holds it: every body is a [`Body::product`],
    /// which is `data.text` too (tools §5).
    const TEXT: bool = false;
    /// Results may hold a picture, a sound or a document ([`Body::part`]). Such a result has no structured part,
    /// so the tool promises no schema of one.
    const MEDIA: bool = false;

    /// Name, texts and hints.
    fn spec(&self) -> &'static ToolSpec;

    /// Rules between arguments that a schema cannot say. Runs before anything else happens.
    fn check(&self, args: &Self::Args) -> Vec<Issue> {
        let _ = args;
        Vec::new()
    }

    /// Pointers into the arguments as they came, checked or not, that no log may show.
    fn private(&self, arguments: &Value) -> Vec<String> {
        let _ = arguments;
        Vec::new()
    }

    /// The call's own time limit; shorter than the settings', it replaces them (tools §12).
    fn timeout(&self, args: &Self::Args) -> Option<Duration> {
        let _ = args;
        None
    }

    /// Whether a call asks nobody and is done at once most of the time: it may be answered where it is
    /// read, before the next one is looked at.
    fn is_quick(&self) -> bool {
        false
    }

    /// Does the work. Must end soon after [`CallCx::stopped`] resolves; two seconds later it is dropped.
    fn call(
        &self,
        args: Self::Args,
        cx: &CallCx,
    ) -> impl Future<Output = Result<Outcome<Self::Data>, ToolError>> + Send;
}

/// How a call ended well, or not quite.
#[derive(Debug)]
pub enum Outcome<D> {
    /// Done.
    Ok(Body<D>),
    /// The wanted state was already there.
    Noop(Body<D>),
    /// Some of the work was not done; the error says why.
    Partial(Body<D>, ToolError),
    /// It failed, and what was gathered before is worth its text (tools §5.2).
    Failed(Body<D>, ToolError),
    /// Nothing failed, something alive waits.
    NeedsInput(NeedsInput, Option<D>),
}

/// What a tool has to say.
#[derive(Debug)]
pub struct Body<D> {
    data: D,
    text: String,
    truncated: Vec<Cut>,
    opening: Opening,
    product: Option<Range<usize>>,
    keep: Keep,
    private: Vec<String>,
    parts: Vec<Content>,
}

impl<D> Body<D> {
    /// A result whose text begins with the sign of its status.
    pub fn new(data: D, text: impl Into<String>) -> Self {
        Self {
            data,
            text: text.into(),
            truncated: Vec::new(),
            opening: Opening::Sign,
            product: None,
            keep: Keep::Head,
            private: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// A result whose text begins with its own header line (tools §5.7).
    pub fn content(data: D, text: impl Into<String>) -> Self {
        Self { opening: Opening::Header, ..Self::new(data, text) }
    }

    /// A result that is text: `product` is where it stands in `text`, between a header and closing lines.
    pub fn product(data: D, text: impl Into<String>, product: Range<usize>) -> Self {
        Self { product: Some(product), ..Self::content(data, text) }
    }

    /// The same about other data; pointers into it have to stay right.
    pub fn map<E>(self, other: impl FnOnce(D) -> E) -> Body<E> {
        let Self { data, text, truncated, opening, product, keep, private, parts } = self;
        Body { data: other(data), text, truncated, opening, product, keep, private, parts }
    }

    /// What the tool cut itself.
    pub fn truncated(mut self, cuts: Vec<Cut>) -> Self {
        self.truncated = cuts;
        self
    }

    /// Pointers into `data` that no log may show, whatever they hold.
    pub fn private(mut self, pointers: Vec<String>) -> Self {
        self.private = pointers;
        self
    }

    /// A picture, a sound or a document that follows the text.
    pub fn part(mut self, part: Content) -> Self {
        self.parts.push(part);
        self
    }

    /// Which part stays when the text is still too long.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }
}

/// What waits, and which call continues it (tools §5.4).
#[derive(Debug, Clone)]
pub struct NeedsInput {
    /// `stdin`, …
    pub kind: &'static str,
    /// Further fields of `data.needs`.
    pub fields: Map<String, Value>,
    /// The tool that continues.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
    /// The text.
    pub text: String,
}

/// Arguments that were checked, with the work they start.
pub(crate) struct Prepared {
    pub(crate) timeout: Option<Duration>,
    pub(crate) run: Run,
}

type Run = Box<dyn for<'c> FnOnce(&'c CallCx) -> BoxFuture<'c, Result<Answer, ToolError>> + Send>;

/// Names the lifetimes a closure cannot name itself.
fn run<F>(work: F) -> Run
where
    F: for<'c> FnOnce(&'c CallCx) -> BoxFuture<'c, Result<Answer, ToolError>> + Send + 'static,
{
    Box::new(work)
}

/// A registered tool without its types. Private to the crate: nothing else can answer a call.
pub(crate) trait AnyTool: Send + Sync {
    fn spec(&self) -> &'static ToolSpec;
    fn arguments(&self) -> &Value;
    fn output(&self) -> Option<&Value>;
    /// Digest of name, description and schema, as this build has them.
    fn digest(&self) -> &str;
    fn private(&self, arguments: &Value) -> Vec<String>;
    fn is_quick(&self) -> bool;
    fn prepare(&self, arguments: Option<Value>) -> Result<Prepared, Vec<Issue>>;
}

pub(crate) struct Registered<T> {
    tool: Arc<T>,
    // Made when somebody wants to see them: a server that starts needs none.
    arguments: OnceLock<Value>,
    output: OnceLock<Value>,
    digest: OnceLock<String>,
}

impl<T: Tool> Registered<T> {
    pub(crate) fn new(tool: T) -> Self {
        let (arguments, output, digest) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { tool: Arc::new(tool), arguments, output, digest }
    }
}

/// The schema of arguments, for a tool that checks a part of them by itself.
pub fn arguments_schema<T: JsonSchema>() -> Value {
    schema::arguments(schema_of::<T>())
}

/// Everything inline: models and portable clients do not follow references.
fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value()
}

impl<T: Tool> AnyTool for Registered<T> {
    fn spec(&self) -> &'static ToolSpec {
        self.tool.spec()
    }

    fn arguments(&self) -> &Value {
        self.arguments.get_or_init(arguments_schema::<T::Args>)
    }

    fn output(&self) -> Option<&Value> {
        let made = || {
            let data = schema::data(schema_of::<T::Data>());
            output_schema(&if T::TEXT { with_text(data) } else { data })
        };
        (!T::MEDIA).then(|| self.output.get_or_init(made))
    }

    fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let spec = self.tool.spec();
            let definition = serde_json::json!({
                "name": spec.name, "description": spec.description.en, "version": spec.version,
                "inputSchema": self.arguments(),
            });
            chatos_prompts::effect::digest_of(&definition)
        })
    }

    fn private(&self, arguments: &Value) -> Vec<String> {
        self.tool.private(arguments)
    }

    fn is_quick(&self) -> bool {
        self.tool.is_quick()
    }

    fn prepare(&self, arguments: Option<Value>) -> Result<Prepared, Vec<Issue>> {
        let arguments = validation::check(self.arguments(), arguments)?;
        let args: T::Args = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            // The schema is generated from the type, so this is a contradiction between the two: a bug
            // of the tool, told as a problem of the argument because that is what can be repaired.
            tracing::error!(tool = type_name::<T>(), %error, "checked arguments do not fit their type");
            vec![Issue::new("", IssueCode::Format, Text::same(error.to_string()))]
        })?;
        let issues = self.tool.check(&args);
        if !issues.is_empty() {
            return Err(issues);
        }
        let timeout = self.tool.timeout(&args);
        let tool = Arc::clone(&self.tool);
        let run = run(move |cx| Box::pin(async move { finish(tool.call(args, cx).await?) }));
        Ok(Prepared { timeout, run })
    }
}

fn finish<D: Serialize>(outcome: Outcome<D>) -> Result<Answer, ToolError> {
    let sealed = |ended: Ended, body: Body<D>| -> Result<Answer, ToolError> {
        let Body { data, text, truncated, opening, product, keep, private, parts } = body;
        let data = to_value(&data)?;
        Ok(Answer { ended, data, text, opening, product, keep, cuts: truncated, private, parts })
    };
    match outcome {
        Outcome::Ok(body) => sealed(Ended::Ok, body),
        Outcome::Noop(body) => sealed(Ended::Noop, body),
        Outcome::Partial(body, error) => sealed(Ended::Partial(error), body),
        Outcome::Failed(body, error) => sealed(Ended::Failed(error), body),
        Outcome::NeedsInput(needs, data) => {
            let mut data = match data {
                Some(data) => to_value(&data)?,
                None => json!({}),
            };
            let mut object = Map::new();
            object.insert("kind".to_owned(), json!(needs.kind));
            object.extend(needs.fields);
            object.insert("resume".to_owned(), json!({ "tool": needs.tool, "arguments": needs.arguments }));
            if let Some(map) = data.as_object_mut() {
                map.insert("needs".to_owned(), Value::Object(object));
            }
            Ok(Answer {
                ended: Ended::NeedsInput,
                data,
                text: needs.text,
                opening: Opening::Sign,
                product: None,
                keep: Keep::HeadTail,
                cuts: Vec::new(),
                private: Vec::new(),
                parts: Vec::new(),
            })
        }
    }
}

fn to_value(data: &impl Serialize) -> Result<Value, ToolError> {
    serde_json::to_value(data).map_err(|error| {
        tracing::error!(%error, "the data of a tool cannot be written as JSON");
        ToolError::internal("serialize")
    })
}
