//! What a typed line does: something said, or a command carried out. A failure is told, and the chat goes on.

use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::MessageRole;
use chatos_wire::command::{CommandKind, CommandList};
use chatos_wire::session::{Compacted, SessionView};
use hyper::Method;
use serde_json::{Value, json};

use super::{Live, Next, Run};
use crate::args::FileFormat;
use crate::chat::commands::{self, Line, Name};
use crate::chat::files;
use crate::chat::talk::How;
use crate::chats::{file, messages, print_list, told_written, unwritten, write_new};
use crate::markdown::hung;
use crate::names::used;
use crate::output::{Paint, columns, pad, visible, width};
use chatos_desk::encode;

/// Chats that `/chats` lists.
const LISTED: usize = 10;

impl Live<'_, '_> {
    pub(super) async fn act(&mut self, typed: &str) -> Next {
        match self.try_act(typed).await {
            Ok(next) => next,
            Err(fault) => {
                self.output.fault(&fault);
                Next::Go
            }
        }
    }

    async fn try_act(&mut self, typed: &str) -> Result<Next, Fault> {
        match commands::read(typed) {
            Line::Nothing => {}
            Line::Say(text) => self.say(&text).await?,
            Line::Steer(text) => self.steer(&text).await?,
            Line::Do(name, rest) => return self.command(name, &rest).await,
            Line::Fill(text) => {
                let text = self.talk.filled(&text).await?;
                self.say_all(&text).await?;
            }
        }
        Ok(Next::Go)
    }

    /// What a person typed, with the files it names.
    async fn say(&mut self, text: &str) -> Result<(), Fault> {
        self.talk.mention(text).await?;
        self.say_all(text).await
    }

    async fn say_all(&mut self, text: &str) -> Result<(), Fault> {
        let sent = self.talk.send(text, How::Queue).await?;
        if sent.queued {
            self.output.say(&Text::same(
                self.output.paint(
                    Paint::Dim,
                    Text::fixed("Queued; it is sent when the agent is done.", "已排队，智能体完成后发送。")
                        .get(self.output.lang),
                ),
            ));
        }
        self.runs.push(Run { id: sent.run_id, waits: sent.queued.then(|| text.to_owned()) });
        Ok(())
    }

    async fn steer(&mut self, text: &str) -> Result<(), Fault> {
        if self.runs.is_empty() {
            return self.say(text).await;
        }
        self.talk.send(text, How::Steer).await?;
        self.dim(&Text::fixed("The agent is told.", "已告知智能体。"));
        Ok(())
    }

    pub(super) fn dim(&self, text: &Text) {
        self.output.say(&Text::same(self.output.paint(Paint::Dim, text.get(self.output.lang))));
    }

    /// What moves to another chat, or changes what was said, waits for the end of the run.
    fn needs_rest(&self) -> Result<(), Fault> {
        if self.runs.is_empty() {
            return Ok(());
        }
        Err(Fault::new(ErrorCode::Conflict, Text::fixed("the agent is at work", "智能体正在运行"))
            .code("run_active")
            .hint(Text::fixed("`/stop` stops it", "`/stop` 可停止")))
    }

    async fn command(&mut self, name: Name, rest: &str) -> Result<Next, Fault> {
        let some = || if rest.is_empty() { Err(commands::lacks(name)) } else { Ok(rest) };
        match name {
            Name::Help => self.help().await?,
            Name::Quit => return Ok(Next::Leave),
            Name::New => {
                self.needs_rest()?;
                let mut order = json!({});
                let agent = match rest {
                    "" => self.talk.session().await?.agent_id,
                    written => self.talk.names().agent(written).await?,
                };
                order["agentId"] = json!(agent);
                self.talk.make(&order).await?;
                self.output.say(&Text::fixed("New chat.", "新对话。"));
            }
            Name::Resume => {
                self.needs_rest()?;
                let id = match rest {
                    "" => self.chat_before().await?,
                    written => self.talk.names().chat(written).await?,
                };
                self.talk.open(id).await?;
                self.recall().await?;
            }
            Name::Chats => {
                let chats = self.newest().await?;
                let shown = &chats[..chats.len().min(LISTED)];
                print_list(self.output, shown, Some(&self.talk.id));
            }
            Name::Agent if rest.is_empty() => self.list("/api/v1/agents").await?,
            Name::Agent => {
                let id = self.talk.names().agent(rest).await?;
                self.talk.change(&json!({ "agentId": id })).await?;
            }
            Name::Model if rest.is_empty() => self.list("/api/v1/models").await?,
            Name::Model => {
                let id = self.talk.names().model(rest).await?;
                self.talk.change(&json!({ "modelId": id })).await?;
            }
            Name::Compact => self.compact(rest).await?,
            Name::Attach => self.attach(some()?)?,
            Name::Retry => {
                self.needs_rest()?;
                if !rest.is_empty() {
                    let id = self.talk.names().model(rest).await?;
                    self.talk.change(&json!({ "modelId": id })).await?;
                }
                let sent = self.talk.retry().await?;
                self.runs.push(Run { id: sent.run_id, waits: None });
            }
            Name::Edit => self.edit(rest).await?,
            Name::Fork => self.fork(rest).await?,
            Name::Export => self.export(rest).await?,
            Name::Queue => self.say(some()?).await?,
            Name::Steer => self.steer(some()?).await?,
            Name::Stop if self.runs.is_empty() => {
                self.dim(&Text::fixed("Nothing to stop.", "没有可停止的运行。"));
            }
            Name::Stop => self.talk.stop().await?,
            Name::Tools => self.tools().await?,
            Name::Access => self.access().await?,
            Name::Options => self.options(rest).await?,
            Name::Prompts => self.prompts().await?,
        }
        Ok(Next::Go)
    }

