//! The doctor: looks at everything ChatOS stands on and says what is wrong and what to do.

mod languages;
mod state;

use chatos_events::Finding;
use chatos_store::{AuditVerdict, CheckDepth, CheckFinding, list_backups};
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;

pub(crate) use self::state::remove_leftovers;
use self::state::{narrows, wide_files};
use crate::host::Host;

/// What the doctor says when the state cannot even be opened.
pub fn failed_to_open(fault: &Fault) -> Finding {
    let causes = fault.causes.join(": ");
    let with_causes =
        |text: &str| if causes.is_empty() { text.to_owned() } else { format!("{text}: {causes}") };
    let message = Text::new(with_causes(&fault.message.en), with_causes(&fault.message.zh));
    let title = Text::fixed("State directory", "状态文件夹");
    let finding = Finding::new(fault.code.clone(), Severity::Error, title, message);
    match &fault.hint {
        Some(hint) => finding.action(hint.clone()),
        None => finding,
    }
}

/// What confines shell commands on this system (servers §3.1).
fn shell_sandbox() -> Finding {
    use chatos_shell::{Kernel, Level};
    let kernel = Kernel::here();
    let title = Text::fixed("Shell sandbox", "Shell 沙箱");
    let parts = format!("Landlock {}{}", kernel.landlock, if kernel.seccomp { " + seccomp" } else { "" });
    match kernel.level() {
        Level::Full => Finding::new(
            "shell_sandbox",
            Severity::Ok,
            title,
            Text::new(format!("full ({parts})"), format!("完整（{parts}）")),
        ),
        Level::Fs => Finding::new(
            "shell_sandbox_fs",
            Severity::Info,
            title,
            Text::new(
                format!("files only ({parts}): truncation outside the root or system calls are not covered"),
                format!("仅限文件（{parts}）：不包括根目录之外的截断或系统调用"),
            ),
        ),
        Level::None => Finding::new(
            "shell_sandbox_none",
            Severity::Warning,
            title,
            Text::new(
                format!("none ({parts}): every command that is not read-only asks"),
                format!("没有（{parts}）：每个非只读命令都会请求确认"),
            ),
        )
        .action(Text::fixed(
            "use a Linux kernel with Landlock enabled; until then read what you approve",
            "请使用启用了 Landlock 的 Linux 内核；在此之前请仔细查看所同意的命令",
        )),
    }
}

/// Free space below which writing is at risk.
const LOW_DISK: u64 = 256 * 1024 * 1024;

