//! A setting nobody knows and a value that is refused, as people and scripts see them.

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

use crate::spec::nearest_setting;
use crate::value::SettingIssue;

/// No setting has this name.
pub fn unknown_setting(key: &str) -> Fault {
    let fault = Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no setting `{key}`"), format!("没有名为 `{key}` 的设置")),
    );
    match nearest_setting(key) {
        Some(near) => {
            fault.hint(Text::new(format!("did you mean `{near}`?"), format!("你是否想输入 `{near}`？")))
        }
        None => fault.hint(Text::fixed(
            "`chatos settings list` shows every setting",
            "`chatos settings list` 会列出全部设置",
        )),
    }
}

/// The value cannot be meant; every reason is in the details, the first one in the message.
pub fn refused_setting(issues: &[SettingIssue]) -> Fault {
    let errors: Vec<_> = issues
        .iter()
        .map(|issue| {
            json!({ "path": issue.path, "code": issue.code, "message": issue.message.en, "hint": issue.hint.en })
        })
        .collect();
    let (message, hint) = match issues.first() {
        Some(issue) => (issue.message.clone(), issue.hint.clone()),
        None => (Text::fixed("the value is refused", "该值被拒绝"), Text::same("")),
    };
    Fault::new(ErrorCode::InvalidArgument, message).hint(hint).details(json!({ "errors": errors }))
}
