//! From read directories to the plugins of a snapshot: who overrides whom, who is trusted, and who
//! is called what.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chatos_contribution::names::{Wanted, WantedPrompt};
use chatos_contribution::{NameBook, ServerIdentity, normalize_server, server_name};
use chatos_manifest::{PluginId, Problem, ProblemCode, Source, Text, quote};

use super::{AppNames, ExternalNames, Plugin, Snapshot, is_trusted_by_origin};
use crate::layout::Origin;
use crate::load::LoadedPlugin;
use crate::scan::{Cached, Candidate};
use crate::trust::{Trust, TrustRecord, TrustState};

/// A read directory with its trust.
pub(super) struct Found {
    plugin: Option<Arc<LoadedPlugin>>,
    problems: Arc<Vec<Problem>>,
    trust: Trust,
}

impl Found {
    pub(super) fn new(
        candidate: Candidate,
        cached: Cached,
        records: &HashMap<PluginId, TrustRecord>,
    ) -> Self {
        let trust = match &cached.plugin {
            Some(plugin) if !is_trusted_by_origin(candidate.origin) => {
                trust_of(records.get(plugin.id()), &cached)
            }
            // Nobody decides by it; it says that the files are others (devkit §4.6).
            Some(_) if candidate.origin == Origin::Dev => {
                Trust { digest: cached.digest().and_then(Result::ok), ..Trust::given() }
            }
            _ => Trust::given(),
        };
        Self { plugin: cached.plugin, problems: cached.problems, trust }
    }
}

/// No record: untrusted. A record for other bytes, or bytes that cannot be read: changed.
fn trust_of(record: Option<&TrustRecord>, cached: &Cached) -> Trust {
    let digest = cached.digest().and_then(Result::ok);
    let state = match record {
        None => TrustState::Untrusted,
        Some(record) if digest.as_ref() == Some(&record.digest) => TrustState::Trusted,
        Some(_) => TrustState::Changed,
    };
    Trust { state, digest, decided_at: record.map(|record| record.trusted_at) }
}

/// True when a snapshot of these findings would be `previous` again; the usual case, decided by
/// comparing pointers.
pub(super) fn is_unchanged(previous: &Snapshot, found: &[Found], problems: &[Problem]) -> bool {
    previous.revision > 0
        && previous.scan_problems == problems
        && {
            let plugins = || {
                found.iter().filter_map(|found| found.plugin.as_ref().map(|plugin| (plugin, &found.trust)))
            };
            plugins().count() == previous.plugins.len()
                && plugins().zip(&previous.plugins).all(|((plugin, trust), old)| {
                    Arc::ptr_eq(plugin, &old.loaded)
                        && trust.state == old.trust.state
                        && trust.digest == old.trust.digest
                })
        }
        && {
            // Directories without a usable plugin: their problems are all there is to see.
            let broken: Vec<&Problem> = found
                .iter()
                .filter(|found| found.plugin.is_none())
                .flat_map(|found| found.problems.iter())
                .collect();
            let known: Vec<&Problem> =
                previous.problems.iter().filter(|problem| is_of_broken(problem, previous)).collect();
            broken == known
        }
}

/// A problem of a directory that gave no plugin.
fn is_of_broken(problem: &Problem, snapshot: &Snapshot) -> bool {
    !snapshot.scan_problems.contains(problem)
        && problem.dir.is_some()
        && !snapshot
            .plugins
            .iter()
            .any(|plugin| problem.dir.as_deref() == Some(plugin.loaded.dir.to_string_lossy().as_ref()))
}

pub(super) struct Built {
    pub(super) plugins: Vec<Arc<Plugin>>,
    pub(super) problems: Vec<Problem>,
}

