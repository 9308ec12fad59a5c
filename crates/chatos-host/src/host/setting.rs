//! A person stores a setting or goes back to its default: audited where it weakens safety, told to everybody.

use chatos_settings::{find_setting, unknown_setting};
use chatos_tool::Fault;
use chatos_wire::event::{ChangedSetting, HostEvent};
use serde_json::{Map, Value};

use super::Host;

impl Host {
    /// Stores a setting, audits it where it weakens safety, tells everybody.
    pub fn set_setting(&self, key: &str, value: &Value, by: &str) -> Result<(), Fault> {
        let spec = find_setting(key).ok_or_else(|| unknown_setting(key))?;
        self.store.set_setting(&self.settings, key, value, by).map_err(|e| e.fault(key))?;
        if spec.weakens_with(value) {
            let mut fields = Map::new();
            fields.insert("key".to_owned(), Value::from(key));
            fields.insert("by".to_owned(), Value::from(by));
            self.audit("setting_weakened", fields);
        }
        self.setting_changed(key);
        Ok(())
    }

    fn setting_changed(&self, key: &str) {
        if key == chatos_servers::SYNC_SETTING {
            self.server_home().parts().sync_setting_changed();
        }
        self.events.publish(HostEvent::SettingsChanged(ChangedSetting { key: Some(key.to_owned()) }));
    }

    /// Goes back to the default of a setting.
    pub fn reset_setting(&self, key: &str) -> Result<(), Fault> {
        find_setting(key).ok_or_else(|| unknown_setting(key))?;
        self.store.reset_setting(&self.settings, key)?;
        self.setting_changed(key);
        Ok(())
    }
}
