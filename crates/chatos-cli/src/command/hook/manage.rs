//! Our hook in the settings of another agent: in, out, how it stands. The change is shown before it is made.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chatos_desk::Beside;
use chatos_foreign::config::{self, Entry, Plan, Scope, Standing};
use chatos_foreign::{Homes, Program};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::json;

use crate::args::{Global, Hook, HookScope};
use chatos_terminal::output::{Output, usage_fault};
use chatos_terminal::prompts::input;

pub(super) fn run(
    global: &Global,
    environment: &Environment,
    output: &Output,
    options: &Hook,
) -> Result<ExitCode, Fault> {
    let program = super::program(options.program);
    let beside =
        Beside::find(environment.clone(), global.state_dir.clone(), std::collections::BTreeMap::new())?;
    let named =
        environment.get("CHATOS_STATE_DIR").is_some_and(|dir| !dir.is_empty()) || global.state_dir.is_some();
    let command = config::Command {
        program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("chatos")),
        state_dir: named.then(|| beside.state_dir().to_owned()),
        wait_s: options.wait.as_secs(),
        agent: options.agent.clone(),
    };
    let entry = Entry::new(program, command, options.every_call);
    if options.print {
        output.line(&entry.text());
        return Ok(ExitCode::SUCCESS);
    }
    let homes = homes(environment);
    let project = environment.current_dir().to_owned();
    let scope = match options.scope {
        HookScope::User => Scope::User,
        HookScope::Project => Scope::Project(&project),
    };
    if options.status {
        let found = on_path(environment, program);
        let running = beside.running().is_some();
        return Ok(status(output, program, config::status(program, &homes, scope, &entry)?, running, found));
    }
    let kept = beside.state_dir().join("foreign");
    let plan = || {
        if options.install {
            Plan::install(program, &homes, scope, &entry)
        } else {
            Plan::remove(program, &homes, scope, &kept)
        }
    };
    let planned = plan()?;
    if planned.is_noop() {
        return Ok(nothing(output, options.install, &planned));
    }
    if !output.json {
        output.line(planned.diff().trim_end());
    }
    if !options.yes {
        match agreed(output, scope, &planned) {
            Ok(true) => {}
            Ok(false) => return Err(declined()),
            Err(fault) => return Ok(usage_fault(output, &fault)),
        }
    }
    // Somebody else may write it at this moment: once more, then it is told.
    match planned.apply(&kept) {
        Err(fault) if fault.code == "conflict" => plan()?.apply(&kept)?,
        done => done?,
    }
    if output.json {
        output.json_line(&json!({ "ok": true, "program": program.word(), "file": planned.path() }));
    } else {
        tell(output, program, options.install);
    }
    Ok(ExitCode::SUCCESS)
}

fn homes(environment: &Environment) -> Homes {
    let path = |name: &str| environment.get(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    Homes {
        home: path("HOME").unwrap_or_else(|| PathBuf::from("/")),
        claude: path("CLAUDE_CONFIG_DIR"),
        codex: path("CODEX_HOME"),
        config: path("XDG_CONFIG_HOME"),
    }
}

fn nothing(output: &Output, install: bool, plan: &Plan) -> ExitCode {
    let path = plan.path().display();
    if output.json {
        output.json_line(&json!({ "ok": true, "noop": true, "file": plan.path() }));
    }
    output.say(&match (&plan.standing, install) {
        (Standing::Edited(_), true) => Text::new(
            format!("The hook in {path} was edited by hand; it is left as it is."),
            format!("{path} 中的钩子已被手工修改；保持不变。"),
        ),
        (_, true) => Text::new(format!("The hook is in {path} already."), format!("{path} 中已有该钩子。")),
        (_, false) => {
            Text::new(format!("There is no hook of ours in {path}."), format!("{path} 中没有我们的钩子。"))
        }
    });
    ExitCode::SUCCESS
}

/// A person agrees to what was shown.
fn agreed(output: &Output, scope: Scope<'_>, plan: &Plan) -> Result<bool, Fault> {
    if output.json || !std::io::stdin().is_terminal() {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("the change has to be agreed to", "需要先同意该更改"),
        )
        .code("usage")
        .hint(Text::fixed("run it in a terminal, or add --yes", "请在终端中运行，或加上 --yes")));
    }
    if matches!(scope, Scope::Project(_)) {
        output.say(&Text::fixed(
            "This file belongs to the project: everybody who works in it gets the hook.",
            "该文件属于项目：参与该项目的每个人都会得到此钩子。",
        ));
    }
    let path = plan.path().display();
    let question = match output.lang {
        Lang::En => format!("Change {path} like this? [y/N] "),
        Lang::Zh => format!("按此修改 {path}？[y/N] "),
    };
    let line = input::line(&question).ok().flatten().unwrap_or_default();
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn declined() -> Fault {
    Fault::new(ErrorCode::PermissionDenied, Text::fixed("nothing was changed", "未做任何更改"))
        .code("declined")
}

