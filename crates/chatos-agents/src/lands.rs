//! Making, changing, copying and removing land_configs (agents §2).

use chatos_policy::{LandConfig, LandConfigFault};
use chatos_store::StoreErrorKind;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedId, HostEvent};
use serde_json::{Map, Value, json};

use crate::agents::Agents;
use crate::fault::no_land_config;

/// Members the API gives besides the documented JSON.
const READ_ONLY: [&str; 5] = ["usedBy", "builtin", "warnings", "createdAt", "updatedAt"];

impl Agents {
    /// Agents that use a land_config: id and name.
    pub fn land_users(&self, id: &str) -> Result<Vec<(String, String)>, Fault> {
        self.0.store.agents_using(id).map_err(Fault::from)
    }

    /// Makes a land_config. Returns it with what a person should be warned of.
    pub fn create_land(&self, body: Map<String, Value>) -> Result<(LandConfig, Vec<String>), Fault> {
        let (mut land, warnings) = read(body)?;
        if land.id.is_empty() {
            land.id = format!("lc_{}", uuid::Uuid::now_v7().simple());
        } else if self.0.store.land_config(&land.id)?.is_some() {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("there is a land_config `{}` already", land.id),
                    format!("已存在 land_config `{}`", land.id),
                ),
            )
            .hint(Text::fixed("leave the id out to make a new one", "省略 id 即可新建")));
        }
        // Only the program makes locked ones.
        land.locked = false;
        self.write_land(land, warnings)
    }

    /// Replaces a land_config whole.
    pub fn update_land(
        &self,
        id: &str,
        body: Map<String, Value>,
    ) -> Result<(LandConfig, Vec<String>), Fault> {
        let before = self.land_config(id)?;
        if before.locked {
            return Err(locked(&before.name));
        }
        let (mut land, warnings) = read(body)?;
        (land.id, land.locked) = (before.id, false);
        self.write_land(land, warnings)
    }

    /// Copies a land_config, locked or not, under another name.
    pub fn copy_land(&self, id: &str, name: &str) -> Result<LandConfig, Fault> {
        let mut land = self.land_config(id)?;
        land.id = format!("lc_{}", uuid::Uuid::now_v7().simple());
        (land.name, land.locked) = (name.trim().to_owned(), false);
        let warnings = check(&land)?;
        Ok(self.write_land(land, warnings)?.0)
    }

    /// Removes a land_config nobody uses.
    pub fn remove_land(&self, id: &str) -> Result<(), Fault> {
        let land = self.land_config(id)?;
        if land.locked {
            return Err(locked(&land.name));
        }
        let users = self.land_users(id)?;
        if !users.is_empty() {
            return Err(in_use(&land.name, &users));
        }
        match self.0.store.remove_land_config(id) {
            Ok(true) => {}
            Ok(false) => return Err(no_land_config(id)),
            Err(error) if error.kind == StoreErrorKind::Conflict => {
                return Err(in_use(&land.name, &self.land_users(id)?));
            }
            Err(error) => return Err(Fault::from(error)),
        }
        self.told(id);
        Ok(())
    }

    /// Pages look again; and a server may now be told that it may ask the model, or no longer.
    pub(crate) fn told(&self, id: &str) {
        if let Some(servers) = self.0.servers.get() {
            servers.changed();
        }
        self.0.events.publish(HostEvent::LandConfigsChanged(ChangedId { id: id.to_owned() }));
    }

    fn write_land(
        &self,
        land: LandConfig,
        warnings: Vec<String>,
    ) -> Result<(LandConfig, Vec<String>), Fault> {
        let (id, name) = (land.id.clone(), land.name.clone());
        self.0.store.put_land_config(land, false).map_err(|error| match error.kind {
            StoreErrorKind::Conflict => name_taken(&name),
            _ => Fault::from(error),
        })?;
        self.told(&id);
        Ok((self.land_config(&id)?, warnings))
    }
}

/// Reads the documented JSON, and nothing else.
fn read(mut body: Map<String, Value>) -> Result<(LandConfig, Vec<String>), Fault> {
    for member in READ_ONLY {
        body.remove(member);
    }
    let mut land: LandConfig = serde_json::from_value(Value::Object(body)).map_err(|error| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("this is not a land_config: {error}"),
                format!("不是有效的 land_config：{error}"),
            ),
        )
        .details(json!({ "errors": [{ "path": "", "code": "type", "message": error.to_string() }] }))
        .hint(Text::fixed(
            "it needs `name`, `main` and `sub`; `chatos land export` shows one",
            "需要 `name`、`main` 和 `sub`；可用 `chatos land export` 查看示例",
        ))
    })?;
    land.name = land.name.trim().to_owned();
    let warnings = check(&land)?;
    Ok((land, warnings))
}

pub(crate) fn check(land: &LandConfig) -> Result<Vec<String>, Fault> {
    let (warnings, faults): (Vec<_>, Vec<_>) =
        land.faults().into_iter().partition(LandConfigFault::is_warning);
    if let Some(first) = faults.first() {
        let errors: Vec<Value> = faults
            .iter()
            .map(|fault| {
                let text = fault.to_string();
                let (path, message) = text.split_once(": ").unwrap_or(("", &text));
                json!({ "path": path, "code": "range", "message": message })
            })
            .collect();
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(first.to_string(), format!("land_config 无效：{first}")),
        )
        .details(json!({ "errors": errors })));
    }
    Ok(warnings.iter().map(ToString::to_string).collect())
}

fn locked(name: &str) -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(format!("the land_config `{name}` is locked"), format!("land_config `{name}` 已锁定")),
    )
    .code("locked")
    .hint(Text::fixed("copy it and change the copy", "请复制一份后修改副本"))
}

fn in_use(name: &str, users: &[(String, String)]) -> Fault {
    let names: Vec<&str> = users.iter().map(|(_, name)| name.as_str()).collect();
    let list: Vec<Value> = users.iter().map(|(id, name)| json!({ "id": id, "name": name })).collect();
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("the land_config `{name}` is used by {}", names.join(", ")),
            format!("land_config `{name}` 正被使用：{}", names.join("、")),
        ),
    )
    .code("in_use")
    .details(json!({ "usedBy": list }))
    .hint(Text::fixed(
        "choose another land_config for these agents first",
        "请先为这些智能体选择其他 land_config",
    ))
}

fn name_taken(name: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("another land_config is called `{name}`"),
            format!("已有名为 `{name}` 的 land_config"),
        ),
    )
    .code("name_taken")
    .hint(Text::fixed("choose another name", "请换一个名称"))
}
