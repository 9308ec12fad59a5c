//! What all tools share: from a path to an open text in the right language server, a question to it that survives
//! its death once, and its answers in the terms of tools.

mod asking;
mod diagnosing;
mod telling;
mod tsserver;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use chatos_files::text::Document as FileText;
use chatos_files::{Digest, FileError, Root, read};
use chatos_layer::{CallCx, FileHome, Insight, InsightSlot, ServerEnv, Shelf};
use chatos_shell::{Launcher, ShellHome};
use chatos_tool::{DenyRule, Issue, IssueCode, Needed, Reason, Text, ToolError, validation};

use crate::documents::{Document, OnDisk, Stamp, stamp};
use crate::pool::Pool;
use crate::position::{Encoding, Lines, Range};
use crate::session::Session;
use crate::shapes::Location;
use crate::table::{self, LanguageServer};
use crate::uri;
use crate::wire::Refusal;
pub(crate) use asking::{Answered, Question, RENAME, explain as refused, put, surviving, unable};
pub(crate) use diagnosing::Findings;
pub(crate) use telling::line as told_line;

/// Files that are looked into to show the lines of places.
const MAX_SHOWN_FILES: usize = 100;

/// Shared by the tools of one server.
pub(crate) struct Desk {
    pub(crate) pool: Pool,
    pub(crate) shelf: Arc<Shelf>,
    config: Option<PathBuf>,
    state_dir: Option<PathBuf>,
    slot: InsightSlot,
    // For the slot: it must not keep this alive.
    own: Weak<Desk>,
}

/// A text that is open in its server.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) session: Arc<Session>,
    pub(crate) document: Document,
}

/// Why a step with a server failed.
pub(crate) enum Trouble {
    Tool(Box<ToolError>),
    Refused(Arc<Session>, Refusal),
}

impl From<ToolError> for Trouble {
    fn from(error: ToolError) -> Self {
        Self::Tool(Box::new(error))
    }
}

/// A text as it is on disk.
struct TextFile {
    rel: String,
    digest: Digest,
    text: String,
    stamp: Stamp,
}

/// Where something is, for results.
pub(crate) struct Found {
    pub(crate) path: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) range: Range,
    /// The line, where it may be read.
    pub(crate) line: Option<String>,
}

impl Desk {
    pub(crate) fn new(env: &ServerEnv, shell: &ShellHome) -> Arc<Self> {
        let files = FileHome { recorded_as: Some("lsp_apply_text_edits"), ..FileHome::of(env) };
        Arc::new_cyclic(|own| Self {
            pool: Pool::new(Launcher::of(shell), env.state_dir.clone()),
            shelf: Shelf::new(&files),
            config: env.lsp_config.clone(),
            state_dir: env.state_dir.clone(),
            slot: env.insight.clone(),
            own: own.clone(),
        })
    }

    /// All language servers, a person's first.
    pub(crate) fn servers(&self) -> Result<Vec<Arc<LanguageServer>>, ToolError> {
        let all = table::servers(self.config.as_deref(), self.state_dir.as_deref()).map_err(|error| {
            let name = error.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            ToolError::unavailable(
                Needed::LanguageServer,
                Text::new(
                    format!("`{name}` cannot be used: {}", error.message),
                    format!("无法使用 `{name}`：{}", error.message),
                ),
            )
            .hint(Text::fixed(
                "the person has to correct the file, or remove it to use the built-in table",
                "需要用户更正该文件，或删除它以使用内置列表",
            ))
        })?;
        Ok(all.into_iter().map(Arc::new).collect())
    }

    /// The server of an id.
    pub(crate) fn server(&self, id: &str) -> Result<Arc<LanguageServer>, ToolError> {
        let all = self.servers()?;
        let ids: Vec<&str> = all.iter().map(|server| server.id.as_str()).collect();
        let near = validation::nearest(id, ids.iter().copied());
        all.iter().find(|server| server.id == id).cloned().ok_or_else(|| {
            let hint = match near {
                Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
                None => Text::new(format!("one of {}", ids.join(", ")), format!("可选：{}", ids.join("、"))),
            };
            let message =
                Text::new(format!("there is no language server `{id}`"), format!("没有语言服务器 `{id}`"));
            ToolError::invalid(vec![Issue::new("/server_id", IssueCode::Enum, message).hint(hint)])
        })
    }

    /// The server for a file.
    fn server_for(&self, path: &str, id: Option<&str>) -> Result<Arc<LanguageServer>, ToolError> {
        if let Some(id) = id {
            return self.server(id);
        }
        self.servers()?.into_iter().find(|server| server.fits(path)).ok_or_else(|| {
            ToolError::new(
                Reason::NotSupported { what: "language".to_owned() },
                Text::new(
                    format!("no language server is known for `{path}`"),
                    format!("没有适用于 `{path}` 的语言服务器"),
                ),
            )
            .hint(Text::fixed(
                "list_lsp_servers shows for which files there is one; search_text and read_file work for all",
                "list_lsp_servers 会列出支持的文件；search_text 和 read_file 适用于所有文件",
            ))
        })
    }

    pub(crate) fn root(cx: &CallCx) -> Result<&Path, ToolError> {
        cx.root.as_ref().map(|root| root.path()).ok_or_else(|| {
            ToolError::denied(
                DenyRule::OutsideRoot,
                Text::fixed("this call has no root directory", "此次调用没有根目录"),
            )
        })
    }

