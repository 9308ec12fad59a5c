//! What an agent tells about its session, and what a person chooses of it (other-agents §4.5): modes, options, commands
//! and costs, read tolerantly. What the agent says last counts.

use std::collections::BTreeMap;

use chatos_wire::agent::{AcpChoice, AcpCommand, AcpCost, AcpOption, AcpTold};
use chatos_wire::card::plain;
use serde_json::{Value, json};

/// Most options, and most values of one.
const MOST: usize = 200;
/// Most commands that are kept.
const COMMANDS: usize = 500;
/// The option that stands for modes of the older kind.
const MODE: &str = "mode";
/// Values with which known agents stop asking.
const UNASKED: &[&str] =
    &["bypassPermissions", "agent-full-access", "full-access", "danger-full-access", "yolo"];

/// What a person chose, by option.
pub(crate) type Wanted = BTreeMap<String, String>;

fn text(value: &Value, most: usize) -> String {
    plain(value.as_str().unwrap_or_default()).chars().take(most).collect()
}

fn id(value: &Value) -> Option<String> {
    value.as_str().filter(|id| !id.is_empty() && id.len() <= 200).map(str::to_owned)
}

fn choice(id: String, said: &Value) -> AcpChoice {
    let name = text(&said["name"], 100);
    AcpChoice {
        name: if name.is_empty() { id.clone() } else { name },
        description: text(&said["description"], 400),
        unasked: UNASKED.contains(&id.as_str()),
        id,
    }
}

/// The modes of an answer to `session/new` and its like, as an option.
fn modes(said: &Value) -> Option<AcpOption> {
    let list = said["availableModes"].as_array()?;
    let choices: Vec<AcpChoice> =
        list.iter().take(MOST).filter_map(|mode| Some(choice(id(&mode["id"])?, mode))).collect();
    (!choices.is_empty()).then(|| AcpOption {
        id: MODE.to_owned(),
        name: "Mode".to_owned(),
        category: MODE.to_owned(),
        kind: MODE.to_owned(),
        value: text(&said["currentModeId"], 200),
        choices,
        ..AcpOption::default()
    })
}

fn option(said: &Value) -> Option<AcpOption> {
    let id_of = id(&said["id"])?;
    let boolean = said["type"] == "boolean";
    let (value, choices) = if boolean {
        let words = ["true", "false"].map(|word| choice(word.to_owned(), &Value::Null));
        (said["currentValue"].as_bool().unwrap_or_default().to_string(), words.to_vec())
    } else {
        // Values stand in a list, or in groups of lists.
        let list = said["options"].as_array()?;
        let flat = list.iter().flat_map(|one| match one["options"].as_array() {
            Some(inner) => inner.iter().collect::<Vec<_>>(),
            None => vec![one],
        });
        let choices = flat.take(MOST).filter_map(|one| Some(choice(id(&one["value"])?, one))).collect();
        (text(&said["currentValue"], 200), choices)
    };
    let name = text(&said["name"], 100);
    Some(AcpOption {
        name: if name.is_empty() { id_of.clone() } else { name },
        id: id_of,
        description: text(&said["description"], 400),
        category: text(&said["category"], 100),
        kind: if boolean { "boolean" } else { "select" }.to_owned(),
        value,
        choices,
    })
}

/// Takes the modes and options out of an answer; what it does not mention is as it was.
pub(crate) fn opened(told: &mut AcpTold, answer: &Value) {
    if let Some(mode) = modes(&answer["modes"]) {
        told.options.retain(|option| option.kind != MODE);
        told.options.insert(0, mode);
    }
    options(told, &answer["configOptions"]);
}

fn options(told: &mut AcpTold, list: &Value) {
    let Some(list) = list.as_array() else { return };
    let mode = told.options.iter().find(|option| option.kind == MODE).cloned();
    let mut all: Vec<AcpOption> = list.iter().take(MOST).filter_map(option).collect();
    all.retain(|option| !option.choices.is_empty());
    // The newer kind stands for the older one.
    let newer = all.iter().any(|option| option.category == MODE || option.id == MODE);
    if let Some(mode) = mode.filter(|_| !newer) {
        all.insert(0, mode);
    }
    told.options = all;
}

