//! What a release is built of: every crate and npm package inside the program, as a bill of materials (CycloneDX) and
//! as one text with all licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::process;
use crate::workspace::Workspace;

/// One part of the program that others wrote.
struct Part {
    /// Unique: the purl, as other tools name it.
    id: String,
    name: String,
    version: String,
    licence: String,
    texts: Vec<String>,
    needs: BTreeSet<String>,
}

/// What `cargo metadata` says with dependencies.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    manifest_path: std::path::PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// The bill of materials and the text of licences of one release.
pub(super) struct Supply {
    pub(super) sbom: String,
    pub(super) licences: String,
    pub(super) parts: usize,
}

pub(super) fn look(workspace: &Workspace, version: &str, date: u64, targets: &[&str]) -> Result<Supply> {
    let mut parts = BTreeMap::new();
    let mut roots = BTreeSet::new();
    for target in targets {
        roots.extend(crates(workspace, target, &mut parts)?);
    }
    roots.extend(page(workspace, &mut parts)?);
    let lent = workspace.read("crates/chatos-modules/node-modules/LICENSES")?;
    let modules = lent_modules(workspace, &mut parts)?;
    roots.extend(modules);
    Ok(Supply {
        sbom: sbom(version, date, &parts, &roots)?,
        licences: licences(&parts, &lent),
        parts: parts.len(),
    })
}

/// Everything the program is linked of, for one system; tools of the build are not in it.
fn crates(
    workspace: &Workspace,
    target: &str,
    parts: &mut BTreeMap<String, Part>,
) -> Result<BTreeSet<String>> {
    let mut cargo = process::cargo(workspace.root());
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", target]);
    let read: Metadata = serde_json::from_str(&process::capture(&mut cargo)?)
        .context("cannot read the output of `cargo metadata`")?;
    let packages: BTreeMap<&str, &Package> = read.packages.iter().map(|p| (p.id.as_str(), p)).collect();
    let nodes: BTreeMap<&str, &Node> = read.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
    let program = read.packages.iter().find(|package| package.name == "chatos-cli");
    let program = program.context("there is no crate `chatos-cli`")?;
    let mut pending = vec![program.id.as_str()];
    let mut seen = BTreeSet::new();
    let mut roots = BTreeSet::new();
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages.get(id).with_context(|| format!("cargo does not know {id}"))?;
        let node = nodes.get(id).with_context(|| format!("cargo did not resolve {id}"))?;
        let mut needs = BTreeSet::new();
        for edge in node.deps.iter().filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none())) {
            pending.push(&edge.pkg);
            if let Some(needed) = packages.get(edge.pkg.as_str()).filter(|p| p.source.is_some()) {
                needs.insert(purl("cargo", &needed.name, &needed.version));
            }
        }
        // Our own crates are the program itself.
        if package.source.is_none() {
            roots.extend(needs);
            continue;
        }
        let folder = package.manifest_path.parent().context("a crate without a folder")?;
        let id = purl("cargo", &package.name, &package.version);
        let part = parts.entry(id.clone()).or_insert_with(|| Part {
            id,
            name: package.name.clone(),
            version: package.version.clone(),
            licence: package.license.clone().unwrap_or_default(),
            texts: texts(folder),
            needs: BTreeSet::new(),
        });
        part.needs.extend(needs);
    }
    Ok(roots)
}

/// The npm packages the page is built of.
fn page(workspace: &Workspace, parts: &mut BTreeMap<String, Part>) -> Result<BTreeSet<String>> {
    npm(workspace, "ui", true, parts)
}

/// The npm packages lent to plugins; their texts are in a file of their own.
fn lent_modules(workspace: &Workspace, parts: &mut BTreeMap<String, Part>) -> Result<BTreeSet<String>> {
    npm(workspace, "crates/chatos-modules/node-modules", false, parts)
}

