//! No receiver sees more than the person allowed: secrets, folders, contents and the arguments of tools at no level, paths
//! and commands only from the level on that names them, over every kind of channel. And a token answers one question, as it
//! was shown, over one channel.

use chatos_testkit::{Ntfy, Receiver, Telegram};
use chatos_wire::channel::{Answering, ChannelPatch, ChannelType, Privacy};
use serde_json::{Value, json};

use crate::answers::{GONE, patch};
use crate::place::{Place, until};

pub(crate) const LEVELS: [Privacy; 4] = [Privacy::Count, Privacy::Tool, Privacy::Title, Privacy::Full];

/// Three questions as the host asks them, with something in each part that can be told from everything else.
pub(crate) fn canaries() -> [Value; 3] {
    let root = json!({ "path": "/canary-folder/canary-project", "device": 1, "inode": 2 });
    let question = |prompt: Value, name: &str, material: Value| {
        let mut material = material;
        material["v"] = json!(2);
        material["kind"] = json!(name);
        material["root"] = root.clone();
        json!({ "owner": "host:shell_runner", "prompt": prompt, "effect": { "name": name, "material": material } })
    };
    let command = "canary-command --token canary-secret-1234567890 /canary-folder/x";
    let tool = json!({ "to": "canary-argument", "key": "canary-secret-1234567890" });
    [
        question(
            json!({ "kind": "file_change_confirm", "title": "t", "command": command, "cwd": "/canary-folder",
                "message": "canary-message" }),
            "command",
            json!({ "tool": "run_shell_command", "command": {
                "text": command, "cwd": { "path": "/canary-folder" }, "shell": "/bin/sh", "env": ["CANARY_VARIABLE"],
                "network": false, "findings": [], "sandbox": { "level": "full" },
            }}),
        ),
        question(
            json!({ "kind": "file_change_confirm", "title": "t", "path": "canary-path/a.txt", "message": "canary-message",
                "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-canary-diff\n+canary-secret-1234567890\n" }),
            "file_change",
            json!({ "tool": "write_file", "files": [
                { "path": "canary-path/a.txt", "change": "modified", "before": "1", "after": "2", "mode": "644" },
            ]}),
        ),
        question(
            json!({ "kind": "choice", "title": "t", "message": format!("canary-message {tool}"), "arguments": tool,
                "options": [{ "value": "once" }, { "value": "no" }] }),
            "tool_approval",
            json!({ "identity": "user:mail", "tool": "send_mail", "toolDigest": "canary-digest", "arguments": tool }),
        ),
    ]
}

