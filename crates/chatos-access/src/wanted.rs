//! What a call asks for beyond the sandbox.

use std::path::Path;

use chatos_tool::{Issue, IssueCode, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::closed::{is_closed, real};
use crate::host::Host;

/// Most values of a kind in one call.
pub const MAX_VALUES: usize = 8;
pub const MAX_REASON: usize = 300;

/// More than the sandbox gives; a person is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Absolute paths to read, at most 8
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(min = 1, max = 4096)), extend("x-zh" = "要读取的绝对路径，最多 8 个"))]
    pub read: Vec<String>,
    /// Absolute paths to write, at most 8
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(min = 1, max = 4096)), extend("x-zh" = "要写入的绝对路径，最多 8 个"))]
    pub write: Vec<String>,
    /// Machines to reach, name or name:port, at most 8
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(min = 1, max = 4096)), extend("x-zh" = "要访问的主机，格式为 name 或 name:port，最多 8 个"))]
    pub hosts: Vec<String>,
    /// Run once without the sandbox
    #[serde(default)]
    #[schemars(extend("x-zh" = "不使用沙箱，仅运行一次"))]
    pub outside: bool,
    /// Why it is needed, for the person
    #[schemars(length(min = 1, max = 300), extend("x-zh" = "为何需要，供用户判断", "x-no-nul" = true))]
    pub reason: String,
}

impl Access {
    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.hosts.is_empty() && !self.outside
    }

    /// What is wrong with the values, each at its place below `at`.
    pub fn issues(&self, at: &str) -> Vec<Issue> {
        let mut issues = Vec::new();
        for (name, list) in [("read", &self.read), ("write", &self.write), ("hosts", &self.hosts)] {
            for (index, value) in list.iter().enumerate() {
                let place = format!("{at}/{name}/{index}");
                let wrong = if name == "hosts" { wrong_host(value) } else { wrong_path(value) };
                issues.extend(wrong.map(|text| Issue::new(place, IssueCode::Format, text)));
            }
        }
        issues
    }
}

/// Why a path cannot be opened to commands.
pub(crate) fn wrong_path(value: &str) -> Option<Text> {
    let path = Path::new(value);
    let plain = path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    if !path.is_absolute() || !plain || value.contains('\0') || value.len() > 4096 {
        return Some(Text::fixed("an absolute path without `..` is needed", "需要绝对路径，且不能包含 `..`"));
    }
    (path.parent().is_none()).then(|| {
        Text::fixed(
            "the whole file system cannot be opened; name what is needed",
            "不能开放整个文件系统；请写明所需路径",
        )
    })
}

/// Why a path is not opened to a project: it is the home directory or one around it, or it is closed.
pub fn unopenable<'a>(path: &Path, variable: impl Fn(&str) -> Option<&'a str>) -> Option<Text> {
    if variable("HOME").is_some_and(|home| real(Path::new(home)).starts_with(real(path))) {
        return Some(Text::fixed(
            "the whole home directory is not opened; name the file or directory that is needed",
            "不能开放整个主目录；请写明所需的文件或目录",
        ));
    }
    is_closed(path, variable).then(|| {
        Text::fixed(
            "keys, tokens and what browsers and other agents keep stay closed to projects; the setting `shellReadPaths` \
             opens this one place to all commands if you name it there",
            "密钥、令牌以及浏览器和其他智能体保存的内容不对项目开放；如确有需要，在设置 `shellReadPaths` 中写明这一路径，\
             所有命令即可读取",
        )
    })
}

/// Why a machine cannot be named so.
pub(crate) fn wrong_host(value: &str) -> Option<Text> {
    Host::parse(value).is_none().then(|| {
        Text::fixed(
            "one machine is named as name or name:port, without a scheme, a path or `*`",
            "请以 name 或 name:port 写明一台主机，不含协议、路径或 `*`",
        )
    })
}
