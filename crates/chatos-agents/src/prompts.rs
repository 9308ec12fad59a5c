//! Making, changing and removing texts for models. Built-in ones can be edited and reset, never
//! removed.

use chatos_store::{AppEntity, StoreErrorKind, SystemPrompt};
use chatos_tool::{ErrorCode, Fault, Issues, Text, overlay};
use chatos_wire::event::{ChangedId, HostEvent};
use serde_json::{Map, Value};

use crate::agents::Agents;
use crate::edit::PROMPT_BYTES;

const READ_ONLY: [&str; 10] =
    ["id", "builtin", "locked", "source", "pluginId", "appId", "edited", "createdAt", "updatedAt", "default"];

impl Agents {
    /// One text by id or name.
    pub fn system_prompt(&self, written: &str) -> Result<SystemPrompt, Fault> {
        let found = self.0.store.system_prompt(written)?;
        found.ok_or_else(|| no_prompt(written))
    }

    /// Makes a text.
    pub fn create_prompt(&self, patch: Map<String, Value>) -> Result<SystemPrompt, Fault> {
        let fresh = SystemPrompt {
            id: uuid::Uuid::now_v7().to_string(),
            name: String::new(),
            title: String::new(),
            content: String::new(),
            kind: "system".to_owned(),
            lang: String::new(),
            allow_main: true,
            allow_sub: true,
            builtin: false,
            locked: false,
            source: "user".to_owned(),
            plugin_id: String::new(),
            app_id: String::new(),
            edited: false,
            created_at: 0,
            updated_at: 0,
        };
        let prompt = overlay(&fresh, patch, &READ_ONLY)?;
        check(&prompt)?;
        self.write_prompt(prompt, true)
    }

    /// Changes a text. Of a built-in one only title and content can be changed.
    pub fn update_prompt(&self, written: &str, patch: Map<String, Value>) -> Result<SystemPrompt, Fault> {
        let _alone = self.0.models.editing();
        let before = self.system_prompt(written)?;
        if before.locked {
            return Err(Fault::new(
                ErrorCode::PermissionDenied,
                Text::new(
                    format!("the prompt `{}` is locked", before.name),
                    format!("提示词 `{}` 已锁定", before.name),
                ),
            )
            .code("locked"));
        }
        let mut prompt = overlay(&before, patch, &READ_ONLY)?;
        // The round trip through JSON leaves out what is not part of it.
        (prompt.plugin_id, prompt.app_id) = (before.plugin_id.clone(), before.app_id.clone());
        if before.builtin
            && (&prompt.name, &prompt.lang, &prompt.kind) != (&before.name, &before.lang, &before.kind)
        {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed(
                    "of a built-in prompt only the title, the content and the two switches can be changed",
                    "内置提示词只能修改标题、内容和两个开关",
                ),
            ));
        }
        check(&prompt)?;
        self.write_prompt(prompt, false)
    }

    /// Gives a built-in text back its own content.
    pub fn reset_prompt(&self, written: &str) -> Result<SystemPrompt, Fault> {
        let before = self.system_prompt(written)?;
        if !self.0.store.reset_system_prompt(&before.id)? {
            return Err(Fault::new(
                ErrorCode::NotSupported,
                Text::fixed("only built-in prompts can be reset", "只有内置提示词可以还原"),
            ));
        }
        self.prompts_changed(&before.id);
        self.system_prompt(&before.id)
    }

    /// Removes a text.
    pub fn remove_prompt(&self, written: &str) -> Result<(), Fault> {
        let before = self.system_prompt(written)?;
        if before.builtin {
            return Err(Fault::new(
                ErrorCode::PermissionDenied,
                Text::fixed("a built-in prompt cannot be removed", "内置提示词不能删除"),
            )
            .code("locked")
            .hint(Text::fixed("leave it out of the land_config instead", "可以在 land_config 中不列出它")));
        }
        let store = &self.0.store;
        let gone = if before.source == "app" {
            store.bury_app_row(AppEntity::Prompt, &before.id)
        } else {
            store.remove_system_prompt(&before.id)
        };
        if !gone? {
            return Err(no_prompt(written));
        }
        self.prompts_changed(&before.id);
        Ok(())
    }

    fn write_prompt(&self, prompt: SystemPrompt, new: bool) -> Result<SystemPrompt, Fault> {
        let (id, name) = (prompt.id.clone(), prompt.name.clone());
        self.0.store.put_system_prompt(prompt, new).map_err(|error| match error.kind {
            StoreErrorKind::Conflict => Fault::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("another prompt is called `{name}`"),
                    format!("已有名为 `{name}` 的提示词"),
                ),
            )
            .code("name_taken")
            .hint(Text::fixed("choose another name", "请换一个名称")),
            _ => Fault::from(error),
        })?;
        self.prompts_changed(&id);
        self.system_prompt(&id)
    }

    fn prompts_changed(&self, id: &str) {
        self.0.events.publish(HostEvent::SystemPromptsChanged(ChangedId { id: id.to_owned() }));
    }
}

fn check(prompt: &SystemPrompt) -> Result<(), Fault> {
    let mut issues = Issues::default();
    issues.needed("/name", &prompt.name, 120);
    issues.longest("/title", &prompt.title, 200);
    issues.one_of("/lang", &prompt.lang, &["", "zh", "en"]);
    issues.one_of("/type", &prompt.kind, &["system"]);
    if prompt.content.trim().is_empty() {
        issues.add("/content", "missing", "a text is needed", "需要填写内容");
    }
    if prompt.content.len() > PROMPT_BYTES {
        issues.add("/content", "length", "at most 128 KiB", "最多 128 KiB");
    }
    issues.done()
}

fn no_prompt(written: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no prompt `{written}`"), format!("没有提示词 `{written}`")),
    )
}
