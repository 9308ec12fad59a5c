//! Links the program so that what runs when a built-in server starts lies side by side.
//!
//! The kernel maps a program in pieces of 64 KB: without an order the thousand small functions of a start
//! are spread over all of it, and a server holds three times the memory it uses. The list and how it is made
//! anew are in `link/start.ld` and `bench/start-order.mjs`.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script its places by variables")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=link/start.ld");
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(list) = list() {
        println!("cargo::rustc-link-arg-bin=chatos=-Wl,-T,{}", list.display());
    }
}

/// The list, where it does something: an optimised program for the machine it was made on, and the linker
/// that comes with the compiler and knows what is meant.
fn list() -> Option<PathBuf> {
    let is = |name: &str, value: &str| variable(name).as_deref() == Some(value);
    let ours = is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu");
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let other_linker = variable("RUSTC_LINKER").is_some() || flags.contains("link");
    if !ours || other_linker || !is("HOST", "x86_64-unknown-linux-gnu") || !has_linker() {
        return None;
    }
    let list = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("link/start.ld");
    // A comma would end the argument.
    (!list.to_str()?.contains(',')).then_some(list)
}

/// Whether the compiler brings its own linker and therefore uses it.
fn has_linker() -> bool {
    let asked = Command::new(variable("RUSTC").unwrap_or_else(|| "rustc".to_owned()))
        .args(["--print", "sysroot"])
        .output();
    let Ok(asked) = asked else { return false };
    let root = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    Path::new(&root).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld").exists()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