    async fn read(&self, cx: &CallCx, path: &str) -> Result<TextFile, ToolError> {
        let (path, most) = (path.to_owned(), cx.settings.lsp.max_bytes);
        self.shelf.quick(cx, move |job| text_file(&job.root, &path, most)).await
    }

    /// Opens a file in its server; everything that server has open is what is on disk then.
    pub(crate) async fn open(&self, cx: &CallCx, path: &str, id: Option<&str>) -> Result<Opened, Trouble> {
        let file = self.read(cx, path).await?;
        let server = self.server_for(&file.rel, id)?;
        let root = Self::root(cx)?;
        let folder = server.folder(root, &file.rel);
        let session = self.pool.get(cx, &server, root, folder).await?;
        if let Some(own) = self.own.upgrade() {
            let own: Arc<dyn Insight> = own;
            self.slot.fill(&own);
        }
        self.refresh(cx, &session, &root.join(&file.rel)).await?;
        let document = self.sync(root, &session, file).await?;
        Ok(Opened { session, document })
    }

    async fn sync(&self, root: &Path, session: &Arc<Session>, file: TextFile) -> Result<Document, Trouble> {
        let disk = OnDisk {
            uri: uri::of(&root.join(&file.rel)),
            language: session.server.language(&file.rel),
            path: file.rel,
            digest: file.digest,
            text: file.text,
            stamp: file.stamp,
        };
        session.sync(disk).await.map_err(|refusal| Trouble::Refused(Arc::clone(session), refusal))
    }

    /// Brings the other open texts up to date: a person, another tool or a command may have changed them.
    async fn refresh(&self, cx: &CallCx, session: &Arc<Session>, but: &Path) -> Result<(), Trouble> {
        let root = Self::root(cx)?;
        for document in session.open().await {
            let Some(path) = uri::path(&document.uri).filter(|path| path != but) else { continue };
            if stamp(&path) == document.stamp {
                continue;
            }
            let Some(rel) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            let refused = |refusal| Trouble::Refused(Arc::clone(session), refusal);
            match self.read(cx, rel).await {
                Ok(file) => drop(self.sync(root, session, file).await?),
                // Gone, too large now, no text any more: the server looks at the disk itself.
                Err(_) => session.close(&document.uri).await.map_err(refused)?,
            }
        }
        Ok(())
    }

    /// Texts a server has open, by address.
    pub(crate) async fn open_texts(session: &Session) -> HashMap<String, Document> {
        session.open().await.into_iter().map(|document| (document.uri.clone(), document)).collect()
    }

    /// Places in the terms of tools, with their lines where they may be read. What lies outside the root is named
    pub(crate) async fn places(
        &self,
        cx: &CallCx,
        session: &Session,
        places: Vec<Location>,
    ) -> Result<Vec<Found>, ToolError> {
        let root = Self::root(cx)?.to_path_buf();
        let (encoding, most) = (session.wants.encoding, cx.settings.lsp.max_bytes);
        let look = move |job: &chatos_layer::Job| Ok(located(&job.root, &root, &places, encoding, most));
        self.shelf.job(cx, look).await
    }
}

fn text_file(root: &Root, path: &str, most: u64) -> Result<TextFile, FileError> {
    let opened = root.open_file(path)?;
    // Before it is read: what changes meanwhile shows the next time.
    let stamp = opened.file.metadata().ok().and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
    let bytes = read::read_whole(&opened, most)?;
    let Some(text) = FileText::parse(&bytes) else {
        let what = "a language server for what is not UTF-8 text";
        return Err(FileError::Unsupported { path: opened.rel, what, size: Some(bytes.len() as u64) });
    };
    Ok(TextFile { rel: opened.rel, digest: Digest::of(&bytes), text: text.text, stamp })
}

fn located(engine: &Root, root: &Path, places: &[Location], encoding: Encoding, most: u64) -> Vec<Found> {
    let mut texts: BTreeMap<String, Option<(String, Lines)>> = BTreeMap::new();
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let path = uri::path(&place.uri);
        let rel = path.as_deref().and_then(|path| path.strip_prefix(root).ok()).and_then(Path::to_str);
        let Some(rel) = rel.map(str::to_owned) else {
            found.push(Found { path: None, uri: Some(place.uri.clone()), range: place.range, line: None });
            continue;
        };
        if !texts.contains_key(&rel) && texts.len() < MAX_SHOWN_FILES {
            let text = text_file(engine, &rel, most).ok().map(|file| {
                let lines = Lines::of(&file.text);
                (file.text, lines)
            });
            texts.insert(rel.clone(), text);
        }
        let known = texts.get(&rel).and_then(Option::as_ref);
        let range = known.map_or(place.range, |(text, lines)| convert(place.range, text, lines, encoding));
        let line = known.and_then(|(text, lines)| lines.get(text, place.range.start.line as usize));
        let line = line.map(|line| line.trim().chars().take(200).collect());
        found.push(Found { path: Some(rel), uri: None, range, line });
    }
    found
}

/// A stretch of a server in UTF-16.
pub(crate) fn convert(range: Range, text: &str, lines: &Lines, encoding: Encoding) -> Range {
    let one = |mut at: crate::position::Position| {
        if let Some(line) = lines.get(text, at.line as usize) {
            at.character = encoding.convert(line, at.character as usize, Encoding::Utf16) as u32;
        }
        at
    };
    Range { start: one(range.start), end: one(range.end) }
}
