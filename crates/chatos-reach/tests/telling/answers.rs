//! Answers from elsewhere: Telegram and ntfy, with buttons that count once, for one question as it was shown, for a
//! quarter of an hour, and never for high risk.

use chatos_testkit::{BOT_TOKEN, Ntfy, Telegram};
use chatos_tool::Lang;
use chatos_wire::channel::{Answering, ChannelPatch, ChannelState, ChannelType, NewChannel, Privacy};
use serde_json::{Value, json};

use crate::place::{Place, until};

pub(crate) const GONE: &str = "This is no longer valid";

pub(crate) fn patch() -> ChannelPatch {
    ChannelPatch { paused: None, privacy: None, delay: None, min_risk: None, answer: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_connected_by_the_code_alone_and_once() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    let id = place.answering(ChannelType::Telegram, telegram.url(), Some(BOT_TOKEN), Answering::Reject).await;
    let view = async || place.reach.list().await.unwrap().items.pop().unwrap();
    assert_eq!(view().await.state, ChannelState::Waiting);
    assert_eq!(place.reach.test(&id, Lang::En).await.unwrap_err().code, "channel_waiting");
    let code = view().await.connect.unwrap();
    assert_eq!(code.url, format!("https://t.me/chatos_test_bot?start={}", &code.text["/start ".len()..]));
    // Nobody is told before: neither somebody who guesses, nor a group.
    telegram.say(66, "/start");
    telegram.say(66, "/start 00000000000000000000000000000000");
    telegram.say_in(66, "group", &code.text);
    telegram.update(json!({ "message": "odd" }));
    place.ask("Early?");
    place.after(2).await;
    assert!(telegram.messages().is_empty());
    telegram.say(42, &code.text);
    until("the chat is connected", || telegram.messages().len() == 1).await;
    // A second one with the same code comes too late.
    telegram.say(66, &code.text);
    assert_eq!(view().await.person.as_deref(), Some("Anna @user42"));
    assert_eq!((view().await.state, view().await.connect.is_none()), (ChannelState::Ok, true));
    place.reach.test(&id, Lang::En).await.unwrap();
    let messages = telegram.messages();
    assert_eq!(messages.len(), 2);
    assert!(messages.iter().all(|message| message.chat == 42), "{messages:?}");
    // A code is over after a quarter of an hour, wherever the clock was set.
    place.reach.connect(&id).await.unwrap();
    place.set_clock(-10 * 365 * 86_400);
    assert!(view().await.connect.is_some());
    place.wait(15 * 60);
    assert!(view().await.connect.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_is_said_and_shown_nowhere() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    let new = |secret: Option<&str>| NewChannel {
        kind: ChannelType::Telegram,
        name: "bot".to_owned(),
        url: telegram.url(),
        secret: secret.map(str::to_owned),
        privacy: None,
        delay: None,
        min_risk: None,
        on_my_network: true,
        answer: None,
    };
    let fault = place.reach.add(&new(Some("4711:another-token-0123456789"))).await.unwrap_err();
    assert_eq!(fault.code, "channel_unreachable");
    assert!(fault.message.en.contains("Unauthorized") && !fault.message.en.contains("another"), "{fault:?}");
    for bad in [None, Some("x"), Some("4711:../../evil/path/0123456789")] {
        assert_eq!(place.reach.add(&new(bad)).await.unwrap_err().code, "channel_invalid");
    }
    assert_eq!(place.reach.list().await.unwrap().items.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_approved_from_telegram_once_and_the_message_says_so() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    let channel = place.bot(&telegram, Answering::Direct).await;
    let id = place.ask_command("make test", "full");
    place.after(2).await;
    let message = telegram.messages().pop().unwrap();
    assert!(message.text.contains("make test") && message.text.contains("15 minutes"), "{}", message.text);
    let words: Vec<&str> = message.buttons.iter().map(|(words, _)| words.as_str()).collect();
    assert_eq!(words, ["Approve", "Reject", "Snooze 15 min"]);
    place.reach.tend();
    let approve = message.button("Approve").unwrap();
    // Somebody else in another chat, somebody else in this one, and a guess.
    telegram.press(66, 66, &approve);
    telegram.press(66, 42, &approve);
    telegram.press(42, 42, &"0".repeat(64));
    telegram.press(42, 42, "");
    telegram.press(42, 42, &approve);
    until("five presses are answered", || telegram.replies().len() == 5).await;
    assert_eq!(telegram.replies(), [GONE, GONE, GONE, GONE, "Approved"]);
    assert_eq!(place.refusals(), ["other_person", "other_person", "unknown", "malformed"]);
    let shown = place.show(&id);
    assert_eq!((&shown["state"], &shown["answer"]["status"]), (&json!("closed"), &json!("ok")));
    assert_eq!(shown["answer"]["by"], "person:link:telegram");
    assert_eq!(place.audited("answer_from_channel", "action"), ["approve"]);
    assert_eq!(place.audited("answer_from_channel", "channel"), [channel]);
    // Nothing counts a second time, and the message has no buttons any more.
    telegram.press(42, 42, &approve);
    telegram.press(42, 42, &message.button("Reject").unwrap());
    until("both are answered", || telegram.replies().len() == 7).await;
    assert_eq!(telegram.replies()[5..], [GONE, GONE]);
    until("the message is edited", || telegram.messages()[1].edited).await;
    let edited = telegram.messages()[1].clone();
    assert!(edited.buttons.is_empty() && edited.text.ends_with("✓ Approved"), "{edited:?}");
    assert_eq!(place.refusals()[4..], ["used", "used"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_elsewhere_is_edited_and_its_buttons_are_over() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    place.bot(&telegram, Answering::Reject).await;
    let id = place.ask("Now?");
    place.after(2).await;
    let message = telegram.messages().pop().unwrap();
    assert!(message.button("Approve").is_none() && message.button("Reject").is_some(), "{message:?}");
    place.cancel(&id);
    place.after(1).await;
    let edited = telegram.messages().pop().unwrap();
    assert!(edited.edited && edited.buttons.is_empty() && edited.text.ends_with("✗ Rejected"), "{edited:?}");
    place.reach.tend();
    telegram.press(42, 42, &message.button("Reject").unwrap());
    until("it is refused", || telegram.replies() == [GONE]).await;
    assert_eq!(place.refusals(), ["used"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_low_and_medium_risk_told_whole_can_be_approved() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    let channel = place.bot(&telegram, Answering::Direct).await;
    let offers = async |command: &str, sandbox: &str| {
        let id = place.ask_command(command, sandbox);
        place.after(31).await;
        let message = telegram.messages().pop().unwrap();
        place.cancel(&id);
        assert!(message.button("Reject").is_some(), "{message:?}");
        message.button("Approve").is_some()
    };
    assert!(offers("make", "full").await);
    assert!(!offers("make", "none").await, "high risk");
    assert!(offers(&format!("echo {}", "x".repeat(250)), "fs").await);
    assert!(!offers(&format!("echo {}", "x".repeat(300)), "fs").await, "not whole");
    assert!(!offers("echo a\nrm b", "full").await, "more than one line");
    assert!(!offers("echo \u{202e}abc", "full").await, "something nobody sees");
    place.redactor.learn("canary-secret-1234567890");
    assert!(!offers("curl -H canary-secret-1234567890", "full").await, "something redacted");
    assert!(telegram.messages().iter().all(|message| !message.text.contains("canary-secret")));
    place.store.set_setting(&place.settings, "uiPromptLogMode", &json!("minimal"), "test").unwrap();
    assert!(!offers("make", "full").await, "little is told");
    place.store.set_setting(&place.settings, "uiPromptLogMode", &json!("full"), "test").unwrap();
    // Plain questions and several at once.
    place.ask("Blue?");
    place.after(31).await;
    assert!(telegram.messages().pop().unwrap().button("Approve").is_none());
    place.ask_command("make a", "full");
    place.ask_command("make b", "full");
    place.after(31).await;
    assert!(telegram.messages().pop().unwrap().buttons.is_empty());
    // What the channel loses while the message stands counts at the press.
    let fault = place
        .reach
        .change(&channel, &ChannelPatch { privacy: Some(Privacy::Title), ..patch() })
        .await
        .unwrap_err();
    assert_eq!(fault.code, "channel_invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_channel_may_no_longer_do_counts_at_the_press() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    let channel = place.bot(&telegram, Answering::Direct).await;
    let id = place.ask_command("make", "full");
    place.after(2).await;
    let message = telegram.messages().pop().unwrap();
    let less = ChannelPatch { answer: Some(Answering::Reject), ..patch() };
    place.reach.change(&channel, &less).await.unwrap();
    place.reach.tend();
    telegram.press(42, 42, &message.button("Approve").unwrap());
    until("it is refused", || telegram.replies() == [GONE]).await;
    assert_eq!(place.refusals(), ["not_allowed"]);
    assert_eq!(place.show(&id)["state"], "pending");
    // Rejecting it still counts.
    telegram.press(42, 42, &message.button("Reject").unwrap());
    until("it is rejected", || place.show(&id)["state"] == "closed").await;
    assert_eq!(place.show(&id)["answer"]["status"], "canceled");
}

#[tokio::test(flavor = "multi_thread")]
async fn buttons_last_a_quarter_of_an_hour_wherever_the_clock_is_set() {
    for set in [0, -10 * 86_400, 10 * 365 * 86_400] {
        let (place, telegram) = (Place::new(None), Telegram::start());
        place.bot(&telegram, Answering::Direct).await;
        let in_time = place.ask_command("make a", "full");
        place.after(2).await;
        place.set_clock(set);
        // Not yet at the reminder, which brings new ones.
        place.wait(9 * 60);
        let approve = telegram.messages().pop().unwrap().button("Approve").unwrap();
        place.reach.tend();
        telegram.press(42, 42, &approve);
        until("it counts", || place.show(&in_time)["state"] == "closed").await;
        assert_eq!(place.show(&in_time)["answer"]["status"], "ok", "clock set by {set} s");
    }
    for set in [0, -10 * 86_400, 10 * 365 * 86_400] {
        let (place, telegram) = (Place::new(None), Telegram::start());
        place.bot(&telegram, Answering::Direct).await;
        let late = place.ask_command("make b", "full");
        place.after(2).await;
        place.set_clock(set);
        place.wait(16 * 60);
        let approve = telegram.messages().pop().unwrap().button("Approve").unwrap();
        let told = telegram.replies().len();
        place.reach.tend();
        telegram.press(42, 42, &approve);
        until("it is answered", || telegram.replies().len() > told).await;
        assert_eq!(telegram.replies().last().map(String::as_str), Some(GONE), "clock set by {set} s");
        assert_eq!(place.show(&late)["state"], "pending");
        // Late by the clock, or by the reminder if that was quicker.
        assert!(matches!(place.refusals()[..], [ref why] if why == "expired" || why == "used"), "{set} s");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_surfaces_at_once_give_one_answer() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    place.bot(&telegram, Answering::Direct).await;
    place.reach.tend();
    for round in 0..5 {
        let before = telegram.messages().len();
        let id = place.ask_command(&format!("make {round}"), "full");
        place.wait(31);
        place.reach.wake();
        until("it is told", || telegram.messages().len() > before).await;
        let message = telegram.messages().pop().unwrap();
        let replies = telegram.replies().len();
        telegram.press(42, 42, &message.button("Approve").unwrap());
        telegram.press(42, 42, &message.button("Approve").unwrap());
        telegram.press(42, 42, &message.button("Reject").unwrap());
        let inbox = place.inbox.clone();
        let (other, shown) = (id.clone(), place.show(&id)["shown"].as_str().map(str::to_owned));
        let page = tokio::task::spawn_blocking(move || {
            let reply = chatos_inbox::PromptReply {
                response: json!({ "status": "ok" }),
                shown,
                ..Default::default()
            };
            inbox.answer(&other, &reply, chatos_prompts::Surface::Ui, Lang::En).is_ok()
        });
        let on_page = page.await.unwrap();
        until("all presses are answered", || telegram.replies().len() == replies + 3).await;
        let counted = telegram.replies()[replies..].iter().filter(|said| *said != GONE).count();
        assert_eq!(counted + usize::from(on_page), 1, "one answer counts");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_takes_the_place_of_the_first_message() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    place.bot(&telegram, Answering::Reject).await;
    let id = place.ask("Still?");
    place.after(2).await;
    let first = telegram.messages().pop().unwrap();
    place.after(601).await;
    let messages = telegram.messages();
    assert_eq!(messages.len(), 3);
    assert!(messages[1].deleted && !messages[2].deleted);
    place.reach.tend();
    telegram.press(42, 42, &first.button("Reject").unwrap());
    until("the first one is over", || telegram.replies() == [GONE]).await;
    telegram.press(42, 42, &messages[2].button("Snooze 15 min").unwrap());
    until("it is put off", || !place.show(&id)["snoozedUntil"].is_null()).await;
    until("the message says so", || telegram.messages()[2].text.ends_with("Put off")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn telegram_is_asked_for_news_only_while_somebody_could_press() {
    let (place, telegram) = (Place::new(None), Telegram::start());
    let id = place.bot(&telegram, Answering::None).await;
    place.ask("Anything?");
    place.after(2).await;
    assert!(telegram.messages().pop().unwrap().buttons.is_empty());
    place.reach.tend();
    place.reach.wake();
    let view = place.reach.change(&id, &patch()).await.unwrap();
    assert_eq!(view.answer, Answering::None);
    let polls = telegram.polls();
    for _ in 0..20 {
        place.reach.wake();
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(telegram.polls(), polls, "nothing can be pressed, nothing is asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn ntfy_buttons_answer_over_a_topic_nobody_can_guess() {
    for key in [None, Some("tk_a-long-enough-key")] {
        let (place, ntfy) = (Place::new(None), Ntfy::start(key));
        place.answering(ChannelType::Ntfy, ntfy.url("mine"), key, Answering::Direct).await;
        let id = place.ask_command("make test", "full");
        place.after(2).await;
        let message = ntfy.published("mine").pop().unwrap();
        let actions = message["actions"].as_array().unwrap().clone();
        let labels: Vec<&str> = actions.iter().filter_map(|action| action["label"].as_str()).collect();
        assert_eq!(labels, ["Approve", "Reject", "Snooze 15 min"]);
        assert!(!message.to_string().contains("a-long-enough-key"), "the key is in no message");
        let reply = actions[0]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        assert!(reply.len() >= 40 && reply != "mine", "{reply}");
        place.reach.tend();
        // Forged and odd ones first; they are answered by one message, not by a flood.
        for odd in ["", "x", &"0".repeat(64), &"y".repeat(20_000), "{\"a\":1}"] {
            ntfy.post(&reply, odd);
        }
        assert_eq!(ntfy.press(&actions[0]), 200);
        until("it is approved", || place.show(&id)["state"] == "closed").await;
        assert_eq!(place.show(&id)["answer"]["by"], "person:link:ntfy");
        assert_eq!(place.show(&id)["answer"]["status"], "ok");
        ntfy.press(&actions[0]);
        ntfy.press(&actions[1]);
        until("both are refused", || place.refusals().iter().filter(|why| *why == "used").count() == 2).await;
        let said = ntfy.published("mine");
        let gone: Vec<&Value> = said.iter().filter(|message| message["message"] == GONE).collect();
        assert_eq!(gone.len(), 1, "{said:?}");
        assert_eq!(ntfy.streams(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_hears_what_was_pressed_meanwhile_and_counts_it_once() {
    let (place, ntfy) = (Place::new(None), Ntfy::start(None));
    place.answering(ChannelType::Ntfy, ntfy.url("mine"), None, Answering::Reject).await;
    let id = place.ask("Meanwhile?");
    place.after(2).await;
    let reject = ntfy.published("mine").pop().unwrap()["actions"][0].clone();
    let place = place.killed();
    ntfy.press(&reject);
    ntfy.press(&reject);
    place.reach.tend();
    until("it is rejected", || place.show(&id)["state"] == "closed").await;
    until("the second one is refused", || place.refusals() == ["used"]).await;
    // Another host hears it once more from the server, and nobody is bothered.
    let place = place.killed();
    place.reach.tend();
    until("it is refused again", || place.refusals().len() == 3).await;
    assert!(place.refusals().iter().all(|why| why == "used"));
    assert_eq!(place.audited("answer_from_channel", "action"), ["reject"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_forged_answers_answers_nothing_and_fills_nothing() {
    let (place, ntfy) = (Place::new(None), Ntfy::start(None));
    place.answering(ChannelType::Ntfy, ntfy.url("mine"), None, Answering::Direct).await;
    let id = place.ask_command("make", "full");
    place.after(2).await;
    let approve = ntfy.published("mine").pop().unwrap()["actions"][0].clone();
    let reply = approve["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    place.reach.tend();
    for number in 0..500 {
        ntfy.post(&reply, &format!("{number:064x}"));
    }
    ntfy.press(&approve);
    until("the true one counts", || place.show(&id)["state"] == "closed").await;
    assert_eq!(place.refusals().len(), 20, "the rest is counted, not written");
    assert_eq!(ntfy.published("mine").len(), 2, "one notice, one reply");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_the_state_answers_nothing() {
    let (place, ntfy) = (Place::new(None), Ntfy::start(None));
    place.answering(ChannelType::Ntfy, ntfy.url("mine"), None, Answering::Reject).await;
    place.ask("Copied?");
    place.after(2).await;
    let copy = place.path().join("copy.db");
    place.store.backup_to(&copy).unwrap();
    assert_eq!(tokens_in(&copy), 0);
    assert_eq!(tokens_in(&place.path().join("state/state.db")), 2);
}

#[expect(clippy::disallowed_methods, reason = "looks into a database beside its owner")]
fn tokens_in(path: &std::path::Path) -> i64 {
    let open = rusqlite::Connection::open(path).unwrap();
    open.query_row("SELECT count(*) FROM answer_tokens", [], |row| row.get(0)).unwrap()
}
