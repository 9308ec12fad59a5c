//! `prompt_key_values`: up to 50 values from the person.

use std::collections::BTreeMap;

use chatos_layer::{Body, CallCx, Outcome, Tool, person};
use chatos_prompts::Object;
use chatos_prompts::response::MASK;
use chatos_tool::{Annotations, Confirm, Issue, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{MESSAGE_CHARS, TITLE_CHARS, entry, head, prompt, put_text, question, remark_line};

static SPEC: ToolSpec = ToolSpec {
    name: "prompt_key_values",
    title: Text::fixed("Ask for values", "询问填写内容"),
    description: Text::fixed(
        "Shows the person a form with 1 to 50 fields and waits for the answer. Fields may be single line, \
         multi-line or secret. Use it for facts only the person knows (names, addresses, credentials); use \
         prompt_choices when the answers are known in advance. Secret values are not shown to you: you get \
         \"******\" and a reference secret:<requestId>/<key> that is valid for this run as a whole shell_tasks env \
         value or as the whole data of session_send_input. The call returns canceled when the person declines, \
         timeout after timeout_ms (0 waits for ever), denied when nobody can be reached.",
        "向用户显示包含 1 到 50 个字段的表单并等待填写。字段可以是单行、多行或保密。用于只有用户才知道的内容（名称、地址、凭据）；\
         若答案可以预先列出，请使用 prompt_choices。保密内容不会显示给你：你会得到 \"******\" 以及引用 secret:<requestId>/<key>，\
         该引用在本次运行中可作为 shell_tasks 的完整 env 值，或作为 session_send_input 的完整 data 使用。\
         用户拒绝时返回 canceled，超过 timeout_ms 返回 timeout（0 表示一直等待），无法联系到任何人时返回 denied。",
    ),
    annotations: Annotations::of("O"),
    confirm: Confirm::None,
    version: 1,
};

/// Asks for values.
pub(super) struct PromptKeyValues;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Heading of the form
    #[serde(default)]
    #[schemars(length(max = TITLE_CHARS), extend("x-zh" = "表单标题"))]
    title: String,
    /// Explanation above the fields, Markdown
    #[serde(default)]
    #[schemars(length(max = MESSAGE_CHARS), extend("x-zh" = "字段上方的说明，支持 Markdown"))]
    message: String,
    /// Whether the person may decline
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "用户是否可以拒绝"))]
    allow_cancel: bool,
    /// How long to wait in milliseconds; 0 waits for ever, else at least 1000
    #[serde(default)]
    #[schemars(range(min = 0, max = 2_147_483_647), extend("x-zh" = "等待毫秒数；0 表示一直等待，否则至少 1000"))]
    timeout_ms: u32,
    /// The fields
    #[schemars(length(min = 1, max = 50), extend("x-zh" = "字段列表"))]
    fields: Vec<Field>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Field {
    /// Name of the value in the answer; unique
    #[schemars(length(min = 1, max = 1024), extend("x-zh" = "回答中的键名，不可重复", "x-no-nul" = true))]
    key: String,
    /// What the person reads; the key when absent
    #[serde(default)]
    #[schemars(length(max = 1000), extend("x-zh" = "显示名称；缺省为键名"))]
    label: String,
    /// Help below the field
    #[serde(default)]
    #[schemars(length(max = 4000), extend("x-zh" = "字段下方的说明"))]
    description: String,
    /// Example shown in the empty field
    #[serde(default)]
    #[schemars(length(max = 1000), extend("x-zh" = "空字段中显示的示例"))]
    placeholder: String,
    /// Value when the person leaves it empty; never shown for a secret
    #[serde(default)]
    #[schemars(length(max = MESSAGE_CHARS), extend("x-zh" = "未填写时的值；保密字段不会显示"))]
    default: String,
    /// The person must fill it in
    #[serde(default)]
    #[schemars(extend("x-zh" = "是否必填"))]
    required: bool,
    /// A box of several lines
    #[serde(default)]
    #[schemars(extend("x-zh" = "是否多行"))]
    multiline: bool,
    /// Hidden while typing, never logged, never shown to the model
    #[serde(default)]
    #[schemars(extend("x-zh" = "是否保密：输入时隐藏，不写入日志，不提供给模型"))]
    secret: bool,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    /// The question in the queue
    request_id: String,
    /// The run that asked
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// What the person entered, by key
    #[schemars(with = "BTreeMap<String, String>")]
    values: Object,
    /// References to secret values, by key
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    secret_refs: Option<Object>,
    /// What the person remarked
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
}

