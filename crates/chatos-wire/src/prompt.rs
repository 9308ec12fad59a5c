//! Questions to the person and their answers.

use std::collections::BTreeMap;

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::card::PromptCard;
use crate::question::{AnswerStatus, PromptBody, PromptResponse};
use crate::rule::RuleOfPrompt;

/// A page of prompts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptList {
    /// Items; a large prompt comes without its bulk and with `partial: true`.
    pub items: Vec<PromptView>,
    pub next_cursor: Option<String>,
    pub counts: PromptCounts,
    /// What is wrong with the log.
    pub problems: PromptHealth,
    /// With `facets=true`: how many open questions there are of each agent, project, client, chat, risk, kind and
    /// source, each as if the other filters stayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facets: Option<BTreeMap<String, Vec<PromptFacet>>>,
}

/// A value that questions are told apart by.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptFacet {
    pub value: String,
    pub count: u64,
}

/// Which open questions an order is about; what is absent holds nothing back.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PromptFilter {
    pub agent: Option<String>,
    /// The folder, or its last part.
    pub project: Option<String>,
    /// Another program, as it names itself.
    pub client: Option<String>,
    /// The id of the chat.
    pub chat: Option<String>,
    /// `low`, `medium` or `high`.
    pub risk: Option<String>,
    /// What it decides (`command`, `file_change`, `tool_approval`), or the kind of its form.
    pub kind: Option<String>,
    pub source: Option<String>,
    /// Words in title, command, path and names.
    pub q: Option<String>,
    /// Those that are put off instead of those that are not.
    pub snoozed: Option<bool>,
}

/// Which questions: these, or all that fit.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BulkSelect {
    pub ids: Option<Vec<String>>,
    pub filter: Option<PromptFilter>,
}

/// What is done with many questions at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BulkAction {
    /// At most 500 of one kind, none of high risk, all of each shown.
    Approve,
    Reject,
    Snooze,
    /// Results are acknowledged.
    Read,
}

/// What one decision would be about.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkLook {
    pub select: BulkSelect,
    pub action: BulkAction,
}

/// What one decision would answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BulkPreview {
    pub items: Vec<BulkItem>,
    pub excluded: Vec<BulkLeft>,
    /// Over the action and what each of them shows.
    pub digest: String,
}

/// A question that would be answered.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BulkItem {
    pub id: String,
    pub title: String,
    /// The command, what a tool would be called with, or the path.
    pub about: String,
    pub kind: Option<String>,
    pub risk: Option<String>,
    pub shown: Option<String>,
}

/// A question that would not.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BulkLeft {
    pub id: String,
    pub reason: String,
    /// The same in words.
    pub message: String,
}

/// One decision about many questions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkOrder {
    pub select: BulkSelect,
    pub action: BulkAction,
    /// As the preview gave it; where any of it changed since, nothing is answered.
    pub digest: String,
    pub remark: Option<String>,
    /// With `snooze`: a moment to come.
    pub until: Option<String>,
    /// `cli`; otherwise known from the connection.
    pub by: Option<String>,
    /// The process that answers; no program answers what it asked itself.
    pub pid: Option<u32>,
}

/// What waits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptCounts {
    pub needs_you: usize,
    pub results: usize,
    /// Put off for a while; not among `needsYou`.
    #[serde(default)]
    pub snoozed: usize,
}

/// Until when a question is put off.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SnoozeOrder {
    /// A moment to come, written as ISO 8601, at most 30 days away; absent: it is back at once.
    pub until: Option<String>,
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    /// By its kind; what is wrong with it is answered member by member.
    #[schemars(with = "crate::question::PromptForm")]
    pub prompt: Value,
    pub request_id: Option<String>,
    pub run_id: Option<String>,
    /// `host:<built-in server>` or `app:<pluginId>/<appId>`; the person when absent.
    pub owner: Option<String>,
    /// `{pid, pidStart}` of the asking process.
    pub origin: Option<AskerProcess>,
    pub session_id: Option<String>,
    pub trace: Option<Value>,
    /// `{name, material}`: what the answer decides and everything that decides it. The material is hashed into
    /// `shown`, not kept. Required for what the host itself does.
    pub effect: Option<Value>,
}

/// Lines of the text a question is about.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptText {
    /// The first line given, counted from 0.
    pub from: usize,
    /// How many are given.
    pub lines: usize,
    /// How many there are.
    pub total: usize,
    pub text: String,
}

/// The process that asks; its question is withdrawn when it is gone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskerProcess {
    pub pid: u32,
    pub pid_start: u64,
    /// What started it; it may not answer either.
    pub starter: Option<StarterProcess>,
}

/// What started the process that asks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StarterProcess {
    pub pid: u32,
    pub pid_start: u64,
}

