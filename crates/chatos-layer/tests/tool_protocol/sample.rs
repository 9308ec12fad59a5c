//! The tools that `docs/protocols/tools.md` uses as its examples: a small one with every kind of ending, and one
//! that makes text.

use chatos_layer::{Body, CallCx, NeedsInput, Outcome, Server, ServerInfo, Tool};
use chatos_tool::{
    Annotations, Confirm, Cut, Keep, Needed, Reason, Resource, Text, ToolError, ToolSpec, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

static INFO: ServerInfo = ServerInfo {
    name: "sample",
    id: "3f0a7b52-9a53-4b0e-9d1f-6a2d7b1c8e11",
    title: Text::fixed("A dictionary", "词典"),
    instructions: Text::fixed("Looks words up.", "查词。"),
    needs_root: false,
    slots: 4,
    waits_hold_slot: false,
};

static SPEC: ToolSpec = ToolSpec {
    name: "look_up",
    title: Text::fixed("Look up a word", "查词"),
    description: Text::fixed(
        "Gives the meanings of one word. Not for sentences. A word that is not there is not_found with the nearest.",
        "给出一个词的释义。不用于句子。词典中没有的词返回 not_found 并给出相近的词。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct LookUp;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The word
    #[schemars(length(min = 1, max = 64), extend("x-zh" = "要查的词"))]
    word: String,
    /// Most meanings
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100), extend("x-zh" = "最多释义数"))]
    max_results: u32,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Data {
    /// The word as found
    word: String,
    /// Its meanings
    meanings: Vec<String>,
    /// There are more
    truncated: bool,
}

fn data(word: &str, meanings: &[&str], truncated: bool) -> Data {
    Data { word: word.to_owned(), meanings: meanings.iter().map(|&m| m.to_owned()).collect(), truncated }
}

impl Tool for LookUp {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, args: Args, _: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let word = args.word.as_str();
        match word {
            "apple" if args.max_results == 1 => {
                let cut = Cut {
                    field: "/meanings".to_owned(),
                    unit: Unit::Items,
                    keep: Keep::Head,
                    limit: 1,
                    kept: 1,
                    total: Some(2),
                    next: Some(json!({ "word": word, "max_results": 2 })),
                };
                let body = Body::new(
                    data(word, &["a fruit"], true),
                    "apple: a fruit\n[… 1 meaning omitted; continue with max_results=2 …]",
                );
                Ok(Outcome::Ok(body.truncated(vec![cut])))
            }
            "apple" => Ok(Outcome::Ok(Body::new(
                data(word, &["a fruit", "a tree"], false),
                "apple: a fruit; a tree",
            ))),
            "same" => Ok(Outcome::Noop(Body::new(data(word, &[], false), "same: nothing to look up"))),
            "many" => {
                let error = ToolError::new(
                    Reason::ResourceExhausted { resource: Resource::Entries, limit: Some(1), actual: None },
                    Text::fixed("the search stopped after 1 volume", "在 1 卷之后停止查找"),
                )
                .hint(Text::fixed("Ask for a rarer word.", "请换一个更少见的词。"));
                Ok(Outcome::Partial(Body::new(data(word, &["a lot"], false), "many: a lot"), error))
            }
            "later" => Ok(Outcome::NeedsInput(
                NeedsInput {
                    kind: "stdin",
                    fields: Map::new(),
                    tool: "look_up",
                    arguments: json!({ "word": "apple" }),
                    text: "the librarian asks which edition".to_owned(),
                },
                None,
            )),
            "closed" => Err(ToolError::unavailable(
                Needed::Process,
                Text::fixed("the library is closed", "图书馆已关闭"),
            )),
            _ => Err(ToolError::new(
                Reason::NotFound {
                    what: "word".to_owned(),
                    id: Some(word.to_owned()),
                    path: None,
                    nearest: vec!["apple".to_owned()],
                },
                Text::new(format!("the word `{word}` is not in the dictionary"), "词典中没有该词"),
            )),
        }
    }
}

static PAGE: ToolSpec = ToolSpec {
    name: "read_page",
    title: Text::fixed("Read a page", "阅读一页"),
    description: Text::fixed("Reads a page of the dictionary.", "阅读词典的一页。"),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct ReadPage;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PageArgs {
    /// The page, from 1
    #[schemars(range(min = 1, max = 2), extend("x-zh" = "页码，从 1 开始"))]
    page: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PageData {
    page: u32,
    edition: u32,
}

impl Tool for ReadPage {
    type Args = PageArgs;
    type Data = PageData;
    const TEXT: bool = true;

    fn spec(&self) -> &'static ToolSpec {
        &PAGE
    }

    async fn call(&self, args: PageArgs, _: &CallCx) -> Result<Outcome<PageData>, ToolError> {
        let header = format!("# page {} of 2\n\n", args.page);
        let lines = "An apple is a fruit.\n[… continue with page=2 …]";
        let product = header.len()..header.len() + lines.len();
        let text = format!("{header}{lines}\n[edition: 3]");
        Ok(Outcome::Ok(Body::product(PageData { page: args.page, edition: 3 }, text, product)))
    }
}

pub(crate) fn server() -> Server {
    Server::new(&INFO).with(LookUp).with(ReadPage)
}
