//! Programs that connect to us: what started this process, and which of them a person lets decide about
//! their own calls (inbox §1.5).
//!
//! A program is recognised by the name it gives itself, its executable, what an interpreter runs, and its
//! user. That keeps accidents out, not another program of the same user that is made to look like it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chatos_prompts::Origin;
use chatos_store::{ClientGrantRow, ClientKey, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedName, HostEvent};
use serde_json::{Map, Value, json};

use crate::inbox::Inbox;

/// Programs that run what they are given.
const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno", "python", "pypy", "ruby", "perl", "java"];
/// Shells; `sh -c …` stands for whoever started it.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox"];
/// How far up is looked.
const MOST: usize = 16;

/// The process that started this one.
#[derive(Debug, Clone)]
pub struct Starter {
    /// Its process, as long as that lives.
    pub origin: Origin,
    /// `None`: it cannot be told apart from others.
    program: Option<(PathBuf, String)>,
    uid: u32,
}

impl Starter {
    /// Who started this process; a person at a shell is nobody.
    pub fn find() -> Option<Self> {
        let mut pid = std::os::unix::process::parent_id();
        for _ in 0..MOST {
            let process = Process::read(pid)?;
            if !process.is(SHELLS) {
                return Some(process.starter());
            }
            match process.arguments.get(1).map(String::as_str) {
                None => return None,
                Some(option) if option.starts_with('-') && option.contains('c') => pid = process.parent,
                Some(option) if option.starts_with('-') => return None,
                Some(_) => return Some(process.starter()),
            }
        }
        None
    }

    /// Its executable, or what an interpreter runs.
    pub fn program(&self) -> Option<String> {
        let (path, script) = self.program.as_ref()?;
        if script.is_empty() { path.to_str().map(str::to_owned) } else { Some(script.clone()) }
    }

    /// The program under the name it gives itself.
    pub fn key(&self, name: &str) -> Option<ClientKey> {
        let (path, script) = self.program.as_ref()?;
        let program = path.to_str()?.to_owned();
        (!name.is_empty()).then(|| ClientKey {
            name: name.to_owned(),
            program,
            script: script.clone(),
            uid: self.uid,
        })
    }
}

/// What `/proc` says of a process.
struct Process {
    origin: Origin,
    parent: u32,
    path: PathBuf,
    arguments: Vec<String>,
    uid: u32,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let place = PathBuf::from(format!("/proc/{pid}"));
        let origin = Origin::of(pid)?;
        let stat = std::fs::read_to_string(place.join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let path = std::fs::read_link(place.join("exe")).ok()?;
        let line = std::fs::read(place.join("cmdline")).ok()?;
        let arguments = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let mut arguments: Vec<String> = arguments.collect();
        // Every word ends with a zero, the last one too.
        arguments.pop();
        Some(Self { origin, parent, path, arguments, uid: std::fs::metadata(&place).ok()?.uid() })
    }

    /// `python3.13` is `python`.
    fn is(&self, names: &[&str]) -> bool {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        names.contains(&name)
    }

    fn starter(&self) -> Starter {
        let program = if self.is(INTERPRETERS) || self.is(SHELLS) {
            self.script().map(|script| (self.path.clone(), script))
        } else {
            Some((self.path.clone(), String::new()))
        };
        Starter { origin: self.origin, program, uid: self.uid }
    }

    /// The file an interpreter runs, or its module.
    fn script(&self) -> Option<String> {
        let mut words = self.arguments.iter().skip(1);
        while let Some(word) = words.next() {
            if word == "-m" {
                return words.next().map(|module| format!("-m {module}"));
            }
            if word.starts_with('-') {
                continue;
            }
            let folder = std::fs::read_link(format!("/proc/{}/cwd", self.origin.pid)).ok()?;
            let file = std::fs::canonicalize(folder.join(word)).ok().filter(|path| path.is_file());
            if let Some(file) = file {
                return file.to_str().map(str::to_owned);
            }
        }
        None
    }
}

