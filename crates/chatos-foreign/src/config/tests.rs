//! Real files: ours in and out, and those that must not be touched.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::*;

struct Desk {
    place: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap() }
    }

    fn homes(&self) -> Homes {
        Homes { home: self.place.path().to_owned(), ..Homes::default() }
    }

    fn kept(&self) -> PathBuf {
        self.place.path().join("state/foreign")
    }

    fn entry(program: Program) -> Entry {
        let command = Command { program: "/opt/my tools/chatos".into(), state_dir: None, wait_s: 86_400 };
        Entry::new(program, command, false)
    }

    fn file(&self, program: Program) -> PathBuf {
        program.config_file(&self.homes(), None)
    }

    fn write(&self, program: Program, text: &str) {
        let file = self.file(program);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn install(&self, program: Program) -> Result<Plan, Fault> {
        Plan::install(program, &self.homes(), Scope::User, &Self::entry(program))
    }

    fn remove(&self, program: Program) -> Result<Plan, Fault> {
        Plan::remove(program, &self.homes(), Scope::User, &self.kept())
    }
}

#[test]
fn in_and_out_again_leaves_the_same_bytes() {
    for program in Program::ALL {
        let desk = Desk::new();
        let mut texts = vec![None];
        if program != Program::Opencode {
            texts.extend([
                Some(""),
                Some("{}"),
                Some("{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\"PermissionRequest\": [], \"BeforeTool\": []}\n}\n"),
                Some("{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}]}}"),
            ]);
        }
        for text in texts {
            if let Some(text) = text {
                desk.write(program, text);
            }
            let plan = desk.install(program).unwrap();
            assert!(!plan.is_noop() && plan.diff().contains("hook"), "{program:?} {text:?}");
            plan.apply(&desk.kept()).unwrap();
            assert!(desk.install(program).unwrap().is_noop(), "twice is once");
            let (_, standing) = status(program, &desk.homes(), Scope::User, &Desk::entry(program)).unwrap();
            assert_eq!(standing, Standing::Installed);
            desk.remove(program).unwrap().apply(&desk.kept()).unwrap();
            let now = std::fs::read_to_string(desk.file(program)).ok();
            assert_eq!(now.as_deref(), text, "{program:?}");
            assert!(desk.remove(program).unwrap().is_noop());
        }
    }
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let desk = Desk::new();
    desk.write(Program::Claude, "{\n  \"model\": \"x\"\n}\n");
    desk.install(Program::Claude).unwrap().apply(&desk.kept()).unwrap();
    let file = desk.file(Program::Claude);
    let text = std::fs::read_to_string(&file).unwrap().replace("\"x\"", "\"y\"");
    std::fs::write(&file, text).unwrap();
    desk.remove(Program::Claude).unwrap().apply(&desk.kept()).unwrap();
    let left = jsonc::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left, json!({ "model": "y" }));
    assert_eq!(listed(&desk.kept().join("claude")).len(), 2);
}

#[test]
fn a_hook_that_was_edited_is_still_ours_and_others_in_its_group_stay() {
    let desk = Desk::new();
    let mine = "/x/chatos hook claude --wait 5s";
    let text = json!({ "hooks": { "PreToolUse": [
        { "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint" }, { "type": "command", "command": mine }] },
    ] } });
    desk.write(Program::Claude, &serde_json::to_string_pretty(&text).unwrap());
    let plan = desk.install(Program::Claude).unwrap();
    assert!(
        matches!(&plan.standing, Standing::Edited(shown) if shown.contains("--wait 5s")) && plan.is_noop()
    );
    desk.remove(Program::Claude).unwrap().apply(&desk.kept()).unwrap();
    let left = std::fs::read_to_string(desk.file(Program::Claude)).unwrap();
    assert!(left.contains("lint") && !left.contains("chatos"), "{left}");
    for line in ["say hook claude", "/opt/other hook claude", "chatos hooks claude", "chatos hook emacs"] {
        assert!(!entry::is_ours(line), "{line}");
    }
    assert!(entry::is_ours("'/opt/my tools/chatos' hook codex --wait 24h"));
}

#[test]
fn files_that_cannot_be_changed_safely_are_left_alone() {
    let desk = Desk::new();
    desk.write(Program::Gemini, "{\n\"a\": 1\n\"b\"");
    let fault = desk.install(Program::Gemini).unwrap_err();
    assert_eq!((fault.code.as_ref(), fault.message.en.contains("line 3")), ("config_invalid", true));

    desk.write(Program::Codex, "{}");
    let file = desk.file(Program::Codex);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(desk.install(Program::Codex).unwrap_err().code, "config_unwritable");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();

    // Edited at the same moment.
    let plan = desk.install(Program::Codex).unwrap();
    std::fs::write(&file, "{ \"new\": 1 }").unwrap();
    assert_eq!(plan.apply(&desk.kept()).unwrap_err().code, "conflict");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ \"new\": 1 }");
    desk.install(Program::Codex).unwrap().apply(&desk.kept()).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);

    // A link is followed and stays one; a dangling one is named.
    desk.write(Program::Claude, "{}");
    let (link, target) = (desk.file(Program::Claude), desk.place.path().join("dotfiles.json"));
    std::fs::rename(&link, &target).unwrap();
    symlink(&target, &link).unwrap();
    desk.install(Program::Claude).unwrap().apply(&desk.kept()).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&target).unwrap().contains("hook claude"));
    std::fs::remove_file(&target).unwrap();
    assert_eq!(desk.install(Program::Claude).unwrap_err().code, "config_unwritable");

    // A plugin of that name which is not ours.
    desk.write(Program::Opencode, "export const X = 1;\n");
    assert_eq!(desk.install(Program::Opencode).unwrap_err().code, "conflict");
}
