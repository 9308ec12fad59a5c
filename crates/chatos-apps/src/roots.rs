//! Where chats and agents of an app work: in the plugin's data directory, or in a folder a person chose for
//! it. A folder in a call is a wish: it is asked about once, and the call does not wait (host-api §5).

use std::path::{Path, PathBuf};

use chatos_files::plan::sensitive;
use chatos_inbox::Question;
use chatos_manifest::{PluginId, visible};
use chatos_plugins::UiApps;
use chatos_prompts::{Effect, Object, Owner, effect};
use chatos_store::{AgentRecord, AppRootMode, AppRootRow, SessionRow, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Text, Trace, in_both};
use chatos_wire::app::AppRootView;
use chatos_wire::event::{AppRootDecided, HostEvent};
use serde_json::{Map, Value, json};

use crate::apps::{Apps, broken};
use crate::fault::no_plugin;
use crate::own::AppCaller;

/// Questions about folders of one plugin that wait at a time; more wishes are not asked about.
const MOST_ASKED: usize = 3;
/// Who asks: the host, so that no app can answer.
const OWNER: &str = "app_roots";

/// Folders that hold what opens other doors; the question says so.
const KEY_FOLDERS: [&str; 9] =
    [".ssh", ".gnupg", ".aws", ".kube", ".docker", ".password-store", ".mozilla", "keyrings", "gcloud"];

/// What became of a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placed {
    /// Where it works now.
    pub root: String,
    /// The folder that would be, once a person says so.
    pub wished: String,
    /// Id of the question a person is asked about the wish.
    pub pending: Option<String>,
}

/// Where a run works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPlace {
    /// The folder it works in.
    pub dir: PathBuf,
    /// A person let the app only read there.
    pub read_only: bool,
}

/// What is known about a folder before anybody is asked.
enum Known {
    /// The app works there already, or a person allowed it.
    Given(PathBuf),
    /// It does not, and nobody is asked.
    Refused,
    /// Somebody is asked already.
    Asked(PathBuf, String),
    /// Nobody was asked about this folder yet.
    New(PathBuf),
}

