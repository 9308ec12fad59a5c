//! Names, words and refusals of a toolset.

use super::*;
use chatos_tool::Transport;

fn route(identity: &str, name: &str, normalized: &str) -> Arc<ServerRoute> {
    Arc::new(ServerRoute {
        identity: serde_json::from_value(identity.into()).unwrap(),
        name: name.into(),
        normalized: normalized.into(),
        road: Road::Pool(ServerKey::new(identity)),
        transport: Transport::Stdio,
        app: None,
        call_meta: None,
        async_task: None,
        roots: Vec::new(),
        idle: None,
        total: None,
    })
}

fn tool(name: &str, word: Word) -> OfferedTool {
    OfferedTool {
        tool: name.into(),
        title: Some("Title".into()),
        description: format!("does {name}\u{202e}"),
        input_schema: json!({ "type": "object" }),
        annotations: Value::Null,
        word,
        asks_itself: false,
        read_only: false,
        idempotent: false,
    }
}

fn refuse() -> Word {
    Word::Refuse { code: "tool_filtered", why: Text::same("no") }
}

#[test]
fn tools_are_named_sorted_and_looked_up_exactly() {
    let set = Toolset::build(
        vec![
            ServerOffer {
                route: route("app:p/x", "p.x", "p_x"),
                tools: vec![tool("z.dotted", Word::Allow), tool("a", Word::Ask), tool("hidden", refuse())],
                sampling: true,
            },
            ServerOffer {
                route: route("admin:7", "code", "code"),
                tools: vec![tool("a", Word::Allow)],
                sampling: false,
            },
        ],
        Vec::new(),
    );
    let names: Vec<&str> = set.specs().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["get_current_time", "mcp_code_a", "mcp_p_x_a", "mcp_p_x_z_dotted"]);
    let asked = set.get("mcp_p_x_a").unwrap();
    assert!(asked.sampling && !set.get("mcp_code_a").unwrap().sampling, "of this server only");
    assert!(asked.ask && asked.description == "[p.x] Title. does a");
    assert_eq!(set.name_of("p.x", "z.dotted"), Some("mcp_p_x_z_dotted"));
    assert_eq!(set.name_of("7", "a"), Some("mcp_code_a"));
    assert_eq!(set.name_of("code_writer", "a"), None, "a name is never a prefix");
    assert_eq!(set.refused("mcp_p_x_hidden").unwrap().code, "tool_filtered");
    assert!(set.get("mcp_p_x_hidden").is_none());
    assert_eq!(set.nearest("mcp_p_x_b")[0], "mcp_p_x_a");
    assert_eq!(set.nearest("z_dotted"), ["mcp_p_x_z_dotted"]);
}

#[test]
fn a_refused_tool_keeps_its_place_among_the_names() {
    let build = |word: Word| {
        Toolset::build(
            vec![ServerOffer {
                route: route("app:p/x", "p.x", "p"),
                tools: vec![tool("a b", word), tool("a_b", Word::Allow)],
                sampling: false,
            }],
            Vec::new(),
        )
    };
    for word in [Word::Allow, refuse()] {
        assert_eq!(build(word).get("mcp_p_a_b_2").unwrap().tool, "a_b");
    }
}

#[test]
fn long_descriptions_are_cut_for_models() {
    let text = description("s", None, &"长".repeat(3_000));
    assert_eq!(text.chars().count(), DESCRIPTION_CHARS);
    assert!(text.ends_with('…'));
}
