//! What the doctor says about plugins.

use chatos_plugins::{modules_outside, older_place};
use chatos_tool::Text;
use chatos_wire::Severity;

use crate::host::Host;
use chatos_events::Finding;

impl Host {
    /// One line for all of them, and one per problem.
    pub(crate) fn examine_plugins(&self) -> Vec<Finding> {
        let title = || Text::fixed("Plugins", "插件");
        let desk = match self.plugins() {
            Ok(desk) => desk,
            Err(fault) => {
                let mut finding = Finding::new(fault.code, Severity::Error, title(), fault.message);
                finding.action = fault.hint;
                return vec![finding];
            }
        };
        let snapshot = desk.snapshot();
        let all = snapshot.plugins.len();
        let waiting = snapshot.plugins.iter().filter(|plugin| !plugin.is_trusted()).count();
        let mut findings = vec![Finding::new(
            "plugins",
            Severity::Ok,
            title(),
            Text::new(
                format!("{all} plugins, {waiting} not trusted"),
                format!("{all} 个插件，{waiting} 个未被信任"),
            ),
        )];
        // Servers that cannot start are told with the servers.
        let backends = self.apps().unstarted().into_iter().filter(|problem| problem.app.is_none());
        // Only a state at the usual place has a link at the older one.
        let linked = self.places().legacy_dir.is_some();
        let apart = snapshot.plugins.iter().filter(|plugin| plugin.active && !linked);
        let apart = apart.flat_map(|plugin| older_place(&plugin.loaded));
        for problem in desk.problems().into_iter().chain(backends).chain(apart) {
            let severity = if problem.is_error() { Severity::Error } else { Severity::Warning };
            let line = |lang| {
                let message = problem.full_message(lang);
                match (&problem.plugin_id, problem.path.as_str()) {
                    (Some(id), "") => format!("{id}: {message}"),
                    (Some(id), path) => format!("{id} {path}: {message}"),
                    (None, _) => message,
                }
            };
            let hint = |lang| problem.hint(lang).to_owned();
            let (en, zh) = (chatos_manifest::Lang::En, chatos_manifest::Lang::Zh);
            let mut finding =
                Finding::new(problem.code.as_str(), severity, title(), Text::new(line(en), line(zh)))
                    .action(Text::new(hint(en), hint(zh)));
            finding.path = problem.dir.as_ref().map(Into::into);
            findings.push(finding);
        }
        findings.extend(snapshot.plugins.iter().filter(|plugin| plugin.active).filter_map(|plugin| {
            let outside = modules_outside(&plugin.loaded);
            let first = outside.first()?;
            let id = plugin.id();
            let said = Text::new(
                format!("{id} takes modules from a folder outside it, which is not part of what you trusted"),
                format!("{id} 会使用其目录之外的模块，这些模块不在你信任的内容之内"),
            );
            let mut finding =
                Finding::new("module_outside", Severity::Warning, title(), said).action(Text::fixed(
                    "remove that folder if you do not need it, or have the author bundle the modules",
                    "如果不需要该目录请将其删除，或请作者将模块打包进插件",
                ));
            finding.path = Some(first.clone());
            Some(finding)
        }));
        findings
    }
}
