//! Webhooks and ntfy: when they are told, how often, and how much.

use chatos_reach::Outbox;
use chatos_testkit::Receiver;
use chatos_wire::channel::{ChannelPatch, ChannelState, ChannelType, Privacy};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_waits_is_told_once_and_reminded_of_three_times() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.channel(ChannelType::Webhook, receiver.url("/hook"), Privacy::Title).await;
    let id = place.ask("Blue or green?");
    place.after(50).await;
    assert_eq!(receiver.received().len(), 0, "the person may still answer on the page");
    place.after(12).await;
    assert_eq!(receiver.received().len(), 1);
    let first = receiver.received()[0].clone();
    assert_eq!((first.path.as_str(), &first.json()["count"]), ("/hook", &json!(1)));
    assert!(first.json()["text"].as_str().unwrap().contains("Blue or green?"), "{}", first.body);
    for (seconds, told) in
        [(500, 1), (101, 2), (40 * 60, 2), (11 * 60, 3), (7 * 3600, 3), (60, 4), (90 * 3600, 4)]
    {
        place.after(seconds).await;
        assert_eq!(receiver.received().len(), told, "{seconds} s later");
    }
    assert_eq!(place.store.notices_of(&id).unwrap().iter().filter(|row| row.channel != "desktop").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_one_notice_and_the_next_waits_half_a_minute() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
    for number in 0..10 {
        place.ask(&format!("Question {number}?"));
    }
    place.after(63).await;
    assert_eq!(receiver.received().len(), 1);
    assert_eq!(receiver.received()[0].json()["count"], 10);
    let channel = place.reach.list().await.unwrap().items[1].id.clone();
    let patch = ChannelPatch { paused: None, privacy: None, delay: Some(0), min_risk: None, answer: None };
    place.reach.change(&channel, &patch).await.unwrap();
    place.ask("One more?");
    place.after(5).await;
    assert_eq!(receiver.received().len(), 1);
    place.after(30).await;
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_first_is_never_told() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
    let id = place.ask("Now?");
    place.cancel(&id);
    place.after(120).await;
    assert_eq!(receiver.received().len(), 0);
    assert!(place.store.notices_of(&id).unwrap().iter().all(|row| row.state == "answered"));
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_at_a_page_and_quiet_hours_hold_notices_back() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
    place.ask("There?");
    place.after(30).await;
    place.reach.present("page", true);
    place.after(40).await;
    assert_eq!(receiver.received().len(), 0);
    place.reach.present("page", false);
    // Out of sight counts from the next look on.
    place.after(61).await;
    assert_eq!(receiver.received().len(), 1);
    // All day but one minute long ago.
    place.store.set_setting(&place.settings, "reachQuiet", &json!("00:00-23:59"), "test").unwrap();
    for _ in 0..3 {
        place.ask("At night?");
    }
    place.after(100).await;
    let in_the_gap = receiver.received().len() == 2;
    place.after(24 * 3600).await;
    place.after(60).await;
    assert!(receiver.received().len() <= 3, "what was held is one notice");
    assert!(!in_the_gap || receiver.received().len() >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_at_any_step_tells_at_most_once() {
    let receiver = Receiver::start();
    let place = Place::new(None);
    place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Count).await;
    // Killed after the question was recorded: the next host tells.
    let id = place.ask("One?");
    let place = place.killed();
    place.after(62).await;
    assert_eq!(receiver.received().len(), 1);
    // Killed after it was told: nobody tells again before the reminder.
    let place = place.killed();
    place.after(100).await;
    assert_eq!(receiver.received().len(), 1);
    place.cancel(&id);
    // Killed between the mark and the message: it may have been sent, so it is not sent again.
    let id = place.ask("Two?");
    let rows = place.store.notices_of(&id).unwrap();
    let row = rows.iter().find(|row| row.channel != "desktop").unwrap();
    let at = place.now() + 61_000;
    place.store.claim_notices(vec![(row.id, None)], "killed", at).unwrap();
    let place = place.killed();
    place.after(200).await;
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_fails_is_tried_five_times_and_said_to_fail_after_three() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    let id = place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Count).await;
    receiver.say(500);
    place.ask("Hello?");
    place.after(62).await;
    let state = async || {
        let items = place.reach.list().await.unwrap().items;
        items.iter().find(|item| item.id == id).unwrap().clone()
    };
    assert_eq!(receiver.received().len(), 1);
    assert_eq!(state().await.state, ChannelState::Ok);
    place.after(31).await;
    place.after(60).await;
    assert_eq!(receiver.received().len(), 3);
    assert_eq!(state().await.state, ChannelState::Failing);
    assert!(state().await.problem.unwrap().contains("500"));
    assert!(place.reach.examine().await.iter().any(|finding| finding.code == "channel_failing"));
    place.after(200).await;
    place.after(700).await;
    place.after(24 * 3600).await;
    assert_eq!(receiver.received().len(), 5);
    receiver.say(200);
    place.reach.test(&id, chatos_tool::Lang::En).await.unwrap();
    assert_eq!(state().await.state, ChannelState::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_receiver_sees_more_than_its_level_and_no_secret_at_any() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.redactor.learn("canary-secret-1234567890");
    let levels = [Privacy::Count, Privacy::Tool, Privacy::Title, Privacy::Full];
    for level in levels {
        place.channel(ChannelType::Webhook, receiver.url(&format!("/{level}")), level).await;
    }
    place.ask_this(&json!({
        "kind": "file_change_confirm", "title": "canary-title", "path": "canary-path/a.txt",
        "command": "canary-command --token canary-secret-1234567890", "cwd": "/canary-folder",
        "diff": "canary-diff", "message": "canary-message",
    }));
    place.after(62).await;
    assert_eq!(receiver.received().len(), 4);
    for got in receiver.received() {
        let level: Privacy = got.path.trim_start_matches('/').parse().unwrap();
        for never in ["canary-secret", "canary-diff", "canary-folder", "canary-message"] {
            assert!(!got.body.contains(never), "{level}: {}", got.body);
        }
        assert_eq!(got.body.contains("canary-title"), level >= Privacy::Title, "{level}: {}", got.body);
        assert_eq!(got.body.contains("canary-command"), level >= Privacy::Full, "{level}: {}", got.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_receiver_gets_what_it_reads() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    let key = Some("a-long-enough-key");
    place.keyed(ChannelType::Ntfy, receiver.url("/my-topic"), Privacy::Title, key).await;
    place.keyed(ChannelType::Webhook, receiver.url("/signed"), Privacy::Title, key).await;
    place.channel(ChannelType::Slack, receiver.url("/slack/T/B/key"), Privacy::Title).await;
    place.channel(ChannelType::Discord, receiver.url("/discord"), Privacy::Title).await;
    place.ask("Is <this> it?");
    place.after(62).await;
    let all = receiver.received();
    let one =
        |path: &str| all.iter().find(|got| got.path == path).unwrap_or_else(|| panic!("{path}: {all:?}"));
    let ntfy = one("/");
    assert_eq!(ntfy.header("authorization"), Some("Bearer a-long-enough-key"));
    assert_eq!((&ntfy.json()["topic"], &ntfy.json()["title"]), (&json!("my-topic"), &json!("Is <this> it?")));
    let signed = one("/signed");
    assert!(signed.header("x-chatos-signature").is_some_and(|value| value.starts_with("sha256=")));
    assert_eq!(signed.json()["v"], 1);
    assert!(one("/slack/T/B/key").json()["text"].as_str().unwrap().starts_with("Is &lt;this&gt; it?"));
    assert!(one("/discord").json()["content"].as_str().unwrap().starts_with("Is <this> it?"));
    // The address of Slack is a key and is shown nowhere.
    let list = serde_json::to_string(&place.reach.list().await.unwrap()).unwrap();
    assert!(!list.contains("/slack/T/B") && !list.contains("a-long-enough-key"), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_put_off_is_told_once_when_it_returns() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
    let id = place.ask("Later?");
    place.after(62).await;
    assert_eq!(receiver.received().len(), 1);
    let until = chatos_prompts::format_ms(place.now() + 3_600_000);
    place.inbox.snooze(&id, Some(&until), chatos_tool::Lang::En).unwrap();
    let counts = place.inbox.questions().unwrap().told_counts();
    assert_eq!((counts.needs_you, counts.snoozed), (0, 1));
    place.after(3_500).await;
    assert_eq!(receiver.received().len(), 1);
    place.after(102).await;
    assert_eq!(receiver.received().len(), 2);
    place.cancel(&id);
    assert_eq!(place.inbox.questions().unwrap().told_counts().snoozed, 0);
}
