//! `cargo xtask tidy` as a person runs it: on a copy of this workspace, and on one with a forbidden edge.

#![expect(clippy::disallowed_methods, reason = "a test of a program starts that program")]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail like the test itself")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A copy of every manifest of the real workspace, with empty sources: enough for `cargo metadata`, and so
/// for the layer rules as they really are.
struct Copy {
    dir: tempfile::TempDir,
}

impl Copy {
    fn of_this_workspace() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let copy = Self { dir: tempfile::tempdir().unwrap() };
        for file in ["ARCHITECTURE.md", "Cargo.toml", "xtask/layers.toml", "xtask/tidy.toml"] {
            copy.write(file, &fs::read_to_string(root.join(file)).unwrap());
        }
        // The exceptions name files that this copy does not have.
        copy.write("xtask/tidy.toml", "");
        for package in packages(root) {
            let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
            let manifest = manifest.strip_prefix(root.canonicalize().unwrap()).unwrap();
            copy.write(manifest.to_str().unwrap(), &fs::read_to_string(root.join(manifest)).unwrap());
            // Every dependency is named, so that only the layers can be at fault.
            let names =
                package["dependencies"].as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap());
            let uses = names.map(|name| name.replace('-', "_")).collect::<Vec<_>>().join(" ");
            for target in package["targets"].as_array().unwrap() {
                let source = PathBuf::from(target["src_path"].as_str().unwrap());
                let source = source.strip_prefix(root.canonicalize().unwrap()).unwrap();
                copy.write(source.to_str().unwrap(), &format!("//! Empty copy: {uses}\nfn main() {{}}\n"));
            }
        }
        copy
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds one edge to a crate's manifest; the other crate need not exist in the tree yet.
    fn add_dependency(&self, from: &str, to: &str) {
        let file = self.dir.path().join(format!("crates/{from}/Cargo.toml"));
        let manifest = fs::read_to_string(&file).unwrap();
        let edge = format!("[dependencies]\n{to} = {{ path = \"../{to}\" }}");
        fs::write(&file, manifest.replacen("[dependencies]", &edge, 1)).unwrap();
        if !self.dir.path().join(format!("crates/{to}")).exists() {
            let stub = format!("[package]\nname = \"{to}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
            self.write(&format!("crates/{to}/Cargo.toml"), &stub);
            self.write(&format!("crates/{to}/src/lib.rs"), "//! A stub.\n");
        }
    }

    fn tidy(&self) -> Output {
        run(Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["tidy", "--no-codegen", "--root"])
            .arg(self.dir.path()))
    }
}

#[test]
fn a_forbidden_edge_fails_and_is_named() {
    let copy = Copy::of_this_workspace();
    let before = lines(&copy.tidy(), "error[layers]");
    copy.add_dependency("chatos-paths", "chatos-cli");

    let output = copy.tidy();

    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let added: Vec<String> =
        lines(&output, "error[layers]").into_iter().filter(|line| !before.contains(line)).collect();
    assert_eq!(
        added,
        ["error[layers] chatos-paths/Cargo.toml: forbidden edge `chatos-paths` -> `chatos-cli`: \
          xtask/layers.toml lets `chatos-paths` import `chatos-tool` only"]
    );
}

#[test]
fn the_test_crate_in_a_shipped_one_fails() {
    let copy = Copy::of_this_workspace();
    copy.add_dependency("chatos-paths", "chatos-testkit");
    let output = copy.tidy();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let expected = "error[layers] chatos-paths/Cargo.toml: forbidden edge `chatos-paths` -> `chatos-testkit`: \
                    `chatos-testkit` is for tests; make it a dev-dependency";
    assert!(lines(&output, expected).len() == 1, "{}", text(&output));
}

#[test]
fn a_file_without_its_sentence_fails() {
    let copy = Copy::of_this_workspace();
    copy.write("crates/chatos-paths/src/silent.rs", "pub fn f() {}\n");
    let output = copy.tidy();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let found = lines(&output, "error[comments]");
    assert_eq!(found, ["error[comments] crates/chatos-paths/src/silent.rs: does not open with `//!`"]);
}

#[test]
fn an_unknown_option_is_refused() {
    let output = run(Command::new(env!("CARGO_BIN_EXE_xtask")).args(["tidy", "--quick"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("unknown option `--quick` of `tidy`"), "{}", text(&output));
}

fn packages(root: &Path) -> Vec<serde_json::Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root);
    let output = run(&mut cargo);
    assert!(output.status.success(), "{}", text(&output));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn lines(output: &Output, prefix: &str) -> Vec<String> {
    text(output).lines().filter(|line| line.starts_with(prefix)).map(String::from).collect()
}
