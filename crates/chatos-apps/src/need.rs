//! Apps whose front end is needed while nobody looks at them: the page keeps them mounted, hidden
//! (host-api §3).

use chatos_manifest::{AppId, PluginId};
use chatos_tool::Text;
use chatos_wire::app::NeededApp;
use chatos_wire::event::{AppNeeded, AppReleased, HostEvent};
use tokio::sync::watch;

use crate::apps::Apps;

/// Somebody needs an app. The page may let it go when this is dropped.
pub struct AppNeed {
    apps: Apps,
    key: (PluginId, AppId),
    call_id: String,
}

/// A page in a browser follows this host, until this is dropped.
pub struct OpenPage(watch::Sender<usize>);

impl Apps {
    /// A page is there that can mount apps.
    pub fn page_opened(&self) -> OpenPage {
        self.0.pages.send_modify(|count| *count += 1);
        OpenPage(self.0.pages.clone())
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Apps {
    /// Whether a page can mount an app now, and what to tell somebody who waits for it.
    pub fn page_for(&self, plugin_id: &str, app_id: &str) -> (bool, Text) {
        let name = self.app_name(plugin_id, app_id);
        let open = *self.0.pages.borrow() > 0;
        let says = if open {
            Text::new(
                format!("ChatOS is open: waiting for {name}"),
                format!("ChatOS 已打开：正在等待“{name}”"),
            )
        } else {
            Text::new(
                format!("waiting for the page of {name}: open ChatOS"),
                format!("正在等待“{name}”的页面：请打开 ChatOS"),
            )
        };
        (open, says)
    }

    /// Tells how many pages follow this host, each time one comes or goes.
    pub fn pages(&self) -> watch::Receiver<usize> {
        self.0.pages.subscribe()
    }

    /// Tells the page to keep an app mounted; `reason` such as `async_task`. Several may need one app.
    pub fn need_app(&self, plugin: &PluginId, app: &AppId, reason: &str, call_id: &str) -> AppNeed {
        let key = (plugin.clone(), app.clone());
        self.needed().entry(key.clone()).or_default().push(call_id.to_owned());
        self.events().publish(HostEvent::AppNeeded(AppNeeded {
            plugin_id: plugin.to_string(),
            app_id: app.to_string(),
            reason: reason.to_owned(),
            call_id: call_id.to_owned(),
        }));
        AppNeed { apps: self.clone(), key, call_id: call_id.to_owned() }
    }

    /// Apps that are needed now: for a page that comes later.
    pub fn needed_apps(&self) -> Vec<NeededApp> {
        let needed = self.needed();
        let item = |((plugin, app), calls): (&(PluginId, AppId), &Vec<String>)| NeededApp {
            plugin_id: plugin.to_string(),
            app_id: app.to_string(),
            call_ids: calls.clone(),
        };
        needed.iter().map(item).collect()
    }
}

impl Drop for AppNeed {
    fn drop(&mut self) {
        let mut needed = self.apps.needed();
        let Some(calls) = needed.get_mut(&self.key) else { return };
        if let Some(at) = calls.iter().position(|call| *call == self.call_id) {
            calls.swap_remove(at);
        }
        let last = calls.is_empty();
        if last {
            needed.remove(&self.key);
        }
        drop(needed);
        if last {
            let (plugin_id, app_id) = (self.key.0.to_string(), self.key.1.to_string());
            self.apps.events().publish(HostEvent::AppReleased(AppReleased { plugin_id, app_id }));
        }
    }
}