pub(super) fn build(
    found: Vec<Found>,
    book: &mut NameBook,
    external: &ExternalNames,
    previous: &Snapshot,
) -> Built {
    // First the directories that gave nothing, so that their problems stay together.
    let mut problems: Vec<Problem> = Vec::new();
    for broken in found.iter().filter(|found| found.plugin.is_none()) {
        problems.extend(broken.problems.iter().cloned());
    }
    let present: Vec<Present> =
        found.into_iter().filter_map(|found| Some((found.plugin?, found.problems, found.trust))).collect();
    let places = overrides(&present);
    let names = allocate(&present, &places, book, external, &mut problems);
    let mut plugins = Vec::new();
    for ((loaded, directory_problems, trust), (place, names)) in
        present.into_iter().zip(places.into_iter().zip(names))
    {
        // Unknown keys are for `validate`; a listing would only be noisy.
        problems.extend(
            directory_problems.iter().filter(|problem| problem.code != ProblemCode::UnknownKey).cloned(),
        );
        if place.shadows == Some(Origin::Builtin) && loaded.origin == Origin::User {
            problems.push(overrides_problem(&loaded, place.active));
        }
        if !place.listed {
            continue;
        }
        let plugin =
            Plugin { loaded, directory_problems, trust, shadows: place.shadows, active: place.active, names };
        let reused = previous
            .plugins
            .iter()
            .find(|old| Arc::ptr_eq(&old.loaded, &plugin.loaded) && old.same_as(&plugin));
        plugins.push(reused.cloned().unwrap_or_else(|| Arc::new(plugin)));
    }
    Built { plugins, problems }
}

/// A plugin that was read, with its problems and trust.
type Present = (Arc<LoadedPlugin>, Arc<Vec<Problem>>, Trust);

#[derive(Clone)]
struct Place {
    active: bool,
    /// False for a plugin that another one replaces completely.
    listed: bool,
    shadows: Option<Origin>,
}

/// plugins §5: dev over user over built-in; a user plugin takes over only once it is trusted, so an
/// untrusted copy can never switch off a built-in.
fn overrides(present: &[Present]) -> Vec<Place> {
    let mut by_id: HashMap<&PluginId, Vec<usize>> = HashMap::new();
    for (index, (plugin, ..)) in present.iter().enumerate() {
        by_id.entry(plugin.id()).or_default().push(index);
    }
    let mut places = vec![Place { active: true, listed: true, shadows: None }; present.len()];
    for indexes in by_id.values().filter(|indexes| indexes.len() > 1) {
        let of = |origin: Origin| indexes.iter().copied().find(|index| present[*index].0.origin == origin);
        let (builtin, user, dev) = (of(Origin::Builtin), of(Origin::User), of(Origin::Dev));
        let user_trusted = user.is_some_and(|index| present[index].2.state == TrustState::Trusted);
        let winner = match (dev, user, builtin) {
            (Some(dev), ..) => dev,
            (None, Some(user), Some(_)) if user_trusted => user,
            (None, _, Some(builtin)) => builtin,
            (None, Some(user), None) => user,
            (None, None, None) => continue,
        };
        for index in indexes {
            let origin = present[*index].0.origin;
            let below = match origin {
                Origin::Dev => user.map(|_| Origin::User).or(builtin.map(|_| Origin::Builtin)),
                Origin::User => builtin.map(|_| Origin::Builtin),
                Origin::Builtin => None,
            };
            let active = *index == winner;
            // Something that waits for a person's decision is listed; something replaced is not.
            let waits = origin == Origin::User && dev.is_none() && !active;
            places[*index] = Place { active, listed: active || waits, shadows: below };
        }
    }
    places
}

fn overrides_problem(loaded: &LoadedPlugin, active: bool) -> Problem {
    let id = loaded.id();
    let message = if active {
        Text::new(
            format!("Plugin {id} replaces the built-in plugin of the same id"),
            format!("插件 {id} 替换了同 id 的内置插件"),
        )
    } else {
        Text::new(
            format!(
                "Plugin {id} would replace the built-in plugin of the same id; the built-in is used until it is trusted"
            ),
            format!("插件 {id} 将替换同 id 的内置插件；在被信任之前仍使用内置插件"),
        )
    };
    Problem::new(ProblemCode::OverridesBuiltin, "/id", message)
        .source(Source::Trust)
        .of_plugin(id)
        .in_dir(loaded.dir.to_string_lossy())
}

