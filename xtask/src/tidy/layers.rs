//! Who may import whom: `xtask/layers.toml` against what the manifests say.
//!
//! The table is the decision, the manifests are the fact. A crate that is missing from the table, an edge the
//! table does not list, a circle in the table, a test-only crate in a shipped one, an outside crate beyond its
//! owner: each is named with the rule it breaks.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::tidy::finding::Finding;
use crate::workspace::{DependencyKind, Metadata, Package, Workspace};

/// Where a stranger begins to read.
const MAP: &str = "ARCHITECTURE.md";
pub(crate) const TABLE: &str = "xtask/layers.toml";

const NEW_EDGE: &str = "move the code to the layer that owns it or put a trait in the lower crate; \
     a new edge needs a decision record (CONTRIBUTING.md, \"Adding a crate or an edge\")";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Our crates by package name.
    #[serde(rename = "crate")]
    crates: BTreeMap<String, Rule>,
    /// Outside crates that only some of ours may use: name → ours.
    #[serde(default)]
    owned: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Our crates it may use in what it ships.
    imports: Vec<String>,
    /// Further ones its tests may use.
    #[serde(default)]
    dev: Vec<String>,
    /// May only be a dev-dependency of others.
    #[serde(default)]
    dev_only: bool,
}

pub(crate) fn check(workspace: &Workspace, metadata: &Metadata) -> Result<Vec<Finding>> {
    let table: Table =
        toml::from_str(&workspace.read(TABLE)?).with_context(|| format!("cannot parse `{TABLE}`"))?;
    let mut findings = check_table(&table, &metadata.packages);
    let map = workspace.read(MAP)?;
    let missing =
        metadata.packages.iter().filter(|package| !map.contains(&format!("`crates/{}`", package.name)));
    let shipped = missing.filter(|package| workspace.has(&format!("crates/{}", package.name)));
    findings.extend(shipped.map(|package| {
        Finding::error("layers", MAP, format!("does not say what `crates/{}` is for", package.name))
    }));
    Ok(findings)
}

fn check_table(table: &Table, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, rule) in &table.crates {
        for import in
            rule.imports.iter().chain(&rule.dev).filter(|import| !table.crates.contains_key(*import))
        {
            findings.push(Finding::error(
                "layers",
                TABLE,
                format!("`{name}` lists `{import}`, which has no entry"),
            ));
        }
    }
    if let Some(circle) = find_circle(&table.crates) {
        findings.push(Finding::error(
            "layers",
            TABLE,
            format!("the table has a circle: {}", circle.join(" -> ")),
        ));
    }
    for package in packages {
        match table.crates.get(&package.name) {
            Some(rule) => check_package(table, rule, package, &mut findings),
            None => findings.push(
                Finding::error("layers", TABLE, format!("crate `{}` has no entry", package.name))
                    .hint("say in the table what it may import, and in ARCHITECTURE.md what it is for"),
            ),
        }
    }
    findings
}

fn check_package(table: &Table, rule: &Rule, package: &Package, findings: &mut Vec<Finding>) {
    let from = &package.name;
    // The same crate may be listed once per platform; one finding is enough.
    let edges: BTreeSet<(&str, bool)> = package
        .dependencies
        .iter()
        .map(|dependency| (dependency.name.as_str(), dependency.kind == Some(DependencyKind::Dev)))
        .collect();
    for (to, is_dev) in edges {
        let manifest = format!("{from}/Cargo.toml");
        if let Some(target) = table.crates.get(to) {
            let listed = rule.imports.iter().any(|import| import == to);
            if is_dev {
                if !listed && !target.dev_only && !rule.dev.iter().any(|import| import == to) {
                    findings.push(
                        Finding::error(
                            "layers",
                            manifest,
                            format!("forbidden edge `{from}` -> `{to}` (dev): {}", allowed(from, rule)),
                        )
                        .hint(format!(
                            "list it under `dev` of [crate.{from}] in {TABLE} if the test really needs it"
                        )),
                    );
                }
            } else if target.dev_only {
                findings.push(Finding::error(
                    "layers",
                    manifest,
                    format!(
                        "forbidden edge `{from}` -> `{to}`: `{to}` is for tests; make it a dev-dependency"
                    ),
                ));
            } else if !listed {
                findings.push(
                    Finding::error(
                        "layers",
                        manifest,
                        format!("forbidden edge `{from}` -> `{to}`: {}", allowed(from, rule)),
                    )
                    .hint(NEW_EDGE),
                );
            }
        } else if let Some(owners) = table.owned.get(to)
            && !is_dev
            && !owners.contains(from)
        {
            findings.push(
                Finding::error(
                    "layers",
                    manifest,
                    format!("forbidden edge `{from}` -> `{to}`: only {} may use `{to}`", names(owners)),
                )
                .hint(format!("the owners of outside crates are listed under [owned] in {TABLE}")),
            );
        }
    }
}

/// The rule in words, for the message.
fn allowed(from: &str, rule: &Rule) -> String {
    if rule.imports.is_empty() {
        return format!("{TABLE} lets `{from}` import none of our crates");
    }
    format!("{TABLE} lets `{from}` import {} only", names(&rule.imports))
}

