//! Who waits for news of a call is woken by what it listens to.

use super::*;

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn questions_of_a_call_are_told_until_it_ends() {
    let running = Running::default();
    let none = running.state("c1", 0, None, LONG).await;
    assert_eq!((none.running, none.questions.len()), (false, 0));
    let cancel = CancellationToken::new();
    let listed = running.register("c1", &cancel).unwrap();
    assert!(running.register("c1", &cancel).is_err(), "an id names one call");
    assert!(running.state("c1", 0, None, Duration::ZERO).await.running);
    running.waits("c1", "q1");
    running.waits("c1", "q1");
    running.waits("c2", "q9");
    let first = running.state("c1", 0, None, LONG).await;
    assert_eq!((first.running, first.questions), (true, vec!["q1".to_owned()]));
    let (second, ()) = tokio::join!(running.state("c1", 1, None, LONG), async { running.waits("c1", "q2") });
    assert_eq!(second.questions, ["q1", "q2"]);
    assert!(running.cancel("c1") && cancel.is_cancelled() && !running.cancel("c2"));
    let (ended, ()) = tokio::join!(running.state("c1", 2, None, LONG), async { drop(listed) });
    assert!(!ended.running);
}

#[tokio::test(start_paused = true)]
async fn what_a_call_says_wakes_who_listens_and_nobody_else() {
    let running = Running::default();
    let _listed = running.register("c1", &CancellationToken::new()).unwrap();
    let (heard, ()) = tokio::join!(running.state("c1", 0, Some(0), LONG), async {
        running.says("c1", Some("waiting for the page of Codex: open ChatOS"), None);
        running.says("c1", Some("waiting for the page of Codex: open ChatOS"), None);
        running.says("c2", Some("nobody"), None);
    });
    assert_eq!((heard.said, heard.says.as_deref()), (1, Some("waiting for the page of Codex: open ChatOS")));
    let (counted, ()) = tokio::join!(running.state("c1", 0, Some(1), LONG), async {
        running.says("c1", None, Some((2.0, Some(5.0))));
    });
    assert_eq!((counted.said, counted.says, counted.progress), (2, None, Some((2.0, Some(5.0)))));
    let began = tokio::time::Instant::now();
    assert_eq!(running.state("c1", 0, None, LONG).await.said, 2);
    assert_eq!(began.elapsed(), LONG, "who waits for questions is not woken by words");
}
