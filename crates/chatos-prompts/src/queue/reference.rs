//! A fold one can see through, written against the specification and not for speed, and the property
//! that the real one agrees with it whatever is appended, torn, glued or cut (`issue: accepted when 2`).

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::queue::Position;
use crate::tail::{LineFault, Sink, Tail};

/// One thing somebody does to the file.
#[derive(Debug, Clone)]
enum Step {
    /// A program that takes care: closes an open line first, then one whole line.
    Careful(Value),
    /// A program that just appends, perhaps without newline.
    Plain { entry: Value, newline: bool },
    /// A write that stops after a share of its bytes.
    Torn { entry: Value, share: u8, careful: bool },
    /// Something else entirely.
    Noise(Vec<u8>),
}

fn write(steps: &[Step]) -> Vec<u8> {
    let mut file: Vec<u8> = Vec::new();
    let close = |file: &mut Vec<u8>| {
        if !file.is_empty() && file.last() != Some(&b'\n') {
            file.push(b'\n');
        }
    };
    for step in steps {
        match step {
            Step::Careful(entry) => {
                close(&mut file);
                file.extend_from_slice(format!("{entry}\n").as_bytes());
            }
            Step::Plain { entry, newline } => {
                file.extend_from_slice(entry.to_string().as_bytes());
                if *newline {
                    file.push(b'\n');
                }
            }
            Step::Torn { entry, share, careful } => {
                if *careful {
                    close(&mut file);
                }
                let line = format!("{entry}\n").into_bytes();
                file.extend_from_slice(&line[..line.len() * usize::from(*share) / 256]);
            }
            Step::Noise(bytes) => file.extend_from_slice(bytes),
        }
    }
    file
}

/// Every entry the specification finds, in order.
fn read(file: &[u8]) -> Vec<Value> {
    let mut lines: Vec<&[u8]> = file.split(|b| *b == b'\n').collect();
    // The piece after the last newline is an unfinished line: only whole objects at its front count.
    let open = lines.pop().unwrap_or_default();
    let mut entries = Vec::new();
    for line in lines {
        let rest = front(line, &mut entries);
        back(rest, &mut entries);
    }
    front(open, &mut entries);
    entries
}

fn blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | 0)
}

fn front<'a>(mut line: &'a [u8], entries: &mut Vec<Value>) -> &'a [u8] {
    loop {
        let mut trimmed = line;
        loop {
            match trimmed.first() {
                Some(b) if blank(*b) => trimmed = &trimmed[1..],
                _ if trimmed.starts_with(b"\xef\xbb\xbf") => trimmed = &trimmed[3..],
                _ => break,
            }
        }
        if trimmed.first() != Some(&b'{') {
            return line;
        }
        let mut stream = serde_json::Deserializer::from_slice(trimmed).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                entries.push(value);
                line = &trimmed[stream.byte_offset()..];
            }
            _ => return line,
        }
    }
}

// Whole objects at the end of a torn line, the last one first.
fn back(mut rest: &[u8], entries: &mut Vec<Value>) {
    let mut found = Vec::new();
    'again: loop {
        while rest.last().is_some_and(|b| blank(*b)) {
            rest = &rest[..rest.len() - 1];
        }
        for start in (0..rest.len()).rev().filter(|i| rest[*i] == b'{') {
            if let Ok(value) = serde_json::from_slice::<Value>(&rest[start..]) {
                found.push(value);
                rest = &rest[..start];
                continue 'again;
            }
        }
        break;
    }
    found.reverse();
    entries.extend(found);
}

/// Pending by seed 004 §1.3, with the rules for served prompts and twins on top.
fn pending(entries: &[Value], served: &BTreeSet<String>, answered: &BTreeSet<String>) -> BTreeSet<String> {
    let valid: Vec<(&str, String, &Value)> = entries
        .iter()
        .filter(|e| e["type"] == "ui_prompt")
        .filter_map(|e| {
            let id = crate::ids::checked(e["requestId"].as_str()?).ok()?.to_owned();
            match e["action"].as_str()? {
                "request" if e["prompt"].is_object() => Some(("request", id, e)),
                "response" if !e["response"]["status"].as_str()?.trim().is_empty() => {
                    Some(("response", id, e))
                }
                _ => None,
            }
        })
        .collect();
    let closed = |id: &str| {
        if served.contains(id) {
            answered.contains(id)
        } else {
            valid.iter().any(|(a, i, _)| *a == "response" && i == id)
        }
    };
    let kind = |id: &str| {
        let first = valid.iter().find(|(a, i, _)| *a == "request" && i == id);
        first.and_then(|(_, _, e)| e["prompt"]["kind"].as_str())
    };
    let mut open: BTreeSet<String> = served.iter().filter(|id| !answered.contains(*id)).cloned().collect();
    for (action, id, _) in &valid {
        if *action != "request" || served.contains(id) || closed(id) {
            continue;
        }
        let twin = crate::ids::twin_of(id).unwrap_or_default();
        let twin_is_result = if served.contains(&twin) { false } else { kind(&twin) == Some("result") };
        let by_twin = kind(id) == Some("result") && twin_is_result && closed(&twin);
        if !by_twin {
            open.insert(id.clone());
        }
    }
    open
}

struct Live<'a> {
    queue: Queue,
    answered: &'a BTreeSet<String>,
}

