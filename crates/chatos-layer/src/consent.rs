//! A person's agreement to a change of files or to a command, asked before anything happens (tools §15).
//!
//! Used by every server that changes something; how a person is reached is `person`'s matter. What a person
//! agreed to is computed again from the world as it is after the answer: only the same thing is done, once.

use std::sync::PoisonError;

use chatos_files::plan::Hidden;
use chatos_prompts::whole::{self, Whole};
use chatos_prompts::{Approval, Effect, Object, Ruling, Unasked, effect};
use chatos_together::Place;
use chatos_tool::{ConflictKind, DenyRule, Lang, Reason, Resource, Text, ToolError, in_both};
use chatos_wire::card::{self, CardRisk, Deed};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::CallCx;
use crate::person::{self, Question};

/// How often one call asks because the world changed under the answer.
const ATTEMPTS: usize = 3;

/// What a person is asked to agree to, as the world is at one moment.
#[derive(Debug, Clone)]
pub struct Matter {
    /// `path` and `diff`, or `command` and `cwd`.
    what: Object,
    /// Totals and reasons, one line each.
    message: Text,
    /// Everything that decides it.
    effect: Effect,
    /// The text of which the question shows a part.
    whole: Option<String>,
}

/// A change of files to agree to.
pub struct Change<'a> {
    /// The path, or the first of several.
    pub path: &'a str,
    /// Everything that changes.
    pub diff: &'a str,
    /// How many files that are.
    pub count: usize,
    /// Which, with what is there and what will be.
    pub files: Value,
    /// What of it cannot be shown.
    pub hidden: Vec<Hidden>,
    /// Which of the places it touches that are always asked about.
    pub sensitive: Option<&'static str>,
    /// Totals and reasons, one line each.
    pub message: Text,
}

impl Matter {
    /// A change of files. One that is too large for a question is not asked.
    pub fn change(cx: &CallCx, change: Change<'_>) -> Result<Self, ToolError> {
        too_large(Resource::Entries, change.count, whole::MAX_FILES)?;
        too_large(Resource::Output, change.diff.len(), whole::MAX_BYTES)?;
        let text = Whole::of(change.diff, whole::SHOWN_CHARS);
        let mut reference = text.reference();
        if !change.hidden.is_empty() {
            reference["hidden"] = json!(change.hidden);
        }
        let mut message = change.message;
        if text.is_cut {
            let left = text.left();
            message = Text::new(
                format!("{}\nThe diff is cut: {left} more lines have to be shown first.", message.en),
                format!("{}\n差异已截断：同意前还需显示其余 {left} 行。", message.zh),
            );
        }
        let mut what = Object::new();
        what.insert("path".into(), change.path.into());
        what.insert("diff".into(), text.shown.into());
        what.insert("diffRef".into(), reference);
        let mut effect = cx.effect("file_change").with("files", change.files).with("diff", text.facts());
        if let Some(place) = change.sensitive {
            effect = effect.with("sensitive", json!(place));
        }
        let whole = text.is_cut.then(|| change.diff.to_owned());
        Ok(Self { what, message, effect, whole })
    }

    /// A command, shown exactly as it would run; `facts` are those of the material.
    pub fn command(cx: &CallCx, command: &str, cwd: &str, message: Text, facts: Value) -> Self {
        let mut what = Object::new();
        what.insert("command".into(), command.into());
        what.insert("cwd".into(), cwd.into());
        Self { what, message, effect: cx.effect("command").with("command", facts), whole: None }
    }
}

impl Matter {
    /// A command that wants more than its sandbox gives: `facts` as of a command, `access` what it wants, `options` what a
    /// person may choose. The last of them is no.
    pub fn access(
        cx: &CallCx,
        title: &Text,
        message: Text,
        options: &[(&str, Text)],
        facts: Value,
        access: Value,
    ) -> Self {
        let said = in_both(cx.people, |lang| {
            let options: Vec<Value> = options
                .iter()
                .map(|(value, label)| json!({ "value": value, "label": label.get(lang) }))
                .collect();
            json!({ "kind": "choice", "title": title.get(lang), "message": message.get(lang), "options": options })
        });
        let mut what = said.as_object().cloned().unwrap_or_default();
        // With what changed before it, where something did.
        what.remove("message");
        let effect = cx.effect("access").with("command", facts).with("access", access);
        Self { what, message, effect, whole: None }
    }

    /// The command it is about; empty for a change of files.
    fn command_text(&self) -> &str {
        self.effect.material["command"]["text"].as_str().unwrap_or_default()
    }

    /// The same but for the text of its command, which is that of another.
    fn with_command_of(&self, other: &Self) -> Effect {
        let mut effect = self.effect.clone();
        effect.material["command"]["text"] = other.effect.material["command"]["text"].clone();
        effect
    }