/// Names for all apps with a server or prompt. Plugins nobody trusts get names to show but none are
/// reserved for them: otherwise an untrusted plugin could take a name away from another.
fn allocate(
    present: &[Present],
    places: &[Place],
    book: &mut NameBook,
    external: &ExternalNames,
    problems: &mut Vec<Problem>,
) -> Vec<Vec<Option<AppNames>>> {
    let reserves = |index: usize| places[index].active && present[index].2.state == TrustState::Trusted;
    let trusted: Vec<usize> = (0..present.len()).filter(|index| reserves(*index)).collect();
    let waiting: Vec<usize> = (0..present.len()).filter(|index| !reserves(*index)).collect();
    let mut names: Vec<Vec<Option<AppNames>>> = vec![Vec::new(); present.len()];
    let collided = allocate_group(present, &trusted, book, external, &mut names);
    problems.extend(collided);
    if !waiting.is_empty() {
        let mut preview = book.clone();
        let collided = allocate_group(present, &waiting, &mut preview, external, &mut names);
        problems.extend(collided);
    }
    names
}

fn allocate_group(
    present: &[Present],
    indexes: &[usize],
    book: &mut NameBook,
    external: &ExternalNames,
    names: &mut [Vec<Option<AppNames>>],
) -> Vec<Problem> {
    let mut wanted: Vec<Wanted> = external
        .servers
        .iter()
        .map(|(identity, name)| Wanted { identity: identity.clone(), name: name.clone(), builtin: false })
        .collect();
    let mut owners: HashMap<ServerIdentity, &LoadedPlugin> = HashMap::new();
    for index in indexes {
        let plugin = present[*index].0.as_ref();
        for app in plugin.apps.iter().filter(|app| app.ai.is_some()) {
            let identity = ServerIdentity::app(plugin.id(), &app.manifest.id);
            owners.insert(identity.clone(), plugin);
            let name = server_name(plugin.id(), &app.manifest.id);
            wanted.push(Wanted { identity, name, builtin: plugin.origin == Origin::Builtin });
        }
    }
    let collisions = book.allocate(&wanted);
    let normalized = |identity: &ServerIdentity, name: &str| {
        book.normalized(identity).map_or_else(|| normalize_server(name), str::to_owned)
    };
    let prompts: Vec<WantedPrompt> = wanted
        .iter()
        .filter(|wanted| owners.contains_key(&wanted.identity))
        .map(|wanted| WantedPrompt {
            identity: wanted.identity.clone(),
            normalized: normalized(&wanted.identity, &wanted.name),
            builtin: wanted.builtin,
        })
        .collect();
    let admin: &HashSet<String> = &external.prompts;
    let prompt_names = book.allocate_prompts(&prompts, admin);
    for index in indexes {
        let plugin = present[*index].0.as_ref();
        names[*index] = plugin
            .apps
            .iter()
            .map(|app| {
                app.ai.as_ref()?;
                let identity = ServerIdentity::app(plugin.id(), &app.manifest.id);
                Some(AppNames {
                    normalized: book.normalized(&identity)?.to_owned(),
                    prompts: prompt_names.get(&identity)?.clone(),
                })
            })
            .collect();
    }
    collisions
        .into_iter()
        .filter_map(|collision| {
            let plugin = owners.get(&collision.identity)?;
            let app = plugin
                .apps
                .iter()
                .find(|app| ServerIdentity::app(plugin.id(), &app.manifest.id) == collision.identity)?;
            let (got, holder) = (quote(&collision.got), quote(collision.holder.as_str()));
            let message = Text::new(
                format!("Its names run together with those of {holder}; it is called {got}"),
                format!("其名称与 {holder} 相同；将使用 {got}"),
            );
            Some(
                Problem::new(ProblemCode::NameCollision, format!("/apps/{}/id", app.manifest.index), message)
                    .source(Source::Ai)
                    .of_plugin(plugin.id())
                    .of_app(app.manifest.index, &app.manifest.id)
                    .in_dir(plugin.dir.to_string_lossy()),
            )
        })
        .collect()
}

/// The names a plugin alone would get, and the collisions among its own apps; for `validate`.
pub(crate) fn preview_names(plugin: &Arc<LoadedPlugin>) -> (Vec<Option<AppNames>>, Vec<Problem>) {
    let present = [(Arc::clone(plugin), Arc::default(), Trust::given())];
    let mut names = vec![Vec::new()];
    let mut book = NameBook::default();
    let problems = allocate_group(&present, &[0], &mut book, &ExternalNames::default(), &mut names);
    (names.pop().unwrap_or_default(), problems)
}
