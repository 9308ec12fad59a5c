//! Where another program's call may work (other-agents §3.2): in the folder that program gave, if that may be
//! one, and never in the host's own.

use std::path::{Path, PathBuf};

use chatos_servers::{Road, Toolset};
use chatos_tool::{DenyRule, ErrorCode, Fault, Reason, Text, ToolError};

use super::ToolCall;
use crate::Calls;

/// Why the call may not be made in its folder, or without one; `None` lets it go on. What is wrong with the
/// call otherwise is found later.
pub(super) async fn check(calls: &Calls, set: &Toolset, call: &ToolCall) -> Result<Option<ToolError>, Fault> {
    let Some(route) = set.route_of(&call.server) else { return Ok(None) };
    // Servers of others are told the folder; of ours only those that work in one.
    let works_in_folder = match route.road {
        Road::BuiltIn => chatos_builtin::server_info(&route.name).is_some_and(|info| info.needs_root),
        Road::Own => false,
        Road::Pool(_) => !call.root.as_os_str().is_empty(),
    };
    if !works_in_folder {
        return Ok(None);
    }
    if call.root.as_os_str().is_empty() {
        return Ok(Some(no_folder()));
    }
    let root = real(&call.root);
    if is_protected(calls, &root) {
        return Ok(Some(protected(&root)));
    }
    let Some(agent) = call.agent.clone() else { return Ok(None) };
    let agents = calls.parts().agents.clone();
    let found = chatos_blocking::run(move || agents.find(&agent)).await;
    let found = found
        .map_err(|error| Fault::new(ErrorCode::Internal, Text::same("no agent")).caused_by(&error))??;
    if found.workspace_root.is_empty() {
        return Ok(None);
    }
    let own = real(Path::new(&found.workspace_root));
    Ok((!root.starts_with(&own)).then(|| outside(&root, &own)))
}

/// The state, the keys and the plugins: a folder that is one of them, lies in one or holds one. Only the home
/// directory, which a person chose by a flag, may hold them: the tools refuse what is inside.
fn is_protected(calls: &Calls, root: &Path) -> bool {
    let home = calls.parts().environment.get("HOME").map(|home| real(Path::new(home)));
    let holds = |path: &PathBuf| path.starts_with(root) && home.as_deref() != Some(root);
    calls
        .tools()
        .protected()
        .iter()
        .map(|path| real(path))
        .any(|path| root.starts_with(&path) || holds(&path))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn denied(rule: DenyRule, path: Option<&Path>, message: Text) -> ToolError {
    let path = path.map(|path| path.display().to_string());
    ToolError::new(Reason::PermissionDenied { rule, path }, message)
}

fn no_folder() -> ToolError {
    denied(
        DenyRule::RootRequired,
        None,
        Text::fixed(
            "this client gave no project folder, and the tool works in one",
            "该客户端没有提供项目文件夹，而此工具需要在文件夹中工作",
        ),
    )
    .hint(Text::fixed(
        "start the gateway with `--root DIR` in the client's configuration, or from inside the project",
        "请在客户端配置中用 `--root 目录` 启动网关，或在项目文件夹内启动",
    ))
}

fn protected(root: &Path) -> ToolError {
    let shown = root.display();
    denied(
        DenyRule::ProtectedPath,
        Some(root),
        Text::new(
            format!("the folder of this client is or holds the state of ChatOS: {shown}"),
            format!("该客户端的文件夹是 ChatOS 的状态文件夹，或包含它：{shown}"),
        ),
    )
    .hint(Text::fixed("name a project folder with `--root`", "请用 `--root` 指定项目文件夹"))
}

fn outside(root: &Path, own: &Path) -> ToolError {
    let (root_shown, own_shown) = (root.display(), own.display());
    denied(
        DenyRule::RootOutsideAgent,
        Some(root),
        Text::new(
            format!("the folder of this client, {root_shown}, lies outside the agent's own, {own_shown}"),
            format!("该客户端的文件夹 {root_shown} 不在智能体的文件夹 {own_shown} 之内"),
        ),
    )
    .hint(Text::fixed(
        "use another agent with `--agent`, or a folder inside with `--root`",
        "请用 `--agent` 换一个智能体，或用 `--root` 指定其中的文件夹",
    ))
}
