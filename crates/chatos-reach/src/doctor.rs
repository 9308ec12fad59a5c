//! What the doctor says about channels.

use chatos_events::Finding;
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;
use chatos_wire::channel::{ChannelState, ChannelType};

use crate::desk::Reach;

impl Reach {
    /// One row for the desktop, one for each other channel that fails.
    pub async fn examine(&self) -> Vec<Finding> {
        let title = || Text::fixed("Notifications", "通知");
        let list = match self.list().await {
            Ok(list) => list.items,
            Err(Fault { code, message, .. }) => {
                return vec![Finding::new(code, Severity::Error, title(), message)];
            }
        };
        let mut findings = Vec::new();
        for channel in list {
            let problem = channel.problem.unwrap_or_default();
            match (channel.kind, channel.state) {
                (ChannelType::Desktop, ChannelState::Unavailable) => findings.push(
                    Finding::new(
                        "desktop_unavailable",
                        Severity::Info,
                        title(),
                        Text::fixed(
                            "no desktop session to show notifications in",
                            "没有可显示通知的桌面会话",
                        ),
                    )
                    .action(Text::fixed(
                        "add another channel with `chatos reach add`, if you want to be told",
                        "如需接收通知，请用 `chatos reach add` 添加其他渠道",
                    )),
                ),
                (ChannelType::Desktop, ChannelState::Ok) => findings.push(Finding::new(
                    "desktop_notifications",
                    Severity::Ok,
                    title(),
                    Text::fixed("shown on this desktop", "在此桌面上显示"),
                )),
                (_, ChannelState::Waiting) => findings.push(
                    Finding::new(
                        "channel_waiting",
                        Severity::Info,
                        title(),
                        Text::new(
                            format!("nobody pressed Start in the chat of `{}` yet", channel.name),
                            format!("尚未有人在 `{}` 的对话中点“开始”", channel.name),
                        ),
                    )
                    .action(Text::new(
                        format!("connect it with `chatos reach connect {}`", channel.id),
                        format!("请用 `chatos reach connect {}` 连接", channel.id),
                    )),
                ),
                (_, ChannelState::Failing) => findings.push(
                    Finding::new(
                        "channel_failing",
                        Severity::Warning,
                        title(),
                        Text::new(
                            format!("nothing gets through to `{}`: {problem}", channel.name),
                            format!("通知无法送达 `{}`：{problem}", channel.name),
                        ),
                    )
                    .action(Text::new(
                        format!("try `chatos reach test {}`, then check its address and key", channel.id),
                        format!("请运行 `chatos reach test {}`，并检查其地址与密钥", channel.id),
                    )),
                ),
                _ => {}
            }
        }
        findings
    }
}
