//! The budget of a run: tokens and money a land_config allows before a person is asked (agents §7).

use chatos_agent::CallStep;
use chatos_tool::Lang;
use serde_json::{Value, json};

/// What is allowed; each "continue" allows as much again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Budget {
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
}

/// What a run has used, and what was granted on top of its budget.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spent {
    pub(crate) tokens: u64,
    pub(crate) cost: f64,
    pub(crate) grants: u32,
    pub(crate) open: Option<(CallStep, String)>,
}

/// Which part of it is used up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reached {
    Tokens { used: u64, allowed: u64 },
    Cost { used: f64, allowed: f64 },
}

impl Budget {
    /// What is used up, given how often a person said "continue".
    pub(crate) fn reached(&self, spent: &Spent, grants: u32) -> Option<Reached> {
        let rounds = u64::from(grants) + 1;
        if let Some(limit) = self.tokens {
            let allowed = limit.saturating_mul(rounds);
            if spent.tokens >= allowed {
                return Some(Reached::Tokens { used: spent.tokens, allowed });
            }
        }
        let limit = self.cost?;
        let allowed = limit * rounds as f64;
        (spent.cost >= allowed).then_some(Reached::Cost { used: spent.cost, allowed })
    }
}

impl Reached {
    pub(crate) fn prompt(&self, lang: Lang) -> Value {
        let (used, allowed) = match self {
            Self::Tokens { used, allowed } => match lang {
                Lang::En => (format!("{used} tokens"), format!("{allowed} tokens")),
                Lang::Zh => (format!("{used} 个 token"), format!("{allowed} 个 token")),
            },
            Self::Cost { used, allowed } => (format!("${used:.4}"), format!("${allowed}")),
        };
        let (title, message, go_on, stop) = match lang {
            Lang::En => (
                format!("Keep going over the limit of {allowed}?"),
                format!("This run has used {used}; its budget is {allowed}."),
                "Continue",
                "Stop",
            ),
            Lang::Zh => (
                format!("已达 {allowed} 上限，继续吗？"),
                format!("本次运行已用 {used}，预算为 {allowed}。"),
                "继续",
                "停止",
            ),
        };
        json!({
            "kind": "choice", "title": title, "message": message,
            "options": [{ "value": "continue", "label": go_on }, { "value": "stop", "label": stop }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_continue_allows_as_much_again() {
        let budget = Budget { tokens: Some(100), cost: Some(1.0) };
        let spent = |tokens, cost| Spent { tokens, cost, ..Spent::default() };
        assert_eq!(budget.reached(&spent(99, 0.9), 0), None);
        assert!(matches!(budget.reached(&spent(100, 0.0), 0), Some(Reached::Tokens { .. })));
        assert_eq!(budget.reached(&spent(150, 1.5), 1), None);
        assert!(matches!(budget.reached(&spent(150, 2.0), 1), Some(Reached::Cost { .. })));
        assert_eq!(Budget::default().reached(&spent(u64::MAX, 1e9), 0), None);
    }
}
