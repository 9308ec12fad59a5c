//! Real files: ours in and out, and those that must not be touched.

use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
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
        let program_path = "/opt/my tools/chatos".into();
        let command = Command {
            program: program_path,
            state_dir: None,
            wait_s: 86_400,
            agent: Some("Ann's".to_owned()),
        };
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

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i32>().prop_map(|n| json!(n)),
        "[a-z\"\\\\/*{}\\[\\], \u{4e00}\u{1f600}]{0,8}".prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec(("[a-z$]{1,5}", inner), 0..4)
                .prop_map(|list| Value::Object(list.into_iter().collect())),
        ]
    })
}

/// Hooks of others, under the moments we use too.
fn hooks() -> impl Strategy<Value = Value> {
    let hook = "[a-z ./]{1,12}".prop_map(|line| json!({ "type": "command", "command": line }));
    let group = (proptest::collection::vec(hook, 0..3), any::<bool>()).prop_map(|(hooks, matched)| {
        if matched { json!({ "matcher": "Bash", "hooks": hooks }) } else { json!({ "hooks": hooks }) }
    });
    let event = prop_oneof!["PermissionRequest", "PreToolUse", "BeforeTool", "Stop"];
    proptest::collection::vec((event, proptest::collection::vec(group, 0..3)), 0..3).prop_map(|list| {
        Value::Object(list.into_iter().map(|(event, groups)| (event, json!(groups))).collect())
    })
}

/// A file as people keep it: indented in their way, with comments, hanging commas, a mark at its beginning.
fn written(value: &Value, style: [u8; 6]) -> String {
    fn put(value: &Value, depth: usize, style: [u8; 6], out: &mut String) {
        let (open, close, parts): (_, _, Vec<(Option<&String>, &Value)>) = match value {
            Value::Object(map) => ('{', '}', map.iter().map(|(key, value)| (Some(key), value)).collect()),
            Value::Array(list) => ('[', ']', list.iter().map(|value| (None, value)).collect()),
            scalar => return out.push_str(&scalar.to_string()),
        };
        let indent = [" ", "  ", "    ", "\t"][usize::from(style[0] % 4)];
        let lines = !style[1].is_multiple_of(4);
        let line = |depth: usize, out: &mut String| {
            if lines {
                out.push_str(if style[2].is_multiple_of(3) { "\r\n" } else { "\n" });
                out.push_str(&indent.repeat(depth));
            }
        };
        out.push(open);
        let last = parts.len();
        for (at, (key, value)) in parts.into_iter().enumerate() {
            line(depth + 1, out);
            if style[3].is_multiple_of(3) && lines {
                out.push_str("// \"hooks\": [mine]");
                line(depth + 1, out);
            }
            if let Some(key) = key {
                out.push_str(&format!("{}:{}", json!(key), if lines { " " } else { "" }));
            }
            put(value, depth + 1, style, out);
            if style[4].is_multiple_of(3) {
                out.push_str(" /* , } */");
            }
            if at + 1 < last || style[4] % 5 == 1 {
                out.push(',');
            }
        }
        if last > 0 {
            line(depth, out);
        }
        out.push(close);
    }
    let mut out = String::new();
    if style[5].is_multiple_of(7) {
        out.push('\u{feff}');
    }
    put(value, 0, style, &mut out);
    if style[5].is_multiple_of(2) {
        out.push('\n');
    }
    out
}

/// Without what is empty in `hooks`: taking ours out may take an empty list with it.
fn without_empty(value: &Value) -> Value {
    let mut value = value.clone();
    let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) else { return value };
    hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    if hooks.is_empty() {
        value.as_object_mut().unwrap().remove("hooks");
    }
    value
}

#[test]
fn in_200_random_files_our_entry_goes_in_and_out_and_changes_nothing_else() {
    let file = (value(), proptest::option::of(hooks()), any::<[u8; 6]>(), 0..3_usize);
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&file, |(rest, hooks, style, which)| {
        let program = [Program::Claude, Program::Codex, Program::Gemini][which];
        let mut whole = match rest {
            Value::Object(map) => Value::Object(map),
            other => json!({ "rest": other }),
        };
        whole.as_object_mut().unwrap().remove("hooks");
        if let Some(hooks) = hooks {
            whole["hooks"] = hooks;
        }
        let text = written(&whole, style);
        prop_assert_eq!(&jsonc::parse(&text).unwrap(), &whole, "the test writes what it means");
        let desk = Desk::new();
        desk.write(program, &text);
        let read = || std::fs::read_to_string(desk.file(program)).unwrap();

        desk.install(program).unwrap().apply(&desk.kept()).unwrap();
        let with = jsonc::parse(&read()).unwrap();
        prop_assert!(matches!(
            status(program, &desk.homes(), Scope::User, &Desk::entry(program)),
            Ok((_, Standing::Installed))
        ));
        let mut others = with.clone();
        let event = Desk::entry(program).event();
        let list = others["hooks"][event].as_array_mut().unwrap();
        prop_assert_eq!(list.pop(), Some(Desk::entry(program).value()));
        prop_assert_eq!(without_empty(&others), without_empty(&whole), "only ours was added");
        prop_assert!(desk.install(program).unwrap().is_noop(), "twice is once");

        // Nobody touched it since: the same bytes.
        desk.remove(program).unwrap().apply(&desk.kept()).unwrap();
        prop_assert_eq!(read(), text);

        // Without the copy: the same meaning.
        desk.install(program).unwrap().apply(&desk.kept()).unwrap();
        std::fs::remove_dir_all(desk.kept()).unwrap();
        desk.remove(program).unwrap().apply(&desk.kept()).unwrap();
        prop_assert_eq!(without_empty(&jsonc::parse(&read()).unwrap()), without_empty(&whole));
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}
