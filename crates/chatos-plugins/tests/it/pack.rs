//! Packing, and that what was packed installs byte for byte (acceptance 4).

use std::fs;
use std::path::Path;

use chatos_contribution::DefaultLists;
use chatos_plugins::{PackReport, PackageError, pack, validate};
use serde_json::json;

use crate::install::install;
use crate::support::{MINIMAL, World, codes, simple, tempdir, tree, write_files};

fn pack_to(dir: &Path, out: &Path) -> Result<PackReport, PackageError> {
    pack(dir, Some(out), dir, &DefaultLists::default())
}

fn sample(dir: &Path) {
    write_files(
        dir,
        &[
            ("plugin.json", MINIMAL),
            ("hello/index.mjs", "export function mount() {}\n"),
            ("bin/tool*", "#!/bin/sh\n"),
            ("数据/名.txt", "x"),
            ("a.txt", "1"),
            ("a/b.txt", "2"),
            ("a-b.txt", ""),
            ("node_modules/x/i.js", "left out"),
            ("hello/index.mjs.map", "left out"),
        ],
    );
    fs::write(
        dir.join("noise.bin"),
        (0..20_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes())
            .collect::<Vec<u8>>(),
    )
    .unwrap();
}

#[test]
fn same_input_same_bytes_and_it_installs_identically() {
    let from = tempdir();
    let out = tempdir();
    sample(from.path());
    let one = pack_to(from.path(), &out.path().join("1.zip")).unwrap();
    // Another copy with other times, modes and order of creation.
    let copy = tempdir();
    for (name, _) in tree(from.path()).into_iter().rev() {
        let target = copy.path().join(&name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.path().join(&name), &target).unwrap();
    }
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(copy.path().join("a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let two = pack_to(copy.path(), &out.path().join("2.zip")).unwrap();
    assert_eq!(fs::read(&one.file).unwrap(), fs::read(&two.file).unwrap());
    assert_eq!((one.files, one.excluded), (8, 2));

    let world = World::new();
    let report = install(&world, &one.file).unwrap();
    assert_eq!(report.plugins[0].digest, one.digest, "the digest pack printed");
    let direct = World::new();
    assert_eq!(install(&direct, from.path()).unwrap().plugins[0].digest, one.digest);
    assert_eq!(tree(&world.user("com.example.tools")), tree(&direct.user("com.example.tools")));
    assert_eq!(
        fs::read(world.user("com.example.tools/noise.bin")).unwrap(),
        fs::read(from.path().join("noise.bin")).unwrap()
    );
}

#[test]
fn other_programs_can_read_it() {
    let from = tempdir();
    let out = tempdir();
    sample(from.path());
    let file = pack_to(from.path(), &out.path().join("p.zip")).unwrap().file;
    let script = "import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);assert z.testzip() is None;print('\\n'.join(z.namelist()))";
    #[expect(clippy::disallowed_methods, reason = "another reader of zip files")]
    let python = std::process::Command::new("python3").args(["-c", script]).arg(&file).output();
    let Ok(output) = python else { chatos_testkit::skip!("this machine has no python3") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).unwrap();
    let mut sorted: Vec<&str> = names.lines().collect();
    sorted.sort_unstable();
    assert_eq!(names.lines().collect::<Vec<_>>(), sorted, "sorted entries");
}

#[test]
fn what_is_left_out() {
    let from = tempdir();
    sample(from.path());
    write_files(
        from.path(),
        &[
            (".chatosignore", "# notes\n*.txt\n!a.txt\n/bin/\n"),
            ("dist/old.zip", "x"),
            ("dist/deep/x.js", "x"),
        ],
    );
    // The default place is below the current directory; here that is the plugin itself.
    let report = pack(from.path(), None, from.path(), &DefaultLists::default()).unwrap();
    assert!(report.file.ends_with("dist/com.example.tools-0.1.0.zip"));
    let again = pack(from.path(), None, from.path(), &DefaultLists::default()).unwrap();
    assert_eq!(report.digest, again.digest, "the package does not pack itself");
    let world = World::new();
    install(&world, &report.file).unwrap();
    let names: Vec<String> =
        tree(&world.user("com.example.tools")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [".chatosignore", "a.txt", "hello/index.mjs", "noise.bin", "plugin.json"]);
    // Rules may not leave out what the manifest names.
    write_files(from.path(), &[(".chatosignore", "hello/\n")]);
    let error = pack_to(from.path(), Path::new("/nonexistent/never-written.zip")).unwrap_err();
    assert_eq!((error.code.as_str(), error.entry.as_deref()), ("ignored_file", Some("hello/index.mjs")));
}

#[test]
fn code_in_dist_is_packed() {
    let from = tempdir();
    let text = json!({"id": "com.example.d", "name": "d", "version": "1/2 β", "apps": [{"id": "a", "name": "a", "entry": "./dist/../dist/a.mjs"}]});
    write_files(
        from.path(),
        &[("plugin.json", &text.to_string()), ("dist/a.mjs", "export default {}"), ("dist/old.zip", "")],
    );
    let report = pack(from.path(), None, from.path(), &DefaultLists::default()).unwrap();
    assert!(report.file.ends_with("dist/com.example.d-1-2--.zip"));
    assert_eq!((report.files, report.excluded), (2, 1));
}

#[test]
fn errors_mean_no_file() {
    let from = tempdir();
    let out = tempdir();
    write_files(from.path(), &[("plugin.json", MINIMAL)]);
    let target = out.path().join("p.zip");
    assert_eq!(pack_to(from.path(), &target).unwrap_err().code.as_str(), "path_missing");
    sample(from.path());
    std::os::unix::fs::symlink("/etc/hostname", from.path().join("link")).unwrap();
    assert_eq!(pack_to(from.path(), &target).unwrap_err().code.as_str(), "entry_outside");
    assert!(fs::read_dir(out.path()).unwrap().next().is_none());
    let empty = tempdir();
    assert_eq!(pack_to(empty.path(), &target).unwrap_err().code.as_str(), "not_found");
    simple(&empty.path().join("plugin"), "com.example.sub", &["a"]);
    pack_to(empty.path(), &target).unwrap();
}

#[test]
fn validation() {
    let from = tempdir();
    let text = json!({"id": "com.example.tools", "name": "T", "futureThing": 1, "apps": [
        {"id": "hello", "name": "H", "entry": {"type": "module", "path": "h.mjs"},
         "ai": {"mcp": {"entry": "mcp.mjs"}, "mcpPrompt": "p.md", "prompts": true}},
        {"id": "side", "name": "S", "entry": {"type": "module", "path": "side/index.mjs"}},
        {"id": "no-export", "name": "N", "entry": "n.mjs"}]});
    write_files(
        from.path(),
        &[
            ("plugin.json", &text.to_string()),
            ("h.mjs", "export { mount } from './lib.mjs'"),
            ("n.mjs", "export const x = 1"),
            (
                "mcp.mjs",
                "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nimport fs from 'node:fs';\nimport 'left-pad';",
            ),
            ("p.md", "text"),
        ],
    );
    let found = validate(from.path(), None, &DefaultLists::default()).unwrap();
    assert!(!found.is_ok());
    assert_eq!(
        codes(&found.problems),
        [
            "unknown_key /futureThing",
            "path_missing /apps/1/entry/path",
            "unbundled_import /apps/0/ai/mcp/entry",
            "module_export /apps/2/entry"
        ]
    );
    assert_eq!(found.problems[1].message.en, "entry.path not found: side/index.mjs");
    let lent: Vec<&str> = found.lent.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(lent, ["@modelcontextprotocol/sdk"], "what ChatOS lends is no problem");
    let derived = &found.derived[0];
    assert_eq!(derived.server.as_deref(), Some("com.example.tools.hello"));
    assert_eq!(
        (derived.prompt_zh.as_deref(), derived.prompt_en.as_deref()),
        (Some("mcp_com_example_tools_hello"), None)
    );
    assert_eq!(derived.argv.as_ref().unwrap()[0], "node");
    let world = World::new();
    write_files(from.path(), &[("side/index.mjs", "export default 1"), ("n.mjs", "export default 1")]);
    let found = validate(from.path(), None, &DefaultLists::default()).unwrap();
    assert!(found.is_ok(), "{:?}", codes(&found.problems));
    assert_eq!(found.digest().unwrap(), &install(&world, from.path()).unwrap().plugins[0].digest);
    // Only in the user root does the directory's name matter.
    simple(&world.user("other-name"), "com.example.named", &["a"]);
    let found =
        validate(&world.user("other-name"), Some(&world.ui_apps().plugins()), &DefaultLists::default())
            .unwrap();
    assert_eq!(codes(&found.problems), ["dir_name_mismatch /id"]);
    // What only an install would refuse is said too.
    std::os::unix::fs::symlink("/etc/hostname", from.path().join("link")).unwrap();
    let found = validate(from.path(), None, &DefaultLists::default()).unwrap();
    assert_eq!(found.package.as_ref().unwrap().code.as_str(), "entry_outside");
    assert!(!found.is_ok());
}
