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
        told: Arc::default(),
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
        Lang::En,
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
            Lang::En,
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

/// The definitions a request holds, with what the system prompt says about the rest.
fn bytes_of(set: &Toolset) -> usize {
    let listed = set
        .listed()
        .map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len() + 60);
    listed.sum::<usize>() + set.on_demand(Lang::En).map_or(0, |text| text.len())
}

#[test]
fn thirty_servers_cost_hardly_more_than_three() {
    let room = Room { window: 128_000, most: 128, search: ToolSearch::Auto };
    let made = |servers: usize| {
        let offers = (0..servers).map(|server| {
            let own = format!("server{server}");
            let tools = (0..12).map(|n| OfferedTool {
                description: "What this tool does, at the length people write. ".repeat(8),
                input_schema: json!({ "type": "object", "properties": {
                    "path": { "type": "string", "description": "The place it works on, as people describe it" } } }),
                ..tool(&format!("tool_{n}"), Word::Allow)
            });
            ServerOffer { route: route(&format!("admin:{server}"), &own, &own), tools: tools.collect(), sampling: false }
        });
        let mut set = Toolset::build(offers.collect(), Vec::new(), Lang::En);
        set.fit(room, Lang::En).unwrap();
        set
    };
    let (few, many) = (made(3), made(30));
    assert_eq!((few.deferred(), many.deferred()), (0, 360));
    let (few_bytes, many_bytes) = (bytes_of(&few), bytes_of(&many));
    assert!(many_bytes * 4 <= few_bytes * 5, "{many_bytes} of {few_bytes}");
    assert!(many.get("mcp_server7_tool_3").is_some() && many.is_deferred("mcp_server7_tool_3"));
    // Never more than the vendor takes, and never silently fewer.
    let mut refused = made(3);
    let off = Room { most: 16, search: ToolSearch::Off, ..room };
    assert_eq!(refused.fit(off, Lang::En).unwrap_err().code, "too_many_tools");
}