/// What a person has to know of this program.
fn tell(output: &Output, program: Program, install: bool) {
    let title = program.title();
    if !install {
        output.say(&Text::new(
            format!("{title} no longer asks in ChatOS."),
            format!("{title} 不再通过 ChatOS 询问。"),
        ));
        return;
    }
    output.say(&Text::new(
        format!("{title} asks in ChatOS from its next start on."),
        format!("{title} 下次启动后将通过 ChatOS 询问。"),
    ));
    let note = match program {
        Program::Claude => Text::fixed(
            "If the hook is killed, Claude Code asks itself; with --every-call it goes on by its own rules.",
            "如果钩子被终止，Claude Code 会自行询问；使用 --every-call 时则按自己的规则继续。",
        ),
        Program::Codex => Text::fixed(
            "Open codex once and accept the hook under /hooks: until then codex does not run it.",
            "请打开一次 codex，并在 /hooks 中接受该钩子：在此之前 codex 不会运行它。",
        ),
        Program::Gemini => Text::fixed(
            "Gemini CLI still asks by its own rules as well. If the hook is killed, it goes on by them.",
            "Gemini CLI 仍会按自己的规则再次询问。如果钩子被终止，它会按这些规则继续。",
        ),
        Program::Opencode => Text::fixed(
            "`opencode run` refuses by itself what its settings mark as `ask`.",
            "`opencode run` 会自行拒绝其设置中标为 `ask` 的操作。",
        ),
    };
    output.say(&note);
}

fn status(
    output: &Output,
    program: Program,
    (file, standing): (PathBuf, Standing),
    running: bool,
    found: Option<PathBuf>,
) -> ExitCode {
    let word = match &standing {
        Standing::Installed => "installed",
        Standing::Edited(_) => "edited",
        Standing::Absent => "absent",
    };
    if output.json {
        output.json_line(&json!({
            "program": program.word(), "file": file, "hook": word, "hostRunning": running, "found": found,
        }));
        return ExitCode::SUCCESS;
    }
    let (title, path) = (program.title(), file.display());
    output.say(&match &standing {
        Standing::Installed => {
            Text::new(format!("{title}: the hook is in {path}."), format!("{title}：钩子已在 {path} 中。"))
        }
        Standing::Edited(shown) => Text::new(
            format!("{title}: the hook in {path} was edited by hand:\n{shown}"),
            format!("{title}：{path} 中的钩子已被手工修改：\n{shown}"),
        ),
        Standing::Absent => Text::new(
            format!(
                "{title}: no hook in {path}. Put it there with `chatos hook {} --install`.",
                program.word()
            ),
            format!("{title}：{path} 中没有钩子。可用 `chatos hook {} --install` 安装。", program.word()),
        ),
    });
    if found.is_none() {
        output.say(&Text::new(format!("{title} is not on your PATH."), format!("PATH 中找不到 {title}。")));
    }
    if standing != Standing::Absent {
        if !running {
            output.say(&match program {
                // Its plugin has no question of opencode's to go back to.
                Program::Opencode => Text::fixed(
                    "No host is running: until `chatos serve` is started, everything but reading is refused there.",
                    "没有运行中的主机：在启动 `chatos serve` 之前，除读取以外的操作都会被拒绝。",
                ),
                Program::Claude | Program::Codex | Program::Gemini => Text::fixed(
                    "No host is running: until `chatos serve` is started, the program asks itself.",
                    "没有运行中的主机：在启动 `chatos serve` 之前，该程序会自行询问。",
                ),
            });
        }
        if program == Program::Codex {
            output.say(&Text::fixed(
                "Whether codex trusts the hook is shown by codex itself, under /hooks.",
                "codex 是否信任该钩子，请在 codex 的 /hooks 中查看。",
            ));
        }
    }
    ExitCode::SUCCESS
}

/// Where the program is, when it can be started by its name.
fn on_path(environment: &Environment, program: Program) -> Option<PathBuf> {
    let path = environment.get("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program.word())).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