/// The program, or one that it started, started the process with this pid.
fn is_below(pid: u32, key: &ClientKey) -> bool {
    let mut process = Process::read(pid);
    for _ in 0..MOST * 4 {
        let Some(parent) = process.as_ref().map(|below| below.parent).filter(|parent| *parent > 1) else {
            return false;
        };
        process = Process::read(parent);
        let starter = process.as_ref().map(Process::starter);
        if starter.and_then(|starter| starter.key(&key.name)).is_some_and(|above| above == *key) {
            return true;
        }
    }
    false
}

/// The process with this pid is above this one.
pub fn descends_from(above: u32) -> bool {
    let mut process = Process::read(std::process::id());
    for _ in 0..MOST * 4 {
        let Some(parent) = process.map(|process| process.parent).filter(|parent| *parent > 1) else {
            return false;
        };
        if parent == above {
            return true;
        }
        process = Process::read(parent);
    }
    false
}

/// Where a program is allowed fits where it works.
pub fn covers(project: &str, root: Option<&Path>) -> bool {
    project.is_empty() || root.is_some_and(|root| root.starts_with(project))
}

/// Which program a person means, and what it may.
#[derive(Debug, Clone, Default)]
pub struct AllowOrder {
    /// What it calls itself.
    pub name: String,
    /// Its executable or script, where several have that name.
    pub program: Option<String>,
    /// Only under this directory.
    pub project: Option<PathBuf>,
    /// The process that asks for it.
    pub pid: Option<u32>,
}

impl Inbox {
    /// Programs that were seen, and what they may. Blocks.
    pub fn client_grants(&self) -> Result<Vec<Value>, Fault> {
        let rows = self.parts().store.client_grants()?;
        Ok(rows.iter().map(view).collect())
    }

    /// Lets a program decide about its own calls. Blocks.
    pub fn allow_client(&self, order: &AllowOrder) -> Result<Value, Fault> {
        let rows = self.parts().store.client_grants()?;
        let mut keys: Vec<ClientKey> = Vec::new();
        let wanted = |key: &ClientKey| {
            key.name == order.name
                && order.program.as_ref().is_none_or(|path| *path == key.program || *path == key.script)
        };
        for row in rows.into_iter().filter(|row| wanted(&row.key)) {
            if !keys.contains(&row.key) {
                keys.push(row.key);
            }
        }
        let key = match keys.as_slice() {
            [] => return Err(unseen(&order.name)),
            [key] => key.clone(),
            several => return Err(several_of(&order.name, several)),
        };
        if order.pid.is_some_and(|pid| is_below(pid, &key)) {
            return Err(own(&order.name));
        }
        let project = match &order.project {
            None => String::new(),
            Some(path) => real_dir(path)?,
        };
        let id = uuid::Uuid::now_v7().to_string();
        let row = self
            .parts()
            .store
            .allow_client(&id, key, &project, now_ms())?
            .ok_or_else(|| unseen(&order.name))?;
        self.client_changed("client_allowed", &row);
        Ok(view(&row))
    }

    /// Forgets a program by its id, or all of a name. Gives how many. Blocks.
    pub fn forget_client(&self, wanted: &str) -> Result<usize, Fault> {
        let rows = self.parts().store.client_grants()?;
        let mut forgotten = 0;
        for row in rows.iter().filter(|row| row.id == wanted || row.key.name == wanted) {
            if let Some(row) = self.parts().store.forget_client(&row.id)? {
                forgotten += 1;
                self.client_changed("client_forgotten", &row);
            }
        }
        if forgotten == 0 {
            return Err(unseen(wanted));
        }
        Ok(forgotten)
    }

