//! What a decision says to a person: why somebody is asked, and what of a rule did not fit.

use crate::decide::Why;

impl Why {
    /// In one sentence, in both languages.
    pub fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::NoRule => ("no rule answers this", "没有规则适用于此"),
            Self::Rule => ("a rule says that this is always asked", "有规则要求始终询问"),
            Self::HighRisk => ("high risk is always asked", "高风险操作始终询问"),
            Self::Kind => ("questions of this kind are always asked", "此类问题始终询问"),
            Self::ThroughApp => ("an app started this run: always asked", "由应用发起的运行：始终询问"),
            Self::NoProject => ("there is no project: always asked", "没有所属项目：始终询问"),
        }
    }
}

/// What of a rule did not fit, in both languages.
pub fn misfit(code: &str) -> (&'static str, &'static str) {
    match code {
        "paused" => ("it is paused", "已暂停"),
        "until" => ("its time is over", "已过期"),
        "record" => ("its record could not be saved today", "其记录不符合当前要求"),
        "scope" => ("it holds somewhere else", "适用范围不符"),
        "server" => ("another server", "服务不符"),
        "tool" => ("another tool", "工具不符"),
        "kind" => ("it is about another kind of call", "调用类型不符"),
        "shell" => ("it names no commands", "未指定命令"),
        "paths" => ("another file, or one that leads out of the project", "文件不符，或指向项目之外"),
        "ops" => ("something else is done to the file", "对文件的操作不符"),
        "args" => ("other arguments", "参数不符"),
        "hosts" => ("another address", "地址不符"),
        "session" => ("input to a session is always asked", "会话输入始终询问"),
        "parse" => ("the command is not made of literal words", "命令并非全由字面词组成"),
        "join" => ("commands are joined in a way it does not allow", "命令的连接方式不被允许"),
        "words" => ("other words", "命令的词不符"),
        "sandbox" => ("the command is not fully sandboxed, or has network", "命令未完全沙箱化，或可联网"),
        "findings" => ("the command was found to be risky", "命令被判定有风险"),
        "interpreter" => ("another shell", "shell 不符"),
        "env" => ("the call sets variables", "调用设置了环境变量"),
        "cwd" => ("it runs outside the project", "在项目之外运行"),
        "path" => ("commands can write a folder of the search path", "搜索路径中有命令可写的文件夹"),
        "program" => {
            ("the program is not one that only an administrator can replace", "该程序并非仅管理员可替换")
        }
        "repository" => ("the repository can make git run something", "该仓库可能让 git 运行其他程序"),
        _ => ("it does not fit", "不符"),
    }
}
