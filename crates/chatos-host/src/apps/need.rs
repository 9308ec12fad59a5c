//! Apps whose front end is needed while nobody looks at them: the page keeps them mounted, hidden
//! (host-api §3).

use std::sync::Arc;

use chatos_manifest::{AppId, PluginId};
use chatos_wire::event::{AppNeeded, AppReleased, HostEvent};

use crate::host::Host;

/// Somebody needs an app. The page may let it go when this is dropped.
pub struct AppNeed {
    host: Arc<Host>,
    key: (PluginId, AppId),
}

impl Host {
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