impl Host {
    /// Looks at everything; reads only. `deep` takes as long as the database is large.
    pub async fn doctor(self: &std::sync::Arc<Self>, deep: bool) -> Vec<Finding> {
        let node = self.find_node().await;
        let mut findings = vec![match node {
            Some(node) if node.is_new_enough() => Finding::new(
                "node",
                Severity::Ok,
                Text::same("Node"),
                Text::same(format!("{} ({})", node.version, node.path.display())),
            ),
            Some(node) => Finding::new(
                "node_too_old",
                Severity::Warning,
                Text::same("Node"),
                Text::new(
                    format!("{} is too old; plugins need Node 20 or newer", node.version),
                    format!("{} 版本过旧；插件需要 Node 20 或更新版本", node.version),
                ),
            )
            .at(node.path)
            .action(Text::fixed(
                "install Node 20 or newer, or name one with the setting nodePath",
                "请安装 Node 20 或更新版本，或在设置 nodePath 中指定",
            )),
            None => Finding::new(
                "node_missing",
                Severity::Warning,
                Text::same("Node"),
                Text::fixed(
                    "Node was not found; apps with a backend or a server cannot run",
                    "未找到 Node；带后端或服务的应用无法运行",
                ),
            )
            .action(Text::fixed(
                "install Node 20 or newer, or name one with the setting nodePath",
                "请安装 Node 20 或更新版本，或在设置 nodePath 中指定",
            )),
        }];
        let host = std::sync::Arc::clone(self);
        findings.push(shell_sandbox());
        findings.extend(self.reach().examine().await);
        let looked = chatos_blocking::run(move || host.examine(deep)).await;
        match looked {
            Ok(more) => findings.extend(more),
            Err(error) => findings.push(Finding::new(
                "doctor_failed",
                Severity::Error,
                Text::fixed("Doctor", "检查"),
                Text::same(error.to_string()),
            )),
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    fn examine(&self, deep: bool) -> Vec<Finding> {
        let mut findings = vec![self.examine_directory(), self.examine_disk()];
        findings.extend(self.examine_database(deep));
        findings.extend(self.examine_modes());
        findings.push(self.examine_audit());
        findings.extend(self.examine_state(deep));
        for notice in self.notices() {
            let mut finding = Finding::new(
                notice.code,
                notice.severity,
                Text::fixed("This start", "本次启动"),
                notice.message,
            );
            finding.action = notice.hint;
            findings.push(finding);
        }
        findings.extend(self.examine_settings());
        findings.extend(self.examine_plugins());
        findings.extend(self.apps().examine_browsers());
        findings.extend(
            self.server_home()
                .parts()
                .examine(self.server_home().opened().map(chatos_servers::Servers::pool)),
        );
        findings.extend(self.agents().unused_servers());
        findings.push(self.examine_languages());
        findings.extend(self.inbox().examine());
        findings
    }

    fn examine_directory(&self) -> Finding {
        let title = Text::fixed("State directory", "状态文件夹");
        let message = Text::same(self.dir().path().display().to_string());
        Finding::new("state_dir", Severity::Ok, title, message).at(self.dir().path())
    }

    fn examine_disk(&self) -> Finding {
        let title = Text::fixed("Free space", "剩余空间");
        match chatos_paths::free_bytes(self.dir().path()) {
            Ok(bytes) if bytes < LOW_DISK => Finding::new(
                "disk_low",
                Severity::Warning,
                title,
                Text::new(format!("only {} MiB left", bytes >> 20), format!("仅剩 {} MiB", bytes >> 20)),
            )
            .at(self.dir().path())
            .action(Text::fixed("free some space", "请释放一些空间")),
            Ok(bytes) => Finding::new(
                "disk",
                Severity::Ok,
                title,
                Text::same(format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0)),
            ),
            Err(error) => {
                Finding::new("disk_unknown", Severity::Warning, title, Text::same(error.to_string()))
            }
        }
    }

    fn examine_database(&self, deep: bool) -> Vec<Finding> {
        let title = || Text::fixed("Database", "数据库");
        let depth = if deep { CheckDepth::Deep } else { CheckDepth::Quick };
        let path = self.store().path();
        let checked = match self.store().check(depth) {
            Ok(checked) => checked,
            Err(error) => {
                let fault = Fault::from(error);
                let mut finding = Finding::new(fault.code, Severity::Error, title(), fault.message).at(path);
                finding.action = fault.hint;
                return vec![finding];
            }
        };
        if checked.is_empty() {
            let copies = list_backups(&self.dir().backups()).len();
            let message = Text::new(format!("whole; {copies} backups"), format!("完好；{copies} 个备份"));
            return vec![Finding::new("database", Severity::Ok, title(), message).at(path)];
        }
        checked
            .into_iter()
            .map(|finding| match finding {
                CheckFinding::Damaged(text) => {
                    Finding::new("database_damaged", Severity::Error, title(), Text::same(text)).action(
                        Text::fixed(
                            "stop ChatOS and run `chatos state recover`, or restore a backup",
                            "请停止 ChatOS 后运行 `chatos state recover`，或恢复备份",
                        ),
                    )
                }
                CheckFinding::ForeignKey { table, rows } => Finding::new(
                    "database_references",
                    Severity::Warning,
                    title(),
                    Text::new(
                        format!("{rows} rows of `{table}` refer to rows that are gone"),
                        format!("`{table}` 中有 {rows} 行引用了不存在的行"),
                    ),
                ),
                CheckFinding::MigrationChanged(version) => Finding::new(
                    "migration_changed",
                    Severity::Warning,
                    title(),
                    Text::new(
                        format!("migration {version} was applied by another build of ChatOS"),
                        format!("迁移 {version} 由其他版本的 ChatOS 执行"),
                    ),
                ),
            })
            .map(|finding| finding.at(path))
            .collect()
    }

    fn examine_modes(&self) -> Vec<Finding> {
        wide_files(self.dir().path())
            .into_iter()
            .map(|(path, mode)| {
                let mut finding = Finding::new(
                    "mode_wide",
                    Severity::Warning,
                    Text::fixed("Permissions", "权限"),
                    Text::new(
                        format!("others may use it (mode {mode:o})"),
                        format!("其他用户可以访问（权限 {mode:o}）"),
                    ),
                )
                .at(path)
                .action(narrows());
                finding.fixable = true;
                finding
            })
            .collect()
    }

    fn examine_audit(&self) -> Finding {
        let title = Text::fixed("Audit log", "审计日志");
        match self.audit_log().verify() {
            Ok(AuditVerdict::Whole { records }) => Finding::new(
                "audit",
                Severity::Ok,
                title,
                Text::new(format!("{records} records, unbroken"), format!("{records} 条记录，完整")),
            ),
            Ok(AuditVerdict::Broken { file, line, reason }) => Finding::new(
                "audit_broken",
                Severity::Error,
                title,
                Text::new(format!("line {line}: {reason}"), format!("第 {line} 行：{reason}")),
            )
            .at(file)
            .action(Text::fixed(
                "somebody or something changed the file; look at it before you rely on it",
                "文件被改动过；请先查明原因再信任它",
            )),
            Ok(AuditVerdict::Shortened { found, expected }) => Finding::new(
                "audit_shortened",
                Severity::Error,
                title,
                Text::new(
                    format!("{expected} records were written, {found} are there"),
                    format!("写入了 {expected} 条记录，只找到 {found} 条"),
                ),
            )
            .at(self.dir().audit()),
            Err(error) => {
                Finding::new("audit_unreadable", Severity::Error, title, Text::same(error.to_string()))
            }
        }
    }

    fn examine_settings(&self) -> Vec<Finding> {
        chatos_settings::SETTINGS
            .iter()
            .filter_map(|spec| {
                let warning = self.settings().effective(spec.key)?.warning?;
                let title = Text::fixed("Settings", "设置");
                Some(Finding::new("setting_ignored", Severity::Warning, title, warning))
            })
            .collect()
    }

    /// Does the lossless repairs and looks again.
    pub async fn doctor_fix(self: &std::sync::Arc<Self>) -> Vec<Finding> {
        let host = std::sync::Arc::clone(self);
        if let Err(error) = chatos_blocking::run(move || host.repair()).await {
            tracing::error!(%error, "the repairs failed");
        }
        self.doctor(false).await
    }
}
