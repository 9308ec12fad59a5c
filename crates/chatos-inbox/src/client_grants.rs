//! Programs that connect to us: which of them a person lets decide about their own calls (inbox §1.5).

use std::path::{Path, PathBuf};

use chatos_store::{ClientGrantRow, ClientKey, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedName, HostEvent};
use serde_json::{Map, Value, json};

use crate::inbox::Inbox;
use crate::starter::is_below;

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
                format!("项目文件夹不存在：{path}"),
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
}