/// What asking gives.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAsked {
    pub ok: bool,
    pub request_id: String,
    pub warnings: Vec<Value>,
    /// False: recorded, but the log cannot be written right now.
    pub mirrored: bool,
    /// The same question was asked before; nothing was written.
    pub repeated: bool,
    /// The digest of what the question shows.
    pub shown: String,
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAnswer {
    /// What is wrong with it is answered member by member.
    #[schemars(with = "crate::question::ResponseForm")]
    pub response: Value,
    /// The digest of what was displayed.
    pub shown: Option<String>,
    pub run_id: Option<String>,
    /// `cli` or `client`; otherwise known from the connection.
    pub by: Option<String>,
    /// `<pluginId>/<appId>`: the app answers its own question.
    pub app: Option<String>,
    /// The process that answers; no program answers what it asked itself.
    pub pid: Option<u32>,
    /// With an approval: the rule that is kept for questions like this one, once the answer is recorded.
    pub rule: Option<RuleOfPrompt>,
}

/// What answering gives.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptRecorded {
    pub ok: bool,
    pub mirrored: bool,
    /// The rule that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why the rule was not kept; the answer is recorded all the same.
    #[serde(default, rename = "ruleFault", skip_serializing_if = "Option::is_none")]
    pub rule_fault: Option<String>,
}

/// Who withdraws a question or takes its private values.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptAsker {
    /// As it was given when asking; not needed in calls for an app.
    #[serde(default)]
    pub owner: String,
    /// `aborted` or `asker_gone`.
    pub code: Option<String>,
    /// False: values of secret fields stay sealed and come masked.
    pub secrets: Option<bool>,
}

/// What somebody typed so far.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptDraft {
    /// Null when there is none.
    pub draft: Value,
    pub updated_at: Option<String>,
}

/// How old an answer must be to be archived.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveOrder {
    /// `30d`, or an ISO date; 30 days when absent.
    pub before: Option<String>,
}

/// Entries: what is pending and the last 500 that are closed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptEntries {
    pub path: String,
    pub entries: Vec<Value>,
}

/// Ids.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptIds {
    pub ids: Vec<String>,
}

/// What was archived.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptsArchived {
    pub moved: u64,
    pub kept: u64,
    pub file: Option<String>,
}

/// Which questions are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptQuery {
    /// Needs_you, snoozed, results, history or all.
    pub view: Option<String>,
    /// Only those of this run.
    pub run_id: Option<String>,
    /// Only records with exactly this value.
    pub source: Option<String>,
    /// Only records with exactly this value.
    pub kind: Option<String>,
    /// Only questions whose answer has this status.
    pub status: Option<String>,
    /// True or false: answered by the host itself or not.
    pub auto: Option<bool>,
    /// In title, message, command, path and source, and in the names of agent, tool, program, folder and chat.
    pub q: Option<String>,
    /// A moment, written as ISO 8601.
    pub since: Option<String>,
    /// A moment, written as ISO 8601.
    pub until: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// At most so many, 1 to 200.
    pub limit: Option<usize>,
    /// Only questions of this agent, by its name.
    pub agent: Option<String>,
    /// Only questions about this folder: its path, or its last part.
    pub project: Option<String>,
    /// Only questions of this other program, by its name.
    pub client: Option<String>,
    /// Only questions of this chat, by its id.
    pub chat: Option<String>,
    /// Low, medium or high.
    pub risk: Option<String>,
    /// Counts what waits by each of these as well.
    pub facets: bool,
}

/// Ids such as `..` cannot travel in a path; here they can.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptName {
    /// The id, where it cannot travel in the path.
    pub id: Option<String>,
}

/// Which lines are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptTextQuery {
    /// The id, where it cannot travel in the path.
    pub id: Option<String>,
    /// The first line, from 0.
    pub from: Option<usize>,
    /// How many, at most 5000.
    pub lines: Option<usize>,
}

/// How long to wait.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptWaitQuery {
    /// The id, where it cannot travel in the path.
    pub id: Option<String>,
    /// How long to wait, at most 60000.
    pub timeout_ms: Option<u64>,
}

/// Whose draft it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptDraftQuery {
    /// The id, where it cannot travel in the path.
    pub id: Option<String>,
    /// An id the browser keeps.
    pub client: Option<String>,
}

/// As whom the log is read.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptLogQuery {
    /// pluginId/appId: as this app may see it.
    pub app: Option<String>,
    /// The app has prompts.readAll.
    pub read_all: bool,
}

/// Which ids are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptFindQuery {
    /// At least four characters.
    pub prefix: Option<String>,
}

