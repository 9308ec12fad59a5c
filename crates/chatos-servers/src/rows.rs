//! Servers a person adds, changes and removes.

use chatos_contribution::{ServerIdentity, cmd_url};
use chatos_mcp::{Addresses, Endpoint};
use chatos_store::{ServerRow, ServerSource, StoreErrorKind};
use chatos_tool::names::{Noun, unknown};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::event::{ChangedId, HostEvent};
use chatos_wire::server::{AuthInput, OauthInput, ServerInput, ServerView};
use serde_json::{Map, Value, json};

use crate::auth::{StoredAuth, StoredOauth};
use crate::catalogue::{self, ServerRecord};
use crate::pins::failed;
use crate::servers::Servers;

const NAME_CHARS: usize = 120;
const TEXT_CHARS: usize = 4_000;
const ROOTS: usize = 32;
const TIMES: std::ops::RangeInclusive<u64> = 1_000..=86_400_000;
const START_TIMES: std::ops::RangeInclusive<u64> = 1_000..=600_000;

impl Servers {
    /// A person adds a server.
    pub async fn add_own(&self, input: ServerInput, lang: Lang) -> Result<ServerView, Fault> {
        self.add(input, ServerSource::User, lang).await
    }

    /// Adds a server.
    pub(crate) async fn add(
        &self,
        input: ServerInput,
        source: ServerSource,
        lang: Lang,
    ) -> Result<ServerView, Fault> {
        let id = uuid::Uuid::now_v7().to_string();
        let row = ServerRow {
            id: id.clone(),
            name: String::new(),
            url: String::new(),
            transport: String::new(),
            description: String::new(),
            enabled: true,
            locked: false,
            allow_main: true,
            allow_sub: true,
            timeout_ms: None,
            max_timeout_ms: None,
            start_timeout_ms: None,
            call_meta: None,
            auth_sealed: None,
            source,
            plugin_id: String::new(),
            app_id: String::new(),
            cwd: String::new(),
            allow_private: false,
            roots: Vec::new(),
            tags: Vec::new(),
            created_at: 0,
            updated_at: 0,
        };
        {
            let _alone = self.inner().editing.lock().await;
            self.save(row, input).await?;
        }
        let parts = self.parts();
        let view = self.show(&id, lang).await?;
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(id));
        fields.insert("name".to_owned(), json!(view.name));
        fields.insert("transport".to_owned(), json!(view.transport));
        parts.audit.note("server_added", fields);
        parts.events.publish(HostEvent::ServerChanged(ChangedId { id: id.clone() }));
        Ok(view)
    }

    /// Changes a server. Of a built-in one only whether it is enabled.
    pub async fn edit(&self, id: &str, input: ServerInput, lang: Lang) -> Result<ServerView, Fault> {
        let (id, private) = {
            let _alone = self.inner().editing.lock().await;
            let row = self.own_row(id, &input).await?;
            let known = (row.id.clone(), row.allow_private);
            self.save(row, input).await?;
            known
        };
        let parts = self.parts();
        parts.events.publish(HostEvent::ServerChanged(ChangedId { id: id.clone() }));
        let view = self.show(&id, lang).await?;
        let identity = ServerIdentity::admin(&id);
        self.forget_elsewhere(identity.as_str().to_owned(), view.url.clone(), private).await;
        if !view.enabled || !view.sign_in.possible {
            self.inner().answered_otherwise(identity.as_str()).await;
        }
        Ok(view)
    }

    async fn own_row(&self, id: &str, input: &ServerInput) -> Result<ServerRow, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let known = catalogue.wanted(id)?;
        if known.is_built_in() && !only_enabled(input) {
            return Err(locked(known));
        }
        if known.source == ServerSource::App {
            return Err(of_an_app(known));
        }
        let (parts, row_id) = (self.parts(), known.id.clone());
        let row = chatos_blocking::run(move || parts.store.mcp_server(&row_id)).await;
        let row = row.map_err(|error| failed(&error))??;
        row.ok_or_else(|| unknown(Noun::SERVER, id, None))
    }

    /// Removes a server and ends its process.
    pub async fn remove(&self, id: &str) -> Result<(), Fault> {
        let alone = self.inner().editing.lock().await;
        let catalogue = self.inner().catalogue().await?;
        // By its whole name: what is gone is gone.
        let known = catalogue.find(id).ok_or_else(|| unknown(Noun::SERVER, id, None))?;
        let known = std::sync::Arc::clone(known);
        if known.is_built_in() {
            return Err(locked(&known));
        }
        if known.source == ServerSource::App {
            return Err(of_an_app(&known));
        }
        self.forget_sign_in(&known).await;
        self.inner().answered_otherwise(known.identity().as_str()).await;
        let (parts, row_id) = (self.parts(), known.id.clone());
        let gone = chatos_blocking::run(move || parts.store.remove_mcp_server(&row_id)).await;
        gone.map_err(|error| failed(&error))??;
        drop(alone);
        if let Some(key) = known.key() {
            self.pool().remove(key).await;
            self.inner().logs.forget(key.as_str());
        }
        self.changed();
        let parts = self.parts();
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(known.id));
        fields.insert("name".to_owned(), json!(known.name()));
        parts.audit.note("server_removed", fields);
        parts.events.publish(HostEvent::ServerRemoved(ChangedId { id: known.id.clone() }));
        Ok(())
    }

    async fn save(&self, row: ServerRow, input: ServerInput) -> Result<(), Fault> {
        let parts = self.parts();
        let catalogue = self.inner().catalogue().await?;
        let wanted = input.name.as_deref().map(str::trim).unwrap_or(&row.name).to_owned();
        let taken = catalogue
            .servers
            .iter()
            .any(|known| known.id != row.id && known.name().eq_ignore_ascii_case(&wanted));
        if taken {
            return Err(name_taken(&wanted));
        }
        let work = chatos_blocking::run(move || {
            let stored = parts.open_auth(&row.id, row.auth_sealed.as_deref()).unwrap_or_default();
            let (row, auth) = merge(row, stored, input)?;
            check_address(&row, &auth)?;
            let mut row = row;
            row.auth_sealed = parts.seal_auth(&row.id, &auth)?;
            let name = row.name.clone();
            parts.store.put_mcp_server(row).map_err(|error| match error.kind {
                StoreErrorKind::Conflict => name_taken(&name),
                _ => Fault::from(error),
            })
        });
        work.await.map_err(|error| failed(&error))??;
        self.changed();
        Ok(())
    }
}

