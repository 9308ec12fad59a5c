//! From the arguments of a call to a command that can be started: which shell, which environment, which
//! directory (servers §3.2).

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use chatos_files::entry::Kind;
use chatos_files::resolve::Last;
use chatos_files::{FileError, Protected, Root, SymlinkPolicy};
use chatos_layer::{CallCx, explain};
use chatos_tool::{DenyRule, Issue, IssueCode, Needed, Text, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most variables of a call.
const MAX_VARIABLES: usize = 64;
/// Longest value of a variable.
const MAX_VALUE: usize = 8 << 10;

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "fish", "pwsh", "cmd"];
const SYSTEM_DIRECTORIES: [&str; 7] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin", "/snap/bin"];

/// Names a call must not set: what loads code into every program, what shells run unasked, ours.
const REFUSED: [&str; 7] = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS"];
const REFUSED_STARTS: [&str; 4] = ["LD_", "DYLD_", "MODEL_CLI_", "CHATOS_"];

/// Copied from the server's own environment.
const KEPT: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "TZ", "SHELL", "LOGNAME"];
const PROXIES: [&str; 5] = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"];

/// The value of a variable.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct EnvValue(
    #[schemars(extend("x-max-bytes" = MAX_VALUE, "x-no-nul" = true))] pub(super) String,
);

/// Variables as a call gives them.
pub(super) type Variables = BTreeMap<String, EnvValue>;

/// A shell and how it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shell {
    /// The program.
    pub(super) path: String,
    before: &'static [&'static str],
}

impl Shell {
    /// Program and arguments for a command.
    pub(super) fn argv(&self, command: &str) -> Vec<String> {
        let mut argv = vec![self.path.clone()];
        argv.extend(self.before.iter().map(|&word| word.to_owned()));
        argv.push(command.to_owned());
        argv
    }

    fn of(path: String) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        // No profile files, whichever shell it is.
        let before: &[&str] = match name {
            "zsh" => &["-f", "-c"],
            "fish" => &["--no-config", "-c"],
            "pwsh" => &["-NoProfile", "-NonInteractive", "-Command"],
            "cmd" => &["/d", "/c"],
            _ => &["-c"],
        };
        Self { path, before }
    }
}

/// The shell a call wants, or the user's own, or `sh`.
pub(super) fn shell(wanted: Option<&str>, variables: &BTreeMap<String, String>) -> Result<Shell, ToolError> {
    match wanted {
        Some(wanted) if wanted.starts_with('/') => {
            if !is_system_shell(wanted) {
                return Err(no_shell(wanted));
            }
            if Path::new(wanted).is_file() { Ok(Shell::of(wanted.to_owned())) } else { Err(missing(wanted)) }
        }
        Some(wanted) if SHELLS.contains(&wanted) => find(wanted).ok_or_else(|| missing(wanted)),
        Some(wanted) => Err(no_shell(wanted)),
        None => {
            let own =
                variables.get("SHELL").filter(|path| is_system_shell(path) && Path::new(path).is_file());
            own.map(|path| Shell::of(path.clone())).or_else(|| find("sh")).ok_or_else(|| missing("sh"))
        }
    }
}

fn is_system_shell(path: &str) -> bool {
    let Some((directory, name)) = path.rsplit_once('/') else { return false };
    SHELLS.contains(&name) && SYSTEM_DIRECTORIES.contains(&directory)
}

fn find(name: &str) -> Option<Shell> {
    let paths = SYSTEM_DIRECTORIES.iter().map(|directory| format!("{directory}/{name}"));
    paths.into_iter().find(|path| Path::new(path).is_file()).map(Shell::of)
}

fn no_shell(wanted: &str) -> ToolError {
    ToolError::denied(
        DenyRule::ShellBlocked,
        Text::new(
            format!("`{wanted}` is not a shell that may be used"),
            format!("不允许使用 `{wanted}` 作为 shell"),
        ),
    )
    .hint(Text::fixed(
        "use sh, bash, dash, zsh, fish or pwsh, or leave shell out; other programs are called in the command",
        "请使用 sh、bash、dash、zsh、fish 或 pwsh，或省略 shell；其他程序请写在 command 中",
    ))
}

fn missing(wanted: &str) -> ToolError {
    ToolError::unavailable(
        Needed::Process,
        Text::new(format!("the shell `{wanted}` is not installed"), format!("未安装 shell `{wanted}`")),
    )
    .hint(Text::fixed("leave shell out to use the one that is there", "省略 shell 以使用现有的 shell"))
}

