//! Why something is not granted: a code for programs, a sentence in both languages for people, and
//! the page that fixes it.

use chatos_contribution::ServerIdentity;
use serde::Serialize;

use crate::Role;

/// Why a server, an app or a tool is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of agents §4; `Refusal::en` explains each")]
pub enum Code {
    NotInLandConfig,
    NotChosen,
    NotExposed,
    MainNotAllowed,
    SubNotAllowed,
    Untrusted,
    Disabled,
    Unavailable,
    NotFound,
    ToolFiltered,
    RouterInSub,
    SubDepthZero,
}

/// One thing that is not granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// Why.
    pub code: Code,
    /// Which server, when it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<ServerIdentity>,
    /// What people call it; what was written, when nothing of that id exists.
    pub server: String,
    /// Which tool, when only a tool is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// For which role.
    pub role: Role,
    /// Name of the land_config that was asked.
    pub land: String,
}

impl Refusal {
    /// In English.
    pub fn en(&self) -> String {
        let Self { server, role, land, .. } = self;
        let tool = self.tool.as_deref().unwrap_or("the tool");
        match self.code {
            Code::NotInLandConfig => {
                format!("{server} is chosen by the agent but not allowed in the {role} flow of “{land}”.")
            }
            Code::NotChosen => format!("{server} is allowed by “{land}” but not chosen by the agent."),
            Code::NotExposed => format!("{server} is not among what the app lets you select."),
            Code::MainNotAllowed | Code::SubNotAllowed => format!("{server} does not allow the {role} flow."),
            Code::Untrusted => format!("{server} is not trusted yet."),
            Code::Disabled => format!("{server} is disabled."),
            Code::Unavailable => format!("{server} did not load."),
            Code::NotFound => format!("{server} is not installed."),
            Code::ToolFiltered => format!("{tool} is blocked by “{land}”."),
            Code::RouterInSub => "Subagents cannot start subagents.".to_owned(),
            Code::SubDepthZero => format!("“{land}” allows no subagents."),
        }
    }

    /// In Chinese.
    pub fn zh(&self) -> String {
        let Self { server, land, .. } = self;
        let role = self.role.zh();
        let tool = self.tool.as_deref().unwrap_or("该工具");
        match self.code {
            Code::NotInLandConfig => {
                format!("{server} 已被选择，但 land_config「{land}」的{role}流程未授权。")
            }
            Code::NotChosen => format!("「{land}」允许 {server}，但该 Agent 没有选择它。"),
            Code::NotExposed => format!("{server} 不在该应用可选择的范围内。"),
            Code::MainNotAllowed | Code::SubNotAllowed => format!("{server} 不允许用于{role}流程。"),
            Code::Untrusted => format!("{server} 尚未信任。"),
            Code::Disabled => format!("{server} 已禁用。"),
            Code::Unavailable => format!("{server} 未能加载。"),
            Code::NotFound => format!("{server} 未安装。"),
            Code::ToolFiltered => format!("{tool} 被「{land}」禁止。"),
            Code::RouterInSub => "子智能体不能再调用子智能体。".to_owned(),
            Code::SubDepthZero => format!("「{land}」不允许子智能体。"),
        }
    }

    /// The page where a person can change it, as a path of the UI.
    pub fn page(&self) -> &'static str {
        match self.code {
            Code::NotInLandConfig | Code::ToolFiltered | Code::RouterInSub | Code::SubDepthZero => {
                "agents/land-configs"
            }
            Code::NotChosen | Code::NotExposed => "agents",
            Code::MainNotAllowed | Code::SubNotAllowed | Code::Disabled => "settings/servers",
            Code::Untrusted | Code::Unavailable | Code::NotFound => "apps",
        }
    }
}

/// Why a run cannot begin at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum RunRefusal {
    /// A flow agent without a land_config.
    #[error("Flow agents need a land_config. Choose one in the agent.")]
    LandConfigRequired,
    /// The land_config is gone. There is no falling back: that could widen.
    #[error("The land_config of this agent no longer exists. Choose another.")]
    LandConfigMissing,
}

impl RunRefusal {
    /// The code on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::LandConfigRequired => "land_config_required",
            Self::LandConfigMissing => "land_config_missing",
        }
    }

    /// In Chinese; English is `Display`.
    pub fn zh(self) -> &'static str {
        match self {
            Self::LandConfigRequired => "Flow 模式必须选择 land_config，请在 Agent 中选择。",
            Self::LandConfigMissing => "该 Agent 的 land_config 已不存在，请重新选择。",
        }
    }
}
