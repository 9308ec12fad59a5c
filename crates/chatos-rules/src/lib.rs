//! Approval rules: what a person decided once for many questions (inbox §4).
//!
//! Pure: a call, the rules and the time go in, a decision with its reasons comes out. A rule only removes a question;
//! it grants nothing, and whatever cannot be read, understood or resolved is asked. The names of things that a decision
//! needs of the world (where a program is, whether a path lies in the project) are asked of [`World`].

mod carriers;
mod command;
mod decide;
mod glob;
mod past;
mod proposals;
mod propose;
mod rule;
mod words;

pub use command::{Join, Line, NotLiteral, Simple, read};
pub use decide::{Call, Decision, Found, Looked, Outcome, Why, World, decide};
pub use past::{Backtest, Past, backtest};
pub use proposals::{Proposal, proposals};
pub use propose::propose;
pub use rule::{
    ArgMatch, ArgOp, CommandRule, Effect, Fault, FileOp, HostRule, More, OtherArgs, PathRule, Rule, RuleJoin,
    Scope, ScopeKind, ShellRule, check,
};
pub use words::misfit;
