//! Which language servers are here, and how to get the others (servers §10).

use chatos_lsp as lsp;
use chatos_tool::Text;

use super::{Finding, Severity};
use crate::host::Host;

impl Host {
    /// Blocks: looks for programs.
    pub(super) fn examine_languages(&self) -> Finding {
        let title = Text::fixed("Language servers", "语言服务器");
        let servers = match lsp::servers(None, Some(self.dir().path())) {
            Ok(servers) => servers,
            Err(error) => {
                return Finding::new(
                    "language_servers_config",
                    Severity::Error,
                    title,
                    Text::new(
                        format!("the list of language servers cannot be used: {}", error.message),
                        format!("无法使用语言服务器列表：{}", error.message),
                    ),
                )
                .at(error.path)
                .action(Text::fixed(
                    "correct the file, or remove it to use the built-in table; docs/servers/lsp.md has its form",
                    "请更正该文件，或删除它以使用内置列表；格式见 docs/servers/lsp.md",
                ));
            }
        };
        let variables = self.environment().variables();
        let here = |server: &&lsp::LanguageServer| lsp::program(&server.command, variables, None).is_some();
        let (found, missing): (Vec<_>, Vec<_>) = servers.iter().partition(here);
        let ids = |all: &[&lsp::LanguageServer]| -> String {
            all.iter().map(|server| server.id.as_str()).collect::<Vec<_>>().join(", ")
        };
        let message = match found.as_slice() {
            [] => Text::fixed(
                "none found on this machine; a project may bring its own in node_modules",
                "本机未找到；项目可在 node_modules 中自带",
            ),
            found => Text::new(format!("found: {}", ids(found)), format!("已找到：{}", ids(found))),
        };
        let finding = Finding::new("language_servers", Severity::Ok, title, message);
        let installs: Vec<String> = missing
            .iter()
            .filter_map(|server| Some(format!("{}: {}", server.id, server.install.as_deref()?)))
            .collect();
        if installs.is_empty() {
            return finding;
        }
        let list = installs.join("; ");
        finding.action(Text::new(
            format!("to install the others, if you want them: {list}"),
            format!("如需安装其他的：{list}"),
        ))
    }
}