fn npm(
    workspace: &Workspace,
    folder: &str,
    installed: bool,
    parts: &mut BTreeMap<String, Part>,
) -> Result<BTreeSet<String>> {
    let lock: Value = serde_json::from_str(&workspace.read(&format!("{folder}/package-lock.json"))?)?;
    let packages = lock["packages"].as_object().context("a lock file without packages")?;
    let mut found = BTreeSet::new();
    for (place, about) in packages {
        let name = place.rsplit_once("node_modules/").map(|(_, name)| name);
        let (Some(name), Some(version)) = (name, about["version"].as_str()) else { continue };
        // Types are read by the compiler alone.
        let unused = ["dev", "devOptional", "optional"].iter().any(|word| about[*word] == true);
        if unused || name.starts_with("@types/") {
            continue;
        }
        let path = workspace.path(&format!("{folder}/{place}"));
        ensure!(!installed || path.is_dir(), "`{folder}/{place}` is missing: run `npm --prefix {folder} ci`");
        let id = purl("npm", name, version);
        found.insert(id.clone());
        parts.entry(id.clone()).or_insert_with(|| Part {
            id,
            name: name.to_owned(),
            version: version.to_owned(),
            licence: about["license"].as_str().unwrap_or_default().to_owned(),
            texts: if installed { texts(&path) } else { Vec::new() },
            needs: BTreeSet::new(),
        });
    }
    Ok(found)
}

fn purl(kind: &str, name: &str, version: &str) -> String {
    format!("pkg:{kind}/{}@{version}", name.replace('@', "%40"))
}

/// The texts of a package's licences, each once.
fn texts(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let mut found: Vec<String> = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let named = ["license", "licence", "copying", "notice", "unlicense"];
        if !named.iter().any(|word| name.starts_with(word)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let text = text.replace("\r\n", "\n").trim().to_owned();
        if !text.is_empty() && !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// The list of all parts, then each text with the parts it is for.
fn licences(parts: &BTreeMap<String, Part>, lent: &str) -> String {
    let mut all = String::from(
        "ChatOS is built of these packages. Each line names one and its licence; the texts follow, each once.\n\n",
    );
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in parts.values() {
        let title = format!("{} {}", part.name, part.version);
        all.push_str(&format!("{title}  {}\n", part.licence));
        for text in &part.texts {
            by_text.entry(text).or_default().push(title.clone());
        }
    }
    let mut sections: Vec<_> = by_text.into_iter().map(|(text, titles)| (titles, text)).collect();
    sections.sort();
    for (titles, text) in sections {
        all.push_str(&format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), titles.join(", ")));
    }
    all.push_str(&format!("\n{}\n{lent}", "=".repeat(80)));
    all
}

fn sbom(
    version: &str,
    date: u64,
    parts: &BTreeMap<String, Part>,
    roots: &BTreeSet<String>,
) -> Result<String> {
    let program = purl("generic", "chatos", version);
    let components: Vec<Value> = parts
        .values()
        .map(|part| {
            let mut about = json!({
                "type": "library", "bom-ref": part.id, "name": part.name, "version": part.version,
                "purl": part.id,
            });
            // Older crates write "A/B" for "A OR B"; who says it only in a file is named by its first line.
            let said = part.texts.first().and_then(|text| text.lines().next());
            about["licenses"] = match (part.licence.as_str(), said) {
                ("", Some(line)) => json!([{ "license": { "name": line.trim() } }]),
                ("", None) => Value::Null,
                (licence, _) => json!([{ "expression": licence.replace('/', " OR ") }]),
            };
            about
        })
        .collect();
    let mut dependencies = vec![json!({ "ref": program, "dependsOn": roots })];
    dependencies.extend(parts.values().map(|part| json!({ "ref": part.id, "dependsOn": part.needs })));
    let document = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": timestamp(date),
            "component": {
                "type": "application", "bom-ref": program, "name": "chatos", "version": version,
                "purl": program, "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components, "dependencies": dependencies,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

/// Seconds since 1970 as CycloneDX writes a time (proleptic Gregorian calendar, UTC).
pub(super) fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn a_time_is_the_one_of_the_calendar() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(timestamp(1_798_761_599), "2026-12-31T23:59:59Z");
    }
}