impl Apps {
    /// The data directory of a plugin, made where it is not there.
    pub(crate) fn app_data_dir(&self, plugin_id: &str) -> Result<PathBuf, Fault> {
        let id = PluginId::parse(plugin_id).map_err(|_| no_plugin(plugin_id))?;
        let dir = UiApps::of_state_dir(self.dir().path()).data_of(&id);
        let made = std::fs::create_dir_all(&dir).and_then(|()| dir.canonicalize());
        made.map_err(|error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("the data directory of {plugin_id} cannot be made"),
                    format!("无法创建 {plugin_id} 的数据目录"),
                ),
            )
            .caused_by(&error)
        })
    }

    /// Where something an app makes works. `wished` is what the app would like.
    pub async fn place_for_app(
        &self,
        plugin_id: &str,
        app_id: &str,
        wished: Option<&str>,
    ) -> Result<Placed, Fault> {
        let _one = self.0.wishing.lock().await;
        let (host, plugin) = (self.clone(), plugin_id.to_owned());
        let wish = wished.map(str::trim).filter(|wish| !wish.is_empty()).map(str::to_owned);
        let looked = chatos_blocking::run(move || {
            let data = host.app_data_dir(&plugin)?;
            let known = wish.map(|wish| host.known_root(&plugin, &data, &wish)).transpose()?;
            Ok::<_, Fault>((data, known))
        });
        let (data, known) = looked.await.map_err(|error| broken(&error))??;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut placed = Placed { root: text(&data), ..Placed::default() };
        match known {
            None | Some(Known::Refused) => {}
            Some(Known::Given(root)) => {
                placed.root = text(&root);
                placed.wished.clone_from(&placed.root);
            }
            Some(Known::Asked(root, request)) => {
                (placed.wished, placed.pending) = (text(&root), Some(request));
            }
            Some(Known::New(root)) => {
                placed.pending = Some(self.ask_for_root(plugin_id, app_id, &root).await?);
                placed.wished = text(&root);
            }
        }
        Ok(placed)
    }

    /// What is known about a wished folder. Blocks on disk.
    fn known_root(&self, plugin_id: &str, data: &Path, wish: &str) -> Result<Known, Fault> {
        check_workspace(wish)?;
        let root = Path::new(wish).canonicalize().map_err(|error| {
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/workspaceRoot: it cannot be opened", "/workspaceRoot：无法打开"),
            )
            .caused_by(&error)
        })?;
        if root.starts_with(data) {
            return Ok(Known::Given(root));
        }
        // A path that is no text cannot be shown as what it is.
        if self.never_for_apps(&root) || root.to_str().is_none() {
            return Ok(Known::Refused);
        }
        let rows = self.store().app_roots(Some(plugin_id))?;
        let asked = rows.iter().filter(|row| row.mode == AppRootMode::Asked);
        if let Some(row) = asked.clone().find(|row| Path::new(&row.root) == root) {
            return Ok(Known::Asked(root, row.request_id.clone()));
        }
        Ok(match nearest(&rows, &root) {
            Some(AppRootMode::Full | AppRootMode::Read) => Known::Given(root),
            Some(_) => Known::Refused,
            None if asked.count() >= MOST_ASKED => Known::Refused,
            None => Known::New(root),
        })
    }

    /// Folders no app gets, whatever a person would say: those of ChatOS, the home directory as a whole, what
    /// other programs run by themselves (security T9), and windows into processes.
    fn never_for_apps(&self, root: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let places = &self.0.parts.places;
        let mut own = vec![self.dir().path().to_owned(), places.key_dir.clone()];
        own.extend(places.legacy_dir.clone());
        if let Ok(desk) = self.plugins() {
            own.extend(desk.snapshot().plugins.iter().map(|plugin| plugin.loaded.dir.clone()));
        }
        let of_ours =
            own.iter().map(|path| real(path)).any(|path| root.starts_with(&path) || path.starts_with(root));
        let home = self.environment().get("HOME").map(|home| real(Path::new(home)));
        let whole_home = home.is_some_and(|home| home.starts_with(root));
        let kernel = ["/proc", "/sys", "/dev"].iter().any(|place| root.starts_with(place));
        let started = ["x", "settings.json"].iter().any(|name| sensitive(&root.join(name)).is_some());
        of_ours || whole_home || kernel || started
    }

    /// Asks; the row is written first, so that an answer finds it whatever happens in between.
    async fn ask_for_root(&self, plugin_id: &str, app_id: &str, root: &Path) -> Result<String, Fault> {
        let request = uuid::Uuid::now_v7().to_string();
        let row = AppRootRow {
            plugin_id: plugin_id.to_owned(),
            root: root.to_string_lossy().into_owned(),
            mode: AppRootMode::Asked,
            request_id: request.clone(),
            decided_at: now_ms(),
            decided_by: String::new(),
        };
        self.put_root(row.clone()).await?;
        let app = self.app_name(plugin_id, app_id);
        let question = Question {
            id: Some(request.clone()),
            kept: true,
            prompt: in_both(self.lang(), |lang| question(&app, root, lang)),
            owner: Owner::host_server(OWNER),
            source: format!("{plugin_id}:{app_id}"),
            trace: Trace::default(),
            effect: Some(effect_of(&row)),
            whole: None,
        };
        if let Err(fault) = self.inbox().ask(question).await {
            self.drop_root(&row).await;
            return Err(fault);
        }
        self.attend_root(row);
        Ok(request)
    }

    /// What cards of its runs say.
    pub fn through(&self, caller: &AppCaller) -> String {
        let name = self.app_name(&caller.plugin_id, &caller.app_id);
        match self.lang() {
            Lang::En => format!("through {name}"),
            Lang::Zh => format!("经由 {name}"),
        }
    }

    /// What people call the app.
    pub(crate) fn app_name(&self, plugin_id: &str, app_id: &str) -> String {
        let found = self
            .usable_app(plugin_id, app_id)
            .ok()
            .and_then(|(plugin, id)| plugin.app(&id).map(|(app, _)| app.manifest.name.clone()));
        plain(&found.unwrap_or_else(|| plugin_id.to_owned()))
    }

    /// Sees to the answer, which may be a long time away.
    fn attend_root(&self, row: AppRootRow) {
        let host = self.clone();
        let shutdown = self.0.parts.life.stop().clone();
        self.0.parts.life.spawn(Box::pin(async move {
            let owner = Owner::host_server(OWNER);
            let verdict = tokio::select! {
                () = shutdown.cancelled() => return,
                verdict = host.inbox().verdict(&row.request_id, &owner) => verdict,
            };
            match verdict {
                Ok(verdict) => host.root_decided(row, &verdict.status, &verdict.response).await,
                Err(fault) if fault.class == ErrorCode::NotFound => host.drop_root(&row).await,
                // The host stops; the next one goes on with it.
                Err(fault) => tracing::debug!(%fault, "a question about a folder goes no further"),
            }
        }));
    }

    async fn root_decided(&self, row: AppRootRow, status: &str, response: &Map<String, Value>) {
        let by_person = response.get("code").is_none_or(Value::is_null);
        let mode = match (status, response.get("selection").and_then(Value::as_str)) {
            ("ok", Some("folder")) => AppRootMode::Full,
            ("ok", Some("read")) => AppRootMode::Read,
            ("ok", _) => AppRootMode::No,
            ("canceled", _) if by_person => AppRootMode::No,
            // Nobody decided: it may be asked again.
            _ => return self.drop_root(&row).await,
        };
        if matches!(mode, AppRootMode::Full | AppRootMode::Read) {
            let used = self.inbox().use_approval(row.request_id.clone(), effect_of(&row)).await;
            if let Err(fault) = used {
                tracing::warn!(%fault, "the folder is another one than the person was asked about");
                return self.drop_root(&row).await;
            }
        }
        // A person may have taken the plugin away meanwhile.
        let known = self.store().app_roots(Some(&row.plugin_id)).unwrap_or_default();
        if !known.iter().any(|now| now.request_id == row.request_id) {
            return;
        }
        let row = AppRootRow { mode, decided_at: now_ms(), decided_by: "person".to_owned(), ..row };
        if let Err(fault) = self.put_root(row.clone()).await {
            tracing::error!(%fault, "a decision about a folder cannot be kept");
            return;
        }
        self.audit_root(&row);
    }

    fn audit_root(&self, row: &AppRootRow) {
        let mut fields = Map::new();
        fields.insert("plugin".to_owned(), json!(row.plugin_id));
        fields.insert("root".to_owned(), json!(row.root));
        fields.insert("mode".to_owned(), json!(row.mode.as_str()));
        fields.insert("by".to_owned(), json!(row.decided_by));
        self.audit("app_root", fields);
        self.events().publish(HostEvent::AppRoot(AppRootDecided {
            plugin_id: row.plugin_id.clone(),
            mode: row.mode.as_str().to_owned(),
        }));
    }

    async fn put_root(&self, row: AppRootRow) -> Result<(), Fault> {
        let host = self.clone();
        let done = chatos_blocking::run(move || host.store().put_app_root(row)).await;
        done.map_err(|error| broken(&error))?.map_err(Fault::from)
    }

    async fn drop_root(&self, row: &AppRootRow) {
        let (host, row) = (self.clone(), row.clone());
        let done = chatos_blocking::run(move || {
            let data = host.app_data_dir(&row.plugin_id)?.to_string_lossy().into_owned();
            let gone = host.store().forget_app_root(&row.plugin_id, &row.root, &data);
            gone.map_err(Fault::from)
        });
        match done.await {
            Ok(Ok(_)) => {}
            Ok(Err(fault)) => tracing::warn!(%fault, "a folder nobody decided about stays listed"),
            Err(error) => tracing::error!(%error, "a folder nobody decided about stays listed"),
        }
    }

    /// Goes on with questions an earlier host asked.
    pub fn pick_up_roots(&self) {
        match self.store().app_roots(None) {
            Ok(rows) => {
                let asked = rows.into_iter().filter(|row| row.mode == AppRootMode::Asked);
                asked.for_each(|row| self.attend_root(row));
            }
            Err(error) => tracing::error!(%error, "questions about folders cannot be looked for"),
        }
    }

    /// A person chose a folder for something an app made. Blocks.
    pub fn root_chosen(&self, plugin_id: &str, root: &str) -> Result<(), Fault> {
        let Ok(real) = Path::new(root).canonicalize() else { return Ok(()) };
        let row = AppRootRow {
            plugin_id: plugin_id.to_owned(),
            root: real.to_string_lossy().into_owned(),
            mode: AppRootMode::Full,
            request_id: String::new(),
            decided_at: now_ms(),
            decided_by: "person".to_owned(),
        };
        self.store().put_app_root(row.clone())?;
        self.audit_root(&row);
        Ok(())
    }

    /// Folders of a plugin, for its page.
    pub fn app_roots(&self, plugin_id: &str) -> Result<Vec<AppRootView>, Fault> {
        let rows = self.store().app_roots(Some(plugin_id))?;
        Ok(rows
            .into_iter()
            .map(|row| AppRootView {
                root: row.root,
                mode: row.mode.as_str().to_owned(),
                decided_at: iso_from_ms(row.decided_at),
            })
            .collect())
    }

    /// A person takes a folder back; it may be asked for again. Blocks.
    pub fn forget_root(&self, plugin_id: &str, root: &str, by: &str) -> Result<bool, Fault> {
        let data = self.app_data_dir(plugin_id)?.to_string_lossy().into_owned();
        let gone = self.store().forget_app_root(plugin_id, root, &data)?;
        if gone {
            let mut fields = Map::new();
            fields.insert("plugin".to_owned(), json!(plugin_id));
            fields.insert("root".to_owned(), json!(root));
            fields.insert("mode".to_owned(), json!("forgotten"));
            fields.insert("by".to_owned(), json!(by));
            self.audit("app_root", fields);
        }
        Ok(gone)
    }

    /// Where a run works: what an app made works where a person lets the app, decided now. Blocks.
    pub fn run_place(&self, session: &SessionRow, agent: &AgentRecord) -> Result<RunPlace, Fault> {
        let store = self.store();
        let of_session = store.session_maker(&session.id)?;
        if let Some(plugin) = of_session {
            return self.place_of(&plugin, &session.workspace_root);
        }
        if !session.workspace_root.is_empty() {
            return Ok(RunPlace { dir: PathBuf::from(&session.workspace_root), read_only: false });
        }
        if let Some(plugin) = store.agent_maker(&agent.id)? {
            return self.place_of(&plugin, &agent.workspace_root);
        }
        let root = Some(&agent.workspace_root).filter(|root| !root.is_empty());
        let dir = root.map_or_else(|| self.project().to_owned(), PathBuf::from);
        Ok(RunPlace { dir, read_only: false })
    }

    fn place_of(&self, plugin_id: &str, root: &str) -> Result<RunPlace, Fault> {
        let data = self.app_data_dir(plugin_id)?;
        let Some(real) = Path::new(root).canonicalize().ok().filter(|_| !root.is_empty()) else {
            return Ok(RunPlace { dir: data, read_only: false });
        };
        if real.starts_with(&data) {
            return Ok(RunPlace { dir: real, read_only: false });
        }
        let rows = self.store().app_roots(Some(plugin_id))?;
        Ok(match nearest(&rows, &real) {
            Some(AppRootMode::Full) => RunPlace { dir: real, read_only: false },
            Some(AppRootMode::Read) => RunPlace { dir: real, read_only: true },
            _ => RunPlace { dir: data, read_only: false },
        })
    }
}

