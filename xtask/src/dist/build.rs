//! Building the program of a release.
//!
//! On Linux it is static, so that it runs on every distribution, old or small: Rust brings the C library (musl) and
//! the linker, zig compiles the C code of SQLite, zstd and ring for whatever processor is asked for (decision 0044).
//! Paths of this machine do not get into it, so that two builds give the same bytes.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::target::Target;
use crate::workspace::Workspace;
use crate::{npm, process};

/// The page, then the program; the answer is where it lies.
pub(super) fn program(workspace: &Workspace, target: Target) -> Result<PathBuf> {
    println!("building the page");
    process::capture(&mut npm::script(workspace, "ui", "build"))?;
    println!("building the program for {}", target.triple);
    let mut cargo = cross(workspace, target, "build")?;
    cargo.args(["--release", "--locked", "--package", "chatos-cli", "--bin", "chatos"]);
    let status = cargo.status().context("cannot start cargo")?;
    ensure!(status.success(), "the build for {} failed", target.triple);
    let folder = workspace.metadata()?.target_directory;
    Ok(folder.join(target.triple).join("release/chatos"))
}

/// A cargo command for another system, with the compilers that are needed for it.
pub(super) fn cross(workspace: &Workspace, target: Target, command: &str) -> Result<Command> {
    let mut cargo = process::cargo(workspace.root());
    cargo.args([command, "--target", target.triple]);
    let upper = target.triple.to_uppercase().replace('-', "_");
    let lower = target.triple.replace('-', "_");
    let mut flags = vec![format!("--remap-path-prefix={}=/chatos", workspace.root().display())];
    let home = process::env("CARGO_HOME").or_else(|| Some(format!("{}/.cargo", process::env("HOME")?)));
    if let Some(home) = home {
        flags.push(format!("--remap-path-prefix={home}/registry/src=/crates"));
    }
    if let Some(zig) = target.zig {
        flags.extend(["-Clinker-flavor=ld.lld".to_owned(), "-Clink-self-contained=yes".to_owned()]);
        cargo.env(format!("CARGO_TARGET_{upper}_LINKER"), "rust-lld");
        with_zig(&mut cargo, workspace, &lower, zig)?;
    }
    cargo.env(format!("CARGO_TARGET_{upper}_RUSTFLAGS"), flags.join(" "));
    Ok(cargo)
}

/// The C compiler for the crates that have C code.
pub(super) fn with_zig(cargo: &mut Command, workspace: &Workspace, target: &str, zig: &str) -> Result<()> {
    let found = process::env("CHATOS_ZIG").is_some()
        || process::works("zig", &["version"], workspace.root())
        || process::works("python3", &["-m", "ziglang", "version"], workspace.root());
    ensure!(
        found,
        "zig is needed as C compiler for {zig}: pip install ziglang, or set CHATOS_ZIG to the program"
    );
    cargo.env("CHATOS_ZIG_TARGET", zig);
    cargo.env(format!("CC_{target}"), workspace.path("packaging/zig/cc"));
    cargo.env(format!("AR_{target}"), workspace.path("packaging/zig/ar"));
    Ok(())
}
