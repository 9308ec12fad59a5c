//! Whether browsers keep pages of apps off the network (inbox §8.2, L1): each page of ChatOS measures its own
//! browser and says so here, the doctor repeats it. Nothing is decided by it.

use std::sync::{Mutex, PoisonError};

use chatos_events::Finding;
use chatos_tool::Text;
use chatos_wire::Severity;
use chatos_wire::app::Confinement;

use crate::apps::Apps;

/// More browsers than this are not on one person's screen.
const BROWSERS: usize = 8;

/// What a person is told who decides about an app.
fn sentence(confinement: Confinement) -> Text {
    match confinement {
        Confinement::Full => Text::fixed(
            "In this browser, its pages can’t reach the network. Data you give it can still leave through its own \
             programs or a link you open.",
            "在此浏览器中，它的页面无法访问网络；但你交给它的数据仍可能经由它自己的程序或你打开的链接流出。",
        ),
        Confinement::Partial => Text::fixed(
            "This browser can’t fully keep its pages off the network (WebRTC, DNS lookups). Only give it data \
             you would publish.",
            "此浏览器无法完全阻止它的页面联网（WebRTC、DNS 查询）。请只交给它可以公开的数据。",
        ),
    }
}

/// One browser since the host started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    browser: String,
    confinement: Confinement,
}

/// The browsers that were used since the host started.
#[derive(Default)]
pub(crate) struct Browsers(Mutex<Vec<Measured>>);

impl Browsers {
    fn measured(&self, user_agent: &str, confinement: Confinement) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let browser = browser_name(user_agent);
        all.retain(|known| known.browser != browser);
        all.push(Measured { browser, confinement });
        let extra = all.len().saturating_sub(BROWSERS);
        all.drain(..extra);
    }
}

impl Apps {
    /// A page measured the browser it is in, which calls itself this.
    pub fn measured(&self, user_agent: &str, confinement: Confinement) {
        self.0.browsers.measured(user_agent, confinement);
    }

    /// What each browser that was used since the start does with pages of apps.
    pub fn examine_browsers(&self) -> Vec<Finding> {
        let all = self.0.browsers.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let title = || Text::fixed("App pages", "应用页面");
        if all.is_empty() {
            let none = Text::fixed(
                "no browser was measured since this start; open ChatOS in yours to see whether it keeps pages of \
                 apps off the network",
                "自本次启动以来尚未检测任何浏览器；请在浏览器中打开 ChatOS，以确认它能否阻止应用页面联网",
            );
            return vec![Finding::new("app_pages_unknown", Severity::Info, title(), none)];
        }
        all.into_iter()
            .map(|Measured { browser, confinement }| {
                let said = sentence(confinement);
                let message = Text::new(format!("{browser}: {}", said.en), format!("{browser}：{}", said.zh));
                match confinement {
                    Confinement::Full => Finding::new("app_pages", Severity::Ok, title(), message),
                    Confinement::Partial => {
                        Finding::new("app_pages_partial", Severity::Warning, title(), message).action(
                            Text::fixed(
                                "use a current Chromium for apps you do not know well",
                                "对于不熟悉的应用，请使用新版 Chromium 打开",
                            ),
                        )
                    }
                }
            })
            .collect()
    }
}

/// The name and main version in what a browser calls itself.
fn browser_name(user_agent: &str) -> String {
    let known = [
        ("Firefox/", "Firefox"),
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Chrome/", "Chromium"),
        ("Version/", "Safari"),
    ];
    let found = known.iter().find_map(|(mark, name)| {
        let (_, rest) = user_agent.split_once(mark)?;
        let version: String = rest.chars().take_while(char::is_ascii_digit).take(6).collect();
        Some(format!("{name} {version}").trim_end().to_owned())
    });
    found.unwrap_or_else(|| "?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_by_name_and_version() {
        let chromium = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36";
        assert_eq!(browser_name(chromium), "Chromium 156");
        assert_eq!(browser_name(&format!("{chromium} Edg/156.0.1")), "Edge 156");
        assert_eq!(browser_name("Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0"), "Firefox 153");
        assert_eq!(browser_name("AppleWebKit/605 (KHTML, like Gecko) Version/19.1 Safari/605"), "Safari 19");
        assert_eq!(browser_name("curl/8"), "?");
    }

    #[test]
    fn the_last_measurement_of_each_browser_counts_and_no_other_hides_it() {
        let desk = Browsers::default();
        desk.measured("Firefox/153", Confinement::Partial);
        desk.measured("Chrome/156", Confinement::Partial);
        desk.measured("Chrome/156", Confinement::Full);
        for n in 0..100 {
            desk.measured(&format!("Chrome/{}", 200 + n % 6), Confinement::Full);
        }
        let all = desk.0.lock().unwrap();
        assert_eq!(all.len(), BROWSERS);
        assert_eq!(all[0], Measured { browser: "Firefox 153".to_owned(), confinement: Confinement::Partial });
        assert_eq!(all[1], Measured { browser: "Chromium 156".to_owned(), confinement: Confinement::Full });
    }
}
