//! The steps of CI and their order.
//!
//! Cheap and independent ones come first. The UI is built before the Rust crates, because the program embeds it;
//! one `cargo build --all-targets` makes what the tests, the code generator and the browser tests run, so nothing
//! is compiled twice with other features. It leaves a third of two cores idle (crates wait for one another), so what
//! only compiles or downloads runs beside it, in a target folder of its own: cargo lets only one command into a folder.
//! The steps between the Rust tests and the browser's each use about one core and run beside one another; the browser
//! tests have the machine to themselves.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::ci::count;
use crate::ci::step::{Context, Step};
use crate::{npm, process};

/// Folders with a `package-lock.json` that building needs.
const NODE_FOLDERS: [&str; 2] = ["ui", "plugins/tests"];
/// Those of programs by others that tests run; large, and needed late.
const PEER_FOLDERS: [&str; 5] =
    ["tests/mcp-servers", "tests/mcp-peers", "tests/model-peers", "tests/agent-peers", "tests/reach-peers"];
/// Where clippy and rustdoc work while the build has the usual folder.
const LINT_DIR: &str = "target/lint";

pub(crate) fn steps() -> Vec<Step> {
    vec![
        plain("fmt", "rustfmt has nothing to change", &[], |cx| {
            Ok(vec![cargo(cx, &["fmt", "--all", "--check"])])
        }),
        plain("tidy", "layers, headers, sizes, links, leaks", &[], |cx| {
            Ok(vec![own(cx, &["tidy", "--no-codegen"])])
        }),
        Step {
            finish: Some(|cx| mark_fresh(cx, &NODE_FOLDERS)),
            ..plain("packages", "npm ci where a lock file changed", &[], |cx| Ok(packages(cx, &NODE_FOLDERS)))
        },
        plain("ui-build", "production build of the UI", &["packages"], |cx| ui(cx, "build")),
        small("build", "all crates, tests and tools", &[], |cx| {
            Ok(vec![cargo(cx, &["build", "--workspace", "--all-targets", "--locked", "--quiet"])])
        }),
        small("clippy", "clippy with warnings denied", &[], |cx| {
            // Without the generator the wire has no schemas, as in the program people install; the build has them.
            let mut clippy = cargo(cx, &["clippy", "--workspace", "--exclude", "chatos-schema"]);
            clippy.args(["--all-targets", "--locked", "--quiet"]);
            clippy.args(["--target-dir", LINT_DIR, "--", "-D", "warnings"]);
            Ok(vec![clippy])
        }),
        small("doc", "rustdoc with warnings denied", &[], |cx| {
            let mut doc = cargo(cx, &["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
            doc.args(["--target-dir", LINT_DIR]).env("RUSTDOCFLAGS", "-D warnings");
            Ok(vec![doc])
        }),
        Step {
            finish: Some(|cx| mark_fresh(cx, &PEER_FOLDERS)),
            ..small("peer-packages", "npm ci for programs by others that tests run", &[], |cx| {
                Ok(packages(cx, &PEER_FOLDERS))
            })
        },
        small("node-modules", "what is lent to plugins is what its lock file says", &[], |cx| {
            Ok(vec![own(cx, &["node-modules", "--check"])])
        }),
        small("deny", "licences, bans, sources, advisories", &[], |cx| {
            let mut install =
                process::command(&cx.workspace.path("scripts/setup").to_string_lossy(), cx.workspace.root());
            install.arg("deny");
            Ok(vec![install, own(cx, &["deny"])])
        }),
        plain("codegen", "generated files are fresh", &["packages", "build"], |cx| {
            let schema = built(cx, "chatos-schema")?;
            Ok(vec![own(cx, &["codegen", "--check", "--schema", &schema.to_string_lossy()])])
        }),
        Step {
            count: Some(count::rust),
            ..plain("test", "Rust tests", &["build"], |cx| Ok(vec![rust_tests(cx)]))
        },
        // Alone: handshakes with large programs have their limits.
        Step {
            count: Some(count::node),
            ..plain(
                "servers",
                "our MCP client and server with those of others",
                &["peer-packages", "build", "ui-build"],
                |cx| {
                    let (client, server) = (built(cx, "mcp-fixture")?, built(cx, "server-fixture")?);
                    let mut npm = process::command("npm", &cx.workspace.path("tests/mcp-servers"));
                    npm.args(["run", "--silent", "test"]);
                    npm.env("MCP_FIXTURE", &client).env("SERVER_FIXTURE", &server);
                    npm.env("CHATOS_BIN", chatos(cx)?);
                    Ok(vec![npm])
                },
            )
        },
        // The longest first.
        Step {
            count: Some(count::node),
            ..small(
                "peers",
                "real MCP clients with the real binary",
                &["peer-packages", "build", "ui-build"],
                |cx| {
                    let chatos = chatos(cx)?;
                    let mut npm = process::command("npm", &cx.workspace.path("tests/mcp-peers"));
                    npm.args(["run", "--silent", "test"]).env("CHATOS_BIN", &chatos);
                    Ok(vec![npm])
                },
            )
        },
        Step {
            count: Some(count::node),
            // One of the agents; all of them are the step below.
            ..small(
                "agents",
                "a real coding agent asks through the real binary",
                &["peer-packages", "build", "ui-build"],
                |cx| {
                    let chatos = chatos(cx)?;
                    let mut npm = process::command("npm", &cx.workspace.path("tests/agent-peers"));
                    npm.args(["run", "--silent", "test"]).env("CHATOS_BIN", &chatos);
                    Ok(vec![npm])
                },
            )
        },
        Step {
            count: Some(count::libtest),
            ..small("kills", "200 kills at random points of runs", &["build"], |cx| {
                let mut tests = rust_test(cx, "runs", "kills_at_random_lose_nothing_and_repeat_nothing");
                tests.env("CHATOS_KILLS", "200");
                Ok(vec![tests])
            })
        },
        Step {
            count: Some(count::plain),
            ..small("fuzz", "hostile bytes for every reader, bounded", &["build"], |cx| {
                let fuzz = built(cx, "chatos-fuzz")?;
                let mut command = process::command(&fuzz.to_string_lossy(), cx.workspace.root());
                command.args(["--seconds", "40"]);
                Ok(vec![command])
            })
        },
        Step {
            count: Some(count::node),
            ..small("plugins", "the built-in plugins, over real MCP", &["packages"], |cx| {
                let mut npm = process::command("npm", &cx.workspace.path("plugins/tests"));
                npm.args(["run", "--silent", "test"]);
                Ok(vec![npm])
            })
        },
        Step {
            count: Some(count::node),
            ..small(
                "models",
                "a model server and a proxy of other makers with the real binary",
                &["peer-packages", "build", "ui-build"],
                |cx| {
                    let chatos = chatos(cx)?;
                    let mut npm = process::command("npm", &cx.workspace.path("tests/model-peers"));
                    npm.args(["run", "--silent", "test"]).env("CHATOS_BIN", &chatos);
                    Ok(vec![npm])
                },
            )
        },
        Step {
            count: Some(count::node),
            ..small(
                "reach",
                "servers and senders of notifications by others with the real binary",
                &["peer-packages", "build", "ui-build"],
                |cx| {
                    let chatos = chatos(cx)?;
                    let mut npm = process::command("npm", &cx.workspace.path("tests/reach-peers"));
                    npm.args(["run", "--silent", "test"]).env("CHATOS_BIN", &chatos);
                    Ok(vec![npm])
                },
            )
        },
        small("ui-check", "svelte-check and TypeScript", &["packages"], |cx| ui(cx, "check")),
        small("ui-lint", "eslint", &["packages"], |cx| ui(cx, "lint")),
        Step {
            count: Some(count::browser),
            ..small("ui-test", "UI unit tests", &["packages"], |cx| ui(cx, "test"))
        },
        small("ui-size", "first view within its size limit", &["ui-build"], |cx| ui(cx, "size")),
        Step {
            count: Some(count::browser),
            ..plain("e2e", "the real binary in a real browser", &["build", "ui-build"], |cx| {
                let chatos = chatos(cx)?;
                let mut commands = ui(cx, "e2e")?;
                for command in &mut commands {
                    command.env("CHATOS_BIN", &chatos);
                }
                Ok(commands)
            })
        },
        Step {
            count: Some(count::node),
            nightly: true,
            ..plain(
                "all-agents",
                "every real agent and client of others, and ten rounds of kills",
                &["peer-packages", "build", "ui-build"],
                all_agents,
            )
        },
        Step {
            count: Some(count::libtest),
            nightly: true,
            ..plain(
                "long",
                "runs of 500 calls and 20 kills, against every vendor's rules",
                &["build"],
                |cx| {
                    let mut runs = rust_test(cx, "runs", "long::");
                    runs.env("CHATOS_LONG", "500");
                    Ok(vec![runs])
                },
            )
        },
        Step {
            count: Some(count::libtest),
            nightly: true,
            ..plain(
                "inbox",
                "ten rounds of kills around a question, and what shells make of texts",
                &["build"],
                |cx| {
                    let mut kills = rust_test(cx, "runs", "queue_kill::");
                    kills.env("CHATOS_QUEUE_KILLS", "10");
                    let mut texts = rust_test(cx, "hostile", "shells_see_the_words_that_were_read");
                    texts.env("CHATOS_RULE_CASES", RULE_CASES);
                    Ok(vec![kills, texts])
                },
            )
        },
        Step {
            count: Some(count::node),
            nightly: true,
            ..plain(
                "firefox",
                "the page and an app in Firefox ESR",
                &["peer-packages", "build", "ui-build"],
                |cx| {
                    let chatos = chatos(cx)?;
                    let folder = cx.workspace.path("tests/firefox");
                    let mut install = process::command("npm", &folder);
                    install.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
                    let mut npm = process::command("npm", &folder);
                    npm.args(["run", "--silent", "test"]).env("CHATOS_BIN", &chatos);
                    Ok(vec![install, npm])
                },
            )
        },
    ]
}

/// The agents whose kills are gone through, and the moments of a turn; one command for each pair, which ends within the
/// time a command may take: one of the agents makes a person wait for the next minute.
const AGENTS: [&str; 4] = ["claude", "codex", "opencode", "gemini"];
const MOMENTS: [&str; 5] = ["before", "open", "answered", "during", "after"];

fn all_agents(cx: &Context) -> Result<Vec<Command>> {
    let (chatos, folder) = (chatos(cx)?, cx.workspace.path("tests/agent-peers"));
    let run = |files: &[&str], more: &[(&str, &str)]| {
        let mut node = process::command("node", &folder);
        node.args(["run.mjs", "all"]).args(files).env("CHATOS_BIN", &chatos).envs(more.iter().copied());
        node
    };
    let mut install = process::command("npm", &folder);
    install.args(["ci", "--prefix", "all", "--no-audit", "--no-fund", "--loglevel=error"]);
    let mut commands = vec![install];
    for file in [
        "hooks",
        "gateway",
        "clients",
        "lists",
        "everything",
        "rough",
        "acp",
        "other",
        "real",
        "modes",
        "terminal",
        "person",
    ] {
        commands.push(run(&[&format!("{file}.test.mjs")], &[]));
    }
    commands.push(run(&["five.test.mjs"], &[("CHATOS_FIVE_ROUNDS", "1000")]));
    commands.push(run(&["kills.test.mjs"], &[("CHATOS_ACP_ROUNDS", "10")]));
    for agent in AGENTS {
        for moment in MOMENTS {
            let row = format!("{agent} {moment}");
            commands
                .push(run(&["matrix.test.mjs"], &[("CHATOS_ACP_ROUNDS", "10"), ("CHATOS_ACP_ONLY", &row)]));
        }
    }
    Ok(commands)
}

/// Texts that every shell of the machine reads, about ten minutes of them.
const RULE_CASES: &str = "50000";

/// The tests of this name in one of the test programs.
fn rust_test(cx: &Context, program: &str, name: &str) -> Command {
    cargo(cx, &["test", "--workspace", "--test", program, "--locked", "--quiet", "--", name])
}

fn plain(
    name: &'static str,
    what: &'static str,
    needs: &'static [&'static str],
    commands: fn(&Context) -> Result<Vec<Command>>,
) -> Step {
    Step { name, what, needs, commands, count: None, beside: false, finish: None, nightly: false }
}

/// A step that leaves room for another one.
fn small(
    name: &'static str,
    what: &'static str,
    needs: &'static [&'static str],
    commands: fn(&Context) -> Result<Vec<Command>>,
) -> Step {
    Step { beside: true, ..plain(name, what, needs, commands) }
}

