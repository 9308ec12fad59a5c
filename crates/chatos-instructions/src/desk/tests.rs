//! What a run does about texts of its project, over a real database.

use chatos_store::{MessageRow, NewMessage, OpenOptions, SessionRow};

use super::*;

struct Room {
    dir: tempfile::TempDir,
    store: Store,
}

impl Room {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("state")).unwrap();
        std::fs::create_dir_all(dir.path().join("project")).unwrap();
        let store = Store::open(OpenOptions {
            path: dir.path().join("state/state.db"),
            backups: dir.path().join("state/backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        })
        .unwrap();
        store.create_session(SessionRow { id: "s".to_owned(), ..SessionRow::default() }).unwrap();
        Self { dir, store }
    }

    fn desk(&self) -> Desk<'_> {
        Desk {
            store: &self.store,
            home: None,
            state: self.dir.path().join("state"),
            names: vec!["AGENTS.md".to_owned()],
        }
    }

    fn put(&self, text: &str) {
        std::fs::write(self.dir.path().join("project/AGENTS.md"), text).unwrap();
    }

    fn plan(&self, message: &str, order: Option<InstructionOrder>) -> Plan {
        let wanted = Wanted {
            workspace: self.dir.path().join("project"),
            transcript: "s".to_owned(),
            message_id: message.to_owned(),
            order,
            window: 200_000,
            environment: None,
        };
        self.desk().plan(&wanted, Lang::En).unwrap()
    }

    /// What goes before a message and is kept with it, and what is told.
    fn go(&self, message: &str, order: Option<InstructionOrder>) -> (Option<String>, Vec<&'static str>) {
        let Plan::Go { block, notices } = self.plan(message, order) else { panic!("it asks") };
        let codes = notices.iter().map(|notice| notice.code).collect();
        let text = block.as_ref().map(|block| block.text.clone());
        if let Some(block) = block {
            self.said(message);
            self.store.keep_message_block(&block).unwrap();
        }
        (text, codes)
    }

    fn said(&self, message: &str) {
        let row = MessageRow {
            id: message.to_owned(),
            session_id: "s".to_owned(),
            role: chatos_wire::MessageRole::User,
            ..MessageRow::default()
        };
        self.store.append_message(NewMessage { row, ..NewMessage::default() }).unwrap();
    }

    fn decide(&self, word: Option<InstructionConsent>) {
        self.desk().decide(&self.dir.path().join("project"), word, "page").unwrap();
    }
}

#[test]
fn a_project_without_files_asks_nothing() {
    let room = Room::new();
    assert_eq!(room.go("1", Some(InstructionOrder::Ask)), (None, Vec::new()));
    assert_eq!(room.go("1", None), (None, Vec::new()));
}

#[test]
fn a_person_is_asked_once_and_nobody_else_ever() {
    let room = Room::new();
    room.put("be kind");
    assert_eq!(room.go("1", None), (None, vec!["instructions_not_used"]));
    assert_eq!(room.go("1", Some(InstructionOrder::Skip)), (None, Vec::new()));
    let Plan::Ask { ask, show, .. } = room.plan("1", Some(InstructionOrder::Ask)) else { panic!() };
    assert!(ask["message"].as_str().unwrap().starts_with("`AGENTS.md` (7 bytes)"), "{ask}");
    assert!(!ask.to_string().contains("be kind") && show.to_string().contains("be kind"));
    assert_eq!((ask["options"].as_array().unwrap().len(), show["options"].as_array().unwrap().len()), (3, 2));
    room.decide(Some(InstructionConsent::Skip));
    assert_eq!(room.go("1", Some(InstructionOrder::Ask)), (None, Vec::new()));
    room.decide(None);
    assert!(matches!(room.plan("1", Some(InstructionOrder::Ask)), Plan::Ask { .. }));
}

#[test]
fn texts_go_with_the_first_message_and_again_when_they_changed() {
    let room = Room::new();
    room.put("be kind");
    room.decide(Some(InstructionConsent::Use));
    let (first, told) = room.go("1", None);
    assert!(first.unwrap().contains("be kind") && told.is_empty());
    assert_eq!(room.go("2", None), (None, Vec::new()));
    room.put("be brief");
    let (again, told) = room.go("3", None);
    let again = again.unwrap();
    assert!(again.contains("be brief") && again.contains("take the place"), "{again}");
    assert_eq!(told, ["instructions_changed"]);
    assert_eq!(room.go("4", None), (None, Vec::new()));
    room.decide(Some(InstructionConsent::Skip));
    assert_eq!(room.go("5", None).0.as_deref(), Some(WITHDRAWN));
    assert_eq!(room.go("6", None), (None, Vec::new()));
    room.decide(Some(InstructionConsent::Use));
    assert!(room.go("7", None).0.unwrap().contains("be brief"));
    let view = room.desk().view(&room.dir.path().join("project"), Some("s"), Lang::En).unwrap();
    assert_eq!(view.consent, Some(InstructionConsent::Use));
    assert!(view.text.contains("be brief") && view.sent.contains("be brief"));
    assert_eq!((view.files.len(), view.files[0].sent), (1, 8));
}

#[test]
fn the_word_of_one_message_decides_for_that_message_alone() {
    let room = Room::new();
    room.put("be kind");
    assert!(room.go("1", Some(InstructionOrder::Use)).0.is_some());
    assert!(room.desk().view(&room.dir.path().join("project"), None, Lang::En).unwrap().consent.is_none());
    assert!(room.desk().decide(Path::new("/"), None, "page").is_err());
}

#[test]
fn the_persons_own_text_needs_no_word() {
    let room = Room::new();
    std::fs::write(room.dir.path().join("state/AGENTS.md"), "mine").unwrap();
    assert!(room.go("1", None).0.unwrap().contains("mine"));
}

#[test]
fn the_environment_is_told_again_only_when_it_changed_and_hides_no_text_of_the_project() {
    let room = Room::new();
    room.put("rule one");
    let told = |message: &str, environment: &str| {
        let wanted = Wanted {
            workspace: room.dir.path().join("project"),
            transcript: "s".to_owned(),
            message_id: message.to_owned(),
            order: Some(InstructionOrder::Use),
            window: 200_000,
            environment: Some(environment.to_owned()),
        };
        let Plan::Go { block, .. } = room.desk().plan(&wanted, Lang::En).unwrap() else { panic!("it asks") };
        if let Some(block) = &block {
            room.said(message);
            room.store.keep_message_block(block).unwrap();
        }
        block.map(|block| (block.environment, block.text.contains("rule one")))
    };
    assert_eq!(told("m1", "monday"), Some(("monday".to_owned(), true)));
    assert_eq!(told("m2", "monday"), None);
    assert_eq!(told("m3", "tuesday"), Some(("tuesday".to_owned(), false)));
    assert_eq!(told("m4", "tuesday"), None);
    let blocks = room.store.message_blocks("s").unwrap();
    let first = blocks.iter().find(|(id, _)| id == "m1").unwrap();
    assert!(first.1.starts_with("monday\n\n[instructions]"), "{}", first.1);
    assert_eq!(room.store.newest_block("s").unwrap().unwrap().message_id, "m1");
}
