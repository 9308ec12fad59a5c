//! Tools of our own gateway in the words of an agent (other-agents §4.7). The gateway asks by itself about what its tools
//! do, so an agent that first asks whether it may use one of them is not made to ask twice. Its word alone is worth
//! nothing for that: the name has to be one it was offered, the gateway of its chat has to be there, and the call has to
//! arrive there before the agent says that it is done.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chatos_servers::{CALL_READONLY, CALL_TOOL, FIND_TOOLS};

/// The name of the server that agents are given.
pub(crate) const SERVER: &str = "chatos";
/// Calls that are remembered until somebody asks for them.
const MOST: usize = 1_000;
/// Tools of the gateway that lead to any other one.
const DOORS: [&str; 3] = [FIND_TOOLS, CALL_TOOL, CALL_READONLY];

/// A tool that agents reach through our gateway, by what the host calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurTool {
    /// The identity of the server that has it.
    pub server: String,
    /// Its name there, not the one that agents see.
    pub tool: String,
}

/// A call that an agent may make at the gateway because it said it would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    /// Nothing where the tool stands for any other one.
    pub(crate) tool: Option<OurTool>,
    /// Calls that came before do not count.
    pub(crate) since: u64,
}

/// A call that a program made through the gateway, in the order of arrival.
struct Arrival {
    number: u64,
    /// The session of the program that made it.
    client: String,
    tool: OurTool,
}

/// Calls that arrived at the gateways of agents.
#[derive(Default)]
pub(crate) struct Arrivals(Mutex<(u64, VecDeque<Arrival>)>);

impl Arrivals {
    fn all(&self) -> MutexGuard<'_, (u64, VecDeque<Arrival>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, client: &str, tool: OurTool) {
        let mut all = self.all();
        all.0 += 1;
        let number = all.0;
        if all.1.len() >= MOST {
            all.1.pop_front();
        }
        all.1.push_back(Arrival { number, client: client.to_owned(), tool });
    }

    /// The place of the newest one.
    pub(crate) fn now(&self) -> u64 {
        self.all().0
    }

    /// Whether the promised call arrived from one of these sessions; it counts once.
    pub(crate) fn take(&self, promise: &Promise, clients: &[String]) -> bool {
        let all = &mut self.all().1;
        let found = all.iter().position(|arrival| {
            arrival.number > promise.since
                && clients.contains(&arrival.client)
                && promise.tool.as_ref().is_none_or(|tool| *tool == arrival.tool)
        });
        found.is_some_and(|at| all.remove(at).is_some())
    }
}

/// The name of our tool in a title, as agents spell tools of a server. Whether there is such a tool is another question.
pub(crate) fn named(title: &str) -> Option<&str> {
    let spelled =
        ["mcp__chatos__", "mcp.chatos.", "mcp_chatos_", "chatos__", "chatos_", "chatos/", "chatos."];
    let name = match title.strip_suffix(" (chatos MCP Server)") {
        Some(name) => name,
        None => spelled.iter().find_map(|prefix| title.strip_prefix(prefix))?,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Whether a tool of the gateway leads to the others.
pub(crate) fn is_door(name: &str) -> bool {
    DOORS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_agents_spell_them_and_nothing_else_is_one() {
        for title in [
            "mcp__chatos__tasks_add",
            "mcp.chatos.tasks_add",
            "mcp_chatos_tasks_add",
            "chatos_tasks_add",
            "chatos/tasks_add",
            "tasks_add (chatos MCP Server)",
        ] {
            assert_eq!(named(title), Some("tasks_add"), "{title}");
        }
        for title in [
            "chatosx_tasks_add",
            "chatos",
            "chatos_",
            "chatos-extra_tasks_add",
            "chatos tasks_add",
            "chatos_tasks_add; rm -r x",
            "tasks_add (chatos2 MCP Server)",
            "mcp__chatos2__tasks_add",
        ] {
            assert_eq!(named(title), None, "{title}");
        }
    }

    #[test]
    fn a_promise_is_kept_by_one_later_call_of_the_same_tool_from_the_same_chat() {
        let of = |tool: &str| OurTool { server: "s".to_owned(), tool: tool.to_owned() };
        let (all, mine) = (Arrivals::default(), ["cl_1".to_owned()]);
        all.note("cl_1", of("a"));
        let promise = Promise { tool: Some(of("a")), since: all.now() };
        assert!(!all.take(&promise, &mine), "before it was promised");
        all.note("cl_2", of("a"));
        all.note("cl_1", of("b"));
        assert!(!all.take(&promise, &mine), "another chat, another tool");
        all.note("cl_1", of("a"));
        assert!(all.take(&promise, &mine) && !all.take(&promise, &mine), "once");
        let any = Promise { tool: None, since: promise.since };
        assert!(all.take(&any, &mine) && !all.take(&any, &mine));
    }
}
