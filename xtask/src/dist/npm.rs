//! The npm packages: `chatos`, which only finds the program, and one package per system with the program in it, of
//! which npm installs the one that fits.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::Release;
use super::pack::{Entry, gzip, tar};
use super::target::{TARGETS, Target};

const LAUNCHER: &str = include_str!("../../../packaging/npm/chatos.js");
const README: &str = include_str!("../../../packaging/npm/README.md");

/// `@chatos/linux-x64` and its kind.
fn name(target: Target) -> String {
    format!("@chatos/{}-{}", target.npm.0, target.npm.1)
}

/// The package with the program for one system.
pub(super) fn platform(release: &Release, target: Target, program: &[u8]) -> Result<(String, Vec<u8>)> {
    let (os, cpu) = target.npm;
    let about = json!({
        "name": name(target), "version": release.version, "license": "MIT OR Apache-2.0",
        "description": format!("ChatOS for {os} on {cpu}; install `chatos`, not this"),
        "os": [os], "cpu": [cpu], "preferUnplugged": true, "files": ["bin", "THIRD-PARTY-LICENCES"],
    });
    let files = [
        Entry::file("package/package.json", pretty(&about)?),
        Entry::file("package/LICENSE-APACHE", release.apache.clone()),
        Entry::file("package/LICENSE-MIT", release.mit.clone()),
        Entry::file("package/THIRD-PARTY-LICENCES", release.licences.clone()),
        Entry::program("package/bin/chatos", program),
    ];
    let file = format!("chatos-npm-{os}-{cpu}-{}.tgz", release.version);
    Ok((file, gzip(&tar(&files, release.date)?)?))
}

/// The package people name. It knows all systems, also those of which this release has no program yet.
pub(super) fn main(release: &Release) -> Result<(String, Vec<u8>)> {
    let optional: Map<String, Value> =
        TARGETS.into_iter().map(|target| (name(target), json!(release.version))).collect();
    let about = json!({
        "name": "chatos", "version": release.version, "license": "MIT OR Apache-2.0",
        "description": "Run AI agents and apps on your own computer",
        "bin": { "chatos": "chatos.js" }, "files": ["chatos.js"],
        "engines": { "node": ">=18" }, "optionalDependencies": optional,
    });
    let files = [
        Entry::file("package/package.json", pretty(&about)?),
        Entry::file("package/LICENSE-APACHE", release.apache.clone()),
        Entry::file("package/LICENSE-MIT", release.mit.clone()),
        Entry::file("package/README.md", README),
        Entry::program("package/chatos.js", LAUNCHER),
    ];
    Ok((format!("chatos-npm-{}.tgz", release.version), gzip(&tar(&files, release.date)?)?))
}

fn pretty(value: &Value) -> Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}