/// A question with its answer, as lists and pages show it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptView {
    pub request_id: String,
    pub run_id: Option<String>,
    pub session_id: Option<String>,
    /// The other program that asks: a coding agent, an editor.
    pub client: Option<PromptClient>,
    pub ts: String,
    pub kind: Option<String>,
    /// Asked through this host, or a line another program wrote.
    pub class: PromptClass,
    pub owner: Option<String>,
    pub source: Option<String>,
    pub title: Option<String>,
    pub state: PromptState,
    pub needs_you: bool,
    /// A summary where the view is `partial` or `metadataOnly` or has a problem.
    pub prompt: PromptBody,
    /// Too large for a list: the single item is complete.
    pub partial: bool,
    /// Content was not kept (minimal log mode).
    pub metadata_only: bool,
    pub problem: Option<FieldProblem>,
    pub raw: Option<String>,
    pub warnings: Vec<FieldProblem>,
    /// The digest of what the question shows.
    pub shown: Option<String>,
    pub shown_required: bool,
    pub effect: Option<String>,
    /// What the host itself knows: what would be done, who asks, how much it can cost.
    pub card: Option<PromptCard>,
    pub expires_at: Option<String>,
    /// Put off until then; null when it is not.
    #[serde(default)]
    pub snoozed_until: Option<String>,
    /// What was approved was begun.
    pub used: bool,
    pub plain_secrets: bool,
    pub can_decline: bool,
    pub answer: Option<PromptAnswered>,
    pub ignored_responses: u64,
    pub foreign_responses: u64,
    pub positions: PromptPositions,
    /// Answers that came after the one that counts; only on the single item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored_lines: Option<Vec<PromptLine>>,
    /// Answers other programs wrote; only on the single item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_lines: Option<Vec<PromptLine>>,
}

/// Another program that asks, as it names itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptClient {
    pub id: String,
    /// `gateway`, `hook`, `acp_agent` or `acp_editor`.
    pub kind: String,
    pub name: String,
    pub version: Option<String>,
    /// What it calls its session.
    pub label: Option<String>,
    /// The folder it works in.
    pub root: Option<String>,
    /// The last part of that folder.
    pub project: Option<String>,
    /// Tells apart programs of one name in one folder, from 1.
    #[serde(default)]
    pub number: Option<u32>,
    /// It said no name; this is that of its process.
    #[serde(default)]
    pub unconfirmed: bool,
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptClass {
    /// Somebody who asked through this host.
    Served,
    /// A program that wrote the line itself.
    Foreign,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptState {
    Pending,
    Closed,
    /// Its line is gone from the log.
    Lost,
}

/// What is wrong with one member.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FieldProblem {
    /// A JSON pointer.
    pub path: String,
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

/// The answer that counts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptAnswered {
    pub status: AnswerStatus,
    pub ts: String,
    /// Null: answered by another program.
    pub by: Option<String>,
    pub verified: bool,
    /// The host answered it itself.
    pub auto: bool,
    /// Of an answer that another program wrote, whatever that program wrote.
    pub response: PromptResponse,
}

/// Where the lines stand in the log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptPositions {
    pub request: Option<u64>,
    pub response: Option<u64>,
}

/// A line of the log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptLine {
    pub offset: u64,
    pub line: String,
}

/// What is wrong with the log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptHealth {
    pub unreadable_lines: u64,
    /// By fault.
    pub lines: BTreeMap<String, PromptFaults>,
    pub lock_missed: u64,
    pub mode_narrowed: u64,
    pub replaced: u64,
    pub missing: bool,
    pub unreadable: Option<String>,
    pub unwritable: Option<String>,
    pub lost: u64,
    pub previous: Option<String>,
}

/// Lines with one fault.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptFaults {
    pub count: u64,
    /// Of the first of them.
    pub offsets: Vec<u64>,
}

/// The log as a check finds it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptCheck {
    #[serde(flatten)]
    pub health: PromptHealth,
    pub path: String,
    pub bytes: u64,
    pub counts: PromptCounts,
    pub ok: bool,
}

/// What waiting gave.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum PromptWait {
    /// The time was over first.
    Pending,
    Closed {
        response: PromptResponse,
        by: Option<String>,
        at: String,
        /// Values of secret fields can be taken once.
        private: bool,
    },
}

/// The private values of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptTaken {
    pub response: Value,
}

/// What withdrawing gave.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptClosed {
    pub ok: bool,
    /// It was closed before.
    pub already: bool,
}

/// Questions that are asked together.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptsTogether {
    /// In the order of the calls; those that are answered are not among them.
    pub items: Vec<PromptView>,
    /// The digest over all that is shown.
    pub shown: String,
}

/// One answer to questions that are asked together.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerTogether {
    /// As it was given with the questions.
    pub shown: String,
    /// Those that are approved; the others are refused.
    pub accepted: Vec<String>,
    /// A note to the agent.
    pub remark: Option<String>,
    /// Nothing is approved, and the run that asks ends.
    #[serde(default)]
    pub stop: bool,
    /// `cli` for a terminal.
    pub by: Option<String>,
    /// The process that answers.
    pub pid: Option<u32>,
}

/// What became of each question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredTogether {
    /// The questions whose answer is recorded now.
    pub done: Vec<String>,
    /// Not recorded, with why.
    pub skipped: Vec<SkippedQuestion>,
}

/// A question whose answer was not recorded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SkippedQuestion {
    pub id: String,
    pub code: String,
    pub message: String,
}
