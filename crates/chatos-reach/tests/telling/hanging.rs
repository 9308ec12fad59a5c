//! Channels that hang, people who are at a page, and clocks that are set.

use chatos_reach::Outbox;
use chatos_testkit::{Receiver, Telegram};
use chatos_wire::channel::{Answering, ChannelType, Privacy};

use crate::place::{Place, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_hangs_holds_up_no_other() {
    let (place, telegram, receiver) = (Place::new(None), Telegram::start(), Receiver::start());
    place.bot(&telegram, Answering::Reject).await;
    let hook = place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
    let patch = chatos_wire::channel::ChannelPatch {
        paused: None,
        privacy: None,
        delay: Some(0),
        min_risk: None,
        answer: None,
    };
    place.reach.change(&hook, &patch).await.unwrap();
    place.reach.tend();
    telegram.hang(true);
    for round in 1..=3 {
        place.ask("Anybody?");
        place.wait(31);
        place.reach.wake();
        until("the other one is told", || receiver.received().len() == round).await;
    }
    assert_eq!(telegram.messages().len(), 1, "only the greeting");
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_at_a_page_holds_a_channel_back_for_its_delay_and_no_longer() {
    let (place, receiver) = (Place::new(None), Receiver::start());
    place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
    place.ask("Seen?");
    for _ in 0..11 {
        place.reach.present("page", true);
        place.after(10).await;
        assert_eq!(receiver.received().len(), 0, "a page is in use");
    }
    place.reach.present("page", true);
    place.after(11).await;
    assert_eq!(receiver.received().len(), 1, "twice the delay is over, whoever sits there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_tells_nothing_early_and_nothing_late() {
    for set in [-10 * 86_400, 10 * 365 * 86_400] {
        let (place, receiver) = (Place::new(None), Receiver::start());
        place.channel(ChannelType::Webhook, receiver.url("/"), Privacy::Title).await;
        let id = place.ask("When?");
        place.after(30).await;
        place.set_clock(set);
        place.after(20).await;
        assert_eq!(receiver.received().len(), 0, "set by {set} s: not a minute yet");
        place.after(12).await;
        assert_eq!(receiver.received().len(), 1, "set by {set} s");
        place.set_clock(-set);
        place.after(590).await;
        assert_eq!(receiver.received().len(), 1, "set by {set} s: no reminder yet");
        place.after(20).await;
        assert_eq!(receiver.received().len(), 2, "set by {set} s");
        assert!(place.store.notices_of(&id).unwrap().iter().any(|row| row.state == "sent"));
    }
}
