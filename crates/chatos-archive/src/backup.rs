//! `chatos backup`: the whole state in one file, while the host works (state §8).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use chatos_events::Operation;
use chatos_store::{SCHEMA_VERSION, now_iso, now_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use crate::file::{ArchiveError, ArchiveFile, Manifest, write_archive};
use crate::work::Archive;

/// Logs: kept up to the end of a line, as long as they were when the copy began.
const LOGS: [&str; 4] = ["ui-prompts", "events", "tool-log", "host-log"];
/// Folders and files that belong to the state besides database, logs and blobs. Everything else is
/// remade at a start, belongs to this machine, or is a copy itself.
const PARTS: [&str; 11] = [
    "prompt-archive",
    "ui_apps/plugins",
    "ui_apps/data",
    "ui_apps/names.json",
    "ui_apps/installed.json",
    "ui_apps/kept",
    "subagents",
    "lsp-servers.json",
    "exports",
    "import",
    ".migrated.json",
];
/// Shorter ones are guessed in an afternoon.
const PASSPHRASE_CHARS: usize = 8;

/// What to keep, and where.
pub struct BackupOrder {
    /// The file to make; absolute.
    pub target: PathBuf,
    /// With the content of changed files, attachments and tool results.
    pub blobs: bool,
    /// With the state key, locked by this.
    pub passphrase: Option<Zeroizing<String>>,
    /// Language of progress.
    pub lang: Lang,
}

impl Archive {
    /// Begins a backup; the operation tells how it goes.
    pub fn backup(&self, order: BackupOrder) -> Result<Operation, Fault> {
        check(&order)?;
        Ok(self.begin("backup", move |archive, operation| archive.backup_now(&order, operation)))
    }

    fn backup_now(&self, order: &BackupOrder, operation: &Operation) -> Result<Value, Fault> {
        let say = |en, zh| if order.lang == Lang::Zh { zh } else { en };
        operation.progress(0, None, "bytes", say("copying the database", "正在复制数据库"));
        let scratch = Scratch::make(&self.parts().dir.backups())?;
        let mut manifest = Manifest::new(now_iso(), self.parts().version.to_owned());
        let instance = self.parts().store.instance_id()?;
        manifest.schema = SCHEMA_VERSION;
        manifest.key_id = self.parts().key.id();
        manifest.blobs = order.blobs;
        if let Some(passphrase) = &order.passphrase {
            let locked = self.parts().key.lock_with(passphrase, &instance);
            manifest.key = Some(locked.map_err(|error| {
                Fault::new(ErrorCode::Unavailable, Text::same(error.to_string())).code("backup_failed")
            })?);
        }
        manifest.instance_id = instance;
        // Logs first, then the database: what the database has and a log has not is appended again at
        // the next start; the other way round questions would stand without their record.
        let mut files = self.logs(&mut manifest);
        let database = scratch.0.join("state.db");
        let audit = self.parts().store.snapshot_to(&database, now_ms() - 60_000)?;
        files.insert(0, ArchiveFile { name: "state.db".to_owned(), source: database, upto: None });
        files.extend(self.audit_files(audit));
        let mut parts = PARTS.to_vec();
        if order.blobs {
            parts.push("blobs");
        }
        for part in parts {
            collect(self.parts().dir.path(), Path::new(part), &mut files, &mut manifest.left_out);
        }
        let total =
            files.iter().filter_map(|file| std::fs::metadata(&file.source).ok()).map(|meta| meta.len()).sum();
        let message = say("packing", "正在打包");
        let (manifest, bytes) = write_archive(&order.target, manifest, files, &mut |done| {
            operation.progress(done, Some(total), "bytes", message);
            !operation.is_canceled() && !self.parts().life.is_over()
        })?;
        let mut fields = Map::new();
        fields.insert("files".to_owned(), json!(manifest.file_count()));
        fields.insert("withKey".to_owned(), json!(manifest.key.is_some()));
        self.parts().audit.note("backup", fields);
        Ok(json!({
            "file": order.target, "bytes": bytes, "files": manifest.file_count(),
            "contentBytes": manifest.total_bytes(), "blobs": manifest.blobs, "withKey": manifest.key.is_some(),
            "createdAt": manifest.created_at, "leftOut": manifest.left_out,
        }))
    }

    fn logs(&self, manifest: &mut Manifest) -> Vec<ArchiveFile> {
        let Ok(entries) = std::fs::read_dir(self.parts().dir.path()) else { return Vec::new() };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let log = LOGS.iter().any(|log| {
                // Our own files, named by us: the case of the letters is known.
                let middle = name.strip_prefix(log).and_then(|rest| rest.strip_suffix(".jsonl"));
                middle.is_some_and(|middle| middle.is_empty() || middle.starts_with(['.', '-']))
            });
            if log && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                let upto = whole_lines(&entry.path());
                manifest.logs.push((name.clone(), upto));
                files.push(ArchiveFile { name, source: entry.path(), upto: Some(upto) });
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        manifest.logs.sort();
        files
    }

    /// Audit records up to the last one the copied database knows, so that the chain ends where it says.
    fn audit_files(&self, last: u64) -> Vec<ArchiveFile> {
        let Ok(entries) = std::fs::read_dir(self.parts().dir.audit()) else { return Vec::new() };
        let mut files: Vec<ArchiveFile> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let upto = upto_record(&entry.path(), last)?;
                (upto > 0).then(|| ArchiveFile {
                    name: format!("audit/{name}"),
                    source: entry.path(),
                    upto: Some(upto),
                })
            })
            .collect();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files
    }
}

