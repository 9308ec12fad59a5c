//! `prompt_choices`: one or several of up to 60 options.

use chatos_layer::{Body, CallCx, Outcome, Tool, person};
use chatos_tool::{Annotations, Confirm, Issue, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{MESSAGE_CHARS, TITLE_CHARS, head, prompt, put_text, question, remark_line};

static SPEC: ToolSpec = ToolSpec {
    name: "prompt_choices",
    title: Text::fixed("Ask for a choice", "请用户选择"),
    description: Text::fixed(
        "Shows the person 1 to 60 options and waits until one (or with multiple: true several) is chosen. Use it for \
         decisions between known alternatives; use prompt_key_values for free text. data.selection is the chosen \
         value, or a list of values with multiple. With multiple, min_selections and max_selections bound the count. \
         The call returns canceled when the person declines, timeout after timeout_ms (0 waits for ever), denied when \
         nobody can be reached.",
        "向用户显示 1 到 60 个选项，等待其选择一个（multiple: true 时可选多个）。用于在已知选项之间做决定；需要自由填写时请使用 \
         prompt_key_values。data.selection 为所选的值，multiple 时为值的列表；multiple 时可用 min_selections 与 \
         max_selections 限制数量。用户拒绝时返回 canceled，超过 timeout_ms 返回 timeout（0 表示一直等待），无法联系到任何人时返回 denied。",
    ),
    annotations: Annotations::of("O"),
    confirm: Confirm::None,
    version: 1,
};

/// Asks for a choice.
pub(super) struct PromptChoices;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Heading of the form
    #[serde(default)]
    #[schemars(length(max = TITLE_CHARS), extend("x-zh" = "表单标题"))]
    title: String,
    /// Explanation above the options, Markdown
    #[serde(default)]
    #[schemars(length(max = MESSAGE_CHARS), extend("x-zh" = "选项上方的说明，支持 Markdown"))]
    message: String,
    /// Whether the person may decline
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "用户是否可以拒绝"))]
    allow_cancel: bool,
    /// How long to wait in milliseconds; 0 waits for ever, else at least 1000
    #[serde(default)]
    #[schemars(range(min = 0, max = 2_147_483_647), extend("x-zh" = "等待毫秒数；0 表示一直等待，否则至少 1000"))]
    timeout_ms: u32,
    /// Several options may be chosen
    #[serde(default)]
    #[schemars(extend("x-zh" = "是否可以多选"))]
    multiple: bool,
    /// The options
    #[schemars(length(min = 1, max = 60), extend("x-zh" = "选项列表"))]
    options: Vec<Choosable>,
    /// Chosen beforehand: an option's value, or a list of values with multiple
    #[serde(default)]
    #[schemars(extend("x-zh" = "预先选中的值；多选时为值的列表", "x-no-default" = true))]
    default: Option<Chosen>,
    /// Fewest options with multiple (0 to the number of options); ignored otherwise
    #[serde(default)]
    #[schemars(range(min = 0, max = 2_147_483_647), extend("x-zh" = "多选时最少选择的数量（0 到选项数）；单选时忽略"))]
    min_selections: u32,
    /// Most options with multiple (1 to the number of options, which is the default); ignored otherwise
    #[serde(default)]
    #[schemars(range(min = 0, max = 2_147_483_647), extend("x-zh" = "多选时最多选择的数量（1 到选项数，缺省为选项数）；单选时忽略", "x-no-default" = true))]
    max_selections: Option<u32>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Choosable {
    /// What comes back when it is chosen; unique
    #[schemars(length(min = 1, max = 1024), extend("x-zh" = "选中后返回的值，不可重复", "x-no-nul" = true))]
    value: String,
    /// What the person reads; the value when absent
    #[serde(default)]
    #[schemars(length(max = 1000), extend("x-zh" = "显示名称；缺省为值"))]
    label: String,
    /// Help below the option
    #[serde(default)]
    #[schemars(length(max = 4000), extend("x-zh" = "选项下方的说明"))]
    description: String,
}

/// One value, or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Chosen {
    One(#[schemars(length(max = 1024))] String),
    Several(#[schemars(length(max = 60), inner(length(max = 1024)))] Vec<String>),
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    /// The question in the queue
    request_id: String,
    /// The run that asked
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// Whether several could be chosen
    multiple: bool,
    /// The chosen value, or a list with multiple
    selection: Selection,
    /// What the person remarked
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
}

/// As it was asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Selection {
    One(String),
    Several(Vec<String>),
}

impl Args {
    fn prompt(&self) -> Map<String, Value> {
        let mut prompt = prompt("choice", &self.title, &self.message, self.allow_cancel, self.timeout_ms);
        let put =
            |prompt: &mut Map<String, Value>, key: &str, value: Value| prompt.insert(key.to_owned(), value);
        if self.multiple {
            put(&mut prompt, "multiple", json!(true));
        }
        let options: Vec<Value> = self.options.iter().map(Choosable::to_json).collect();
        put(&mut prompt, "options", Value::Array(options));
        match &self.default {
            None => {}
            Some(Chosen::One(value)) => drop(put(&mut prompt, "default", json!(value))),
            Some(Chosen::Several(values)) => drop(put(&mut prompt, "default", json!(values))),
        }
        // Ignored when single, so not even written then.
        if self.multiple {
            if self.min_selections > 0 {
                put(&mut prompt, "minSelections", json!(self.min_selections));
            }
            if let Some(max) = self.max_selections {
                put(&mut prompt, "maxSelections", json!(max));
            }
        }
        prompt
    }
}

impl Choosable {
    fn to_json(&self) -> Value {
        let mut option = Map::new();
        option.insert("value".to_owned(), json!(self.value));
        put_text(&mut option, "label", &self.label);
        put_text(&mut option, "description", &self.description);
        Value::Object(option)
    }
}

impl Tool for PromptChoices {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        question(SPEC.name, args.prompt()).err().unwrap_or_default()
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let question = question(SPEC.name, args.prompt()).map_err(ToolError::invalid)?;
        let agreed = person::ask(cx, question).await?;
        let chosen: Vec<String> = match agreed.response.get("selection") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let mut text = head(&agreed.request_id);
        let selection = if args.multiple {
            text.push_str("selection:\n");
            for value in &chosen {
                text.push_str(&format!("- {}\n", value.replace('\n', "\n  ")));
            }
            Selection::Several(chosen)
        } else {
            let one = chosen.into_iter().next().unwrap_or_default();
            text.push_str(&format!("selection: {}\n", one.replace('\n', "\n  ")));
            Selection::One(one)
        };
        let remark = agreed.response.get("remark").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(remark) = remark {
            text.push_str(&remark_line(remark, cx.lang));
        }
        let data = Data {
            request_id: agreed.request_id.as_str().to_owned(),
            run_id: cx.trace.run_id.clone(),
            multiple: args.multiple,
            selection,
            remark: remark.map(str::to_owned),
        };
        Ok(Outcome::Ok(Body::content(data, text.trim_end())))
    }
}