fn names(list: &[String]) -> String {
    list.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The first circle of the table's import edges, as the names along it.
fn find_circle(crates: &BTreeMap<String, Rule>) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    crates.keys().find_map(|start| visit(crates, start, &mut Vec::new(), &mut done))
}

fn visit<'a>(
    crates: &'a BTreeMap<String, Rule>,
    name: &'a str,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    if let Some(at) = path.iter().position(|seen| *seen == name) {
        return Some(path[at..].iter().chain([&name]).map(|step| (*step).to_owned()).collect());
    }
    if !done.contains(name)
        && let Some(rule) = crates.get(name)
    {
        path.push(name);
        if let Some(circle) = rule.imports.iter().find_map(|import| visit(crates, import, path, done)) {
            return Some(circle);
        }
        path.pop();
        done.insert(name);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        [crate.tool]
        imports = []
        [crate.store]
        imports = ["tool"]
        [crate.host]
        imports = ["store", "tool"]
        [crate.server]
        imports = ["host"]
        dev = ["tool"]
        [crate.testkit]
        imports = ["tool"]
        dev_only = true
        [owned]
        axum = ["server"]
    "#;

    /// `edges` are lines `from -> to` or `from -> to (dev)`; the findings come back as text.
    fn check(table: &str, edges: &[&str]) -> Vec<String> {
        let table: Table = toml::from_str(table).unwrap();
        let mut packages: BTreeMap<&str, Vec<serde_json::Value>> = BTreeMap::new();
        for edge in edges {
            let (from, to) = edge.split_once(" -> ").unwrap();
            let (to, kind) = match to.strip_suffix(" (dev)") {
                Some(to) => (to, Some("dev")),
                None => (to, None),
            };
            packages.entry(from).or_default().push(serde_json::json!({ "name": to, "kind": kind }));
        }
        let packages: Vec<Package> = packages
            .into_iter()
            .map(|(name, dependencies)| {
                let package = serde_json::json!({
                    "name": name, "manifest_path": "Cargo.toml", "dependencies": dependencies,
                });
                serde_json::from_value(package).unwrap()
            })
            .collect();
        check_table(&table, &packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn listed_edges_pass() {
        let edges = [
            "host -> store",
            "server -> host",
            "server -> axum",
            "store -> testkit (dev)",
            "server -> tool (dev)",
        ];
        assert_eq!(check(SMALL, &edges), Vec::<String>::new());
    }

    #[test]
    fn an_edge_the_table_does_not_list_is_named_with_its_rule() {
        let found = check(SMALL, &["server -> store"]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with(
                "error[layers] server/Cargo.toml: forbidden edge `server` -> `store`: \
                 xtask/layers.toml lets `server` import `host` only"
            ),
            "{}",
            found[0]
        );
        assert!(found[0].contains("decision record"), "{}", found[0]);
    }

    #[test]
    fn an_upward_edge_is_refused() {
        let found = check(SMALL, &["tool -> host"]);
        assert!(found[0].contains("lets `tool` import none of our crates"), "{}", found[0]);
    }

    #[test]
    fn tests_need_their_edges_listed_too() {
        let found = check(SMALL, &["tool -> host (dev)"]);
        assert!(found[0].contains("forbidden edge `tool` -> `host` (dev)"), "{}", found[0]);
    }

    #[test]
    fn a_test_crate_never_ships() {
        let found = check(SMALL, &["host -> testkit"]);
        assert!(found[0].contains("`testkit` is for tests; make it a dev-dependency"), "{}", found[0]);
    }

    #[test]
    fn an_unknown_crate_is_refused() {
        let found = check(SMALL, &["helpers -> tool"]);
        assert!(found[0].contains("crate `helpers` has no entry"), "{}", found[0]);
    }

    #[test]
    fn an_outside_crate_stays_with_its_owner() {
        let found = check(SMALL, &["host -> axum"]);
        assert!(found[0].contains("only `server` may use `axum`"), "{}", found[0]);
        assert_eq!(check(SMALL, &["host -> axum (dev)"]), Vec::<String>::new());
    }

    #[test]
    fn a_circle_in_the_table_is_printed() {
        let table =
            "[crate.a]\nimports = [\"b\"]\n[crate.b]\nimports = [\"c\"]\n[crate.c]\nimports = [\"b\"]\n";
        let found = check(table, &[]);
        assert_eq!(found, ["error[layers] xtask/layers.toml: the table has a circle: b -> c -> b"]);
    }

    #[test]
    fn a_name_without_entry_is_a_typing_mistake() {
        let found = check("[crate.a]\nimports = [\"hosst\"]\n", &[]);
        assert_eq!(found, ["error[layers] xtask/layers.toml: `a` lists `hosst`, which has no entry"]);
    }

    #[test]
    fn the_same_edge_on_two_platforms_is_one_finding() {
        assert_eq!(check(SMALL, &["server -> store", "server -> store"]).len(), 1);
    }
}