/// Problems of a command and its `env` that a schema cannot say.
pub(super) fn check(command: &str, variables: &Variables) -> Vec<Issue> {
    let mut issues = Vec::new();
    if command.trim().is_empty() {
        issues.push(Issue::new(
            "/command",
            IssueCode::Length,
            Text::fixed("the command is empty", "命令为空"),
        ));
    }
    if variables.len() > MAX_VARIABLES {
        issues.push(Issue::new(
            "/env",
            IssueCode::Length,
            Text::new(format!("at most {MAX_VARIABLES} variables"), format!("最多 {MAX_VARIABLES} 个变量")),
        ));
    }
    for name in variables.keys().take(MAX_VARIABLES) {
        let place = chatos_tool::validation::pointer("/env", name);
        let mut chars = name.chars();
        let named = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !named {
            issues.push(Issue::new(
                place,
                IssueCode::Pattern,
                Text::fixed(
                    "a name has letters, digits and _, and does not begin with a digit",
                    "变量名只能包含字母、数字和 _，且不能以数字开头",
                ),
            ));
        }
    }
    issues
}

/// Names that are refused whatever their value is.
pub(super) fn refuse_variables(variables: &Variables) -> Result<(), ToolError> {
    let bad = variables.keys().find(|name| {
        REFUSED.contains(&name.as_str()) || REFUSED_STARTS.iter().any(|start| name.starts_with(start))
    });
    match bad {
        None => Ok(()),
        Some(name) => Err(ToolError::denied(
            DenyRule::ShellBlocked,
            Text::new(format!("the variable `{name}` must not be set"), format!("不允许设置变量 `{name}`")),
        )
        .hint(Text::fixed(
            "it would change what every program of the command does; set it inside the command if it is needed there",
            "它会改变命令中所有程序的行为；如确有需要，请在命令内部设置",
        ))),
    }
}

/// Where a command looks for programs, unless its call says otherwise.
pub(super) fn search_path(own: &BTreeMap<String, String>) -> &str {
    own.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str)
}