fn cargo(cx: &Context, args: &[&str]) -> Command {
    let mut cargo = process::cargo(cx.workspace.root());
    cargo.args(args);
    cargo
}

/// Another command of this tool, as a process of its own so that its output goes to the step's log.
fn own(cx: &Context, args: &[&str]) -> Command {
    let mut command = process::command(&cx.xtask.to_string_lossy(), cx.workspace.root());
    command.args(args);
    command
}

fn ui(cx: &Context, script: &str) -> Result<Vec<Command>> {
    let exists = npm::has_script(cx.workspace, "ui", script)?;
    ensure!(exists, "`ui/package.json` has no script `{script}`");
    Ok(vec![npm::script(cx.workspace, "ui", script)])
}

fn packages(cx: &Context, folders: &[&str]) -> Vec<Command> {
    let stale = folders.iter().filter(|dir| !npm::is_fresh(cx.workspace, dir));
    let install = stale.map(|dir| {
        let mut npm = process::command("npm", &cx.workspace.path(dir));
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        npm
    });
    install.collect()
}

fn mark_fresh(cx: &Context, folders: &[&str]) -> Result<()> {
    folders.iter().try_for_each(|dir| npm::mark_fresh(cx.workspace, dir))
}

/// nextest where it is installed: quicker, and one hung test does not take the others along.
fn rust_tests(cx: &Context) -> Command {
    let nextest = process::cargo(cx.workspace.root()).args(["nextest", "--version"]).output();
    if nextest.is_ok_and(|output| output.status.success()) {
        return cargo(cx, &["nextest", "run", "--workspace", "--all-targets", "--locked", "--cargo-quiet"]);
    }
    cargo(cx, &["test", "--workspace", "--all-targets", "--locked", "--quiet", "--no-fail-fast"])
}

fn chatos(cx: &Context) -> Result<PathBuf> {
    built(cx, "chatos")
}

/// A dev binary that the `build` step made.
fn built(cx: &Context, name: &str) -> Result<PathBuf> {
    let binary = cx.workspace.metadata()?.target_directory.join("debug").join(name);
    binary.canonicalize().with_context(|| format!("cannot find the built program: {}", binary.display()))
}
