//! Why a server cannot be used or a call has no result: one list, in two languages.

use std::fmt;
use std::time::Duration;

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

use crate::message::RpcError;
use crate::oauth::Challenge;

/// What went wrong with a server or a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// No such program.
    CommandNotFound {
        /// As written.
        program: String,
    },
    /// The file is there but may not be run.
    CommandNotExecutable {
        /// As written.
        program: String,
    },
    /// The system refused to start it.
    Spawn {
        /// As written.
        program: String,
        /// What the system said.
        error: String,
    },
    /// The program ended because a module it needs is not there (ai-contributions §5).
    ModuleMissing {
        /// The module.
        module: String,
    },
    /// The program ended because the file it was told to run is not there.
    EntryMissing {
        /// The file.
        path: String,
    },
    /// The process ended.
    Exited {
        /// Status or signal.
        how: String,
    },
    /// The other side closed the connection.
    Closed {
        /// What is known.
        reason: String,
    },
    /// A line or message above the limit.
    TooLong,
    /// Nothing came in time.
    TimedOut {
        /// What was waited for.
        what: Waited,
        /// How long.
        after: Duration,
        /// What came instead.
        noise: Option<String>,
    },
    /// The server does not read what it is sent.
    NotReading {
        /// How long.
        after: Duration,
    },
    /// The address is one that needs a person's consent, or is never allowed (security T20).
    AddressRefused {
        /// The host as written.
        host: String,
        /// What sort of address it has.
        kind: &'static str,
        /// Whether a person may allow it.
        can_allow: bool,
    },
    /// The name or the machine cannot be reached.
    Unreachable {
        /// Host and port.
        target: String,
        /// What the system said.
        error: String,
    },
    /// No trustworthy encryption.
    Tls {
        /// Host and port.
        target: String,
        /// What the library said.
        error: String,
    },
    /// The server wants other credentials.
    AuthRefused {
        /// The HTTP status.
        status: u16,
    },
    /// It wants somebody to sign in at its authorization server; only a person can.
    SignInNeeded {
        /// What it said about it. Rare, and not to make every other failure larger.
        challenge: Box<Challenge>,
        /// Somebody had signed in, and it is not (or no longer) enough.
        had_grant: bool,
    },
    /// Another HTTP refusal.
    Http {
        /// The status.
        status: u16,
        /// The beginning of its body.
        body: String,
    },
    /// It redirects too often, or to where nothing may follow.
    Redirect {
        /// What was wrong.
        reason: String,
    },
    /// It does not speak the protocol.
    Protocol {
        /// What was wrong.
        detail: String,
    },
    /// It answered with an error.
    Rpc(RpcError),
    /// More calls than may wait.
    Busy {
        /// How many wait already.
        waiting: usize,
    },
    /// The caller ended it.
    Canceled,
    /// The caller's own step before sending failed; nothing was sent.
    BeforeSend {
        /// Why.
        reason: String,
    },
    /// It was stopped or removed.
    Stopped,
    /// It starts again after a failure; the caller's patience ended first.
    Restarting {
        /// Why it failed.
        last: Box<Failure>,
        /// When the next attempt begins.
        next: Duration,
    },
    /// It failed too often and waits for a person.
    GaveUp {
        /// How often.
        failures: usize,
        /// Why the last time.
        last: Box<Failure>,
    },
    /// Its plugin's files are not those that a person trusted.
    Untrusted {
        /// The plugin.
        plugin: String,
    },
    /// No server of this key.
    UnknownServer,
}

/// What a time-out waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The handshake.
    Start,
    /// A listing.
    List,
    /// A call that showed no sign of life.
    CallIdle,
    /// A call that went on reporting for too long.
    CallTotal,
    /// Another request.
    Request,
}

