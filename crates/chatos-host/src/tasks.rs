//! Tasks and journal for people: the same tables the task and journal servers use, with events.

use chatos_store::{
    AddedTasks, JournalEntry, NewJournalEntry, NewTask, StoreErrorKind, Task, TaskContext, TaskFilter,
    TaskPatch,
};
use chatos_tool::{ErrorCode, Fault, Issues, Text};
use chatos_wire::event::{ChangedIds, ChangedProject, HostEvent};

use crate::host::Host;

const STATUSES: [&str; 4] = ["todo", "doing", "blocked", "done"];
const PRIORITIES: [&str; 3] = ["high", "medium", "low"];

impl Host {
    /// Makes tasks by hand.
    pub fn add_tasks(&self, context: TaskContext, tasks: Vec<NewTask>) -> Result<AddedTasks, Fault> {
        let mut issues = Issues::default();
        for (index, task) in tasks.iter().enumerate() {
            let at = |field: &str| format!("/tasks/{index}/{field}");
            issues.title(&at("title"), &task.title);
            issues.longest(&at("details"), &task.details, 16_000);
            issues.one_of(&at("status"), &task.status, &STATUSES);
            issues.one_of(&at("priority"), &task.priority, &PRIORITIES);
            issues.tags(&at("tags"), &task.tags);
        }
        issues.done()?;
        let added = self.store().add_tasks(context, tasks, self.settings().int("taskDedupeTtlDays"))?;
        self.tasks_changed(added.created.iter().map(|task| task.id.as_str()).collect());
        Ok(added)
    }

    /// Tasks, most recently updated first, with total and open count.
    pub fn list_tasks(
        &self,
        filter: &TaskFilter,
        limit: u32,
        offset: u32,
    ) -> Result<(Vec<Task>, u64, u64), Fault> {
        self.store().list_tasks(filter, limit, offset).map_err(Fault::from)
    }

    /// One task.
    pub fn get_task(&self, id: &str) -> Result<Task, Fault> {
        self.store().get_task(id)?.ok_or_else(|| no_task(id))
    }

    /// Changes a task.
    pub fn update_task(&self, id: &str, patch: TaskPatch) -> Result<(Task, Vec<&'static str>), Fault> {
        let mut issues = Issues::default();
        if let Some(title) = &patch.title {
            issues.title("/title", title);
        }
        issues.longest("/details", patch.details.as_deref().unwrap_or_default(), 16_000);
        issues.longest("/appendNote", patch.append_note.as_deref().unwrap_or_default(), 16_000);
        issues.one_of("/status", patch.status.as_deref().unwrap_or("todo"), &STATUSES);
        issues.one_of("/priority", patch.priority.as_deref().unwrap_or("medium"), &PRIORITIES);
        issues.tags("/tags", patch.tags.as_deref().unwrap_or_default());
        issues.done()?;
        let result = self.store().update_task(id, patch).map_err(|error| match error.kind {
            StoreErrorKind::NotFound => no_task(id),
            _ => Fault::from(error),
        })?;
        if !result.1.is_empty() {
            self.tasks_changed(vec![id]);
        }
        Ok(result)
    }

    /// Marks a task done with a note.
    pub fn complete_task(&self, id: &str, note: &str) -> Result<Task, Fault> {
        let mut issues = Issues::default();
        issues.longest("/note", note, 16_000);
        issues.done()?;
        let (task, changed) = self.store().complete_task(id, note).map_err(|error| match error.kind {
            StoreErrorKind::NotFound => no_task(id),
            _ => Fault::from(error),
        })?;
        if changed {
            self.tasks_changed(vec![id]);
        }
        Ok(task)
    }

    /// Deletes a task.
    pub fn delete_task(&self, id: &str) -> Result<(), Fault> {
        if !self.store().delete_task(id)? {
            return Err(no_task(id));
        }
        self.tasks_changed(vec![id]);
        Ok(())
    }

    /// Deletes all matching tasks.
    pub fn clear_tasks(&self, filter: TaskFilter) -> Result<(u64, u64), Fault> {
        let result = self.store().clear_tasks(filter)?;
        self.tasks_changed(Vec::new());
        Ok(result)
    }

    /// Adds an entry to a project's journal.
    pub fn add_journal_entry(
        &self,
        root: &str,
        entry: NewJournalEntry,
    ) -> Result<(JournalEntry, bool), Fault> {
        let mut issues = Issues::default();
        if entry.summary.trim().is_empty() {
            issues.add("/summary", "missing", "a summary is needed", "需要填写摘要");
        }
        issues.longest("/summary", &entry.summary, 4_000);
        issues.longest("/title", &entry.title, 300);
        issues.longest("/details", &entry.details, 64_000);
        issues.tags("/tags", &entry.tags);
        issues.done()?;
        let days = self.settings().int("journalDedupeTtlDays");
        let added = self.store().add_journal_entry(root, entry, days)?;
        self.events()
            .publish(HostEvent::JournalChanged(ChangedProject { project_root: Some(root.to_owned()) }));
        Ok(added)
    }

    fn tasks_changed(&self, ids: Vec<&str>) {
        self.events().publish(HostEvent::TasksChanged(ChangedIds {
            ids: ids.into_iter().map(str::to_owned).collect(),
        }));
    }
}

fn no_task(id: &str) -> Fault {
    Fault::new(ErrorCode::NotFound, Text::new(format!("there is no task `{id}`"), format!("没有任务 `{id}`")))
        .hint(Text::fixed("`chatos tasks list` shows what there is", "`chatos tasks list` 会列出现有任务"))
}