fn check(order: &BackupOrder) -> Result<(), Fault> {
    let refuse = |code: &'static str, message: Text, hint: Text| {
        Err(Fault::new(ErrorCode::InvalidArgument, message).code(code).hint(hint))
    };
    if !order.target.is_absolute() {
        let message = Text::fixed("the path of a backup must be absolute", "备份的路径必须是绝对路径");
        return refuse(
            "invalid_argument",
            message,
            Text::fixed("name it from `/`", "请使用以 `/` 开头的路径"),
        );
    }
    if order.target.symlink_metadata().is_ok() {
        return Err(ArchiveError::Exists { path: order.target.clone() }.into());
    }
    if order.passphrase.as_ref().is_some_and(|phrase| phrase.chars().count() < PASSPHRASE_CHARS) {
        let message = Text::new(
            format!("the passphrase has fewer than {PASSPHRASE_CHARS} characters"),
            format!("口令少于 {PASSPHRASE_CHARS} 个字符"),
        );
        let hint = Text::fixed(
            "choose a longer one: whoever has both has your secrets",
            "请选择更长的口令：同时拥有两者的人即可得到你的密钥",
        );
        return refuse("passphrase_short", message, hint);
    }
    Ok(())
}

/// A folder for the copied database, removed when the work is over.
struct Scratch(PathBuf);

impl Scratch {
    fn make(backups: &Path) -> Result<Self, Fault> {
        use std::os::unix::fs::DirBuilderExt;
        let folder = backups.join(format!(".archive-{}", uuid::Uuid::now_v7()));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map(|()| Self(folder.clone())).map_err(|source| {
            ArchiveError::Io { action: "make a place for the copy", path: folder, source }.into()
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover is removed at the next start.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// The length up to the end of the last whole line.
fn whole_lines(path: &Path) -> u64 {
    let read = || -> std::io::Result<u64> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = std::fs::File::open(path)?;
        let mut end = file.metadata()?.len();
        let mut buffer = [0; 4096];
        while end > 0 {
            let start = end.saturating_sub(buffer.len() as u64);
            let part = &mut buffer[..(end - start) as usize];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(part)?;
            if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
                return Ok(start + at as u64 + 1);
            }
            end = start;
        }
        Ok(0)
    };
    read().unwrap_or_default()
}

/// The length up to and with the record of this number.
fn upto_record(path: &Path, last: u64) -> Option<u64> {
    let mut reader = BufReader::new(std::fs::File::open(path).ok()?);
    let (mut upto, mut at) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return Some(upto);
        }
        at += read as u64;
        let seq = serde_json::from_slice::<Value>(&line).ok().and_then(|record| record["seq"].as_u64());
        match seq {
            Some(seq) if seq > last => return Some(upto),
            _ => upto = at,
        }
    }
}

/// Regular files below a part of the state; links and the like are named, not followed.
fn collect(root: &Path, part: &Path, files: &mut Vec<ArchiveFile>, left_out: &mut Vec<String>) {
    let path = root.join(part);
    let Ok(meta) = path.symlink_metadata() else { return };
    let Some(name) = part.to_str() else {
        left_out.push(part.display().to_string());
        return;
    };
    if meta.is_file() {
        files.push(ArchiveFile { name: name.to_owned(), source: path, upto: None });
    } else if meta.is_dir() {
        // The former log of an archive belongs to this machine's open files.
        if part.ends_with("prompt-archive/.prev") {
            return;
        }
        let Ok(entries) = std::fs::read_dir(&path) else {
            left_out.push(name.to_owned());
            return;
        };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            collect(root, &part.join(name), files, left_out);
        }
    } else {
        left_out.push(name.to_owned());
    }
}
