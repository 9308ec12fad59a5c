//! The right tool out of 360, for requests as people and models write them.

use chatos_contribution::ServerIdentity;
use serde_json::json;

use super::*;

mod wanted;

use wanted::{Offered, REQUESTS};

fn tool(offered: Offered) -> GrantedTool {
    let Offered { server, tool, description, parameter, about } = offered;
    GrantedTool {
        name: format!("mcp_{server}_{tool}"),
        identity: ServerIdentity::admin(server),
        server: server.to_owned(),
        tool,
        title: None,
        description: format!("[{server}] {description}"),
        input_schema: json!({ "type": "object", "properties": {
            parameter: { "type": "string", "description": about }, "limit": { "type": "integer" } } }),
        annotations: Value::Null,
        told: std::sync::Arc::default(),
        ask: false,
        asks_itself: false,
        read_only: true,
        idempotent: true,
        sampling: false,
    }
}

fn all() -> Vec<GrantedTool> {
    wanted::offered().into_iter().map(tool).collect()
}

#[test]
fn the_right_tool_is_among_the_first_five_of_360() {
    let tools = all();
    assert_eq!(tools.len(), 360);
    let tools: Vec<&GrantedTool> = tools.iter().collect();
    let mut wrong = Vec::new();
    for (request, wanted) in REQUESTS {
        let found = search(&tools, request);
        let rank = found.iter().position(|tool| tool.name == wanted);
        if rank.is_none_or(|rank| rank >= 5) {
            let first: Vec<&str> = found.iter().take(5).map(|tool| tool.name.as_str()).collect();
            wrong.push(format!("{request}: {rank:?} {first:?}"));
        }
    }
    assert!(REQUESTS.len() - wrong.len() >= 36, "{wrong:#?}");
}

#[test]
fn words_meet_however_they_are_written() {
    let of = |text: &str| {
        let mut all = Vec::new();
        words(text, &mut |word| all.push(word));
        all
    };
    assert_eq!(of("searchFiles"), of("search_files"));
    assert_eq!(of("Searching file"), of("search files"));
    assert_eq!(of("creating messages"), of("create message"));
    assert_eq!(of("branches"), of("branch"));
    assert_eq!(of("status"), of("status"));
    assert_eq!(of("天气预报").len(), 3);
    assert_eq!(of("查询PDF文件"), [of("查询"), of("pdf"), of("文件")].concat());
    assert!(of("，。 --").is_empty());
}

#[test]
fn an_exact_name_is_first_and_strangers_are_not_there() {
    let tools = all();
    let tools: Vec<&GrantedTool> = tools.iter().collect();
    assert_eq!(search(&tools, "mcp_stripe_delete_coupon")[0].name, "mcp_stripe_delete_coupon");
    assert_eq!(search(&tools, "search_pod")[0].tool, "search_pod");
    assert!(search(&tools, "zzzzqqqq").is_empty());
    assert!(search(&tools, "the of a").is_empty());
    assert!(search(&[], "anything").is_empty());
}
