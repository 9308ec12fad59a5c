//! What is said when something of agents is not there or not allowed.

use chatos_policy::RunRefusal;
use chatos_tool::{ErrorCode, Fault, Text};

/// No agent has this id.
pub(crate) fn no_agent(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no agent `{id}`"), format!("没有智能体 `{id}`")),
    )
    .hint(Text::fixed("`chatos agent list` shows all of them", "`chatos agent list` 会列出全部"))
}

/// No land_config has this id.
pub(crate) fn no_land_config(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no land_config `{id}`"), format!("没有 land_config `{id}`")),
    )
    .hint(Text::fixed("`chatos land list` shows all of them", "`chatos land list` 会列出全部"))
}

/// A run that may not begin (agents §4 step 1).
pub(crate) fn run_refused(refusal: RunRefusal) -> Fault {
    Fault::new(ErrorCode::PermissionDenied, Text::new(refusal.to_string(), refusal.zh()))
        .code(refusal.code())
        .hint(Text::fixed(
            "open the agent under Agents and choose a land_config",
            "请在“智能体”页面打开该智能体并选择 land_config",
        ))
}
