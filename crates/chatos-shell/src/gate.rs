//! What is decided before a command runs: refused, asked, or run, and inside which boundary
//! (servers §3.1, §3.3; tools §15).

use chatos_layer::{CallCx, ConfirmUse, NetworkUse, SafetyMode, SandboxUse, ShellSettings, ToolSettings};
use chatos_tool::{DenyRule, Lang, Needed, Text, ToolError};

use super::check::{Checked, Grade};
use super::sandbox::{Kernel, Level};

/// How a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// What of the kernel is used; `None` when a person switched the boundary off.
    pub(super) kernel: Option<Kernel>,
    /// The level this gives.
    pub(super) level: Level,
    /// Sockets may be made.
    pub(super) network: bool,
}

/// What is to be decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// What was seen in it.
    pub(super) checked: &'a Checked,
    /// The call wants the network.
    pub(super) network: bool,
    /// Names of variables the call sets.
    pub(super) variables: &'a [&'a str],
    /// The shell, when it is not the usual one.
    pub(super) shell: Option<&'a str>,
    /// What the question says besides.
    pub(super) note: Option<&'a Text>,
}

/// Who has a say besides the command itself.
#[derive(Clone, Copy)]
pub(super) struct Policy<'a> {
    pub(super) settings: &'a ToolSettings,
    /// The permissions profile wants the tool asked.
    pub(super) ask: bool,
}

impl<'a> Policy<'a> {
    pub(super) fn of(cx: &'a CallCx) -> Self {
        Self { settings: &cx.settings, ask: cx.ask }
    }
}

/// The boundary for a call, or why there must be none.
pub(super) fn terms(
    settings: &ShellSettings,
    kernel: impl FnOnce() -> Kernel,
    network_wanted: bool,
) -> Result<Terms, ToolError> {
    let network = match (settings.mode, settings.network) {
        (_, NetworkUse::Deny) if network_wanted => {
            return Err(ToolError::denied(
                DenyRule::ShellBlocked,
                Text::fixed(
                    "commands have no network here (shellNetwork is `deny`)",
                    "此处的命令不能使用网络（shellNetwork 为 `deny`）",
                ),
            )
            .hint(Text::fixed(
                "do without the network, or ask the person to change the setting",
                "请不使用网络，或请用户更改该设置",
            )));
        }
        (_, NetworkUse::Deny) => false,
        (_, NetworkUse::Allow) | (SafetyMode::Relaxed, NetworkUse::Ask) => true,
        (SafetyMode::Strict, NetworkUse::Ask) => network_wanted,
    };
    if settings.sandbox == SandboxUse::Off {
        return Ok(Terms { kernel: None, level: Level::None, network: true });
    }
    let kernel = kernel();
    let level = kernel.level();
    match settings.sandbox {
        SandboxUse::Required if level == Level::None => Err(ToolError::unavailable(
            Needed::Process,
            Text::fixed("this system gives no sandbox, and shellSandbox is `required`", "此系统没有沙箱，而 shellSandbox 为 `required`"),
        )
        .hint(Text::fixed(
            "a Linux kernel with Landlock is needed; a person may set shellSandbox to `auto`, then commands ask",
            "需要带 Landlock 的 Linux 内核；用户可将 shellSandbox 设为 `auto`，此后命令会先请求确认",
        ))),
        _ => {
            // Without a filter of system calls nothing keeps a command from the network.
            Ok(Terms { kernel: Some(kernel), level, network: network || !kernel.seccomp })
        }
    }
}

