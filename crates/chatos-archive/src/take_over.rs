//! Taking over the state of an older program: by itself at a start, again by hand (state §7).

use std::path::{Path, PathBuf};

use chatos_events::{Notice, Operation};
use chatos_store::iso_from_ms;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::Severity;
use chatos_wire::event::{HostEvent, ImportedState};
use serde_json::{Map, Value, json};

use crate::import::{ImportOrder, ImportOutcome, ImportState, Imported, import, import_state};
use crate::work::Archive;

impl Archive {
    /// Where an older program may have left its database.
    pub fn import_sources(&self) -> Vec<PathBuf> {
        let (places, dir) = (&self.parts().places, self.parts().dir.path());
        let mut sources =
            vec![dir.join(format!("{}.db.sqlite", places.host_app)), dir.join("runtime.db.sqlite")];
        let legacy = places.legacy_dir.as_deref().and_then(Path::parent).map(Path::to_owned);
        for root in [places.state_root.clone(), legacy].into_iter().flatten() {
            sources.push(root.join(format!("{}_chat_runtime", places.host_app)).join("runtime.db.sqlite"));
        }
        sources
    }

    /// Takes over what was never looked at; a failure is told and the start goes on.
    pub fn import_at_start(&self) {
        for source in self.import_sources() {
            match import_state(&self.parts().store, &source) {
                Ok(ImportState::Absent | ImportState::Done) => {}
                Ok(ImportState::New) => match self.import_one(&source) {
                    Ok(ImportOutcome::Done(imported)) => self.tell_import(&imported),
                    Ok(ImportOutcome::NotOurs | ImportOutcome::AlreadyDone { .. }) => {}
                    Err(fault) => self.tell_failed_import(&source, &fault),
                },
                Ok(ImportState::Changed) => self.tell_changed_source(&source),
                Err(error) => self.tell_failed_import(&source, &Fault::from(error)),
            }
        }
    }