    /// Everything of it is shown, and its risk is not high.
    fn is_plain(&self) -> bool {
        let (risk, _) = card::risk(&self.effect.name, &self.effect.material);
        risk != CardRisk::High && self.whole.is_none() && !whole::is_partial(&self.what)
    }

    /// The files it would change.
    fn touches(&self) -> Vec<String> {
        let files = self.effect.material["files"].as_array().map(Vec::as_slice).unwrap_or_default();
        let paths = files.iter().flat_map(|file| [&file["path"], &file["from"]]);
        paths.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

fn too_large(resource: Resource, actual: usize, limit: usize) -> Result<(), ToolError> {
    if actual <= limit {
        return Ok(());
    }
    let (actual, limit) = (actual as u64, limit as u64);
    Err(ToolError::new(
        Reason::ResourceExhausted { resource, limit: Some(limit), actual: Some(actual) },
        Text::new(
            format!("too_large: the change is too large to be shown to a person ({actual} > {limit}); nothing was asked and nothing was done"),
            format!("too_large：更改过大，无法展示给用户（{actual} > {limit}）；未询问，也未做任何更改"),
        ),
    )
    .hint(Text::fixed("make the change in several smaller calls", "请拆分为多次较小的调用")))
}

impl CallCx {
    /// What this call is about to do, for the material of its question (security T24): the tool of this build,
    /// its exact arguments, and the directory it works in.
    pub fn effect(&self, kind: &str) -> Effect {
        let root = self.root.as_ref().map_or(Value::Null, |root| effect::directory(root.path()));
        Effect::new(kind, Object::new())
            .with("identity", json!(format!("builtin:{}", self.server)))
            .with("tool", json!(self.tool))
            .with("toolDigest", json!(self.definition))
            .with("arguments", effect::arguments(&self.arguments))
            .with("root", root)
    }
}

/// The part of `data` that says what the person said.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Consent {
    /// A person agreed to this call
    pub confirmed: bool,
    /// The question in the queue
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What the person remarked
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Nobody was asked: the person's rule of this name allows it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_rule: Option<String>,
    /// What the person made of the command before approving it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// The text that a command is run as, where a rule answered for it.
    #[serde(skip)]
    #[schemars(skip)]
    pub run_as: Option<String>,
}

fn denied_by(rule: &str) -> ToolError {
    ToolError::denied(
        DenyRule::ApprovalRule,
        Text::new(
            format!("the person's rule \u{201c}{rule}\u{201d} refuses this; nothing was done"),
            format!("用户的规则“{rule}”拒绝此操作，未执行任何操作"),
        ),
    )
    .hint(Text::fixed("do it in another way, or ask the person", "请换一种方式，或询问用户"))
}

impl Consent {
    /// What an answer says.
    pub fn of(agreed: &person::Agreed) -> Self {
        let remark =
            agreed.response.get("remark").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        Self {
            confirmed: true,
            request_id: Some(agreed.request_id.as_str().to_owned()),
            remark: remark.map(str::to_owned),
            by_rule: None,
            edited: None,
            run_as: None,
        }
    }

    /// What the model reads first where the person changed the call.
    pub fn changed_line(&self, lang: Lang) -> String {
        match (&self.edited, lang) {
            (None, _) => String::new(),
            (Some(text), Lang::En) => format!("The person changed the call to: {text}\n\n"),
            (Some(text), Lang::Zh) => format!("用户将该调用改为：{text}\n\n"),
        }
    }

