//! Programs of plugins that could not start because a module is missing (packages §10.1): told with the other
//! problems of the plugin, in words for the person in front of it, until a start succeeds.

use chatos_manifest::{Dropped, PluginId, Problem, ProblemCode, Source, Text, quote};
use chatos_mcp::{Failure, Phase};
use chatos_plugins::listing::{Reader, problem_entry};
use chatos_plugins::manifest_lang;
use chatos_tool::{Fault, Lang};
use chatos_wire::plugin::{PluginDetails, PluginListing};

use crate::apps::Apps;

impl Apps {
    /// The plugins, with what could not be started since this host runs.
    pub fn plugin_listing(&self, lang: Lang) -> Result<PluginListing, Fault> {
        let mut listing = self.plugins()?.listing(lang);
        let more = self.unstarted();
        let entry = |problem| problem_entry(problem, manifest_lang(lang), Reader::Person);
        listing.errors.extend(more.iter().map(entry));
        Ok(listing)
    }

    /// One plugin in full, with what of it could not be started.
    pub fn plugin_details(&self, id: &str, lang: Lang) -> Result<PluginDetails, Fault> {
        let mut details = self.plugins()?.details(id, lang)?;
        let more = self.unstarted();
        let own =
            more.iter().filter(|problem| problem.plugin_id.as_ref().is_some_and(|own| own.as_str() == id));
        details
            .problems
            .extend(own.map(|problem| problem_entry(problem, manifest_lang(lang), Reader::Person)));
        Ok(details)
    }

    /// One problem per program that a missing module kept from starting.
    pub fn unstarted(&self) -> Vec<Problem> {
        let Ok(desk) = self.plugins() else { return Vec::new() };
        let snapshot = desk.snapshot();
        let mut problems = Vec::new();
        let known = self.0.parts.servers.get().and_then(|servers| Some((servers, servers.last_known()?)));
        for (servers, server) in
            known.iter().flat_map(|(desk, known)| known.servers.iter().map(move |known| (desk, known)))
        {
            let Some(status) = server.key().and_then(|key| servers.pool().status(key)) else { continue };
            // Another try under way takes nothing back: only a start that succeeds does.
            let troubled = matches!(status.phase, Phase::Waiting | Phase::Starting | Phase::Failed);
            let Some(Failure::ModuleMissing { module }) =
                status.last_error.map(|last| last.failure).filter(|_| troubled)
            else {
                continue;
            };
            let place = snapshot.plugins.iter().find_map(|plugin| {
                let app = plugin
                    .loaded
                    .apps
                    .iter()
                    .find(|app| server.app_id.as_deref() == Some(app.manifest.id.as_str()))?;
                (plugin.active && server.plugin_id.as_deref() == Some(plugin.id().as_str()))
                    .then_some((plugin, app))
            });
            let Some((plugin, app)) = place else { continue };
            let pointer = format!("/apps/{}/ai/mcp/entry", app.manifest.index);
            let problem = missing(plugin.id(), pointer, Program::Server, &module).dropping(Dropped::Ai);
            problems.push(problem.of_app(app.manifest.index, &app.manifest.id));
        }
        for plugin in
            snapshot.plugins.iter().filter(|plugin| plugin.active && plugin.loaded.backend.is_some())
        {
            let Some(module) = self.backends().ok().and_then(|backends| backends.missing_module(plugin.id()))
            else {
                continue;
            };
            let problem = missing(plugin.id(), "/backend/entry".to_owned(), Program::Backend, &module);
            problems.push(problem.dropping(Dropped::Backend));
        }
        problems
    }
}

enum Program {
    Server,
    Backend,
}

fn missing(plugin: &PluginId, pointer: String, program: Program, module: &str) -> Problem {
    let module = quote(module);
    let (en, zh) = match program {
        Program::Server => ("tool server", "工具服务器"),
        Program::Backend => ("backend", "后端"),
    };
    let message = Text::new(
        format!(
            "Its {en} needs the module {module}, which neither the package nor ChatOS has. The author has to bundle it."
        ),
        format!("它的{zh}需要模块 {module}，但安装包和 ChatOS 都没有。需要作者将其打包进来。"),
    );
    Problem::new(ProblemCode::ModuleMissing, pointer, message).source(Source::Runtime).of_plugin(plugin)
}