/// What a receiver at this level was told of these questions.
pub(crate) fn judge(level: Privacy, of: &str, told: &str) {
    let never = [
        "canary-secret",
        "canary-diff",
        "canary-message",
        "canary-argument",
        "canary-digest",
        "CANARY_VARIABLE",
    ];
    for word in never {
        assert!(!told.contains(word), "{of} {level}: {word} in {told}");
    }
    assert_eq!(told.contains("canary-command"), level >= Privacy::Full, "{of} {level}: {told}");
    // The title of a change names its file; the folder of the project is named by its name alone.
    assert_eq!(told.contains("canary-path"), level >= Privacy::Title, "{of} {level}: {told}");
    assert_eq!(told.contains("canary-project"), level >= Privacy::Title, "{of} {level}: {told}");
    assert_eq!(told.contains("/canary-folder"), level >= Privacy::Full, "{of} {level}: {told}");
    assert_eq!(told.contains("run_shell_command"), level >= Privacy::Tool, "{of} {level}: {told}");
    assert_eq!(told.contains("send_mail"), level >= Privacy::Tool, "{of} {level}: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_channel_tells_more_than_its_level() {
    let (place, receiver, ntfy) = (Place::new(None), Receiver::start(), Ntfy::start(None));
    place.redactor.learn("canary-secret-1234567890");
    let mut bots = Vec::new();
    for level in LEVELS {
        for (kind, name) in
            [(ChannelType::Webhook, "hook"), (ChannelType::Slack, "slack"), (ChannelType::Discord, "discord")]
        {
            place.channel(kind, receiver.url(&format!("/{name}/{level}")), level).await;
        }
        place.channel(ChannelType::Ntfy, ntfy.url(&format!("topic-{level}")), level).await;
        let telegram = Telegram::start();
        let id = place.bot(&telegram, Answering::None).await;
        place.reach.change(&id, &ChannelPatch { privacy: Some(level), ..patch() }).await.unwrap();
        bots.push((level, telegram));
    }
    for question in canaries() {
        let id = place.ask_whole(&question);
        place.after(62).await;
        place.cancel(&id);
        place.after(31).await;
    }
    for level in LEVELS {
        for name in ["hook", "slack", "discord"] {
            let all = receiver.received();
            let told: Vec<&str> = all
                .iter()
                .filter(|got| got.path == format!("/{name}/{level}"))
                .map(|got| got.body.as_str())
                .collect();
            assert_eq!(told.len(), 3, "{name} {level}");
            judge(level, name, &told.join("\n"));
        }
        let told = ntfy.published(&format!("topic-{level}"));
        assert_eq!(told.len(), 3, "ntfy {level}");
        judge(level, "ntfy", &json!(told).to_string());
    }
    for (level, telegram) in bots {
        // The first one says that the chat is connected.
        let told: Vec<String> = telegram.messages().into_iter().skip(1).map(|message| message.text).collect();
        assert_eq!(told.len(), 3, "telegram {level}");
        judge(level, "telegram", &told.join("\n"));
    }
    // Where little is kept, little is told.
    place.store.set_setting(&place.settings, "uiPromptLogMode", &json!("minimal"), "test").unwrap();
    let before = receiver.received().len();
    place.ask_whole(&canaries()[1]);
    place.after(62).await;
    let told: Vec<String> = receiver.received()[before..].iter().map(|got| got.body.clone()).collect();
    assert_eq!(told.len(), 12);
    assert!(!told.join("\n").contains("canary-path"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_answers_one_question_as_it_was_shown_over_one_channel() {
    let (place, telegram, ntfy) = (Place::new(None), Telegram::start(), Ntfy::start(None));
    place.bot(&telegram, Answering::Direct).await;
    place.answering(ChannelType::Ntfy, ntfy.url("mine"), None, Answering::Direct).await;
    let first = place.ask_command("make first", "full");
    place.after(2).await;
    let over_ntfy = ntfy.published("mine").pop().unwrap()["actions"][0].clone();
    let over_telegram = telegram.messages().pop().unwrap().button("Approve").unwrap();
    let reply = over_ntfy["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    place.reach.tend();
    // Over another channel than the one it was given to, in both directions.
    telegram.press(42, 42, over_ntfy["body"].as_str().unwrap());
    until("it is refused", || telegram.replies() == [GONE]).await;
    ntfy.post(&reply, &over_telegram);
    until("this one too", || place.refusals().len() == 2).await;
    assert_eq!(place.refusals(), ["other_channel", "other_channel"]);
    assert_eq!(place.show(&first)["state"], "pending");
    // The question is another one than what was shown when the button was made.
    let second = place.ask_command("make second", "full");
    // The loop that listens may be telling it just now; then the step of this test has nothing to tell.
    place.after(31).await;
    until("the second one is told", || telegram.messages().len() == 3).await;
    let button = telegram.messages().pop().unwrap().button("Approve").unwrap();
    shown_was(&place.path().join("state/state.db"), &second, "another digest");
    telegram.press(42, 42, &button);
    until("it is refused", || telegram.replies().len() == 2).await;
    assert_eq!((telegram.replies()[1].as_str(), place.refusals()[2].as_str()), (GONE, "superseded"));
    // And the first one's button answers the first question, not the one that was told last.
    telegram.press(42, 42, &over_telegram);
    until("the first is approved", || place.show(&first)["state"] == "closed").await;
    assert_eq!(place.show(&first)["answer"]["status"], "ok");
    assert_eq!(place.show(&second)["state"], "pending");
    // An answer has used up all buttons of its question, those of the other channel too.
    ntfy.press(&over_ntfy);
    until("it is over there too", || place.refusals().len() == 4).await;
    assert_eq!(place.refusals()[3], "used");
}

#[expect(clippy::disallowed_methods, reason = "writes into a database beside its owner")]
fn shown_was(path: &std::path::Path, request: &str, shown: &str) {
    let open = rusqlite::Connection::open(path).unwrap();
    open.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    let changed =
        open.execute("UPDATE answer_tokens SET shown = ?2 WHERE request_id = ?1", [request, shown]).unwrap();
    assert!(changed > 0);
}
