//! What goes wrong with plugins, as the one error object.

use chatos_manifest::Problem;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Value, json};

use crate::package::{PackageCode, PackageError};
use crate::registry::TrustError;

/// `chatos-manifest` has its own language type, because it imports nothing of ours.
pub fn manifest_lang(lang: Lang) -> chatos_manifest::Lang {
    match lang {
        Lang::En => chatos_manifest::Lang::En,
        Lang::Zh => chatos_manifest::Lang::Zh,
    }
}

fn text(text: &chatos_manifest::Text) -> Text {
    Text::new(text.en.clone(), text.zh.clone())
}

/// Problems as their documented JSON, in one language.
pub fn problems_json(problems: &[Problem], lang: Lang) -> Vec<Value> {
    let lang = manifest_lang(lang);
    problems.iter().filter_map(|problem| serde_json::to_value(problem.view(lang)).ok()).collect()
}

/// A refused package or a failed install or removal.
pub fn package_fault(error: &PackageError, lang: Lang, log_id: Option<&str>) -> Fault {
    let class = match error.code {
        PackageCode::NotFound => ErrorCode::NotFound,
        PackageCode::PermissionDenied | PackageCode::BuiltinNotRemovable => ErrorCode::PermissionDenied,
        PackageCode::ResourceExhausted => ErrorCode::ResourceExhausted,
        PackageCode::Conflict | PackageCode::IdCaseConflict | PackageCode::DirectoryTaken => {
            ErrorCode::Conflict
        }
        PackageCode::Canceled => ErrorCode::Canceled,
        PackageCode::Unavailable => ErrorCode::Unavailable,
        _ => ErrorCode::InvalidArgument,
    };
    let hint = |lang| error.hint(lang).to_owned();
    let mut details = json!({});
    if let Some(entry) = &error.entry {
        details["entry"] = json!(entry);
    }
    if !error.problems.is_empty() {
        details["errors"] = Value::from(problems_json(&error.problems, lang));
    }
    if let Some(log_id) = log_id {
        details["logId"] = json!(log_id);
    }
    let fault = Fault::new(class, text(&error.message))
        .code(error.code.as_str())
        .hint(Text::new(hint(chatos_manifest::Lang::En), hint(chatos_manifest::Lang::Zh)));
    if details.as_object().is_some_and(serde_json::Map::is_empty) { fault } else { fault.details(details) }
}

impl From<TrustError> for Fault {
    /// Trust was not given or taken.
    fn from(error: TrustError) -> Self {
        match &error {
            TrustError::NotFound(id) => no_plugin(id.as_str()),
            TrustError::NotNeeded { id, origin } => Self::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("plugin {id} is {}; it needs no decision", origin.as_str()),
                    format!("插件 {id} 的来源是 {}；无需决定是否信任", origin.as_str()),
                ),
            )
            .code("trust_not_needed"),
            TrustError::Mismatch { id, expected, found } => Self::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("plugin {id} is not what was shown: expected {expected}, found {found}"),
                    format!("插件 {id} 与所展示的内容不同：预期 {expected}，实际 {found}"),
                ),
            )
            .hint(Text::fixed("look at it again, then decide", "请重新查看后再决定"))
            .details(json!({ "expected": expected.as_str(), "found": found.as_str() })),
            TrustError::Io { id, source } => Self::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("the files of plugin {id} cannot be read"),
                    format!("无法读取插件 {id} 的文件"),
                ),
            )
            .code("plugin_unreadable")
            .caused_by(source),
            TrustError::Store(error) => Self::new(
                ErrorCode::Unavailable,
                Text::fixed("the trust record cannot be written", "无法写入信任记录"),
            )
            .code("trust_unwritable")
            .caused_by(error),
        }
    }
}

/// No plugin has this id.
pub fn no_plugin(id: &str) -> Fault {
    let shown = chatos_manifest::quote(id);
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("no plugin has the id {shown}"), format!("没有 id 为 {shown} 的插件")),
    )
    .hint(Text::fixed("`chatos plugin list` shows all plugins", "`chatos plugin list` 会列出全部插件"))
}

/// No app has this name.
pub(crate) fn no_app(key: &str) -> Fault {
    let shown = chatos_manifest::quote(key);
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("no app is called {shown}"), format!("没有名为 {shown} 的应用")),
    )
    .hint(Text::fixed(
        "an app is named PLUGIN.APP, as in com.example.tools.hello",
        "应用的写法是 插件.应用，例如 com.example.tools.hello",
    ))
}

/// Two apps have this name; none of them is guessed.
pub(crate) fn two_apps(key: &str, names: Vec<String>) -> Fault {
    let shown = chatos_manifest::quote(key);
    let fault = Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("{shown} is the name of {} apps", names.len()),
            format!("有 {} 个应用名为 {shown}", names.len()),
        ),
    );
    fault
        .code("app_ambiguous")
        .hint(Text::new(
            format!("write a slash between plugin and app: {}", names.join(", ")),
            format!("请在插件与应用之间写斜杠：{}", names.join("、")),
        ))
        .details(serde_json::json!({ "apps": names }))
}

/// The plugin may not be used.
pub(crate) fn not_trusted(id: &str) -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(format!("Plugin {id} is not trusted"), format!("插件 {id} 未被信任")),
    )
    .hint(Text::new(
        format!("look at it and decide: `chatos plugin trust {id}`"),
        format!("请查看后决定：`chatos plugin trust {id}`"),
    ))
}

/// Its files keep changing, so there is nothing to decide about.
pub(crate) fn unsettled(id: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("the files of plugin {id} are being changed right now"),
            format!("插件 {id} 的文件正在被修改"),
        ),
    )
    .hint(Text::fixed("wait until that is over, then look again", "请等待修改结束后再查看"))
}

/// It would connect to addresses of this computer or network, and nobody said that it may.
pub fn inside_network(id: &str, addresses: &[String]) -> Fault {
    let shown: Vec<String> = addresses.iter().map(|url| chatos_manifest::quote(url)).collect();
    let list = shown.join(", ");
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(
            format!("plugin {id} connects to addresses inside this computer or network: {list}"),
            format!("插件 {id} 会连接本机或内网地址：{list}"),
        ),
    )
    .code("inside_network")
    .hint(Text::fixed(
        "if it may, tick that on the trust sheet, or add --allow-inside-network",
        "如果允许，请在信任页勾选，或加上 --allow-inside-network",
    ))
    .details(json!({ "addresses": addresses }))
}
