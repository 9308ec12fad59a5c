//! What a command was refused by its boundary, recognised in what it printed, so that nobody looks for the fault in
//! the command (working-day §1.5).

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chatos_tool::{Lang, Text};
use chatos_wire::access::AccessKind;
use rustix::fs::{Access, AtFlags, CWD};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::{Finding, Grade};
use crate::sandbox::Boundary;

/// How much of the end of each stream is searched.
const SEARCHED: usize = 64 << 10;
/// Most findings of one command.
const MAX_DENIALS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Refused {
    Read,
    Write,
    Execute,
    Network,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Denial {
    /// It was the sandbox; otherwise it is only likely
    pub(crate) certain: bool,
    /// What was refused
    pub(crate) access: Refused,
    /// The file or directory
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// The machine
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// Its port
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) port: Option<u16>,
    /// The setting with which a person opens it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) setting: Option<&'static str>,
    /// What lifts it once a person opens it to the commands of the project
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opens: Option<Opens>,
}

/// The words of [`AccessKind`], whose own schema only the generator of documents has.
fn kinds(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "enum": AccessKind::ALL })
}

/// What a person opens to the commands of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Opens {
    #[schemars(schema_with = "kinds")]
    pub(crate) kind: AccessKind,
    /// An absolute path, or name\[:port\] of a machine
    pub(crate) value: String,
}

impl Opens {
    pub(crate) fn new(kind: AccessKind, value: String) -> Self {
        Self { kind, value }
    }
}

/// What has to be open so that a path can be used: the path itself, or for something new the nearest directory that is
/// there. Nothing where that is the home directory or one around it, which is opened to nobody.
pub(crate) fn narrowed(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let place = path.ancestors().find(|place| place.exists())?;
    let whole = place.parent().is_none() || home.is_some_and(|home| home.starts_with(place));
    (!whole).then(|| place.to_owned())
}

/// A command that ended.
pub(crate) struct Ended<'a> {
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) boundary: &'a Boundary,
    /// Machines it may reach through the proxy.
    pub(crate) hosts: &'a [chatos_access::Host],
    pub(crate) lang: Lang,
}

/// Words by which programs and the C library say that the system refused something, in English and Chinese.
const REFUSED: [&str; 15] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "access denied",
    "os error 13",
    "os error 1)",
    "errno 13",
    "权限不够",
    "权限不足",
    "不允许的操作",
    "拒绝访问",
    "只读文件系统",
];
/// That no other machine was reached.
const UNREACHED: [&str; 16] = [
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address",
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "unable to resolve host",
    "network is unreachable",
    "nodename nor servname",
    "dns error",
    "failed to establish a new connection",
    "域名解析暂时失败",
    "未知的名称或服务",
    "网络不可达",
];
/// That a machine did not answer: without a network that may be because it is another one than outside, as where somebody's
/// own server runs on this computer.
const UNANSWERED: [&str; 5] =
    ["connection refused", "couldn't connect to", "failed to connect to", "econnrefused", "拒绝连接"];
/// That git does not trust the owner of a folder: inside a boundary of root that is often because of it.
const OWNER: &str = "dubious ownership";

/// Looks for refusals in what was printed.
pub(crate) fn find(ended: &Ended<'_>) -> Vec<Finding> {
    let stderr = tail(ended.stderr);
    let failed = ended.exit_code != Some(0);
    let mut all: Vec<Denial> = Vec::new();
    let mut suspected = false;
    let lines = stderr.lines().chain(if failed { tail(ended.stdout).lines() } else { "".lines() });
    for line in lines {
        let low = line.to_lowercase();
        let refused = REFUSED.iter().any(|word| low.contains(word));
        let unreached = UNREACHED.iter().any(|word| low.contains(word));
        if unreached && !ended.boundary.network {
            let (host, port) = host(line);
            add(
                &mut all,
                Denial {
                    certain: host.is_some(),
                    access: Refused::Network,
                    path: None,
                    host,
                    port,
                    setting: Some("shellNetwork"),
                    opens: None,
                },
            );
        } else if refused {
            let mut denials: Vec<Denial> =
                paths(line, ended).iter().filter_map(|path| of_path(path, &low, ended)).collect();
            // A line often begins with the program that speaks.
            let speaks = |denial: &Denial| denial.path.as_deref().is_some_and(|path| is_program(path, ended));
            if denials.iter().any(|denial| !speaks(denial)) {
                denials.retain(|denial| !speaks(denial));
            }
            suspected |= denials.is_empty();
            for denial in denials {
                add(&mut all, denial);
            }
        } else {
            let unanswered = !ended.boundary.network && UNANSWERED.iter().any(|word| low.contains(word));
            suspected |= unanswered || low.contains(OWNER);
        }
    }
    // A name of the machine in one line explains the line without it.
    if all.iter().any(|denial| denial.host.is_some()) {
        all.retain(|denial| denial.access != Refused::Network || denial.host.is_some());
    }
    let mut found: Vec<Finding> =
        all.into_iter().take(MAX_DENIALS).map(|denial| finding(denial, ended)).collect();
    if found.is_empty() && suspected && failed {
        found.push(Finding {
            id: "sandbox_suspected",
            level: Grade::Warn,
            message: Text::fixed(
                "the system refused something; it may have been the sandbox, which keeps commands out of the home directory, away from other processes and off the network",
                "系统拒绝了某项操作；可能是沙箱所致：沙箱不让命令访问主目录、其他进程和网络",
            )
            .get(ended.lang)
            .to_owned(),
            said: None,
            text: None,
            denied: None,
        });
    }
    found
}