/// agents §3: a workspace is an existing directory.
pub fn check_workspace(path: &str) -> Result<(), Fault> {
    if path.is_empty() || (Path::new(path).is_absolute() && Path::new(path).is_dir()) {
        return Ok(());
    }
    Err(Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("/workspaceRoot: `{path}` is not an existing directory"),
            format!("/workspaceRoot：`{path}` 不是已存在的目录"),
        ),
    )
    .hint(Text::fixed("name an absolute path of a directory", "请填写目录的绝对路径")))
}

/// What a person said about this folder or the nearest one around it.
fn nearest(rows: &[AppRootRow], root: &Path) -> Option<AppRootMode> {
    let decided = rows.iter().filter(|row| row.mode != AppRootMode::Asked && root.starts_with(&row.root));
    decided.max_by_key(|row| row.root.len()).map(|row| row.mode)
}

/// What a yes decides: this very folder, for this plugin.
fn effect_of(row: &AppRootRow) -> Effect {
    Effect::new("access", Object::new())
        .with("plugin", json!(row.plugin_id))
        .with("root", effect::directory(Path::new(&row.root)))
}

/// A stranger's name in one line.
fn plain(text: &str) -> String {
    let line: String =
        text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).take(60).collect();
    visible(line.split_whitespace().collect::<Vec<_>>().join(" ").as_str())
}

