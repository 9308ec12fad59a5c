//! Subagents from a folder laid out as other tools do: `agents/*.md`, `skills/*/SKILL.md`, `commands/*.md`
//! with YAML front matter (agents §10.1).
//!
//! A folder is read and shown first; it is written only when the person agrees to exactly what was shown.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text, hex};
use chatos_wire::subagent::{SubAgent, SubCommand, SubImport, SubPlugin, SubSkill};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Largest file that is taken.
const FILE_BYTES: u64 = 128 * 1024;
/// Most files of one folder.
const FILES: usize = 200;

/// What a folder holds, with the digest that says exactly what was looked at. Nothing is written.
pub fn read_sub_folder(path: &Path) -> Result<SubImport, Fault> {
    let wrong = |en: String, zh: String| Fault::new(ErrorCode::InvalidArgument, Text::new(en, zh));
    let root = path.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| {
        wrong(
            format!("/path: `{}` is not a directory", path.display()),
            format!("/path：`{}` 不是目录", path.display()),
        )
    })?;
    let base = base_of(&root);
    let folder = named(&root);
    let mut reader = Reader {
        base: base.clone(),
        root: root.clone(),
        files: Vec::new(),
        warnings: Vec::new(),
        hash: Sha256::new(),
    };
    // A folder may say itself what it is called.
    let about = reader.about();
    let mut plugin = SubPlugin {
        name: text(&about, "displayName").or_else(|| text(&about, "name")).unwrap_or_else(|| folder.clone()),
        description: text(&about, "description").unwrap_or_default(),
        id: slug(&text(&about, "name").unwrap_or(folder)),
        enabled: true,
        source: "user".to_owned(),
        category: "imported".to_owned(),
        ..SubPlugin::default()
    };
    let mut agents = reader.documents("agents");
    agents.extend(reader.documents("agent"));
    for (name, front, body) in agents {
        let name = name.strip_suffix(".agent").unwrap_or(&name).to_owned();
        plugin.agents.push(SubAgent {
            id: slug(&name),
            name: text(&front, "name").unwrap_or_else(|| name.clone()),
            description: text(&front, "description").unwrap_or_default(),
            model: text(&front, "model").filter(|model| model != "inherit"),
            skills: list(&front, "skills"),
            system: body,
            ..SubAgent::default()
        });
    }
    for (name, front, body) in reader.skills() {
        plugin.skills.push(SubSkill {
            id: slug(&name),
            name: text(&front, "name").unwrap_or_else(|| name.clone()),
            description: text(&front, "description").unwrap_or_default(),
            instructions: body,
            ..SubSkill::default()
        });
    }
    let mut commands = reader.documents("commands");
    commands.extend(reader.documents("command"));
    for (name, front, body) in commands {
        plugin.commands.push(SubCommand {
            id: slug(&name),
            name: text(&front, "name").unwrap_or_else(|| name.clone()),
            description: text(&front, "description").unwrap_or_default(),
            model: text(&front, "model"),
            instructions: body,
            ..SubCommand::default()
        });
    }
    if plugin.agents.is_empty() {
        return Err(wrong(
            "/path: there is no `agents/*.md` in this folder, nor in `.claude`, `.agents`, `.opencode` or `.github` in it"
                .to_owned(),
            "/path：该文件夹（及其中的 `.claude`、`.agents`、`.opencode`、`.github`）中没有 `agents/*.md`".to_owned(),
        )
        .hint(Text::fixed(
            "choose the folder that has `agents`, `skills` or `commands` in it",
            "请选择包含 `agents`、`skills` 或 `commands` 的文件夹",
        )));
    }
    let digest = hex(&reader.hash.finalize());
    Ok(SubImport { plugin, files: reader.files, warnings: reader.warnings, digest, imported: false })
}

/// Where projects keep the agents of other tools, in this order; the folder itself comes first.
const BASES: [&str; 5] = ["", ".claude", ".agents", ".opencode", ".github"];

/// The folder that has `agents` in it.
fn base_of(root: &Path) -> PathBuf {
    let bases = BASES.iter().map(|base| if base.is_empty() { root.to_owned() } else { root.join(base) });
    let has = |base: &PathBuf| base.join("agents").is_dir() || base.join("agent").is_dir();
    bases.into_iter().find(has).unwrap_or_else(|| root.to_owned())
}

