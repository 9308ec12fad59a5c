//! Places are never lost, never given twice, and shared fairly.

use std::time::Duration;

use super::*;

const LIMITS: SlotLimits = SlotLimits { all: 2, server: 2, queue: 3 };

async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn beyond_the_queue_a_call_is_refused() {
    let slots = Slots::default();
    let one = slots.take("s", "a", LIMITS).await.unwrap();
    let two = slots.take("s", "a", LIMITS).await.unwrap();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let slots = slots.clone();
            tokio::spawn(async move { slots.take("s", "a", LIMITS).await })
        })
        .collect();
    settle().await;
    assert_eq!(slots.counts("s"), (2, 2, 3));
    assert_eq!(slots.take("s", "a", LIMITS).await.unwrap_err(), Full { retry_after_ms: 1_000 });
    drop((one, two));
    for task in waiting {
        drop(task.await.unwrap().unwrap());
    }
    assert_eq!(slots.counts("s"), (0, 0, 0));
}

#[tokio::test]
async fn sessions_take_turns_and_keep_their_own_order() {
    let slots = Slots::default();
    let limits = SlotLimits { all: 1, server: 1, queue: 64 };
    let first = slots.take("s", "x", limits).await.unwrap();
    let (order, mut seen) = tokio::sync::mpsc::unbounded_channel();
    for (session, number) in [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1), ("b", 2)] {
        let (slots, order) = (slots.clone(), order.clone());
        tokio::spawn(async move {
            let slot = slots.take("s", session, limits).await.unwrap();
            order.send((session, number)).unwrap();
            drop(slot);
        });
        settle().await;
    }
    drop((first, order));
    let mut all = Vec::new();
    while let Some(one) = seen.recv().await {
        all.push(one);
    }
    assert_eq!(all, [("a", 1), ("b", 1), ("c", 1), ("a", 2), ("b", 2), ("a", 3)]);
}

#[tokio::test]
async fn a_full_server_does_not_stop_another() {
    let slots = Slots::default();
    let one = SlotLimits { all: 4, server: 1, queue: 8 };
    let busy = slots.take("shell", "a", one).await.unwrap();
    let waiting = {
        let slots = slots.clone();
        tokio::spawn(async move { slots.take("shell", "a", one).await })
    };
    settle().await;
    drop(slots.take("files", "a", one).await.unwrap());
    assert_eq!(slots.counts("shell"), (1, 1, 1));
    drop(busy);
    drop(waiting.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_call_that_asks_a_person_gives_its_place_back() {
    let slots = Slots::default();
    let limits = SlotLimits { all: 1, server: 1, queue: 8 };
    let mut asking = slots.take("s", "a", limits).await.unwrap();
    asking.pause(false);
    let other = slots.take("s", "b", limits).await.unwrap();
    let back = tokio::spawn(asking.resume(limits));
    settle().await;
    assert!(!back.is_finished());
    drop(other);
    let back = back.await.unwrap().unwrap();
    assert_eq!(slots.counts("s"), (1, 1, 0));
    drop(back);
    assert_eq!(slots.counts("s"), (0, 0, 0));
}

#[tokio::test]
async fn a_server_whose_limit_is_about_waiting_keeps_its_place() {
    let slots = Slots::default();
    let limits = SlotLimits { all: 1, server: 2, queue: 0 };
    let mut first = slots.take("ui", "a", limits).await.unwrap();
    first.pause(true);
    let mut second = slots.take("ui", "a", limits).await.unwrap();
    second.pause(true);
    assert_eq!(slots.counts("ui"), (0, 2, 0));
    assert!(slots.take("ui", "a", limits).await.is_err(), "two wait already");
    let first = first.resume(limits).await.unwrap();
    assert_eq!(slots.counts("ui"), (1, 2, 0));
    drop((first, second));
    assert_eq!(slots.counts("ui"), (0, 0, 0));
}

#[tokio::test]
async fn a_waiter_that_goes_away_leaves_nothing_behind() {
    let slots = Slots::default();
    let limits = SlotLimits { all: 1, server: 1, queue: 8 };
    for _ in 0..200 {
        let held = slots.take("s", "a", limits).await.unwrap();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let slots = slots.clone();
                tokio::spawn(async move {
                    let slot = slots.take("s", "a", limits).await;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    drop(slot);
                })
            })
            .collect();
        tokio::task::yield_now().await;
        drop(held);
        for task in waiting {
            task.abort();
        }
        settle().await;
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(slots.counts("s"), (0, 0, 0));
}