/// Why a person has to be asked; empty when nobody has to. At level full the sandbox is the consent for ordinary
/// commands (working-day §1.4): who is asked about every build stops reading the questions.
pub(super) fn reasons(policy: Policy<'_>, request: Request<'_>, terms: Terms) -> Vec<Text> {
    let settings = &policy.settings.shell;
    let full = terms.level == Level::Full;
    let worst = request.checked.worst();
    let mut why = Vec::new();
    if policy.ask {
        why.push(Text::fixed(
            "the permissions profile asks before this tool",
            "授权配置要求使用此工具前先确认",
        ));
    }
    if worst == Some(Grade::Block) {
        why.push(Text::fixed("the command can do great harm", "该命令可能造成严重破坏"));
    }
    if request.network && settings.mode == SafetyMode::Strict && settings.network == NetworkUse::Ask {
        why.push(Text::fixed("the command wants the network", "该命令请求使用网络"));
    }
    if worst == Some(Grade::Ask) && !(settings.confirm == ConfirmUse::Never && full) {
        why.push(Text::fixed("the command is risky", "该命令有风险"));
    }
    if !request.checked.read_only {
        match (terms.level, settings.sandbox) {
            (Level::Full, _) => {}
            (Level::Fs, _) => why.push(Text::fixed(
                "the sandbox of this system covers files only, so every command is asked for",
                "此系统的沙箱只限制文件，因此每个命令都需确认",
            )),
            (Level::None, SandboxUse::Off) => why.push(Text::fixed(
                "the sandbox is switched off: nothing but this question confines the command",
                "沙箱已关闭：除此确认外没有任何限制",
            )),
            (Level::None, _) => why.push(Text::fixed(
                "this system has no sandbox: nothing but this question confines the command",
                "此系统没有沙箱：除此确认外没有任何限制",
            )),
        }
        if settings.confirm == ConfirmUse::Always {
            why.push(Text::fixed(
                "you are asked about every command, as it is set",
                "按照设置，每条命令都会先问你",
            ));
        }
        if policy.settings.confirm_file_changes && !full {
            why.push(Text::fixed(
                "the command may change files, about which you are asked, as it is set",
                "该命令可能更改文件；按照设置，会先问你",
            ));
        }
    }
    why
}

/// Refuses, or says what a person has to be asked; nothing where nobody has to.
pub(super) fn question(
    policy: Policy<'_>,
    request: Request<'_>,
    terms: Terms,
) -> Result<Option<Text>, ToolError> {
    if policy.settings.shell.mode == SafetyMode::Strict && request.checked.worst() == Some(Grade::Block) {
        return Err(blocked(request));
    }
    let why = reasons(policy, request, terms);
    Ok((!why.is_empty()).then(|| message(&why, request)))
}

fn blocked(request: Request<'_>) -> ToolError {
    let found: Vec<&super::check::Finding> =
        request.checked.findings.iter().filter(|finding| finding.level == Grade::Block).collect();
    let ids: Vec<String> =
        found.iter().map(|finding| format!("{} ({})", finding.id, finding.message)).collect();
    let list = ids.join("; ");
    let message = Text::new(
        format!("the command is refused in strict mode: {list}"),
        format!("严格模式下拒绝该命令：{list}"),
    );
    ToolError::denied(DenyRule::ShellBlocked, message)
        .hint(Text::fixed("do it in another way; nothing was run", "请换一种方式；没有运行任何内容"))
}

/// What stands above the command in a question.
fn message(why: &[Text], request: Request<'_>) -> Text {
    let write = |lang: Lang| {
        let pick = |en: &str, zh: &str| if lang == Lang::En { en.to_owned() } else { zh.to_owned() };
        let mut lines: Vec<String> = why.iter().map(|why| format!("- {}", why.get(lang))).collect();
        if let Some(note) = request.note {
            lines.push(format!("- {}", note.get(lang)));
        }
        if let Some(shell) = request.shell {
            lines.push(pick(&format!("Shell: {shell}"), &format!("Shell：{shell}")));
        }
        if !request.variables.is_empty() {
            let names = request.variables.join(", ");
            lines.push(pick(
                &format!("Variables set by the call: {names}"),
                &format!("调用设置的变量：{names}"),
            ));
        }
        // The most serious first.
        let mut findings: Vec<&super::check::Finding> = request.checked.findings.iter().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        for finding in findings {
            let text = finding.text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            let said = finding.said.as_ref().map_or(finding.message.as_str(), |said| said.get(lang));
            lines.push(format!("- {said}{text}"));
        }
        // The question itself has the command in full; what stands here is bounded.
        lines.truncate(60);
        lines.join("\n").chars().take(8_000).collect::<String>()
    };
    Text::new(write(Lang::En), write(Lang::Zh))
}