/// What people call a folder: of a hidden one, the project it lies in.
fn named(root: &Path) -> String {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let own = name(root).unwrap_or_default();
    let project = root.parent().and_then(name).filter(|_| own.starts_with('.'));
    project.or(Some(own)).filter(|name| !name.is_empty()).unwrap_or_else(|| "sub-agents".to_owned())
}

struct Reader {
    /// Has `agents`, `skills` and `commands` in it.
    base: PathBuf,
    /// Nothing outside of it is read.
    root: PathBuf,
    files: Vec<String>,
    warnings: Vec<String>,
    hash: Sha256,
}

impl Reader {
    /// What the folder says of itself, as plugins of other tools do.
    fn about(&mut self) -> Value {
        let place = self.root.join(".claude-plugin/plugin.json");
        let Ok(real) = place.canonicalize() else { return json!({}) };
        let small = std::fs::metadata(&real).is_ok_and(|meta| meta.len() <= FILE_BYTES);
        if !small || !real.starts_with(&self.root) {
            return json!({});
        }
        let Ok(bytes) = std::fs::read(&real) else { return json!({}) };
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(about) => {
                self.hash.update(&bytes);
                self.files.push(".claude-plugin/plugin.json".to_owned());
                about
            }
            Err(error) => {
                self.warnings.push(format!(".claude-plugin/plugin.json: {error}"));
                json!({})
            }
        }
    }

    /// The Markdown files of a folder: name, front matter, body.
    fn documents(&mut self, folder: &str) -> Vec<(String, Value, String)> {
        let mut found = Vec::new();
        for place in entries(&self.base.join(folder)) {
            let name = place.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if place.extension().is_some_and(|kind| kind == "md")
                && let Some((front, body)) = self.document(&place)
            {
                found.push((name, front, body));
            }
        }
        found
    }

    fn skills(&mut self) -> Vec<(String, Value, String)> {
        let mut found = Vec::new();
        for place in entries(&self.base.join("skills")) {
            let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if let Some((front, body)) = self.document(&place.join("SKILL.md")) {
                found.push((name, front, body));
            }
        }
        found
    }

    fn document(&mut self, place: &Path) -> Option<(Value, String)> {
        let shown = place.strip_prefix(&self.root).unwrap_or(place).display().to_string();
        let real = place.canonicalize().ok().filter(|real| real.is_file())?;
        let size = std::fs::metadata(&real).map_or(u64::MAX, |meta| meta.len());
        let why = if !real.starts_with(&self.root) {
            Some("it lies outside the folder")
        } else if size > FILE_BYTES {
            Some("it is larger than 128 KiB")
        } else if self.files.len() >= FILES {
            Some("there are too many files")
        } else {
            None
        };
        if let Some(why) = why {
            self.warnings.push(format!("{shown}: {why}"));
            return None;
        }
        let Ok(text) = std::fs::read_to_string(&real) else {
            self.warnings.push(format!("{shown}: it cannot be read as text"));
            return None;
        };
        self.hash.update(shown.as_bytes());
        self.hash.update([0]);
        self.hash.update(text.as_bytes());
        self.hash.update([0]);
        let parsed = split(&text);
        match parsed {
            Ok(parts) => {
                self.files.push(shown);
                Some(parts)
            }
            Err(why) => {
                self.warnings.push(format!("{shown}: {why}"));
                None
            }
        }
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Front matter and body; a file without front matter is all body.
fn split(text: &str) -> Result<(Value, String), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let Some(rest) = text.strip_prefix("---\n") else { return Ok((json!({}), text)) };
    let Some((front, body)) = rest.split_once("\n---") else {
        return Err("its front matter does not end".to_owned());
    };
    let front = chatos_contribution::parse_yaml(front)?;
    let body = body.split_once('\n').map_or("", |(_, body)| body);
    Ok((front, body.trim().to_owned()))
}

fn text(front: &Value, key: &str) -> Option<String> {
    front[key].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn list(front: &Value, key: &str) -> Vec<String> {
    match &front[key] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(slug).collect(),
        Value::String(all) => all.split(',').map(str::trim).filter(|one| !one.is_empty()).map(slug).collect(),
        _ => Vec::new(),
    }
}

/// An id from a name.
fn slug(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(64)
        .collect();
    let plain = plain.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if plain.is_empty() { "sub-agents".to_owned() } else { plain.to_owned() }
}