fn only_enabled(input: &ServerInput) -> bool {
    let ServerInput {
        name: None,
        url: None,
        argv: None,
        description: None,
        enabled: _,
        allow_main: None,
        allow_sub: None,
        timeout_ms: None,
        max_timeout_ms: None,
        start_timeout_ms: None,
        call_meta: None,
        cwd: None,
        allow_private: None,
        roots: None,
        tags: None,
        auth: None,
        env: None,
        oauth: None,
    } = input
    else {
        return false;
    };
    true
}

/// Puts what was given over what was there; every problem at once.
fn merge(
    mut row: ServerRow,
    mut auth: StoredAuth,
    input: ServerInput,
) -> Result<(ServerRow, StoredAuth), Fault> {
    let mut problems: Vec<(&'static str, Text)> = Vec::new();
    let mut wrong =
        |path: &'static str, en: &'static str, zh: &'static str| problems.push((path, Text::fixed(en, zh)));
    if let Some(name) = input.name {
        row.name = name.trim().to_owned();
    }
    if row.name.is_empty() || row.name.chars().count() > NAME_CHARS || row.name.chars().any(char::is_control)
    {
        wrong("/name", "1 to 120 printable characters", "1 到 120 个可打印字符");
    }
    if row.name.contains(['/', ':']) {
        wrong("/name", "no `/` and no `:`, which identities use", "不能包含 `/` 与 `:`，它们用于标识");
    }
    if let Some(argv) = input.argv {
        match cmd_url::build(&argv) {
            Ok(url) => row.url = url,
            Err(_) => wrong("/argv", "a program and its words without NUL", "程序及其参数，不含 NUL"),
        }
    } else if let Some(url) = input.url {
        row.url = url.trim().to_owned();
    }
    if row.url.is_empty() && !row.locked {
        wrong("/url", "an address or a program is needed", "需要地址或程序");
    }
    if let Some(text) = input.description {
        if text.chars().count() > TEXT_CHARS {
            wrong("/description", "at most 4,000 characters", "最多 4000 个字符");
        }
        row.description = text;
    }
    row.enabled = input.enabled.unwrap_or(row.enabled);
    row.allow_main = input.allow_main.unwrap_or(row.allow_main);
    row.allow_sub = input.allow_sub.unwrap_or(row.allow_sub);
    row.allow_private = input.allow_private.unwrap_or(row.allow_private);
    for (path, given, kept) in [
        ("/timeoutMs", input.timeout_ms, &mut row.timeout_ms),
        ("/maxTimeoutMs", input.max_timeout_ms, &mut row.max_timeout_ms),
    ] {
        match given {
            None => {}
            Some(None) => *kept = None,
            Some(Some(ms)) if TIMES.contains(&ms) => *kept = i64::try_from(ms).ok(),
            Some(Some(_)) => wrong(path, "1,000 to 86,400,000 milliseconds", "1000 到 86400000 毫秒"),
        }
    }
    match input.start_timeout_ms {
        None => {}
        Some(None) => row.start_timeout_ms = None,
        Some(Some(ms)) if START_TIMES.contains(&ms) => row.start_timeout_ms = i64::try_from(ms).ok(),
        Some(Some(_)) => wrong("/startTimeoutMs", "1,000 to 600,000 milliseconds", "1000 到 600000 毫秒"),
    }
    match input.call_meta {
        None => {}
        Some(None) => row.call_meta = None,
        Some(Some(value)) => match catalogue::read_call_meta(&value) {
            Ok(_) => row.call_meta = Some(value.to_string()),
            Err(reason) => problems.push((
                "/callMeta",
                Text::new(format!("it cannot be used: {reason}"), format!("无法使用：{reason}")),
            )),
        },
    }
    if let Some(cwd) = input.cwd {
        let cwd = cwd.trim();
        if !cwd.is_empty() && !std::path::Path::new(cwd).is_absolute() {
            problems.push(("/cwd", Text::fixed("an absolute path", "需要绝对路径")));
        }
        cwd.clone_into(&mut row.cwd);
    }
    if let Some(roots) = input.roots {
        row.roots = roots.iter().map(|root| root.trim().to_owned()).filter(|root| !root.is_empty()).collect();
        let is_folder = |root: &String| {
            let path = std::path::Path::new(root);
            path.is_absolute() && path.is_dir()
        };
        if row.roots.len() > ROOTS || !row.roots.iter().all(is_folder) {
            problems.push((
                "/roots",
                Text::fixed(
                    "absolute paths of existing folders, at most 32",
                    "需要已存在文件夹的绝对路径，最多 32 个",
                ),
            ));
        }
    }
    if let Some(tags) = input.tags {
        row.tags = tags.into_iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
        if row.tags.len() > 50 || row.tags.iter().any(|tag| tag.len() > 100 || tag.starts_with("uiapp")) {
            problems.push((
                "/tags",
                Text::fixed(
                    "at most 50, none of them of an app (`uiapp…`)",
                    "最多 50 个，且不能是应用标签（`uiapp…`）",
                ),
            ));
        }
    }
    merge_auth(&mut auth, input.auth, &mut problems);
    if let Some(given) = input.oauth {
        merge_oauth(&mut auth.oauth, given.unwrap_or_else(nothing), &mut problems);
    }
    if let Some(env) = input.env {
        let kept = std::mem::take(&mut auth.env);
        for (name, value) in env {
            let good = !name.is_empty() && !name.contains(['=', '\0']) && !name.starts_with("LD_");
            if !good || value.as_deref().is_some_and(|value| value.contains('\0')) {
                problems.push((
                    "/env",
                    Text::new(format!("`{name}` cannot be a variable"), format!("`{name}` 不能作为变量")),
                ));
            }
            let old = kept.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
            if let Some(value) = value.or(old) {
                auth.env.push((name, value));
            }
        }
    }
    if problems.is_empty() { Ok((row, auth)) } else { Err(invalid(&problems)) }
}

fn merge_auth(auth: &mut StoredAuth, input: Option<AuthInput>, problems: &mut Vec<(&'static str, Text)>) {
    let Some(input) = input else { return };
    let kept = std::mem::take(auth);
    auth.env.clone_from(&kept.env);
    auth.oauth = kept.oauth;
    match input.kind.as_str() {
        "" | "none" => return,
        "token" => auth.token = input.token.or(kept.token).filter(|token| !token.is_empty()),
        "basic" => {
            auth.username = input.username.or(kept.username);
            auth.password = input.password.or(kept.password);
        }
        "headers" => {}
        _ => problems.push((
            "/auth/kind",
            Text::fixed("none, token, basic or headers", "none、token、basic 或 headers"),
        )),
    }
    match input.headers {
        None => auth.headers = kept.headers,
        Some(headers) => {
            for (name, value) in headers {
                let old = kept.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
                if let Some(value) = value.or_else(|| old.map(|(_, value)| value.clone())) {
                    auth.headers.push((name, value));
                }
            }
        }
    }
    let missing = match input.kind.as_str() {
        "token" => auth.token.is_none(),
        "basic" => auth.username.is_none(),
        "headers" => auth.headers.is_empty(),
        _ => false,
    };
    if missing {
        problems.push(("/auth", Text::fixed("a value is needed", "需要填写值")));
    }
}

/// What takes everything away.
fn nothing() -> OauthInput {
    OauthInput {
        client_id: Some(String::new()),
        client_secret: Some(String::new()),
        scopes: Some(Vec::new()),
    }
}

fn merge_oauth(oauth: &mut StoredOauth, input: OauthInput, problems: &mut Vec<(&'static str, Text)>) {
    let printable =
        |text: &str, most: usize| text.len() <= most && text.bytes().all(|b| matches!(b, 32..=126));
    if let Some(id) = input.client_id {
        oauth.client_id = Some(id.trim().to_owned()).filter(|id| !id.is_empty());
    }
    if let Some(secret) = input.client_secret {
        oauth.client_secret = Some(secret).filter(|secret| !secret.is_empty());
    }
    if let Some(scopes) = input.scopes {
        oauth.scopes =
            scopes.iter().flat_map(|scope| scope.split_ascii_whitespace()).map(str::to_owned).collect();
    }
    if oauth.client_id.as_deref().is_some_and(|id| !printable(id, 1_024)) {
        problems.push(("/oauth/clientId", Text::fixed("printable ASCII characters", "可打印的 ASCII 字符")));
    }
    if oauth.client_secret.as_deref().is_some_and(|secret| !printable(secret, 4_096)) {
        problems
            .push(("/oauth/clientSecret", Text::fixed("printable ASCII characters", "可打印的 ASCII 字符")));
    }
    if oauth.client_secret.is_some() && oauth.client_id.is_none() {
        problems.push((
            "/oauth/clientId",
            Text::fixed("a secret belongs to a client id", "密钥需要对应的客户端 id"),
        ));
    }
    if oauth.scopes.len() > 100 || oauth.scopes.iter().any(|scope| !printable(scope, 300)) {
        problems.push(("/oauth/scopes", Text::fixed("at most 100 words of ASCII", "最多 100 个 ASCII 词")));
    }
}

/// The address is checked before it is kept, so that a typo is found by who made it.
fn check_address(row: &ServerRow, auth: &StoredAuth) -> Result<(), Fault> {
    if row.locked {
        return Ok(());
    }
    if row.url.starts_with("cmd://") {
        return match cmd_url::parse(&row.url) {
            Ok(_) => Ok(()),
            Err(error) => {
                let text = error.message();
                Err(invalid(&[("/url", Text::new(text.en.clone(), text.zh.clone()))]))
            }
        };
    }
    let addresses = if row.allow_private { Addresses::Private } else { Addresses::Public };
    Endpoint::remote(&row.url, &auth.for_client(), addresses)
        .map(drop)
        .map_err(|error| invalid(&[("/url", Text::same(error.to_string()))]).hint(Text::same(error.hint())))
}

fn invalid(problems: &[(&'static str, Text)]) -> Fault {
    let list: Vec<Value> = problems
        .iter()
        .map(|(path, text)| json!({ "path": path, "message": text.en, "messageZh": text.zh }))
        .collect();
    let joined = |pick: fn(&Text) -> &str| {
        let parts: Vec<String> =
            problems.iter().map(|(path, text)| format!("{path}: {}", pick(text))).collect();
        parts.join("; ")
    };
    Fault::new(ErrorCode::InvalidArgument, Text::new(joined(|text| &text.en), joined(|text| &text.zh)))
        .details(json!({ "errors": list }))
}

fn name_taken(name: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(format!("another server is called `{name}`"), format!("已有名为 `{name}` 的服务器")),
    )
    .code("name_taken")
    .hint(Text::fixed("choose another name", "请换一个名称"))
}

fn locked(known: &ServerRecord) -> Fault {
    let name = known.name();
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(
            format!("`{name}` is built in; it can be enabled or disabled, nothing else"),
            format!("`{name}` 为内置服务器；只能启用或禁用"),
        ),
    )
    .code("server_locked")
}

fn of_an_app(known: &ServerRecord) -> Fault {
    let (name, plugin) = (known.name(), known.plugin_id.as_deref().unwrap_or_default());
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(
            format!("`{name}` belongs to the plugin `{plugin}`, which says what it is"),
            format!("`{name}` 属于插件 `{plugin}`，由插件定义"),
        ),
    )
    .code("server_of_app")
    .hint(Text::new(
        format!("take the trust back (`chatos plugin untrust {plugin}`) or remove the plugin"),
        format!("可以取消信任（`chatos plugin untrust {plugin}`）或移除插件"),
    ))
}
