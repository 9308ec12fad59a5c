//! What a person should know about this start, kept for the status and told when it comes.

use std::sync::{Arc, PoisonError, RwLock};

use chatos_tool::Text;
use chatos_wire::Severity;
use chatos_wire::event::{HostEvent, HostNotice};

use crate::stream::Events;

/// Something a person should know about this start.
#[derive(Debug, Clone)]
pub struct Notice {
    /// Names the kind of notice and never changes.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    pub message: Text,
    /// What the person can do about it.
    pub hint: Option<Text>,
}

/// The notices of this start. Clones are the same list.
#[derive(Clone)]
pub struct Notices {
    events: Events,
    all: Arc<RwLock<Vec<Notice>>>,
}

impl Notices {
    /// None yet; each is published on the stream when it comes.
    pub fn new(events: Events) -> Self {
        Self { events, all: Arc::default() }
    }

    /// Keeps a notice and publishes it.
    pub fn add(&self, notice: Notice) {
        let told = HostNotice {
            code: notice.code.clone(),
            severity: notice.severity,
            message: notice.message.en.to_string(),
        };
        self.all.write().unwrap_or_else(PoisonError::into_inner).push(notice);
        self.events.publish(HostEvent::Notice(told));
    }

    /// Adds one of a kind that may come again and again: the newest stands for all of its code.
    pub fn replace(&self, notice: Notice) {
        self.all.write().unwrap_or_else(PoisonError::into_inner).retain(|known| known.code != notice.code);
        self.add(notice);
    }

    /// All notices of this start, oldest first.
    pub fn list(&self) -> Vec<Notice> {
        self.all.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_notice_is_kept_and_told_and_the_newest_of_a_kind_stands_for_all() {
        let events = Events::new(0);
        let mut heard = events.subscribe(None);
        let notices = Notices::new(events);
        let notice = |code: &str, text: &'static str| Notice {
            code: code.to_owned(),
            severity: Severity::Warning,
            message: Text::fixed(text, text),
            hint: None,
        };
        notices.add(notice("a", "one"));
        notices.replace(notice("b", "two"));
        notices.replace(notice("b", "three"));
        let kept: Vec<String> = notices.list().iter().map(|notice| notice.message.en.to_string()).collect();
        assert_eq!(kept, ["one", "three"]);
        let first = heard.next().await.unwrap().text;
        assert!(
            first.contains(r#""topic":"host","type":"notice","data":{"code":"a","severity":"warning""#),
            "{first}"
        );
    }
}
