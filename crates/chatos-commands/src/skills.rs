//! Agent Skills that a person calls by name: folders with a `SKILL.md`, whose text goes into the person's message under a
//! label (packages §3.1, §3.2, §3.4 point 3). A skill is text: nothing in it is run, and it grants nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chatos_tool::{Text, fenced};

use crate::own::{split, value};

/// The largest `SKILL.md`, and the largest front matter in it.
const MOST_BYTES: u64 = 262_144;
const MOST_FRONT: usize = 16_384;
/// Skills that are read of one place.
const MOST_SKILLS: usize = 500;
const NAME_CHARS: usize = 64;
const DESCRIPTION_CHARS: usize = 1_024;

/// A folder with skills in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPlace {
    /// Whose skills they are, as keys say it: `project` or `user`.
    pub source: &'static str,
    /// Each folder in it may be a skill.
    pub folder: PathBuf,
    /// Nothing outside of it is read.
    pub within: Option<PathBuf>,
}

/// One skill that a person may call by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) source: &'static str,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) hint: String,
    pub(crate) body: String,
    /// The folder it lies in, with the files its text may speak of.
    pub(crate) folder: PathBuf,
}

/// What a place holds: skills a person may call, and what is none and why. Blocks.
pub(crate) fn read(place: &SkillPlace) -> (Vec<Skill>, Vec<Text>) {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(&place.folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let (mut skills, mut problems) = (Vec::new(), Vec::new());
    for folder in folders.into_iter().take(MOST_SKILLS) {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
            continue;
        };
        let file = folder.join("SKILL.md");
        let inside = |root: &PathBuf| file.canonicalize().is_ok_and(|real| real.starts_with(root));
        if name.starts_with('.') || !file.is_file() || !place.within.as_ref().is_none_or(inside) {
            continue;
        }
        match skill(&file, &name) {
            Ok(Some(found)) => skills.push(Skill { source: place.source, folder, ..found }),
            Ok(None) => {}
            Err(why) => problems.push(Text::new(
                format!("`{name}/SKILL.md`: {}", why.en),
                format!("`{name}/SKILL.md`：{}", why.zh),
            )),
        }
    }
    (skills, problems)
}

/// A skill, nothing when a person may not call it, or why it is none.
fn skill(file: &Path, folder: &str) -> Result<Option<Skill>, Text> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| Text::new(format!("cannot be read ({error})"), format!("无法读取（{error}）")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Text::fixed("is larger than 256 KiB", "超过 256 KiB"));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Text::fixed("is not text in UTF-8", "不是 UTF-8 文本"))?;
    let (front, body) = split(&text);
    if front.is_empty() {
        return Err(Text::fixed("has no front matter with a description", "缺少含 description 的文件头"));
    }
    if front.len() > MOST_FRONT {
        return Err(Text::fixed("its front matter is larger than 16 KiB", "文件头超过 16 KiB"));
    }
    // A common slip: the folder's name counts where none is written.
    let name = value(&front, "name").unwrap_or_else(|| folder.to_owned());
    if !is_name(&name) {
        return Err(Text::fixed(
            "a skill's name has lower-case letters, digits and single hyphens, at most 64 characters",
            "技能名只能含小写字母、数字和单个连字符，最多 64 个字符",
        ));
    }
    if name != folder {
        return Err(Text::new(
            format!("its name `{name}` is not that of its folder"),
            format!("名称 `{name}` 与文件夹名不同"),
        ));
    }
    let description =
        value(&front, "description").ok_or_else(|| Text::fixed("has no description", "没有 description"))?;
    if description.chars().count() > DESCRIPTION_CHARS {
        return Err(Text::fixed(
            "its description is longer than 1,024 characters",
            "description 超过 1,024 个字符",
        ));
    }
    if body.is_empty() {
        return Err(Text::fixed("has no text", "没有正文"));
    }
    if value(&front, "user-invocable").is_some_and(|word| word.eq_ignore_ascii_case("false")) {
        return Ok(None);
    }
    let plain =
        |text: &str| chatos_mcp::plain_for_model(text).split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Some(Skill {
        source: "",
        description: plain(&description),
        hint: value(&front, "argument-hint").map(|hint| plain(&hint)).unwrap_or_default(),
        body: chatos_mcp::plain_for_model(&body),
        name,
        folder: PathBuf::new(),
    }))
}

/// Letters and digits that equal their own lower case, single hyphens inside.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c == '-' || (c.is_alphanumeric() && c.to_lowercase().eq([c]));
    !name.is_empty()
        && name.chars().count() <= NAME_CHARS
        && name.chars().all(fits)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

impl Skill {
    /// The message: the skill's text under its label, then what was typed behind its name.
    pub(crate) fn message(&self, typed: &str) -> String {
        let typed = typed.trim();
        let folder = self.folder.display().to_string();
        let takes = self.body.contains("$ARGUMENTS");
        let body = self.body.replace("${SKILL_DIR}", &folder).replace("${CLAUDE_SKILL_DIR}", &folder);
        let body = body.replace("$ARGUMENTS", typed);
        let label = format!("skill {}, a text the person chose, from {folder}", self.name);
        let block = fenced(&label, &body);
        if typed.is_empty() || takes { block } else { format!("{block}\n\n{typed}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_a_skill_file_are_skills_and_the_others_say_why_not() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let place = base.join("project/.claude/skills");
        let put = |name: &str, text: &str| {
            std::fs::create_dir_all(place.join(name)).unwrap();
            std::fs::write(place.join(name).join("SKILL.md"), text).unwrap();
        };
        put(
            "deploy",
            "---\nname: deploy\ndescription: Use it: to deploy\n---\nRun ${SKILL_DIR}/go.sh for $ARGUMENTS.",
        );
        put("plain", "---\ndescription: no name\n---\nBe plain.");
        put("部署", "---\nname: 部署\ndescription: d\n---\nx");
        put("other", "---\nname: another\ndescription: d\n---\nx");
        put("Upper", "---\nname: Upper\ndescription: d\n---\nx");
        put("a--b", "---\ndescription: d\n---\nx");
        put("bare", "no front matter");
        put("nothing", "---\nname: nothing\n---\nx");
        put("silent", "---\ndescription: d\nuser-invocable: false\n---\nx");
        put("long", &format!("---\ndescription: {}\n---\nx", "d".repeat(1_025)));
        std::fs::create_dir_all(place.join("no-skill")).unwrap();
        std::fs::create_dir_all(base.join("outside")).unwrap();
        std::fs::write(base.join("outside/SKILL.md"), "---\ndescription: d\n---\nSECRET").unwrap();
        std::os::unix::fs::symlink(base.join("outside"), place.join("linked")).unwrap();
        let within = Some(base.join("project"));
        let (skills, problems) = read(&SkillPlace { source: "project", folder: place.clone(), within });
        let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["deploy", "plain", "部署"]);
        assert_eq!(skills[0].description, "Use it: to deploy");
        assert_eq!(problems.len(), 6, "{problems:?}");
        let at = place.join("deploy").display().to_string();
        assert_eq!(
            skills[0].message("prod"),
            format!("[skill deploy, a text the person chose, from {at}]\n```\nRun {at}/go.sh for prod.\n```")
        );
        assert!(skills[1].message(" now ").ends_with("\n```\nBe plain.\n```\n\nnow"));
    }
}
