//! Apps whose front end is needed while nobody looks at them: the page keeps them mounted, hidden
//! (host-api §3).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chatos_manifest::{AppId, PluginId};
use chatos_tool::Text;
use chatos_wire::event::{AppNeeded, AppReleased, HostEvent};

use super::AppDesk;
use crate::host::Host;

/// Somebody needs an app. The page may let it go when this is dropped.
pub struct AppNeed {
    host: Arc<Host>,
    key: (PluginId, AppId),
}

/// A page in a browser follows this host, until this is dropped.
pub struct OpenPage(Arc<AtomicUsize>);

impl AppDesk {
    /// A page is there that can mount apps.
    pub fn page_opened(&self) -> OpenPage {
        self.pages.fetch_add(1, Ordering::SeqCst);
        OpenPage(Arc::clone(&self.pages))
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Host {
    /// What to tell somebody who waits for an app that no page can mount now.
    pub(crate) fn page_wanted(&self, plugin_id: &str, app_id: &str) -> Option<Text> {
        if self.apps().pages.load(Ordering::SeqCst) > 0 {
            return None;
        }
        let name = self.app_name(plugin_id, app_id);
        Some(Text::new(
            format!("waiting for the page of {name}: open ChatOS"),
            format!("正在等待“{name}”的页面：请打开 ChatOS"),
        ))
    }

    /// Tells the page to keep an app mounted; `reason` such as `async_task`. Several may need one app.
    pub fn need_app(
        self: &Arc<Self>,
        plugin: &PluginId,
        app: &AppId,
        reason: &str,
        call_id: &str,
    ) -> AppNeed {
        let key = (plugin.clone(), app.clone());
        *self.apps().needed().entry(key.clone()).or_insert(0) += 1;
        self.events().publish(HostEvent::AppNeeded(AppNeeded {
            plugin_id: plugin.to_string(),
            app_id: app.to_string(),
            reason: reason.to_owned(),
            call_id: call_id.to_owned(),
        }));
        AppNeed { host: Arc::clone(self), key }
    }

    /// Apps that are needed now: for a page that comes later.
    pub fn needed_apps(&self) -> Vec<(String, String)> {
        let needed = self.apps().needed();
        needed.keys().map(|(plugin, app)| (plugin.to_string(), app.to_string())).collect()
    }
}

impl Drop for AppNeed {
    fn drop(&mut self) {
        let mut needed = self.host.apps().needed();
        let last = match needed.get_mut(&self.key) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => needed.remove(&self.key).is_some(),
        };
        drop(needed);
        if last {
            let (plugin_id, app_id) = (self.key.0.to_string(), self.key.1.to_string());
            self.host.events().publish(HostEvent::AppReleased(AppReleased { plugin_id, app_id }));
        }
    }
}