impl Args {
    fn prompt(&self) -> Map<String, Value> {
        let mut prompt = prompt("kv", &self.title, &self.message, self.allow_cancel, self.timeout_ms);
        let fields: Vec<Value> = self.fields.iter().map(Field::to_json).collect();
        prompt.insert("fields".to_owned(), Value::Array(fields));
        prompt
    }
}

impl Field {
    fn to_json(&self) -> Value {
        let mut field = Map::new();
        field.insert("key".to_owned(), json!(self.key));
        put_text(&mut field, "label", &self.label);
        put_text(&mut field, "description", &self.description);
        put_text(&mut field, "placeholder", &self.placeholder);
        // servers §8: the default of a secret never enters the log.
        if !self.secret {
            put_text(&mut field, "default", &self.default);
        }
        for (name, flag) in
            [("required", self.required), ("multiline", self.multiline), ("secret", self.secret)]
        {
            if flag {
                field.insert(name.to_owned(), json!(true));
            }
        }
        Value::Object(field)
    }
}

impl Tool for PromptKeyValues {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    /// servers §8: the default of a secret never enters a log.
    fn private(&self, arguments: &Value) -> Vec<String> {
        let fields = arguments["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
        let secret = |field: &Value| field["secret"] == json!(true) || field["secret"] == json!("true");
        let hidden =
            fields.iter().enumerate().filter(|(_, field)| secret(field) && field.get("default").is_some());
        hidden.map(|(index, _)| format!("/fields/{index}/default")).collect()
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        question(SPEC.name, args.prompt()).err().unwrap_or_default()
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        for field in args.fields.iter().filter(|field| field.secret) {
            cx.redactor().learn(&field.default);
        }
        let question = question(SPEC.name, args.prompt()).map_err(ToolError::invalid)?;
        let secret_keys: Vec<String> = question.prompt.secret_keys().into_iter().map(str::to_owned).collect();
        let agreed = person::ask(cx, question).await?;
        let mut values = match agreed.response.get("values") {
            Some(Value::Object(values)) => values.clone(),
            _ => Object::new(),
        };
        let mut text = head(&agreed.request_id);
        text.push_str("values:\n");
        for (key, value) in &values {
            text.push_str(&entry(key, value.as_str().unwrap_or_default()));
        }
        let mut refs = Object::new();
        let mut private = Vec::new();
        for key in &secret_keys {
            match agreed.secrets.get(key) {
                // promptSecretsToModel: in `data` only, never in the text and never in the log.
                Some(value) => {
                    private.push(chatos_tool::validation::pointer("/values", key));
                    values.insert(key.clone(), value.clone());
                }
                None if values.get(key).and_then(Value::as_str) == Some(MASK) => {
                    refs.insert(key.clone(), json!(format!("secret:{}/{key}", agreed.request_id)));
                }
                None => {}
            }
        }
        if !refs.is_empty() {
            text.push_str("secret_refs:\n");
            for (key, value) in &refs {
                text.push_str(&entry(key, value.as_str().unwrap_or_default()));
            }
        }
        let remark = agreed.response.get("remark").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(remark) = remark {
            text.push_str(&remark_line(remark, cx.lang));
        }
        let data = Data {
            request_id: agreed.request_id.as_str().to_owned(),
            run_id: cx.trace.run_id.clone(),
            values,
            secret_refs: (!refs.is_empty()).then_some(refs),
            remark: remark.map(str::to_owned),
        };
        Ok(Outcome::Ok(Body::content(data, text.trim_end()).private(private)))
    }
}