impl Failure {
    /// The general code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TimedOut { .. } => ErrorCode::Timeout,
            Self::Canceled => ErrorCode::Canceled,
            Self::Busy { .. } => ErrorCode::RateLimited,
            Self::AddressRefused { .. }
            | Self::AuthRefused { .. }
            | Self::SignInNeeded { .. }
            | Self::Untrusted { .. } => ErrorCode::PermissionDenied,
            Self::TooLong => ErrorCode::ResourceExhausted,
            Self::UnknownServer => ErrorCode::NotFound,
            Self::Rpc(error) => match error.code {
                -32602 => ErrorCode::InvalidArgument,
                -32601 => ErrorCode::NotSupported,
                _ => ErrorCode::Unavailable,
            },
            Self::BeforeSend { .. } => ErrorCode::Internal,
            _ => ErrorCode::Unavailable,
        }
    }

    /// The domain code where one exists.
    pub fn domain_code(&self) -> &'static str {
        match self {
            Self::ModuleMissing { .. } => "module_missing",
            Self::CommandNotFound { .. } | Self::CommandNotExecutable { .. } | Self::Spawn { .. } => {
                "command_unusable"
            }
            Self::AddressRefused { .. } => "address_refused",
            Self::AuthRefused { .. } => "auth_refused",
            Self::SignInNeeded { .. } => "sign_in_needed",
            Self::GaveUp { .. } => "server_failed",
            Self::Untrusted { .. } => "untrusted",
            other => other.code().as_str(),
        }
    }

    /// What happened, as a sentence without a subject's name: the caller knows which server.
    pub fn text(&self) -> Text {
        match self {
            Self::CommandNotFound { program } => Text::new(
                format!("the program `{program}` does not exist"),
                format!("程序 `{program}` 不存在"),
            ),
            Self::CommandNotExecutable { program } => Text::new(
                format!("the program `{program}` may not be executed"),
                format!("程序 `{program}` 没有执行权限"),
            ),
            Self::Spawn { program, error } => Text::new(
                format!("cannot start `{program}`: {error}"),
                format!("无法启动 `{program}`：{error}"),
            ),
            Self::ModuleMissing { module } => Text::new(
                format!("it needs the module `{module}`, which neither its package nor ChatOS has"),
                format!("它需要模块 `{module}`，但其安装包和 ChatOS 都没有"),
            ),
            Self::EntryMissing { path } => {
                Text::new(format!("its entry does not exist: {path}"), format!("其入口文件不存在：{path}"))
            }
            Self::Exited { how } => {
                Text::new(format!("its process ended ({how})"), format!("其进程已结束（{how}）"))
            }
            Self::Closed { reason } => {
                Text::new(format!("the connection ended: {reason}"), format!("连接已断开：{reason}"))
            }
            Self::TooLong => Text::fixed(
                "it sent a message of more than 8 MiB and was disconnected",
                "它发送了超过 8 MiB 的消息，已断开",
            ),
            Self::TimedOut { what, after, noise } => timed_out(*what, *after, noise.as_deref()),
            Self::NotReading { after } => Text::new(
                format!("it did not read its input for {}", seconds(*after)),
                format!("它在 {} 内没有读取输入", seconds(*after)),
            ),
            Self::AddressRefused { host, kind, .. } => Text::new(
                format!("`{host}` has a {kind} address, which is not allowed for this server"),
                format!("`{host}` 的地址类型为 {kind}，该服务器不允许使用"),
            ),
            Self::Unreachable { target, error } => Text::new(
                format!("cannot reach `{target}`: {error}"),
                format!("无法连接 `{target}`：{error}"),
            ),
            Self::Tls { target, error } => Text::new(
                format!("no secure connection to `{target}`: {error}"),
                format!("无法与 `{target}` 建立安全连接：{error}"),
            ),
            Self::AuthRefused { status } => Text::new(
                format!("it refused the credentials (HTTP {status})"),
                format!("它拒绝了凭据（HTTP {status}）"),
            ),
            Self::SignInNeeded { challenge, had_grant } => match (challenge.wants_more(), had_grant) {
                (true, true) => more_rights(&challenge.scopes().join(" ")),
                (_, true) => Text::fixed("the sign-in is no longer valid for it", "对它的登录已失效"),
                (_, false) => Text::fixed("it wants a person to sign in", "它需要由人登录"),
            },
            Self::Http { status, body } if body.is_empty() => {
                Text::new(format!("it answered HTTP {status}"), format!("它返回 HTTP {status}"))
            }
            Self::Http { status, body } => Text::new(
                format!("it answered HTTP {status}: {body}"),
                format!("它返回 HTTP {status}：{body}"),
            ),
            Self::Redirect { reason } => Text::new(
                format!("its redirect is not followed: {reason}"),
                format!("不跟随其重定向：{reason}"),
            ),
            Self::Protocol { detail } => Text::new(
                format!("it does not keep to the protocol: {detail}"),
                format!("它不遵守协议：{detail}"),
            ),
            Self::Rpc(error) => {
                Text::new(format!("it answered with an error: {error}"), format!("它返回错误：{error}"))
            }
            Self::Busy { waiting } => Text::new(
                format!("{waiting} calls to it are waiting already"),
                format!("已有 {waiting} 个调用在等待"),
            ),
            Self::Canceled => Text::fixed("canceled", "已取消"),
            Self::BeforeSend { reason } => {
                Text::new(format!("the call was not sent: {reason}"), format!("调用未发送：{reason}"))
            }
            Self::Stopped => Text::fixed("it was stopped", "它已被停止"),
            Self::Restarting { last, next } => {
                let last = last.text();
                Text::new(
                    format!("it failed ({}) and starts again in {}", last.en, seconds(*next)),
                    format!("它出错（{}），将在 {} 后重启", last.zh, seconds(*next)),
                )
            }
            Self::GaveUp { failures, last } => {
                let last = last.text();
                Text::new(
                    format!("it failed {failures} times in five minutes: {}", last.en),
                    format!("它在五分钟内失败了 {failures} 次：{}", last.zh),
                )
            }
            Self::Untrusted { plugin } => Text::new(
                format!("the plugin `{plugin}` is not trusted, or has changed since it was"),
                format!("插件 `{plugin}` 未被信任，或在信任之后已改变"),
            ),
            Self::UnknownServer => Text::fixed("there is no such server", "没有这个服务器"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<Text> {
        Some(match self {
            Self::CommandNotFound { program } if is_node(program) => Text::fixed(
                "install Node.js 20 or newer, or set the path to it, then restart the server",
                "请安装 Node.js 20 或更高版本，或设置其路径，然后重启该服务器",
            ),
            Self::CommandNotFound { .. } => Text::fixed(
                "install the program or write its full path, then restart the server",
                "请安装该程序或填写完整路径，然后重启该服务器",
            ),
            Self::CommandNotExecutable { .. } => {
                Text::fixed("make the file executable (chmod +x)", "请为该文件添加执行权限（chmod +x）")
            }
            Self::ModuleMissing { .. } => Text::fixed(
                "its author has to bundle it; for a program of your own, install the module beside it",
                "需要其作者将它打包进来；如果是你自己的程序，请把该模块装在它旁边",
            ),
            Self::EntryMissing { .. } => {
                Text::fixed("install it again, or correct the path", "请重新安装，或更正路径")
            }
            Self::Exited { .. } => Text::fixed("look at its error output below", "请查看下方的错误输出"),
            Self::TimedOut { what: Waited::CallIdle | Waited::CallTotal, .. } => Text::fixed(
                "raise the time-out of this server if its calls really take that long",
                "如果该服务器的调用确实需要这么久，请提高其超时时间",
            ),
            Self::AddressRefused { can_allow: true, .. } => Text::fixed(
                "allow local and private addresses for this server if you mean that machine",
                "如果确实要连接该机器，请允许此服务器使用本地和私有地址",
            ),
            Self::AuthRefused { .. } => {
                Text::fixed("check the token or password of this server", "请检查该服务器的令牌或密码")
            }
            Self::SignInNeeded { .. } => sign_in("NAME"),
            Self::Untrusted { plugin } => Text::new(
                format!("look at it and decide: `chatos plugin trust {plugin}`"),
                format!("请查看后决定：`chatos plugin trust {plugin}`"),
            ),
            Self::GaveUp { .. } => {
                Text::fixed("fix the cause, then restart the server", "排除原因后，重启该服务器")
            }
            Self::Busy { .. } => Text::fixed("wait for some of them to end", "请等待其中一些结束"),
            _ => return None,
        })
    }

    /// The same about a server with a name.
    pub fn hint_for(&self, server: &str) -> Option<Text> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        match self {
            Self::SignInNeeded { .. } if server.chars().all(plain) => Some(sign_in(server)),
            _ => self.hint(),
        }
    }

    /// As an error of the command line and the API; `server` is the name a person knows it by.
    pub fn fault(&self, server: &str, stderr: &[String]) -> Fault {
        let text = self.text();
        let message = Text::new(
            format!("MCP server `{server}`: {}", text.en),
            format!("MCP 服务器 `{server}`：{}", text.zh),
        );
        let mut fault = Fault::new(self.code(), message).code(self.domain_code());
        if let Some(hint) = self.hint_for(server) {
            fault = fault.hint(hint);
        }
        if !stderr.is_empty() {
            fault = fault.details(json!({ "stderr": stderr }));
        }
        fault
    }
}

/// Only a person can, and there are two ways.
fn sign_in(server: &str) -> Text {
    Text::new(
        format!(
            "a person has to sign in: on the page under Settings, Servers, or with `chatos mcp servers sign-in \
             {server}`; until then the same fails again"
        ),
        format!(
            "需要由人登录：在页面的“设置”→“服务器”中登录，或运行 `chatos mcp servers sign-in {server}`；\
             在此之前重试仍会失败"
        ),
    )
}

fn more_rights(scopes: &str) -> Text {
    if scopes.is_empty() {
        return Text::fixed("it needs more rights than the sign-in has", "它需要比当前登录更多的权限");
    }
    Text::new(
        format!("it needs more rights than the sign-in has; missing: `{scopes}`"),
        format!("它需要比当前登录更多的权限；缺少：`{scopes}`"),
    )
}

fn timed_out(what: Waited, after: Duration, noise: Option<&str>) -> Text {
    let time = seconds(after);
    let text = match what {
        Waited::Start => {
            (format!("it did not answer the handshake within {time}"), format!("它在 {time} 内没有完成握手"))
        }
        Waited::List => {
            (format!("it did not list its tools within {time}"), format!("它在 {time} 内没有列出工具"))
        }
        Waited::CallIdle => {
            (format!("the call showed no sign of life for {time}"), format!("该调用在 {time} 内没有任何响应"))
        }
        Waited::CallTotal => (format!("the call ran longer than {time}"), format!("该调用运行超过 {time}")),
        Waited::Request => (format!("it did not answer within {time}"), format!("它在 {time} 内没有响应")),
    };
    match noise {
        Some(noise) => Text::new(format!("{}; {noise}", text.0), format!("{}；{noise}", text.1)),
        None => Text::new(text.0, text.1),
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(10) && time.subsec_millis() != 0 {
        format!("{:.1} s", time.as_secs_f64())
    } else if time < Duration::from_secs(600) {
        format!("{} s", time.as_secs())
    } else {
        format!("{} min", time.as_secs() / 60)
    }
}

fn is_node(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "node" | "nodejs" | "npx" | "npm")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().en)
    }
}

impl std::error::Error for Failure {}