fn question(app: &str, root: &Path, lang: Lang) -> Value {
    let folder = visible(&root.to_string_lossy());
    let keys = root.components().any(|part| KEY_FOLDERS.iter().any(|name| part.as_os_str() == *name));
    let (title, mut text, warning, labels) = match lang {
        Lang::En => (
            format!("Let {app} work in {folder}?"),
            format!(
                "The app “{app}” asks to work in this folder. Its agents could then read what is in it; what \
                 they read, the app sees. Until you agree it works in its own data folder.\n\n`{folder}`"
            ),
            "Such a folder holds keys or passwords. Hardly any app needs it.",
            ["Yes, in this folder", "Only read there", "No"],
        ),
        Lang::Zh => (
            format!("允许 {app} 在 {folder} 中工作吗？"),
            format!(
                "应用“{app}”请求在此文件夹中工作。同意后，它的智能体可以读取其中的内容，应用也会看到读到的内容。\
                 在你同意之前，它只在自己的数据文件夹中工作。\n\n`{folder}`"
            ),
            "此类文件夹存放密钥或密码，应用几乎都不需要它。",
            ["允许，在此文件夹中工作", "只允许读取", "不允许"],
        ),
    };
    if keys {
        text = format!("**{warning}**\n\n{text}");
    }
    let [folder, read, no] = labels;
    json!({
        "kind": "choice", "title": title, "message": text,
        "options": [
            { "value": "no", "label": no }, { "value": "read", "label": read }, { "value": "folder", "label": folder },
        ],
        "default": "no",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_of_a_person_counts() {
        let row = |root: &str, mode| AppRootRow {
            plugin_id: "p".to_owned(),
            root: root.to_owned(),
            mode,
            request_id: String::new(),
            decided_at: 0,
            decided_by: String::new(),
        };
        let rows = [
            row("/w", AppRootMode::Full),
            row("/w/private", AppRootMode::No),
            row("/w/private/shared", AppRootMode::Read),
            row("/x", AppRootMode::Asked),
        ];
        for (path, expected) in [
            ("/w", Some(AppRootMode::Full)),
            ("/w/a", Some(AppRootMode::Full)),
            ("/w/private/a", Some(AppRootMode::No)),
            ("/w/private/shared/a", Some(AppRootMode::Read)),
            ("/w2", None),
            ("/x", None),
        ] {
            assert_eq!(nearest(&rows, Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_question_names_app_and_folder_and_warns_of_keys() {
        let name = plain("Clock`\n\u{202e}");
        let asked = question(&name, Path::new("/home/u/.ssh"), Lang::En);
        let title = asked["title"].as_str().unwrap();
        assert!(title.starts_with("Let Clock") && title.ends_with("work in /home/u/.ssh?"), "{title}");
        assert!(!title.contains('\n') && !title.contains('\u{202e}'), "{title}");
        assert!(asked["message"].as_str().unwrap().contains("keys or passwords"));
        assert_eq!(asked["options"][0]["value"], "no");
        let plain = question("Clock", Path::new("/home/u/project"), Lang::Zh);
        assert!(!plain["message"].as_str().unwrap().contains("密钥"));
    }
}