    /// The commands of the chat, then those of the person and of servers.
    async fn help(&self) -> Result<(), Fault> {
        let mut lines = commands::help(self.output.lang);
        let path = format!("/api/v1/commands?session={}", encode(&self.talk.id));
        let known = self.talk.api().get::<CommandList>(&path, self.output.lang).await?.body;
        let others = known.items.iter().filter(|item| item.kind != CommandKind::BuiltIn);
        lines.extend(others.map(|item| {
            let does = if item.title.is_empty() { &item.description } else { &item.title };
            (visible(format!("/{} {}", item.name, item.argument_hint).trim_end()), visible(does))
        }));
        let widest = lines.iter().map(|(head, _)| width(head)).max().unwrap_or_default();
        for (head, does) in lines {
            let head = format!("  {}  ", pad(&head, widest));
            self.output.line(&hung(&head, false, &does, self.output.paints(), columns()));
        }
        for problem in &known.problems {
            self.output.aside(Paint::Warn, &visible(problem));
        }
        Ok(())
    }

    /// The agents or models there are; those this chat uses carry a mark.
    async fn list(&self, path: &str) -> Result<(), Fault> {
        let session = self.talk.session().await?;
        let model = self.talk.model(&session, &self.talk.agent(&session).await?).await?.unwrap_or_default();
        for item in self.talk.names().items(path).await? {
            let used = item["id"] == session.agent_id || item["id"] == model["id"];
            let mark = if used { "*" } else { " " };
            self.output.line(&format!("{mark} {}", visible(item["name"].as_str().unwrap_or_default())));
        }
        Ok(())
    }

    /// Chats by when they were used, the newest first.
    async fn newest(&self) -> Result<Vec<Value>, Fault> {
        let mut chats = self.talk.names().chats(false).await?;
        chats.sort_by(|a, b| used(b).cmp(used(a)));
        Ok(chats)
    }

    /// The newest chat besides this one in which something was said.
    async fn chat_before(&self) -> Result<String, Fault> {
        let chats = self.newest().await?;
        let said = |chat: &&Value| chat["lastMessageAt"].is_string() && chat["id"] != self.talk.id.as_str();
        let found = chats.iter().find(said).and_then(|chat| chat["id"].as_str());
        found.map(str::to_owned).ok_or_else(|| {
            Fault::new(ErrorCode::NotFound, Text::fixed("there is no other chat", "没有其他对话"))
        })
    }

    async fn compact(&mut self, keep: &str) -> Result<(), Fault> {
        let body = json!({ "instructions": keep });
        let (api, path, lang) = (self.talk.api(), self.talk.path("/compact"), self.output.lang);
        let done = api.call_patiently(Method::POST, &path, Some(&body), lang).await?;
        let made = crate::client::typed::<Compacted>(done)?.made;
        self.dim(&if made {
            Text::fixed("The beginning is summarized for the model.", "已为模型总结对话开头。")
        } else {
            Text::fixed("It is summarized before the agent's next step.", "将在智能体的下一步之前总结。")
        });
        Ok(())
    }

    fn attach(&mut self, written: &str) -> Result<(), Fault> {
        for path in paths(written, &self.talk.here) {
            self.talk.files.push(files::read(&path, &self.talk.here)?);
        }
        let names: Vec<String> = self.talk.files.iter().map(|file| visible(&file.name)).collect();
        let names = names.join(", ");
        self.dim(&Text::new(
            format!("Goes with your next message: {names}"),
            format!("将随下一条消息发送：{names}"),
        ));
        Ok(())
    }

