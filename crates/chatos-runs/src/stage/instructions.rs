//! Texts of the project before the first request of a run: decided once, asked about where a person is there, and kept
//! with the message (packages §4). What is decided is the crate `chatos-instructions`.

use chatos_instructions::{Desk, Plan, WITHDRAWN, Wanted, environment};
use chatos_store::RunWrite;
use chatos_tool::Fault;
use chatos_wire::instructions::{InstructionConsent, InstructionOrder};
use chatos_wire::{RunKind, StepKind};
use serde_json::{Value, json};

use super::super::desk::Runs;
use super::person::open_prompt;
use super::state::{HostStage, Inner, kept};

impl Runs {
    /// Where texts of projects are looked for.
    pub fn instructions(&self) -> Desk<'_> {
        let parts = self.parts();
        Desk {
            store: &parts.store,
            home: parts.environment.get("HOME").map(Into::into),
            state: parts.dir.path().to_owned(),
            names: parts.settings.list("instructionFiles"),
        }
    }

    /// Keeps a person's word about the texts of a project; other questions about them are answered by it. Blocks.
    pub fn decide_instructions(
        &self,
        workspace: &std::path::Path,
        word: Option<InstructionConsent>,
        by: &str,
    ) -> Result<(), Fault> {
        let root = self.instructions().decide(workspace, word, by)?;
        if word.is_some() {
            self.parts().inbox.supersede("instructions", &root)?;
        }
        Ok(())
    }
}

impl HostStage {
    /// Before the first request; a run that is continued after one has nothing to decide.
    pub(super) async fn prepared(&self) -> Result<(), Fault> {
        loop {
            let Some((plan, open)) = self.work(Inner::plan_instructions).await? else { return Ok(()) };
            let (ask, show, root) = match plan {
                Plan::Ask { ask, show, root } => (ask, show, root),
                Plan::Go { block, notices } => {
                    return self
                        .work(move |stage| {
                            let blocks: Vec<_> = block.into_iter().collect();
                            if !blocks.is_empty() {
                                kept(stage.store().write_run(RunWrite { blocks, ..stage.moment() }))?;
                            }
                            for notice in notices {
                                let (lang, emitter) = (stage.parts.lang, &stage.parts.emitter);
                                emitter.notice(notice.severity, notice.code, &notice.text, lang);
                            }
                            Ok(())
                        })
                        .await;
                }
            };
            let source = self.parts.agent.name.clone();
            let about = json!({ "instructions": true, "root": root });
            let (step, request) = match open {
                Some(open) => self.go_on_asking(open).await?,
                None => self.ask(ask, source.clone(), about.clone()).await?,
            };
            let mut said = self.verdict(&step, "", &request).await?;
            let status = said.clone().unwrap_or_else(|| "closed".to_owned());
            self.work(move |stage| stage.prompt_ended(&step, &status)).await?;
            if said.as_deref() == Some("show") {
                let (step, request) = self.ask(show, source, about).await?;
                said = self.verdict(&step, "", &request).await?;
                let status = said.clone().unwrap_or_else(|| "closed".to_owned());
                self.work(move |stage| stage.prompt_ended(&step, &status)).await?;
            }
            let Some(word) = said.as_deref().and_then(InstructionConsent::parse) else {
                // Answered elsewhere meanwhile: that counts. Closed without an answer, it is asked another time.
                if self.work(|stage| stage.is_decided()).await? {
                    continue;
                }
                return Ok(());
            };
            self.work(move |stage| {
                stage.parts.runs.decide_instructions(&stage.parts.workdir, Some(word), "chat")
            })
            .await?;
        }
    }
}

/// What to do, with the question that is open already.
type Planned = (Plan, Option<(chatos_agent::CallStep, String)>);

impl Inner {
    fn plan_instructions(&self) -> Result<Option<Planned>, Fault> {
        let run = &self.parts.run;
        let steps = kept(self.store().steps(&run.id))?;
        if run.user_message_id.is_empty() || steps.iter().any(|step| step.kind == StepKind::Model) {
            return Ok(None);
        }
        let sub = run.kind == RunKind::Sub;
        let root = if sub { kept(self.store().run(&run.root_run_id))? } else { None };
        let options = root.as_ref().map_or(&run.options, |root| &root.options);
        let options: Value = serde_json::from_str(options).unwrap_or_default();
        let order: Option<InstructionOrder> = serde_json::from_value(options["instructions"].clone()).ok();
        let wanted = Wanted {
            workspace: self.parts.workdir.clone(),
            transcript: self.parts.transcript.clone(),
            message_id: run.user_message_id.clone(),
            // Only the chat itself asks.
            order: order.filter(|order| !sub || *order != InstructionOrder::Ask),
            window: self.parts.room.window,
            environment: self.environment(),
        };
        let plan = self.parts.runs.instructions().plan(&wanted, self.parts.lang)?;
        let open = steps.iter().rev().find_map(|row| open_prompt(row, |about| about["instructions"] == true));
        Ok(Some((plan, open)))
    }

    /// Whether a person has said something about the texts of this project.
    fn is_decided(&self) -> Result<bool, Fault> {
        let view = self.parts.runs.instructions().view(&self.parts.workdir, None, self.parts.lang)?;
        Ok(view.consent.is_some())
    }

    /// Where and when this is; the demo reads the words of the person alone.
    fn environment(&self) -> Option<String> {
        let parts = self.ports();
        let home = parts.environment.get("HOME").map(std::path::Path::new);
        let lang = parts.agents.language(&self.parts.agent);
        (self.parts.origin.protocol != "demo").then(|| environment(&self.parts.workdir, home, lang))
    }

    /// What a summary must keep: where and when, and the texts of the project.
    pub(super) fn told_instructions(&self) -> Result<String, Fault> {
        let newest = kept(self.store().newest_block(&self.parts.transcript))?;
        let texts = newest.map(|block| block.text).filter(|text| text != WITHDRAWN);
        let told = self.environment().into_iter().chain(texts);
        Ok(told.collect::<Vec<_>>().join("\n\n"))
    }
}