/// Keeps what was read as a plugin of subagents: written whole beside its place, then renamed.
pub fn write_sub_plugin(place: &Path, plugin: &SubPlugin) -> std::io::Result<()> {
    let parent = place.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let draft = tempfile::Builder::new().prefix(".import-").tempdir_in(parent)?;
    let mut value = json!(plugin);
    if let Some(map) = value.as_object_mut() {
        map.remove("enabled");
        map.remove("source");
    }
    let file = draft.path().join("plugin.json");
    std::fs::write(&file, serde_json::to_vec_pretty(&value)?)?;
    std::fs::File::open(&file)?.sync_all()?;
    let kept = draft.keep();
    if place.exists() {
        std::fs::remove_dir_all(place)?;
    }
    std::fs::rename(kept, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layouts_of_other_tools_are_read_and_nothing_outside_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("My Agents");
        for folder in ["agents", "skills/writing", "commands"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let agent = "---\nname: Writer\ndescription: Writes.\nskills: writing, other\n---\nYou write.\n";
        std::fs::write(root.join("agents/writer.md"), agent).unwrap();
        std::fs::write(root.join("agents/plain.md"), "You are plain.").unwrap();
        std::fs::write(root.join("agents/broken.md"), "---\nname: &a x\n---\nbody").unwrap();
        std::fs::write(root.join("skills/writing/SKILL.md"), "---\nname: Writing\n---\nShort words.")
            .unwrap();
        std::fs::write(root.join("commands/go.md"), "---\ndescription: Go\n---\nDo $ARGUMENTS").unwrap();
        std::fs::write(dir.path().join("secret.md"), "secret").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret.md"), root.join("agents/link.md")).unwrap();
        let found = read_sub_folder(&root).unwrap();
        assert_eq!(found.plugin.id, "my-agents");
        let ids: Vec<&str> = found.plugin.agents.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(ids, ["plain", "writer"]);
        assert_eq!(found.plugin.agents[1].skills, ["writing", "other"]);
        assert_eq!(found.plugin.skills[0].instructions, "Short words.");
        assert_eq!(found.plugin.commands[0].instructions, "Do $ARGUMENTS");
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
        assert_eq!(read_sub_folder(&root).unwrap().digest, found.digest);
        let place = dir.path().join("plugins/my-agents");
        write_sub_plugin(&place, &found.plugin).unwrap();
        write_sub_plugin(&place, &found.plugin).unwrap();
        let (again, problems) = chatos_builtin::subagent::read_subagents(place.parent().unwrap());
        assert_eq!((again.len(), problems.len()), (1, 0), "{problems:?}");
        assert!(read_sub_folder(dir.path()).is_err());
    }

    #[test]
    fn a_project_with_agents_of_another_tool_and_a_plugin_that_names_itself() {
        let dir = tempfile::tempdir().unwrap();
        for (project, place, file) in [
            ("one", ".claude/agents", "helper.md"),
            ("two", ".opencode/agent", "helper.md"),
            ("three", ".github/agents", "helper.agent.md"),
        ] {
            let root = dir.path().join(project);
            std::fs::create_dir_all(root.join(place)).unwrap();
            std::fs::write(root.join(place).join(file), "---\ndescription: Helps.\n---\nYou help.").unwrap();
            let found = read_sub_folder(&root).unwrap();
            assert_eq!((found.plugin.id.as_str(), found.plugin.agents[0].id.as_str()), (project, "helper"));
            assert_eq!(found.files, [format!("{place}/{file}")]);
        }
        // The hidden folder itself is called after its project.
        assert_eq!(read_sub_folder(&dir.path().join("one/.claude")).unwrap().plugin.id, "one");
        let root = dir.path().join("four");
        std::fs::create_dir_all(root.join("agents")).unwrap();
        std::fs::create_dir_all(root.join(".claude-plugin")).unwrap();
        std::fs::write(root.join("agents/a.md"), "You are a.").unwrap();
        let about = r#"{"name": "My Kit", "description": "Agents."}"#;
        std::fs::write(root.join(".claude-plugin/plugin.json"), about).unwrap();
        let found = read_sub_folder(&root).unwrap();
        assert_eq!((found.plugin.id.as_str(), found.plugin.name.as_str()), ("my-kit", "My Kit"));
    }
}
