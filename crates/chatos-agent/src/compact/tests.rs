//! Where conversations are cut, and what is pruned.

use chatos_model::{Image, Source, Window};

use super::*;
use crate::context::tests::{calling, entry, result};
use crate::context::{Shape, conversation};
use crate::room::Fixed;
use crate::transcript::{Entry, Origin, Speaker, Transcript};

fn room(tokens: u64) -> Room {
    let fixed = Fixed { system: &[], tools: &[] };
    let window = Window { tokens, source: Source::Person };
    Room::new(window, None, &Transcript::default(), ("m", &Origin::default()), &fixed)
}

/// One message of a person, then so many passes with one result each.
fn run(passes: i64, bytes: usize) -> Vec<Said> {
    let mut entries = vec![entry(1, "r", Speaker::User, "the task")];
    for pass in 0..passes {
        let id = format!("c{pass}");
        entries.push(calling(pass * 2 + 2, "r", &[&id]));
        entries.push(Entry { text: "x".repeat(bytes), ..result(pass * 2 + 3, "r", &id) });
    }
    conversation(&Transcript { entries, ..Transcript::default() }, "r", &Origin::default(), &Shape::OPEN)
}

#[test]
fn a_run_of_one_message_is_cut_behind_it() {
    let said = run(40, 900);
    let room = room(16_000);
    let cut = cut(&said, &room, room.share(25)).unwrap();
    assert!(cut.at > 1 && matches!(said[cut.at].message, Message::Assistant { .. }));
    let kept: u64 = said[cut.at..].iter().map(|one| room.tokens(&one.message)).sum();
    assert!(kept <= room.share(25) && kept > room.share(15), "{kept} of {}", room.usable);
    assert_eq!((cut.from_seq, cut.to_seq), (1, said[cut.at].seq - 1));
}

#[test]
fn at_least_one_whole_pass_stays_and_a_task_alone_is_nothing_to_summarise() {
    let said = run(3, 90_000);
    let room = room(8_192);
    let found = cut(&said, &room, room.share(10)).unwrap();
    assert_eq!(found.at, 5, "the last call and its result");
    assert_eq!(cut(&run(1, 90_000), &room, 100), None);
    assert_eq!(cut(&[], &room, 100), None);
}

#[test]
fn a_new_message_stays_whatever_came_before_it() {
    let mut said = run(10, 900);
    let question = entry(90, "q", Speaker::User, "next");
    said.extend(conversation(
        &Transcript { entries: vec![question], ..Transcript::default() },
        "q",
        &Origin::default(),
        &Shape::OPEN,
    ));
    let room = room(16_000);
    let found = cut(&said, &room, 1).unwrap();
    assert_eq!(found.at, said.len() - 1);
}

#[test]
fn old_results_are_pruned_when_it_is_worth_it() {
    let room = room(32_000);
    let said = run(30, 3_000);
    let used: u64 = said.iter().map(|one| room.tokens(&one.message)).sum();
    assert!(may_prune(used, &room) && !may_prune(room.share(60), &room));
    let (to_seq, freed) = prune(&said, &room, Keep::usual(&room)).unwrap();
    let kept: Vec<&Said> = said.iter().filter(|one| one.seq > to_seq).collect();
    assert!(kept.len() >= 4 && freed > 4_000);
    let results = kept.iter().filter(|one| matches!(one.message, Message::Tool { .. })).count();
    assert!(results as u64 * 1_000 >= room.share(25), "{results} results stay");
    assert_eq!(prune(&run(6, 3_000), &room, Keep::usual(&room)), None, "too little to be worth it");
    let (all_but_one, _) = prune(&run(3, 3_000), &room, Keep::least()).unwrap();
    assert_eq!(all_but_one, 5);
}

#[test]
fn pictures_fill_the_window_and_leave_with_old_results() {
    let room = room(100_000);
    let mut said = run(30, 30);
    let plain: u64 = said.iter().map(|one| room.tokens(&one.message)).sum();
    for one in &mut said {
        if let Message::Tool { images, .. } = &mut one.message {
            images.push(Image { data: "AA==".into(), pixels: Some((1_500, 1_000)), ..Image::default() });
        }
    }
    let used: u64 = said.iter().map(|one| room.tokens(&one.message)).sum();
    assert_eq!(used - plain, 30 * 2_000);
    assert!(may_prune(used, &room));
    let (to_seq, freed) = prune(&said, &room, Keep::usual(&room)).unwrap();
    let old =
        said.iter().filter(|one| one.seq <= to_seq && matches!(one.message, Message::Tool { .. })).count();
    // The newest three of them stay.
    assert_eq!(freed, (old as u64 - 3) * 2_000);
}

#[test]
fn due_by_the_window_or_by_a_persons_number() {
    let room = room(10_000);
    assert!(is_due(room.share(85) + 1, &room, 85, 0) && !is_due(room.share(85), &room, 85, 0));
    assert!(is_due(1_001, &room, 85, 1_000) && !is_due(1_000, &room, 85, 1_000));
}