/// A program that the command may run.
fn is_program(path: &str, ended: &Ended<'_>) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let runs = |meta: std::fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    ended.boundary.may_read(Path::new(path)) && std::fs::metadata(path).is_ok_and(runs)
}

fn add(all: &mut Vec<Denial>, denial: Denial) {
    if !all.contains(&denial) {
        all.push(denial);
    }
}

fn tail(text: &str) -> &str {
    let mut at = text.len().saturating_sub(SEARCHED);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

/// A path that this process may use and the command may not.
fn of_path(path: &Path, low: &str, ended: &Ended<'_>) -> Option<Denial> {
    const WRITES: [&str; 12] = [
        "cannot create",
        "can't create",
        "cannot touch",
        "cannot remove",
        "cannot move",
        "mkdir",
        "unlink",
        "rename",
        "write",
        "read-only",
        "无法创建",
        "无法删除",
    ];
    let may = |path: &Path, access: Access| {
        rustix::fs::accessat(CWD, path.as_os_str().as_bytes(), access, AtFlags::empty()).is_ok()
    };
    let exists = path.exists();
    let readable = ended.boundary.may_read(path);
    let writes = !exists || readable || WRITES.iter().any(|word| low.contains(word));
    let (access, setting) = if !readable && exists && !writes {
        let program =
            path.is_file() && (low.contains("exec") || low.contains("126") || low.contains("not found"));
        let access = if program && may(path, Access::EXEC_OK) { Refused::Execute } else { Refused::Read };
        may(path, Access::READ_OK).then_some((access, "shellReadPaths"))?
    } else {
        let place = if exists { path } else { path.parent().filter(|parent| parent.is_dir())? };
        if ended.boundary.may_write(path) || !may(place, Access::WRITE_OK) {
            return None;
        }
        (Refused::Write, "shellWritePaths")
    };
    // Who opens a closed place names it for reading; what belongs to ChatOS is never opened.
    let setting = (!ended.boundary.never_opens(path)).then_some(setting);
    Some(Denial {
        certain: true,
        access,
        path: Some(path.display().to_string()),
        host: None,
        port: None,
        setting,
        opens: None,
    })
}

/// Paths that a line names: absolute, of the home directory, or beside the command.
fn paths(line: &str, ended: &Ended<'_>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let quotes: &[char] = &['\'', '"', '`', '‘', '’', '“', '”'];
    // Between quotes a path may hold blanks. An odd one is an apostrophe.
    let parts: Vec<&str> = line.split(quotes).collect();
    let (quoted, plain) = if parts.len() % 2 == 1 {
        let of = |odd: usize| parts.iter().copied().skip(odd).step_by(2).collect::<Vec<&str>>();
        (of(1), of(0))
    } else {
        (Vec::new(), vec![line])
    };
    let blanks = |c: char| c.is_whitespace() || quotes.contains(&c) || "()[]<>,;".contains(c);
    let words = plain.iter().flat_map(|part| part.split(blanks));
    let words = words.flat_map(|word| [word, word.split(':').next().unwrap_or(word)]);
    for word in quoted.into_iter().chain(words) {
        let word = word
            .trim_matches(|c: char| ":,;.!".contains(c) && !word.starts_with(c))
            .trim_end_matches([':', ',']);
        if word.is_empty() || word.contains("://") || found.len() >= MAX_DENIALS {
            continue;
        }
        let path = if let Some(rest) = word.strip_prefix("~/") {
            let Some(home) = ended.home else { continue };
            home.join(rest)
        } else if word.starts_with('/') {
            PathBuf::from(word)
        } else if word.contains('/') || word.starts_with('.') {
            ended.cwd.join(word)
        } else {
            continue;
        };
        let path = chatos_access::real(&path);
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// The machine a line names: after the words that say so, or in an address.
fn host(line: &str) -> (Option<String>, Option<u16>) {
    let is_name = |word: &str| {
        word.contains('.')
            && word.len() <= 253
            && !word.starts_with('.')
            && !word.ends_with('.')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
            && word.chars().any(|c| c.is_ascii_alphabetic())
    };
    let split = |text: &str| {
        let (name, port) = text.split_once(':').unwrap_or((text, ""));
        is_name(name).then(|| (Some(name.to_ascii_lowercase()), port.parse().ok()))
    };
    if let Some((scheme, rest)) = line.split_once("://") {
        let end =
            rest.find(|c: char| c == '/' || c.is_whitespace() || "'\")`".contains(c)).unwrap_or(rest.len());
        let place = rest[..end].rsplit('@').next().unwrap_or_default();
        if let Some((name, port)) = split(place.trim_end_matches(':')) {
            let usual =
                if scheme.ends_with("http") { Some(80) } else { scheme.ends_with("https").then_some(443) };
            return (name, port.or(usual));
        }
    }
    let blanks = |c: char| c.is_whitespace() || "'\"`()[]<>,;=".contains(c);
    let named =
        line.split(blanks).map(|word| word.trim_end_matches(['.', ':'])).filter_map(split).next_back();
    named.unwrap_or((None, None))
}

/// A closed place, which no project has open.
fn is_closed(denial: &Denial, ended: &Ended<'_>) -> bool {
    let path = denial.path.as_deref().map(Path::new);
    path.is_some_and(|path| ended.boundary.protected.iter().any(|closed| path.starts_with(closed)))
}

fn finding(mut denial: Denial, ended: &Ended<'_>) -> Finding {
    let what = denial.path.clone().or_else(|| denial.host.clone());
    let name = what.clone().unwrap_or_default();
    let said = match (denial.access, &what) {
        (Refused::Network, Some(_)) => Text::new(
            format!("commands have no network here, so `{name}` was not reached"),
            format!("此处的命令没有网络，因此无法访问 `{name}`"),
        ),
        (Refused::Network, None) => Text::fixed(
            "commands have no network here, so no machine was reached",
            "此处的命令没有网络，因此无法访问任何主机",
        ),
        (Refused::Write, _) => Text::new(
            format!("the sandbox did not let the command write `{name}`"),
            format!("沙箱不允许该命令写入 `{name}`"),
        ),
        (Refused::Execute, _) => Text::new(
            format!("the sandbox did not let the command run `{name}`"),
            format!("沙箱不允许该命令运行 `{name}`"),
        ),
        _ => Text::new(
            format!("the sandbox did not let the command read `{name}`"),
            format!("沙箱不允许该命令读取 `{name}`"),
        ),
    };
    let port = denial.port.unwrap_or(443);
    let again = |access: &str| {
        Text::new(
            format!(
                "if it is needed, call again with access: {{{access}, \"reason\": \"…\"}}; a person is asked"
            ),
            format!("如确有需要，请以 access: {{{access}, \"reason\": \"…\"}} 重新调用；会询问用户"),
        )
    };
    let asked = |opens: &Opens| {
        let member = if opens.kind == AccessKind::Host { "hosts" } else { opens.kind.as_str() };
        again(&format!("\"{member}\": [\"{}\"]", opens.value))
    };
    let lifts = match denial.setting {
        Some("shellNetwork") if ended.hosts.iter().any(|host| host.fits(&name, port)) => Text::fixed(
            "it may be reached, but only through the proxy in HTTPS_PROXY, which this program does not use; call again with network: true, a person is asked",
            "该主机允许访问，但只能通过 HTTPS_PROXY 中的代理，而此程序没有使用它；请以 network: true 重新调用，会询问用户",
        ),
        Some("shellNetwork") if ended.boundary.kernel.holds_hosts() && denial.host.is_some() => {
            let host = chatos_access::Host::of(&name, port).map_or(name.clone(), |host| host.to_string());
            asked(denial.opens.insert(Opens::new(AccessKind::Host, host)))
        }
        Some("shellNetwork") => Text::fixed(
            "if it is needed, call again with network: true; a person is asked",
            "如确有需要，请以 network: true 重新调用；会询问用户",
        ),
        Some(setting) => {
            let kind = if setting == "shellWritePaths" { AccessKind::Write } else { AccessKind::Read };
            let home = ended.home.map(chatos_access::real);
            let place = narrowed(Path::new(&name), home.as_deref()).filter(|_| !is_closed(&denial, ended));
            denial.opens = place.map(|place| Opens::new(kind, place.display().to_string()));
            denial.opens.as_ref().map_or_else(|| again("\"outside\": true"), asked)
        }
        None => Text::fixed("it cannot be opened to commands", "它不能向命令开放"),
    };
    let message = Text::new(
        format!("{}; the command is not at fault, do not work around it; {}", said.en, lifts.en),
        format!("{}；命令本身没有错，请勿绕过；{}", said.zh, lifts.zh),
    );
    Finding {
        id: "sandbox_denied",
        level: Grade::Warn,
        message: message.get(ended.lang).to_owned(),
        said: None,
        text: None,
        denied: Some(denial),
    }
}

#[cfg(test)]
mod tests;