    /// The remark as a line of the text.
    pub fn line(&self, lang: Lang) -> String {
        match (&self.remark, lang) {
            (None, _) => String::new(),
            (Some(remark), Lang::En) => format!("\nUser remark: {remark}"),
            (Some(remark), Lang::Zh) => format!("\n用户备注：{remark}"),
        }
    }
}

/// Asks until the person agrees to what would really happen, or says no. `look` looks at the world: what there
/// is to agree to, nothing where nobody has to be asked, and what is needed to do it. Without a yes it is an
/// error, and nothing has happened then.
pub async fn agree<T, F>(cx: &CallCx, look: impl Fn() -> F) -> Result<(Consent, Approval, T), ToolError>
where
    F: Future<Output = Result<(Option<Matter>, T), ToolError>>,
{
    agree_or_edit(cx, |_| look()).await
}

/// As [`agree`], for a command that the person may write anew: `look` looks at that one then. It is done at once where
/// nothing but its text differs from what was asked; where it would cost more or is confined otherwise, it is asked
/// about once more (inbox §2.4).
pub async fn agree_or_edit<T, F>(
    cx: &CallCx,
    look: impl Fn(Option<String>) -> F,
) -> Result<(Consent, Approval, T), ToolError>
where
    F: Future<Output = Result<(Option<Matter>, T), ToolError>>,
{
    let mut changed = None;
    let mut edited: Option<String> = None;
    let mut group = gathered(cx, || look(None)).await?;
    if group.is_none() {
        // It asks by itself, or nobody: about the world as the calls before it left it.
        cx.in_turn().await?;
    }
    for attempt in 0..ATTEMPTS {
        let (matter, ready) = look(edited.clone()).await?;
        let Some(matter) = matter else {
            cx.in_turn().await?;
            let consent = Consent { edited, ..Consent::default() };
            return Ok((consent, Approval::unasked(Unasked::NotWanted), ready));
        };
        match cx.unless_stopped(cx.queue.rule_on(&matter.effect, &cx.trace)).await? {
            Ruling::Ask => {}
            Ruling::Allow { name, run_as, .. } => {
                cx.in_turn().await?;
                let consent = Consent { by_rule: Some(name), edited, run_as, ..Consent::default() };
                return Ok((consent, Approval::unasked(Unasked::ByRule), ready));
            }
            Ruling::Deny { name, .. } => return Err(denied_by(&name)),
        }
        // The person saw what became of it and had it run again: the same thing is not asked about twice.
        if attempt == 0
            && let Some(before) = &cx.approved
            && let Some(approval) = cx.unless_stopped(cx.queue.once_more(before, &matter.effect)).await?
        {
            cx.in_turn().await?;
            let request_id = Some(before.as_str().to_owned());
            return Ok((Consent { confirmed: true, request_id, ..Consent::default() }, approval, ready));
        }
        if attempt == 0 {
            changed = since_asked(cx, &matter.effect).await?;
        }
        let agreed = ask(cx, &matter, changed.take(), attempt > 0, group.take()).await?;
        cx.in_turn().await?;
        let written = agreed.edited().filter(|text| *text != matter.command_text());
        if let Some(text) = written {
            edited = Some(text.to_owned());
        }
        // The world as it is now decides, not as it was when the question was put.
        let (now, ready) = look(edited.clone()).await?;
        let Some(now) = now else { continue };
        let as_asked = if written.is_some() { now.with_command_of(&matter) } else { now.effect.clone() };
        match person::use_approval(cx, &agreed, &matter.effect, &as_asked).await? {
            Some(approval) => {
                return Ok((Consent { edited, ..Consent::of(&agreed) }, approval, ready));
            }
            None if written.is_some() => changed = Some(rewritten(cx)),
            None => changed = Some(difference(cx, &matter.effect, &now.effect)),
        }
    }
    Err(unsettled())
}

/// It was another thing each time.
fn unsettled() -> ToolError {
    ToolError::new(
        Reason::Conflict { kind: ConflictKind::ChangedOnDisk, expected: None, found: None, path: None },
        Text::fixed(
            "what would happen changed each time the person had approved it; nothing was done",
            "每次用户同意后，将要执行的内容都又发生了变化；未执行任何操作",
        ),
    )
    .hint(Text::fixed("call again when it is at rest", "请在内容稳定后重新调用"))
}

/// What a person chose who said no.
pub const NO: &str = "no";

/// Asks for one of several answers until it is about what would really happen; none of the person's rules answers for
/// them. Gives the answer. `look` as for [`agree`].
pub async fn choose<T, F>(
    cx: &CallCx,
    look: impl Fn() -> F,
) -> Result<(Consent, Approval, String, T), ToolError>
where
    F: Future<Output = Result<(Matter, T), ToolError>>,
{
    if let Some(member) = &cx.together {
        cx.unless_stopped(cx.while_person(member.gather(false, Vec::new()))).await?;
    }
    cx.in_turn().await?;
    let mut changed = None;
    for attempt in 0..ATTEMPTS {
        let (matter, _) = look().await?;
        let agreed = ask(cx, &matter, changed.take(), attempt > 0, None).await?;
        let chosen = agreed.response.get("selection").and_then(Value::as_str).unwrap_or(NO).to_owned();
        let consent = Consent::of(&agreed);
        if chosen == NO {
            let data = json!({ "confirmed": false, "request_id": agreed.request_id.as_str() });
            return Err(ToolError::declined(consent.remark.as_deref()).data(data));
        }
        let (now, ready) = look().await?;
        match person::use_approval(cx, &agreed, &matter.effect, &now.effect).await? {
            Some(approval) => return Ok((consent, approval, chosen, ready)),
            None => changed = Some(difference(cx, &matter.effect, &now.effect)),
        }
    }
    Err(unsettled())
}

/// Asks for one of several answers about what a call has done already. Gives the answer; nothing where nobody gave one.
pub async fn decide_after(cx: &CallCx, matter: &Matter) -> Option<String> {
    let mut question = question(cx, matter, None, true).ok()?;
    question.after = true;
    let agreed = person::ask(cx, question).await.ok()?;
    let chosen = agreed.response.get("selection").and_then(Value::as_str)?.to_owned();
    let approval = person::use_approval(cx, &agreed, &matter.effect, &matter.effect).await.ok()??;
    tracing::debug!(approved = ?approval.request_id(), chosen, "what a call did was decided about");
    Some(chosen)
}

/// Plans a call that is made together with others of the same answer, and waits until all of them have. Gives its place
/// among those that ask now; nothing where it is asked by itself, or cannot be planned before the others are done.
async fn gathered<T, F>(cx: &CallCx, look: impl Fn() -> F) -> Result<Option<Place>, ToolError>
where
    F: Future<Output = Result<(Option<Matter>, T), ToolError>>,
{
    let Some(member) = &cx.together else { return Ok(None) };
    let (asks, touches) = match look().await {
        // What is of high risk, or cannot be shown as a whole, is looked at alone.
        Ok((Some(matter), _)) => {
            let ruled = cx.unless_stopped(cx.queue.is_ruled(&matter.effect, &cx.trace)).await?;
            (matter.is_plain() && !ruled, matter.touches())
        }
        _ => (false, Vec::new()),
    };
    cx.unless_stopped(cx.while_person(member.gather(asks, touches))).await
}

/// What is different from the question of a host that is gone: the call goes on in this one and asks anew.
async fn since_asked(cx: &CallCx, now: &Effect) -> Result<Option<String>, ToolError> {
    let before = cx.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(before) = before else { return Ok(None) };
    let found = cx.unless_stopped(cx.queue.changed_since(&before, now)).await?;
    Ok(found.map(|found| found.line_since_asked(people(cx))))
}

fn people(cx: &CallCx) -> chatos_prompts::Lang {
    if cx.people == Lang::Zh { chatos_prompts::Lang::Zh } else { chatos_prompts::Lang::En }
}

/// What is different now, in a line for the person.
fn difference(cx: &CallCx, before: &Effect, now: &Effect) -> String {
    before.difference(now).line(people(cx))
}

/// What the person wrote is confined or judged otherwise than what was asked.
fn rewritten(cx: &CallCx) -> String {
    let text = Text::fixed(
        "You changed the command, and with it the risk or what confines it. Look at it once more.",
        "你修改了命令，其风险或沙箱条件也随之改变，请再确认一次。",
    );
    text.get(cx.people).to_owned()
}

async fn ask(
    cx: &CallCx,
    matter: &Matter,
    changed: Option<String>,
    again: bool,
    group: Option<Place>,
) -> Result<person::Agreed, ToolError> {
    let mut question = question(cx, matter, changed, again)?;
    question.group = group;
    person::ask(cx, question).await
}

fn question(
    cx: &CallCx,
    matter: &Matter,
    changed: Option<String>,
    again: bool,
) -> Result<Question, ToolError> {
    let deed = Deed::of(&matter.effect.name, &matter.effect.material);
    let title =
        deed.title(None, None).unwrap_or_else(|| Text::fixed("Approve this change?", "同意这项更改？"));
    let mut prompt = in_both(cx.people, |lang| {
        let before = changed.as_ref().map(|changed| format!("{changed}\n")).unwrap_or_default();
        json!({
            "kind": "file_change_confirm",
            "title": title.get(lang),
            "message": format!("{before}{}", matter.message.get(lang)),
            "allowCancel": true,
        })
    });
    let words = prompt["words"].take();
    if let Some(prompt) = prompt.as_object_mut() {
        prompt.remove("words");
        prompt.extend(matter.what.clone());
        let own = prompt.entry("words").or_insert(words.clone());
        for (lang, said) in words.as_object().into_iter().flatten() {
            if let (Some(message), true) = (said.get("message"), own[lang].is_object()) {
                own[lang]["message"] = message.clone();
            }
        }
        prompt.retain(|key, value| key != "words" || value.is_object());
    }
    if cx.settings.confirm_timeout_ms > 0 {
        prompt["timeoutMs"] = json!(cx.settings.confirm_timeout_ms);
    }
    let mut question = Question::check(cx.server, cx.tool, &prompt).map_err(|problems| {
        ToolError::invalid(problems.iter().map(|problem| person::issue(problem, str::to_owned)).collect())
    })?;
    question.effect = Some(matter.effect.clone());
    question.whole = matter.whole.clone();
    question.again = again;
    Ok(question)
}