    async fn fork(&mut self, written: &str) -> Result<(), Fault> {
        self.needs_rest()?;
        let back = match written {
            "" => 0,
            number => number.parse::<usize>().map_err(|_| commands::lacks(Name::Fork))?,
        };
        let (api, lang) = (self.talk.api(), self.output.lang);
        let all = messages(api, self.output, &self.talk.id, None).await?;
        let mine = all.iter().enumerate().rev().filter(|(_, message)| message.role == MessageRole::User);
        let end = match back {
            0 => all.len(),
            back => mine.map(|(at, _)| at).nth(back - 1).unwrap_or_default(),
        };
        let last = end.checked_sub(1).and_then(|at| all.get(at)).ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::fixed("there is nothing to begin a new chat with", "没有可作为新对话开头的内容"),
            )
        })?;
        let path = self.talk.path(&format!("/messages/{}/fork", encode(&last.id)));
        let made = api.ask::<SessionView>(Method::POST, &path, Some(&json!({})), lang).await?;
        self.talk.open(made.body.id).await?;
        self.output.say(&Text::fixed("A new chat that begins with this one.", "已从此对话分出新对话。"));
        Ok(())
    }

    /// The Nth last message of the person in their editor; said anew when it is another one afterwards.
    async fn edit(&mut self, written: &str) -> Result<(), Fault> {
        self.needs_rest()?;
        let back = match written {
            "" => 1,
            number => number
                .parse::<usize>()
                .ok()
                .filter(|back| *back > 0)
                .ok_or_else(|| commands::lacks(Name::Edit))?,
        };
        let all = messages(self.talk.api(), self.output, &self.talk.id, None).await?;
        let mine = all.iter().rev().filter(|message| message.role == MessageRole::User).nth(back - 1);
        let before = mine.ok_or_else(|| {
            Fault::new(ErrorCode::NotFound, Text::fixed("there is no such message", "没有这条消息"))
        })?;
        // The editor has the terminal; Ctrl-C in it is for it.
        self.quiet = None;
        let (own, text) = (self.own.clone(), before.content.clone());
        let edited = chatos_blocking::run(move || own.edit(&text)).await;
        self.hush();
        while tokio::time::timeout(std::time::Duration::ZERO, self.interrupts.recv()).await.is_ok() {}
        let edited = edited.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("the editor was lost")).caused_by(&error)
        })??;
        let Some(text) = edited.filter(|text| !text.trim().is_empty() && *text != before.content) else {
            self.dim(&Text::fixed("Nothing was changed.", "没有改动。"));
            return Ok(());
        };
        let sent = self.talk.say_instead(&before.id, &text).await?;
        for (number, line) in visible(&text).lines().enumerate() {
            let mark = if number == 0 { ">" } else { " " };
            self.output.line(&self.output.paint(Paint::Bold, &format!("{mark} {line}")));
        }
        self.runs.push(Run { id: sent.run_id, waits: None });
        Ok(())
    }

    async fn export(&mut self, written: &str) -> Result<(), Fault> {
        let path = Path::new(written);
        let format = FileFormat::of_file(path);
        let made = file(self.talk.api(), self.output, &self.talk.id, format, "").await?;
        let name = if written.is_empty() { Path::new(&made.name) } else { path };
        // A file that is there may be worth more than this one.
        write_new(&self.talk.here.join(name), &made.text).map_err(|error| unwritten(name, &error))?;
        told_written(self.output, name);
        Ok(())
    }

    async fn prompts(&mut self) -> Result<(), Fault> {
        let query = [("view", "needs_you".to_owned()), ("limit", "200".to_owned())];
        let page = self.talk.desk.list(&query, self.output.lang).await?;
        let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if items.is_empty() {
            self.dim(&Text::fixed("Nothing needs you.", "没有需要你处理的问题。"));
        }
        for item in items {
            let id = item["requestId"].as_str().unwrap_or_default();
            if !self.ask(id).await? {
                break;
            }
        }
        Ok(())
    }
}

/// The files a person names: one with spaces in its name, or several, quoted where they have spaces.
fn paths(written: &str, here: &Path) -> Vec<PathBuf> {
    if here.join(written).exists() {
        return vec![PathBuf::from(written)];
    }
    let mut all = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in written.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() => all.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    all.push(word);
    all.into_iter().filter(|word| !word.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_files_are_words_and_quotes_keep_spaces() {
        let here = Path::new("/nowhere");
        assert_eq!(paths("a.txt  'b c.txt' \"d\"", here), ["a.txt", "b c.txt", "d"].map(PathBuf::from));
    }
}
