//! Sync plans against a small in-memory table that executes them.

use proptest::prelude::*;

use super::*;
use crate::names::PromptNames;
use crate::{Endpoint, PromptContribution, ServerContribution, ServerIdentity};
use chatos_manifest::Secret;

fn plugin() -> PluginId {
    PluginId::parse("com.example.tools").unwrap()
}

fn contribution(app: &str, url: &str, zh: &str, en: &str) -> AppContribution {
    let app_id = AppId::parse(app).unwrap();
    let name = format!("com.example.tools.{app}");
    let base = format!("mcp_com_example_tools_{app}");
    AppContribution {
        plugin_id: plugin(),
        app_id: app_id.clone(),
        plugin_dir: "/p".into(),
        revision: 1,
        mcp: (!url.is_empty()).then(|| ServerContribution {
            identity: ServerIdentity::app(&plugin(), &app_id),
            normalized_name: name.replace('.', "_"),
            name,
            url: url.to_owned(),
            endpoint: Endpoint::Command { argv: vec!["node".into()] },
            call_meta: None,
            async_task: None,
            start_timeout_ms: None,
            description: String::new(),
            tags: vec!["uiapp".into()],
            enabled: true,
            allow_main: true,
            allow_sub: true,
            auth: None,
        }),
        mcp_prompt: (!zh.is_empty() || !en.is_empty()).then(|| PromptContribution {
            title: "T".into(),
            names: PromptNames { zh: base.clone(), en: format!("{base}__en") },
            zh: zh.into(),
            en: en.into(),
        }),
        mcp_servers: crate::Outcome::default(),
        prompts: crate::Outcome::default(),
        agent: None,
    }
}

/// Executes a plan the way the store does.
fn apply(world: &mut World, actions: &[Action]) {
    for action in actions {
        match action {
            Action::Insert(row) => {
                let values: HashMap<String, String> =
                    row.fields.iter().map(|(field, value)| ((*field).to_owned(), value.clone())).collect();
                let id = format!("row{}", world.rows.len());
                world
                    .rows
                    .insert(row.key.clone(), CurrentRow { id, current: values.clone(), synced: values });
            }
            Action::Update { key, fields, .. } => {
                let row = world.rows.get_mut(key).unwrap();
                for (field, value) in fields {
                    row.current.insert((*field).to_owned(), value.clone());
                    row.synced.insert((*field).to_owned(), value.clone());
                }
            }
            Action::Delete { key, .. } | Action::Release { key, .. } => {
                world.rows.remove(key);
            }
        }
    }
}

fn sync(world: &mut World, contribution: &AppContribution) -> Plan {
    let plan = plan(&plugin(), &desired_rows(contribution), world);
    apply(world, &plan.actions);
    plan
}

fn key(entity: Entity, lang: &'static str) -> RowKey {
    RowKey { entity, app_id: AppId::parse("a").unwrap(), lang }
}

#[test]
fn first_sync_inserts_and_a_second_writes_nothing() {
    let mut world = World::default();
    let wanted = contribution("a", "cmd://node x", "中文", "");
    let first = sync(&mut world, &wanted);
    assert_eq!(first.actions.len(), 2, "a server and one prompt; the empty language makes no row");
    assert_eq!(sync(&mut world, &wanted), Plan::default());
}

#[test]
fn a_persons_edit_survives_updates_and_other_fields_follow() {
    let mut world = World::default();
    sync(&mut world, &contribution("a", "cmd://node x", "old", ""));
    let server = world.rows.get_mut(&key(Entity::Server, "")).unwrap();
    server.current.insert("enabled".into(), "0".into());
    assert_eq!(edited_fields(server), ["enabled"]);
    let prompt = world.rows.get_mut(&key(Entity::Prompt, "zh")).unwrap();
    prompt.current.insert("content".into(), "mine".into());

    sync(&mut world, &contribution("a", "cmd://node y", "new", "new"));
    let server = &world.rows[&key(Entity::Server, "")];
    assert_eq!((server.current["enabled"].as_str(), server.current["url"].as_str()), ("0", "cmd://node y"));
    assert_eq!(world.rows[&key(Entity::Prompt, "zh")].current["content"], "mine");
    assert_eq!(world.rows[&key(Entity::Prompt, "en")].current["content"], "new");
}

#[test]
fn an_edit_equal_to_the_new_value_is_no_edit_any_more() {
    let mut world = World::default();
    sync(&mut world, &contribution("a", "cmd://node x", "", ""));
    world.rows.get_mut(&key(Entity::Server, "")).unwrap().current.insert("url".into(), "cmd://node y".into());
    sync(&mut world, &contribution("a", "cmd://node y", "", ""));
    let server = &world.rows[&key(Entity::Server, "")];
    assert!(edited_fields(server).is_empty());
    sync(&mut world, &contribution("a", "cmd://node z", "", ""));
    assert_eq!(world.rows[&key(Entity::Server, "")].current["url"], "cmd://node z");
}