/// Takes an update of the session in; says whether it was about it.
pub(crate) fn updated(told: &mut AcpTold, update: &Value) -> bool {
    match update["sessionUpdate"].as_str().unwrap_or_default() {
        "current_mode_update" => {
            let mode = text(&update["currentModeId"], 200);
            let known = told.options.iter_mut().find(|option| option.kind == MODE);
            if let Some(option) = known.filter(|_| !mode.is_empty()) {
                option.value = mode;
            }
        }
        "config_option_update" => options(told, &update["configOptions"]),
        "available_commands_update" => {
            let Some(list) = update["availableCommands"].as_array() else { return true };
            let command = |said: &Value| {
                let name = text(&said["name"], 100).trim_start_matches('/').to_owned();
                let hint = text(&said["input"]["hint"], 200);
                let fits = !name.is_empty() && !name.contains(char::is_whitespace);
                fits.then(|| AcpCommand { name, description: text(&said["description"], 400), hint })
            };
            told.commands = list.iter().take(COMMANDS).filter_map(command).collect();
        }
        "usage_update" => {
            let cost = &update["cost"];
            if let (Some(amount), Some(currency)) = (cost["amount"].as_f64(), cost["currency"].as_str()) {
                let currency: String = plain(currency).chars().take(8).collect();
                told.cost = amount.is_finite().then_some(AcpCost { amount, currency });
            }
            return false;
        }
        _ => return false,
    }
    true
}

/// The request that chooses a value, and what it is called.
pub(crate) fn choosing(session: &str, option: &AcpOption, value: &str) -> (&'static str, Value) {
    match option.kind.as_str() {
        MODE => ("session/set_mode", json!({ "sessionId": session, "modeId": value })),
        "boolean" => (
            "session/set_config_option",
            json!({ "sessionId": session, "configId": option.id, "type": "boolean", "value": value == "true" }),
        ),
        _ => (
            "session/set_config_option",
            json!({ "sessionId": session, "configId": option.id, "value": value }),
        ),
    }
}

/// The agent took the value: its answer counts, else the value itself.
pub(crate) fn chosen(told: &mut AcpTold, id: &str, value: &str, answer: &Value) {
    if let Some(option) = told.options.iter_mut().find(|option| option.id == id) {
        value.clone_into(&mut option.value);
    }
    options(told, &answer["configOptions"]);
}

/// Whether the agent stops asking with this value.
pub(crate) fn is_unasked(option: &AcpOption, value: &str) -> bool {
    option.choices.iter().any(|choice| choice.id == value && choice.unasked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_options_and_commands_are_read_as_agents_write_them() {
        let mut told = AcpTold::default();
        opened(
            &mut told,
            &json!({
                "modes": { "currentModeId": "default", "availableModes": [
                    { "id": "default", "name": "Default" }, { "id": "yolo", "name": "YOLO" }, { "name": "x" }, 4,
                ] },
                "configOptions": [
                    { "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "b",
                      "options": [{ "group": "g", "name": "G", "options": [{ "value": "a", "name": "A" }] }, { "value": "b" }] },
                    { "id": "fast", "type": "boolean", "currentValue": true }, { "id": 7 },
                ],
            }),
        );
        let ids: Vec<&str> = told.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!(ids, ["mode", "model", "fast"]);
        assert!(is_unasked(&told.options[0], "yolo") && !is_unasked(&told.options[0], "default"));
        assert_eq!(told.options[1].choices.len(), 2);
        assert!(updated(
            &mut told,
            &json!({ "sessionUpdate": "current_mode_update", "currentModeId": "yolo" })
        ));
        assert_eq!(told.options[0].value, "yolo");
        updated(
            &mut told,
            &json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
            { "name": "/init", "description": "d", "input": { "hint": "h" } }, { "name": "a b" }, {},
        ] }),
        );
        assert_eq!(told.commands.len(), 1);
        assert_eq!((told.commands[0].name.as_str(), told.commands[0].hint.as_str()), ("init", "h"));
        assert!(!updated(
            &mut told,
            &json!({ "sessionUpdate": "usage_update", "cost": { "amount": 0.5, "currency": "USD" } })
        ));
        assert_eq!(told.cost, Some(AcpCost { amount: 0.5, currency: "USD".to_owned() }));
        let (method, order) = choosing("s", &told.options[2], "false");
        assert_eq!((method, &order["value"]), ("session/set_config_option", &json!(false)));
    }

    #[test]
    fn an_option_for_the_mode_stands_for_the_modes() {
        let mut told = AcpTold::default();
        opened(
            &mut told,
            &json!({
                "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }] },
                "configOptions": [{ "id": "mode", "category": "mode", "type": "select", "currentValue": "a",
                    "options": [{ "value": "a", "name": "A" }] }],
            }),
        );
        assert_eq!(told.options.len(), 1);
        assert_eq!(told.options[0].kind, "select");
    }
}