    fn client_changed(&self, what: &'static str, row: &ClientGrantRow) {
        let mut fields = Map::new();
        fields.insert("client".to_owned(), view(row));
        fields.insert("weakens".to_owned(), json!(what == "client_allowed"));
        self.parts().audit.note(what, fields);
        self.parts().events.publish(HostEvent::ClientsChanged(ChangedName { name: row.key.name.clone() }));
    }
}

fn view(row: &ClientGrantRow) -> Value {
    json!({
        "id": row.id, "name": row.key.name, "program": row.key.program,
        "script": Some(&row.key.script).filter(|script| !script.is_empty()),
        "uid": row.key.uid, "project": Some(&row.project).filter(|project| !project.is_empty()),
        "seenAt": iso_from_ms(row.seen_at), "allowed": row.allowed_at.is_some(),
        "allowedAt": row.allowed_at.map(iso_from_ms),
    })
}

fn real_dir(path: &Path) -> Result<String, Fault> {
    let real = std::fs::canonicalize(path).ok().filter(|path| path.is_dir());
    real.and_then(|path| path.to_str().map(str::to_owned)).ok_or_else(|| {
        let path = path.display();
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("the project directory does not exist: {path}"),
                format!("项目目录不存在：{path}"),
            ),
        )
        .hint(Text::fixed("name an existing directory", "请指定已存在的目录"))
    })
}

fn unseen(name: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(
            format!("no program called `{name}` asked for anything yet"),
            format!("还没有名为 `{name}` 的程序提出过请求"),
        ),
    )
    .code("unknown_client")
    .hint(Text::fixed(
        "let it make the call once, then look at `chatos clients list`",
        "请让它先调用一次，再查看 `chatos clients list`",
    ))
}

fn several_of(name: &str, keys: &[ClientKey]) -> Fault {
    let path = |key: &ClientKey| if key.script.is_empty() { key.program.clone() } else { key.script.clone() };
    let paths: Vec<String> = keys.iter().map(path).collect();
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("several programs call themselves `{name}`: {}", paths.join(", ")),
            format!("有多个程序自称 `{name}`：{}", paths.join("、")),
        ),
    )
    .code("several_clients")
    .hint(Text::fixed("say which with --program PATH", "请用 --program PATH 指定"))
}

fn own(name: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(format!("`{name}` cannot allow itself"), format!("`{name}` 不能自行获得许可")),
    )
    .code("own_asker")
    .hint(Text::fixed("run this in a terminal of your own", "请在你自己的终端中运行"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_for_a_project_covers_what_lies_in_it_and_nothing_else() {
        assert!(covers("", None) && covers("", Some(Path::new("/x"))));
        assert!(covers("/a/b", Some(Path::new("/a/b"))) && covers("/a/b", Some(Path::new("/a/b/c"))));
        for outside in ["/a", "/a/bc", "/"] {
            assert!(!covers("/a/b", Some(Path::new(outside))), "{outside}");
        }
        assert!(!covers("/a/b", None), "a call that works nowhere is in no project");
    }

    #[test]
    fn an_interpreter_is_told_apart_by_what_it_runs() {
        let process = |path: &str, words: &[&str]| Process {
            origin: Origin::here().unwrap(),
            parent: 1,
            path: path.into(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            uid: 0,
        };
        let key = |path: &str, words: &[&str]| process(path, words).starter().key("x").map(|key| key.script);
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = std::fs::canonicalize(file.path()).unwrap().to_str().unwrap().to_owned();
        assert_eq!(key("/opt/agent", &["agent", "--x"]), Some(String::new()));
        assert_eq!(key("/usr/bin/node", &["node", "--no-warnings", &script, "serve"]), Some(script.clone()));
        assert_eq!(key("/usr/bin/python3.13", &["python3", "-m", "agent"]), Some("-m agent".to_owned()));
        assert_eq!(key("/usr/bin/node", &["node", "-e", "1"]), None, "nobody knows which program that is");
        let named = process("/opt/agent", &["agent"]).starter().key("");
        assert_eq!(named, None, "a client without a name is nobody");
    }
}
