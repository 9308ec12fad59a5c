//! `lsp_get_diagnostics`: the problems of a file.

use std::sync::Arc;
use std::time::Duration;

use chatos_layer::{CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Lang, Phase, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Data, body, busy_line, keep_first};
use crate::desk::{Desk, Findings, Opened, Trouble, convert, surviving, told_line};
use crate::place::Stretch;
use crate::shapes::{self, Diagnostic};
use crate::wire::Refusal;

/// Problems of one file that are returned.
const MAX: usize = 200;

static SPEC: ToolSpec = ToolSpec {
    name: "lsp_get_diagnostics",
    title: Text::fixed("Check a file for problems", "文件中的问题"),
    description: Text::fixed(
        "Says which errors and warnings a language server finds in a file as it is on disk now, worst first. Waits up to \
         wait_ms for the answer that belongs to this text. fresh true with an empty list means no problems; fresh false \
         means that the server is still analysing: the list is the last known one and may be wrong, ask again.",
        "给出语言服务器在文件当前内容中发现的错误和警告，按严重程度排列。最多等待 wait_ms，直到得到属于此文本的结果。\
         fresh 为 true 且列表为空表示没有问题；fresh 为 false 表示服务器仍在分析：列表是最近已知的，可能不准确，请再次查询。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct GetDiagnostics(pub(crate) Arc<Desk>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Which language server; by the file's name when left out
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "使用哪个语言服务器；省略则按文件名选择", "x-max-bytes" = 64, "x-no-nul" = true, "x-no-default" = true))]
    server_id: Option<String>,
    /// How long to wait; lspDiagnosticsWaitMs when left out
    #[serde(default)]
    #[schemars(range(min = 0, max = 30_000), extend("x-zh" = "等待时间（毫秒）；省略则为 lspDiagnosticsWaitMs", "x-no-default" = true))]
    wait_ms: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiagnosticsData {
    diagnostics: Vec<DiagnosticData>,
    /// They are about the text as it is, and the server is done
    fresh: bool,
    version: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DiagnosticData {
    range: Stretch,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    message: String,
}

fn data_of(opened: &Opened, one: &Diagnostic) -> DiagnosticData {
    let document = &opened.document;
    let range = convert(one.range, &document.text, &document.lines, opened.session.wants.encoding);
    DiagnosticData {
        range: Stretch::of(range),
        severity: shapes::severity(one.severity),
        code: match &one.code {
            Value::String(code) if !code.is_empty() => Some(code.clone()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        },
        source: one.source.clone(),
        message: shapes::text(&one.message),
    }
}

impl Tool for GetDiagnostics {
    type Args = Args;
    type Data = Data<DiagnosticsData>;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let wait = args.wait_ms.map_or(cx.settings.lsp.diagnostics_wait, Duration::from_millis);
        let args = &args;
        let looked = surviving(cx, || async move {
            let opened = self.0.open(cx, &args.path, args.server_id.as_deref()).await?;
            let findings = Desk::diagnose(cx, &opened, wait).await?;
            if opened.session.wire.gone().is_cancelled() {
                return Err(Trouble::Refused(opened.session, Refusal::Gone));
            }
            Ok((opened, findings))
        });
        let (opened, Findings { mut list, fresh, busy }) = looked.await?;
        list.sort_by_key(|one| (one.severity.unwrap_or(1), one.range));
        let cut = keep_first(&mut list, MAX).map(|total| (MAX, total));
        let lines: Vec<String> = list.iter().map(|one| told_line(&opened, one)).collect();
        let path = &opened.document.path;
        let lines = match (lines.is_empty(), fresh, cx.lang) {
            (false, ..) => lines.join("\n"),
            (true, true, Lang::En) => "no problems".to_owned(),
            (true, true, Lang::Zh) => "没有问题".to_owned(),
            (true, false, Lang::En) => "nothing known yet".to_owned(),
            (true, false, Lang::Zh) => "尚无结果".to_owned(),
        };
        let text = format!("{path}\n{lines}{}", busy_line(busy.as_deref(), cx.lang));
        let result = DiagnosticsData {
            diagnostics: list.iter().map(|one| data_of(&opened, one)).collect(),
            fresh,
            version: opened.document.version,
        };
        let data = Data::about("lsp_get_diagnostics", &opened, None, result).busy(busy);
        let body = body(data, text, "/result/diagnostics", cut, cx.lang);
        if fresh {
            return Ok(Outcome::Ok(body));
        }
        let mut error = ToolError::timeout(wait.as_millis() as u64, Phase::Run);
        error.message = Text::fixed(
            "the language server is still analysing; the list is the last known one",
            "语言服务器仍在分析；列表为最近已知的结果",
        );
        Ok(Outcome::Partial(body, error.hint(Text::fixed("ask again in a moment", "请稍后再次查询"))))
    }
}
