//! The rules of `ui-prompts §4`, one by one, and any interleaving against a reference fold.

use super::*;
use crate::entry::{Action, Head};

struct World {
    queue: Queue,
    offset: u64,
}

impl World {
    fn new() -> Self {
        Self { queue: Queue::default(), offset: 0 }
    }

    fn apply(&mut self, head: &Head<'_>, verdict: Verdict) -> Vec<Change> {
        self.offset += 100;
        let mut out = Vec::new();
        let at = Position { offset: self.offset, len: 10 };
        self.queue.apply(head, at, 5, || verdict, &mut out);
        out
    }

    fn request(&mut self, id: &str, kind: Kind) -> Vec<Change> {
        self.apply(&head(id, Action::Request, Some(kind), Status::Error), Verdict::Forged)
    }

    fn respond(&mut self, id: &str, status: Status) -> Vec<Change> {
        self.apply(&head(id, Action::Response, None, status), Verdict::Forged)
    }

    fn record(&mut self, id: &str, answered: Option<(Status, i64)>) -> Vec<Change> {
        let mut out = Vec::new();
        let record = RecordHead { id, run: Some("run"), ts: 1, kind: Some(Kind::Kv), answered };
        self.queue.record(&record, &mut out);
        out
    }

    fn pending(&self) -> Vec<&str> {
        let open = self.queue.needs_you(None).chain(self.queue.results(None));
        let ids: Vec<&str> = open.map(|slot| self.queue.id_of(slot)).collect();
        assert_eq!(ids.len(), self.queue.needs_you_count() + self.queue.results_count());
        ids
    }

    fn history(&self) -> Vec<&str> {
        self.queue.history().iter().map(|slot| self.queue.id_of(*slot)).collect()
    }
}

fn head(id: &str, action: Action, kind: Option<Kind>, status: Status) -> Head<'_> {
    Head {
        action,
        id: id.into(),
        run: None,
        ts: None,
        kind,
        timeout_ms: None,
        status,
        signed: false,
        hash: None,
        repeats: false,
    }
}

#[test]
fn a_request_without_response_is_pending() {
    let mut world = World::new();
    world.request("b", Kind::Kv);
    world.request("a", Kind::Choice);
    world.request("r", Kind::Result);
    assert_eq!(world.pending(), ["b", "a", "r"], "oldest first, results after");
    world.respond("b", Status::Canceled);
    assert_eq!(world.pending(), ["a", "r"]);
    assert_eq!(world.history(), ["b"]);
    assert_eq!(world.queue.slot(world.queue.find("b").unwrap()).status(), Status::Canceled);
}

#[test]
fn the_first_response_counts_wherever_it_stands() {
    let mut world = World::new();
    world.respond("a", Status::Timeout);
    assert_eq!(world.pending(), [""; 0]);
    world.request("a", Kind::Kv);
    world.respond("a", Status::Ok);
    let slot = world.queue.find("a").unwrap();
    assert_eq!(world.queue.slot(slot).status(), Status::Timeout);
    assert_eq!(world.queue.extras(slot).unwrap().ignored_count, 1);
    assert_eq!(world.pending(), [""; 0]);
}

#[test]
fn a_used_id_is_never_asked_again() {
    let mut world = World::new();
    world.request("a", Kind::Kv);
    assert_eq!(world.request("a", Kind::Choice), [Change::Reused(0)]);
    assert_eq!(world.queue.slot(0).kind(), Some(Kind::Kv), "the shown question is not swapped");
    world.respond("a", Status::Ok);
    world.request("a", Kind::Kv);
    assert_eq!(world.pending(), [""; 0]);
    world.queue.archived("old");
    world.request("old", Kind::Kv);
    assert_eq!(world.pending(), [""; 0]);
}

#[test]
fn only_the_record_closes_a_served_prompt() {
    let mut world = World::new();
    world.record("s", None);
    world.request("s", Kind::Kv);
    assert_eq!(world.respond("s", Status::Ok), [Change::Forged(0)]);
    assert_eq!(world.pending(), ["s"]);
    assert_eq!(world.queue.extras(0).unwrap().foreign_count, 1);
    assert_eq!(world.record("s", Some((Status::Ok, 9))), [Change::Closed(0)]);
    assert_eq!(world.pending(), [""; 0]);
    assert_eq!(world.history(), ["s"]);
}

#[test]
fn a_record_takes_over_what_lines_claimed_before() {
    let mut world = World::new();
    world.request("s", Kind::Choice);
    world.respond("s", Status::Ok);
    assert_eq!(world.history(), ["s"]);
    world.record("s", None);
    assert_eq!(world.pending(), ["s"]);
    assert_eq!(world.history(), [""; 0]);
    assert_eq!(world.queue.slot(0).kind(), Some(Kind::Kv), "defined by its record");
    assert_eq!(world.queue.extras(0).unwrap().foreign_count, 1);
}

#[test]
fn a_signed_response_without_answer_in_the_store_is_no_confirmation() {
    let mut world = World::new();
    world.record("s", None);
    let signed = Head { signed: true, ..head("s", Action::Response, None, Status::Ok) };
    assert_eq!(world.apply(&signed, Verdict::Unrecorded), [Change::Closed(0)]);
    assert_eq!(world.queue.slot(0).status(), Status::Error);
}

#[test]
fn twins_are_one_result() {
    for (first, second) in [("x", "mcp-task:x"), ("mcp-task:x", "x")] {
        let mut world = World::new();
        world.request(first, Kind::Result);
        world.request(second, Kind::Result);
        assert_eq!(world.queue.results_count(), 2);
        world.respond(first, Status::Ok);
        assert_eq!(world.queue.results_count(), 0, "present: closed with it");
        let mut world = World::new();
        world.request(first, Kind::Result);
        world.respond(first, Status::Ok);
        world.request(second, Kind::Result);
        assert_eq!(world.queue.results_count(), 0, "arriving later: closed at once");
        let mut world = World::new();
        world.request(first, Kind::Result);
        world.request(second, Kind::Kv);
        world.respond(first, Status::Ok);
        assert_eq!(world.pending(), [second], "only results have twins");
    }
}

#[test]
fn bulk_and_live_give_the_same_lists() {
    let build = |bulk: bool| {
        let mut world = World::new();
        if bulk {
            world.queue = Queue::bulk(16);
        }
        world.record("s1", Some((Status::Ok, 50)));
        world.record("s2", None);
        for id in ["a", "b", "c"] {
            world.request(id, Kind::Kv);
        }
        world.request("s1", Kind::Kv);
        world.request("r", Kind::Result);
        world.respond("b", Status::Ok);
        if bulk {
            world.queue.finish();
        }
        let mut all: Vec<String> = world.pending().into_iter().map(str::to_owned).collect();
        all.push("|".into());
        let mut closed: Vec<String> = world.history().into_iter().map(str::to_owned).collect();
        closed.sort();
        all.extend(closed);
        all
    };
    assert_eq!(build(false), build(true));
    assert_eq!(build(true), ["s2", "a", "c", "r", "|", "b", "s1"]);
}