/// The environment of a command: an allow-list of the server's own, fixed values, then the call's
/// (servers §3.2). Secrets of the host are not on the list.
pub(super) fn environment(
    own: &BTreeMap<String, String>,
    temp: &Path,
    token: &str,
    toolchains: Option<&BTreeMap<String, String>>,
    given: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let kept = |name: &str| {
        KEPT.contains(&name)
            || name.starts_with("LC_")
            || PROXIES.contains(&name.to_ascii_lowercase().as_str())
    };
    let mut env: BTreeMap<String, String> = own
        .iter()
        .filter(|(name, _)| kept(name))
        .map(|(name, value)| {
            let is_proxy = PROXIES.contains(&name.to_ascii_lowercase().as_str());
            (name.clone(), if is_proxy { without_user(value) } else { value.clone() })
        })
        .collect();
    env.insert("PATH".to_owned(), search_path(own).to_owned());
    env.insert("TMPDIR".to_owned(), temp.display().to_string());
    for (name, value) in [
        ("TERM", "xterm-256color"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("MODEL_CLI_SESSION_TOKEN", token),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    if let Some(toolchains) = toolchains {
        // Configuration of git in variables is counted: the call's and ours cannot be mixed.
        let counted = given.contains_key("GIT_CONFIG_COUNT");
        let ours = toolchains.iter().filter(|(name, _)| {
            !(counted && name.starts_with("GIT_CONFIG_") && *name != "GIT_CONFIG_GLOBAL")
        });
        env.extend(ours.map(|(name, value)| (name.clone(), value.clone())));
    }
    env.extend(given);
    env
}

/// An address without who signs in.
fn without_user(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => value.to_owned(),
    }
}

/// A working directory, open and by name.
#[derive(Debug)]
pub(super) struct WorkDir {
    /// Relative to the root.
    pub(super) rel: String,
    pub(super) path: PathBuf,
    pub(super) handle: OwnedFd,
}

/// Opens the working directory beneath the call's root, by the kernel (servers §2.1).
pub(super) fn work_dir(cx: &CallCx, protected: &[PathBuf], wanted: &str) -> Result<WorkDir, ToolError> {
    let root = open_root(cx, protected)?;
    let place = root.existing(wanted, Last::Follow).map_err(explain)?;
    if place.kind() != Some(Kind::Directory) {
        return Err(ToolError::invalid(vec![Issue::new(
            "/cwd",
            IssueCode::Format,
            Text::new(format!("`{wanted}` is not a directory"), format!("`{wanted}` 不是目录")),
        )]));
    }
    let rel = place.rel().to_owned();
    let beneath = if rel == "." { "" } else { rel.as_str() };
    let handle = if beneath.is_empty() {
        rustix::io::fcntl_dupfd_cloexec(root.handle(), 0)
    } else {
        root.open_dir_nofollow(beneath.as_bytes())
    };
    let handle = handle.map_err(|errno| explain(FileError::os("open", wanted, errno)))?;
    Ok(WorkDir { path: root.path().join(beneath), rel, handle })
}

/// The call's root for the file engine.
pub(super) fn open_root(cx: &CallCx, protected: &[PathBuf]) -> Result<Root, ToolError> {
    let Some(own) = &cx.root else {
        return Err(ToolError::denied(
            DenyRule::OutsideRoot,
            Text::fixed("this call has no root directory", "此次调用没有根目录"),
        ));
    };
    // A command starts inside the root whatever the link policy of the file tools says.
    let protected = Protected::new(protected.iter().cloned());
    Ok(Root::on(own.anchor().clone(), SymlinkPolicy::Deny, protected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), EnvValue((*value).to_owned()))).collect()
    }

    #[test]
    fn only_shells_in_system_directories_run() {
        let none = BTreeMap::new();
        assert!(shell(Some("sh"), &none).unwrap().path.ends_with("/sh"));
        assert_eq!(shell(Some("/bin/sh"), &none).unwrap().path, "/bin/sh");
        for bad in [
            "python3",
            "/usr/bin/python3",
            "/tmp/bash",
            "./bash",
            "bash -x",
            "../bin/bash",
            "/bin/../tmp/bash",
            "",
        ] {
            assert_eq!(shell(Some(bad), &none).unwrap_err().code().as_str(), "permission_denied", "{bad}");
        }
        assert_eq!(shell(Some("/usr/local/bin/fish"), &none).unwrap_err().code().as_str(), "unavailable");
        assert!(shell(None, &map(&[("SHELL", "/tmp/evil")])).unwrap().path.ends_with("/sh"));
    }

    #[test]
    fn variables_that_load_code_are_refused() {
        for bad in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_X",
            "BASH_ENV",
            "ENV",
            "IFS",
            "PS4",
            "MODEL_CLI_X",
            "CHATOS_X",
            "PROMPT_COMMAND",
        ] {
            let error = refuse_variables(&variables(&[("A", "1"), (bad, "x")])).unwrap_err();
            assert_eq!(error.code().as_str(), "permission_denied", "{bad}");
        }
        assert!(refuse_variables(&variables(&[("NODE_ENV", "test"), ("_X", "")])).is_ok());
        assert_eq!(check("true", &variables(&[("1A", "x"), ("A-B", "x"), ("", "x"), ("OK", "y")])).len(), 3);
        let many: Variables = (0..65).map(|n| (format!("V{n}"), EnvValue(String::new()))).collect();
        assert_eq!(check("true", &many).len(), 1);
        assert_eq!(check(" \n", &variables(&[])).len(), 1);
    }

    #[test]
    fn nothing_of_the_host_changes_what_a_command_means() {
        let hostile = [
            "BASH_ENV",
            "ENV",
            "SHELLOPTS",
            "BASHOPTS",
            "BASH_FUNC_ls%%",
            "PS4",
            "IFS",
            "CDPATH",
            "PROMPT_COMMAND",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "GCONV_PATH",
            "GIT_DIR",
            "GIT_CONFIG",
            "GIT_CONFIG_PARAMETERS",
            "GIT_SSH",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "GIT_ASKPASS",
            "GIT_EXEC_PATH",
            "GIT_TEMPLATE_DIR",
            "EDITOR",
            "VISUAL",
            "LESSOPEN",
            "LESSCLOSE",
            "MANPAGER",
            "BROWSER",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "PYTHONHOME",
            "NODE_OPTIONS",
            "NODE_PATH",
            "PERL5OPT",
            "PERL5LIB",
            "PERL5DB",
            "RUBYOPT",
            "RUBYLIB",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "RUSTC_WRAPPER",
            "CARGO_BUILD_RUSTC",
            "MAKEFLAGS",
            "GREP_OPTIONS",
            "ZDOTDIR",
            "XDG_CONFIG_HOME",
            "npm_config_script_shell",
            "RIPGREP_CONFIG_PATH",
            "TAR_OPTIONS",
            "CC",
            "AWKPATH",
        ];
        let own = map(&hostile.map(|name| (name, "canary")));
        let env = environment(&own, Path::new("/t"), "tok", None, BTreeMap::new());
        assert!(!env.values().any(|value| value == "canary"), "{env:?}");
        assert_eq!((env["PAGER"].as_str(), env["GIT_PAGER"].as_str()), ("cat", "cat"));
        assert_eq!(env["PATH"], "/usr/local/bin:/usr/bin:/bin");
    }

    #[test]
    fn a_command_gets_no_secret_of_the_host() {
        let own = map(&[
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "canary"),
            ("SSH_AUTH_SOCK", "canary"),
            ("DBUS_SESSION_BUS_ADDRESS", "canary"),
            ("DOCKER_HOST", "canary"),
            ("NODE_OPTIONS", "canary"),
            ("LD_PRELOAD", "canary"),
            ("HTTPS_PROXY", "http://user:canary@proxy:3128/"),
            ("no_proxy", "localhost"),
            ("CHATOS_MCP_TOKEN", "canary"),
        ]);
        let env = environment(&own, Path::new("/t"), "tok", None, map(&[("A", "1"), ("TERM", "dumb")]));
        assert!(!env.values().any(|value| value.contains("canary")), "{env:?}");
        assert_eq!(env["HTTPS_PROXY"], "http://proxy:3128/");
        assert_eq!((env["TERM"].as_str(), env["A"].as_str(), env["TMPDIR"].as_str()), ("dumb", "1", "/t"));
        assert_eq!(env["MODEL_CLI_SESSION_TOKEN"], "tok");
    }
}
