//! What goes wrong with apps, as the one error object. The English words are those of host-api §9.6.

use chatos_tool::{ErrorCode, Fault, Text};

/// No plugin has this id.
pub(crate) fn no_plugin(id: &str) -> Fault {
    let shown = chatos_manifest::visible(id);
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("Plugin not found: {shown}"), format!("没有找到插件：{shown}")),
    )
    .hint(Text::fixed("`chatos plugin list` shows all plugins", "`chatos plugin list` 会列出全部插件"))
}

/// The plugin has no such app.
pub(crate) fn no_app(plugin: &str, app: &str) -> Fault {
    let shown = chatos_manifest::visible(app);
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("App not found: {plugin}/{shown}"), format!("没有找到应用：{plugin}/{shown}")),
    )
}

/// Nobody trusted these bytes.
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

/// The app has no compact view.
pub(crate) fn no_compact(plugin: &str, app: &str) -> Fault {
    Fault::new(
        ErrorCode::NotSupported,
        Text::new(
            format!("App {plugin}/{app} only has a full view"),
            format!("应用 {plugin}/{app} 只有完整视图"),
        ),
    )
    .hint(Text::fixed("open it in full", "请以完整视图打开"))
}

/// Its files cannot be read.
pub(crate) fn unreadable(id: &str, error: &std::io::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("the files of plugin {id} cannot be read"), format!("无法读取插件 {id} 的文件")),
    )
    .code("plugin_unreadable")
    .caused_by(error)
}

/// A capability that does not exist.
pub(crate) fn unknown_capability(name: &str) -> Fault {
    let shown = chatos_manifest::quote(name);
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("there is no capability {shown}"), format!("没有名为 {shown} 的能力")),
    )
    .hint(Text::new(
        format!("one of: {}", chatos_manifest::KNOWN_CAPABILITIES.join(", ")),
        format!("可选：{}", chatos_manifest::KNOWN_CAPABILITIES.join("、")),
    ))
}

/// A value that is no host, or one where none belongs.
pub(crate) fn bad_grant_value(value: &str) -> Fault {
    let shown = chatos_manifest::quote(value);
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("{shown} is not a host that can be allowed"),
            format!("{shown} 不是可以放行的主机"),
        ),
    )
    .hint(Text::fixed(
        "give `network` one host such as `api.example.com` or `https://api.example.com:8443`; other capabilities take no value",
        "`network` 需要一个主机，例如 `api.example.com` 或 `https://api.example.com:8443`；其他能力不带值",
    ))
}

/// Somebody ticked what the plugin does not ask for.
pub(crate) fn not_declared(name: &str, plugin: &str) -> Fault {
    let shown = chatos_manifest::quote(name);
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("{plugin} does not ask for {shown}, or it cannot be allowed"),
            format!("{plugin} 没有请求 {shown}，或该项无法允许"),
        ),
    )
    .hint(Text::new(
        format!("`chatos plugin trust {plugin} --show` lists what it asks for"),
        format!("`chatos plugin trust {plugin} --show` 会列出它的请求"),
    ))
}

/// The app may not do this (host-api §5).
pub(crate) fn not_granted(capability: &str, plugin: &str) -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(
            format!("Capability \"{capability}\" is not granted to {plugin}"),
            format!("能力 \"{capability}\" 未授予 {plugin}"),
        ),
    )
    .hint(Text::fixed("it is granted on the plugin's page", "可在插件页面授予"))
}