#[test]
fn names_of_others_are_left_alone() {
    let mut world = World { server_names: HashSet::from(["com.example.tools.a".into()]), ..World::default() };
    let plan = sync(&mut world, &contribution("a", "cmd://node x", "text", ""));
    assert_eq!(plan.problems[0].code, ProblemCode::SyncNameTaken);
    assert!(
        !world.rows.contains_key(&key(Entity::Server, ""))
            && world.rows.contains_key(&key(Entity::Prompt, "zh"))
    );
    // Names are compared as the database does, without case, also among the apps of one plugin.
    let both = [contribution("a", "cmd://x", "", ""), contribution("A", "cmd://x", "", "")];
    let rows: Vec<DesiredRow> = both.iter().flat_map(desired_rows).collect();
    let plan = super::plan(&plugin(), &rows, &World::default());
    assert_eq!((plan.actions.len(), plan.problems.len()), (1, 1));
}

#[test]
fn deleted_rows_stay_deleted_and_withdrawn_ones_keep_edits() {
    let mut world = World { tombstones: HashSet::from([key(Entity::Server, "")]), ..World::default() };
    sync(&mut world, &contribution("a", "cmd://node x", "text", ""));
    assert!(!world.rows.contains_key(&key(Entity::Server, "")));

    let mut world = World::default();
    sync(&mut world, &contribution("a", "cmd://node x", "zh", "en"));
    world.rows.get_mut(&key(Entity::Prompt, "zh")).unwrap().current.insert("title".into(), "mine".into());
    let off = plan_off(&world);
    let released: Vec<_> = off.iter().filter(|a| matches!(a, Action::Release { .. })).collect();
    assert_eq!((off.len(), released.len()), (3, 1));
    assert!(plan_uninstall(&world).iter().all(|a| matches!(a, Action::Delete { .. })));
    // The app drops its prompt in an update.
    let plan = sync(&mut world, &contribution("a", "cmd://node x", "", ""));
    assert_eq!(plan.actions.iter().filter(|a| matches!(a, Action::Release { .. })).count(), 1);
    assert_eq!(plan.actions.iter().filter(|a| matches!(a, Action::Delete { .. })).count(), 1);
}

#[test]
fn secrets_are_compared_by_digest() {
    let mut wanted = contribution("a", "https://x/", "", "");
    let auth = Auth { token: Some(Secret::new("tok-canary")), ..Auth::default() };
    wanted.mcp.as_mut().unwrap().auth = Some(auth.clone());
    let rows = desired_rows(&wanted);
    assert_eq!(rows[0].fields["auth"], auth_digest(&auth));
    assert_ne!(
        auth_digest(&auth),
        auth_digest(&Auth { token: Some(Secret::new("other")), ..Auth::default() })
    );
    assert!(!format!("{rows:?}").contains("canary"));
}

#[test]
fn the_order_of_call_meta_keys_is_no_change() {
    let mut world = World::default();
    let mut wanted = contribution("a", "cmd://node x", "", "");
    let meta = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
    wanted.mcp.as_mut().unwrap().call_meta = Some(meta(r#"{"a":1,"b":{"c":2,"d":3}}"#));
    sync(&mut world, &wanted);
    wanted.mcp.as_mut().unwrap().call_meta = Some(meta(r#"{"b":{"d":3,"c":2},"a":1}"#));
    assert_eq!(sync(&mut world, &wanted), Plan::default());
}

proptest! {
    /// Whatever the plugin does and however often, an edited value never changes, and repeating a
    /// sync writes nothing.
    #[test]
    fn edits_are_never_reverted(
        steps in prop::collection::vec((0_u8..3, "[xyz]", "[pq]?", "[pq]?"), 1..12),
        edits in prop::collection::vec((0_usize..12, "[A-C]"), 0..4),
    ) {
        let mut world = World::default();
        let mut edited: HashMap<(RowKey, &str), String> = HashMap::new();
        for (index, (_, url, zh, en)) in steps.iter().enumerate() {
            let wanted = contribution("a", &format!("cmd://node {url}"), zh, en);
            sync(&mut world, &wanted);
            prop_assert_eq!(sync(&mut world, &wanted), Plan::default());
            edited.retain(|(key, _), _| world.rows.contains_key(key));
            for ((key, field), value) in &edited {
                prop_assert_eq!(&world.rows[key].current[*field], value);
            }
            for (_, value) in edits.iter().filter(|(at, _)| *at == index) {
                for (key, field) in [(key(Entity::Server, ""), "url"), (key(Entity::Prompt, "zh"), "content")] {
                    if let Some(row) = world.rows.get_mut(&key) {
                        row.current.insert(field.to_owned(), value.clone());
                        edited.insert((key, field), value.clone());
                    }
                }
            }
        }
    }
}