impl Sink for Live<'_> {
    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
        let at = Position { offset: at, len: raw.len() as u32 };
        let answered = self.answered.contains(&*head.id);
        let verdict =
            || if answered { Verdict::Recorded { status: Status::Ok, at: 1 } } else { Verdict::Forged };
        self.queue.apply(head, at, 0, verdict, &mut Vec::new());
    }

    fn fault(&mut self, _: u64, _: LineFault) {}
}

fn fold(
    pieces: &[&[u8]],
    served: &BTreeSet<String>,
    answered: &BTreeSet<String>,
    bulk: bool,
) -> BTreeSet<String> {
    let mut live = Live { queue: if bulk { Queue::bulk(4) } else { Queue::default() }, answered };
    for id in served {
        let answer = answered.contains(id).then_some((Status::Ok, 1));
        let record = RecordHead { id, run: None, ts: 0, kind: Some(Kind::Kv), answered: answer };
        live.queue.record(&record, &mut Vec::new());
    }
    let mut tail = Tail::default();
    for piece in pieces {
        tail.feed(piece, &mut live);
        tail.settle(&mut live);
    }
    if bulk {
        live.queue.finish();
    }
    let queue = &live.queue;
    let open: Vec<SlotId> = queue.needs_you(None).chain(queue.results(None)).collect();
    assert_eq!(open.len(), queue.needs_you_count() + queue.results_count());
    open.into_iter().map(|slot| queue.id_of(slot).to_owned()).collect()
}

fn entry() -> impl Strategy<Value = Value> {
    let id = prop_oneof![
        "[abc]",
        Just("mcp-task:a".to_owned()),
        Just("mcp-task:b".to_owned()),
        Just("s".to_owned())
    ];
    let kind = prop_oneof![Just("kv"), Just("result"), Just("result"), Just("hologram")];
    let status = prop_oneof![Just("ok"), Just("canceled"), Just("")];
    let text = prop_oneof![Just("t".to_owned()), Just("中文 {\"x\":[}".to_owned()), "[a-z\"\\\\{}]{0,8}"];
    let request = (id.clone(), kind, text).prop_map(|(id, kind, text)| {
        json!({"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":id,
            "prompt":{"kind":kind,"title":text,"fields":[{"key":"k"}]}})
    });
    let response = (id, status, any::<bool>()).prop_map(|(id, status, usual)| {
        let mut entry = json!({"ts":"2026-01-11T00:00:10.000Z","type":"ui_prompt","action":"response",
            "requestId":id,"response":{"status":status}});
        if let (false, Value::Object(map)) = (usual, &mut entry) {
            map.shift_remove("ts");
        }
        entry
    });
    prop_oneof![3 => request, 3 => response, 1 => Just(json!({"type":"note"}))]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => entry().prop_map(Step::Careful),
        3 => (entry(), any::<bool>()).prop_map(|(entry, newline)| Step::Plain { entry, newline }),
        3 => (entry(), any::<u8>(), any::<bool>())
            .prop_map(|(entry, share, careful)| Step::Torn { entry, share, careful }),
        1 => prop_oneof![
            Just(b"\r\n".to_vec()), Just(b"\0\0\0".to_vec()), Just(b"\xff\xfe\n".to_vec()),
            Just("\u{feff}".into()), Just(b"not json\n".to_vec()), Just(b"[1]\n".to_vec())
        ].prop_map(Step::Noise),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_folds_like_the_reference(
        steps in prop::collection::vec(step(), 0..14),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        s_answered in any::<bool>(),
    ) {
        let file = write(&steps);
        let served: BTreeSet<String> = ["s".to_owned()].into();
        let answered = if s_answered { served.clone() } else { BTreeSet::new() };
        let expected = pending(&read(&file), &served, &answered);
        let whole = fold(&[&file], &served, &answered, true);
        prop_assert_eq!(&whole, &expected, "{}", String::from_utf8_lossy(&file));
        let mut at: Vec<usize> = cuts.iter().map(|c| c.index(file.len() + 1)).collect();
        at.extend([0, file.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|w| &file[w[0]..w[1]]).collect();
        prop_assert_eq!(fold(&pieces, &served, &answered, false), expected, "cut at {:?}", at);
    }
}

#[test]
fn split_at_every_byte_gives_the_same() {
    let request = |id: &str| json!({"type":"ui_prompt","action":"request","requestId":id,"prompt":{"kind":"kv","title":"标题"}});
    let response =
        |id: &str| json!({"type":"ui_prompt","action":"response","requestId":id,"response":{"status":"ok"}});
    let steps = [
        Step::Plain { entry: request("a"), newline: false },
        Step::Torn { entry: request("b"), share: 200, careful: false },
        Step::Plain { entry: request("c"), newline: true },
        Step::Careful(response("a")),
        Step::Torn { entry: request("b"), share: 120, careful: true },
        Step::Careful(request("b")),
        Step::Plain { entry: response("c"), newline: false },
    ];
    let file = write(&steps);
    let none = BTreeSet::new();
    let expected = pending(&read(&file), &none, &none);
    assert_eq!(expected, ["b".to_owned()].into());
    for cut in 0..=file.len() {
        assert_eq!(fold(&[&file[..cut], &file[cut..]], &none, &none, false), expected, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = file.chunks(1).collect();
    assert_eq!(fold(&bytes, &none, &none, false), expected);
}