    /// Begins an import by hand: one file, or every known place.
    pub fn take_over(&self, path: Option<PathBuf>) -> Result<Operation, Fault> {
        if path.as_ref().is_some_and(|path| !path.is_absolute()) {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("the path of an older state must be absolute", "旧状态的路径必须是绝对路径"),
            ));
        }
        Ok(self.begin("state_import", move |archive, _| archive.import_now(path)))
    }

    fn import_now(&self, path: Option<PathBuf>) -> Result<Value, Fault> {
        let named = path.is_some();
        let sources = match path {
            Some(path) => vec![path],
            None => self.import_sources().into_iter().filter(|source| source.exists()).collect(),
        };
        let mut items = Vec::new();
        for source in sources {
            items.push(match self.import_one(&source)? {
                ImportOutcome::NotOurs if named => return Err(not_ours(&source)),
                ImportOutcome::NotOurs => json!({ "source": source, "state": "not_recognised" }),
                ImportOutcome::AlreadyDone { at, report_path } => json!({
                    "source": source, "state": "already_done", "importedAt": iso_from_ms(at), "report": report_path,
                }),
                ImportOutcome::Done(imported) => {
                    let mut item = json!({
                        "source": imported.source, "state": "imported", "report": imported.report_path,
                        "backup": imported.backup.path, "oldKeyFile": imported.old_key_file,
                    });
                    if let (Some(item), Value::Object(report)) = (item.as_object_mut(), imported.report.to_json()) {
                        item.extend(report);
                    }
                    item
                }
            });
        }
        Ok(json!({ "items": items }))
    }

    fn import_one(&self, source: &Path) -> Result<ImportOutcome, Fault> {
        let order = ImportOrder {
            source: source.to_owned(),
            folder: self.parts().dir.import(),
            secrets: self.parts().key.sub_key("secrets"),
            old_key: self.parts().old_key.clone(),
        };
        let outcome = import(&self.parts().store, order).map_err(|error| {
            let fault = Fault::from(&error);
            let hint = Text::fixed(
                "nothing was changed, here or there; the older file is left as it is",
                "两边都没有改动；旧文件保持原样",
            );
            // The words for a damaged database of ours would send people the wrong way.
            let (en, zh) = (
                format!("cannot take over {}: {}", source.display(), error.message),
                format!("无法导入 {}：{}", source.display(), error.message),
            );
            Fault::new(fault.class, Text::new(en, zh)).code(import_code(&fault)).hint(hint)
        })?;
        if let ImportOutcome::Done(imported) = &outcome {
            self.parts().store.reload_settings(&self.parts().settings)?;
            let mut fields = Map::new();
            fields.insert("source".to_owned(), json!(imported.source));
            fields.insert("counts".to_owned(), imported.report.counts_json());
            self.parts().audit.note("state_import", fields);
            for key in &imported.report.weakened {
                let mut fields = Map::new();
                fields.insert("key".to_owned(), json!(key));
                fields.insert("by".to_owned(), json!("import"));
                self.parts().audit.note("setting_weakened", fields);
            }
            self.parts().events.publish(HostEvent::StateImported(ImportedState {
                source: imported.source.display().to_string(),
            }));
        }
        Ok(outcome)
    }

    fn tell_import(&self, imported: &Imported) {
        let (mut taken, mut skipped) = (0, 0);
        for count in imported.report.counts().values() {
            taken += count.imported + count.updated;
            skipped += count.skipped;
        }
        let (source, report) = (imported.source.display(), imported.report_path.display());
        let advice = imported.old_key_file.as_ref().map(|file| {
            Text::new(
                format!("the older key file is no longer needed and may be deleted: {}", file.display()),
                format!("旧密钥文件已不再需要，可以删除：{}", file.display()),
            )
        });
        self.notice(Notice {
            code: "state_imported".to_owned(),
            severity: Severity::Info,
            message: Text::new(
                format!(
                    "{taken} rows were taken over from {source}, {skipped} were not; the report is {report}"
                ),
                format!("已从 {source} 导入 {taken} 行，未导入 {skipped} 行；报告：{report}"),
            ),
            hint: advice,
        });
    }

    fn tell_changed_source(&self, source: &Path) {
        self.notice(Notice {
            code: "import_source_changed".to_owned(),
            severity: Severity::Info,
            message: Text::new(
                format!("an older state has changed since it was taken over: {}", source.display()),
                format!("旧状态在导入之后有变化：{}", source.display()),
            ),
            hint: Some(Text::new(
                format!("`chatos state import {}` takes over what is newer there", source.display()),
                format!("`chatos state import {}` 会导入其中较新的内容", source.display()),
            )),
        });
    }

    fn tell_failed_import(&self, source: &Path, fault: &Fault) {
        tracing::warn!(source = %source.display(), "{fault}");
        self.notice(Notice {
            code: fault.code.clone().into_owned(),
            severity: Severity::Warning,
            message: fault.message.clone(),
            hint: Some(Text::new(
                format!(
                    "nothing was changed; `chatos state import {}` tries again, moving the file away stops it",
                    source.display()
                ),
                format!(
                    "没有任何更改；`chatos state import {}` 可重试，移走该文件则不再尝试",
                    source.display()
                ),
            )),
        });
    }
}

fn import_code(fault: &Fault) -> &'static str {
    match fault.code.as_ref() {
        "disk_full" => "disk_full",
        "not_found" => "not_found",
        "database_corrupt" => "import_damaged",
        _ => "import_failed",
    }
}

fn not_ours(source: &Path) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("not the state of an older program: {}", source.display()),
            format!("不是旧程序的状态：{}", source.display()),
        ),
    )
    .code("import_not_recognised")
    .hint(Text::fixed(
        "it must be an SQLite file with a table `records(table_name, id, payload, created_at, updated_at)`",
        "应为包含表 `records(table_name, id, payload, created_at, updated_at)` 的 SQLite 文件",
    ))
}
