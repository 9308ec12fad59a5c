//! What single programs with certain arguments mean.

use chatos_tool::Text;

use super::argv::{self, Effective};
use super::{Grade, Look, path};
use crate::lex::Simple;

const SHELLS: [&str; 11] =
    ["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "csh", "tcsh", "pwsh", "busybox"];

/// Whether a program runs commands that it is given as text.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

fn is_interpreter(name: &str) -> bool {
    const NAMES: [&str; 10] =
        ["python", "node", "perl", "ruby", "php", "lua", "deno", "bun", "Rscript", "osascript"];
    NAMES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The first plain argument is a pattern or a script, no path.
pub(super) fn first_is_pattern(name: &str) -> bool {
    matches!(
        name,
        "grep"
            | "egrep"
            | "fgrep"
            | "rg"
            | "ag"
            | "sed"
            | "awk"
            | "gawk"
            | "jq"
            | "expr"
            | "echo"
            | "printf"
            | "tr"
    )
}

/// Paths a program would change.
pub(super) fn written_paths(name: &str, effective: &Effective<'_>) -> Vec<String> {
    let own = |items: Vec<&str>| items.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let all = || own(effective.plain().collect());
    match name {
        "rm" | "rmdir" | "unlink" | "shred" | "touch" | "mkdir" | "mkfifo" | "truncate" | "mv" | "tee" => {
            all()
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => own(effective.plain().skip(1).collect()),
        "cp" | "install" | "ln" | "rsync" | "scp" => {
            let targets = effective.values(Some('t'), &["target-directory"]);
            if targets.is_empty() {
                own(effective.plain().last().into_iter().collect())
            } else {
                own(targets)
            }
        }
        "dd" => {
            let files = effective.arguments.iter().filter_map(|word| word.text.strip_prefix("of="));
            own(files.collect())
        }
        "sed" | "perl" if effective.has('i', "in-place") => own(effective.plain().skip(1).collect()),
        "tar" | "bsdtar" => {
            let first = effective.arguments.first().map(|word| word.text.as_str()).unwrap_or_default();
            let bundled = !first.starts_with('-') && first.contains('x');
            if effective.has('x', "extract") || effective.has('x', "get") || bundled {
                own(effective.values(Some('C'), &["directory", "one-top-level"]))
            } else {
                own(effective.values(Some('f'), &["file"]))
            }
        }
        "unzip" => own(effective.values(Some('d'), &[])),
        "7z" | "7za" => own(effective.values(Some('o'), &[])),
        "curl" => own(effective.values(Some('o'), &["output", "output-dir", "dump-header", "cookie-jar"])),
        "wget" => {
            let mut files = effective.values(Some('O'), &["output-document"]);
            files.extend(effective.values(Some('P'), &["directory-prefix"]));
            own(files)
        }
        "git" => {
            let plain: Vec<&str> = effective.plain().collect();
            if plain.contains(&"clone") || plain.contains(&"init") || plain.contains(&"worktree") {
                own(plain
                    .iter()
                    .copied()
                    .filter(|text| {
                        path::candidate(text).is_some_and(|text| text.starts_with(['/', '~', '.']))
                    })
                    .collect())
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

/// servers §3.3, the read-only list.
pub(super) fn is_read_only(simple: &Simple, sandboxed: bool) -> bool {
    if simple.redirects.iter().any(|redirect| redirect.writes)
        || !simple.assignments.is_empty()
        || simple.background
    {
        return false;
    }
    // Nothing is seen through here: a wrapper is not on the list.
    let Some(program) = simple.words.first().filter(|word| !word.expands) else { return false };
    if program.text.contains('/') && !path::is_system_program(&program.text) {
        return false;
    }
    let name = program.text.rsplit('/').next().unwrap_or_default();
    let words = || simple.words.iter().skip(1).map(|word| word.text.as_str());
    match name {
        "ls" | "pwd" | "cat" | "head" | "tail" | "wc" | "grep" | "echo" | "which" | "file" | "stat"
        | "du" | "df" => true,
        // `date -s` sets the clock.
        "date" => !words().any(|word| word.starts_with("-s") || word.starts_with("--set")),
        "rg" => !words().any(|word| word.starts_with("--pre") || word.starts_with("--hostname-bin")),
        "find" => !words().any(|word| {
            ["-exec", "-ok", "-fprint", "-fls"].iter().any(|start| word.starts_with(start))
                || word == "-delete"
        }),
        "git" if sandboxed => {
            let mut rest = words();
            let first = rest.next().unwrap_or_default();
            matches!(first, "status" | "diff" | "log" | "show")
                && !rest.any(|word| {
                    word == "-c"
                        || word.starts_with("--output")
                        || word.starts_with("--ext-diff")
                        || word.starts_with("-o")
                })
        }
        _ => false,
    }
}

/// Programs that change no file whatever their arguments say; saves looking at all files afterwards.
pub(super) fn cannot_write(simple: &Simple) -> bool {
    let Some(program) = simple.words.first() else { return simple.redirects.is_empty() };
    let known = matches!(
        program.text.as_str(),
        "true"
            | "false"
            | ":"
            | "sleep"
            | "test"
            | "["
            | "echo"
            | "printf"
            | "pwd"
            | "seq"
            | "id"
            | "whoami"
            | "uname"
            | "exit"
            | "nproc"
            | "hostname"
    );
    known
        && !simple.redirects.iter().any(|redirect| redirect.writes)
        && !simple.words.iter().any(|word| word.expands)
}

impl Look<'_> {
    pub(super) fn rules(
        &mut self,
        name: &str,
        effective: &Effective<'_>,
        simple: &Simple,
        next: Option<&Simple>,
    ) {
        let shown = || Some(line(simple));
        match name {
            "rm" => self.remove(effective),
            "find" if effective.arguments.iter().any(|word| word.text == "-delete") => {
                self.add(
                    "recursive_delete",
                    Grade::Ask,
                    Text::fixed("deletes everything it finds", "删除找到的所有内容"),
                    shown(),
                );
            }
            "chmod" | "chown" | "chgrp" if effective.has('R', "recursive") => {
                self.add(
                    "recursive_mode",
                    Grade::Ask,
                    Text::fixed("changes modes or owners of a whole tree", "递归更改权限或属主"),
                    shown(),
                );
            }
            "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" => self.shutdown(shown()),
            "init" if effective.plain().any(|text| matches!(text, "0" | "6")) => self.shutdown(shown()),
            "systemctl"
                if effective.plain().any(|text| matches!(text, "poweroff" | "reboot" | "halt" | "kexec")) =>
            {
                self.shutdown(shown());
            }
            "dd" => self.dd(effective),
            "kill"
                if effective.arguments.iter().any(|word| word.text == "-1")
                    && effective.plain().next().is_none() =>
            {
                self.kill_many(shown());
            }
            "killall" | "pkill" | "killall5" => self.kill_many(shown()),
            "git" => self.git(effective, shown()),
            "eval" => self.inline_code(shown()),
            _ if name.starts_with("mkfs")
                || matches!(name, "mke2fs" | "wipefs" | "mkswap" | "fdisk" | "parted" | "sgdisk") =>
            {
                self.add(
                    "make_filesystem",
                    Grade::Block,
                    Text::fixed("makes or destroys a file system", "创建或破坏文件系统"),
                    shown(),
                );
            }
            _ => {}
        }
        if is_interpreter(name)
            && effective.arguments.iter().any(|word| {
                let text = word.text.as_str();
                text.starts_with("-c")
                    || text.starts_with("-e")
                    || text == "-r"
                    || text == "-p"
                    || text == "--eval"
                    || text == "--print"
            })
        {
            self.inline_code(shown());
        }
        if effective.fed && matches!(name, "rm") {
            self.add(
                "recursive_delete",
                Grade::Ask,
                Text::fixed("deletes what its input names", "删除输入所列的内容"),
                shown(),
            );
        }
        self.network(name, effective, shown());
        self.installs(name, effective, shown());
        self.publishes(name, effective, shown());
        if simple.piped_in
            && (is_shell(name) || is_interpreter(name))
            && effective.plain().all(|text| text == "-")
            && !effective.has('c', "")
        {
            self.add(
                "pipe_to_shell",
                Grade::Ask,
                Text::fixed("runs what the command before prints", "执行前一个命令的输出"),
                shown(),
            );
        }
        self.large_output(name, effective, simple, next);
    }

    fn shutdown(&mut self, text: Option<String>) {
        self.add("shutdown", Grade::Block, Text::fixed("stops the machine", "关闭或重启机器"), text);
    }

    fn kill_many(&mut self, text: Option<String>) {
        self.add(
            "kill_many",
            Grade::Ask,
            Text::fixed("ends many processes at once", "一次结束多个进程"),
            text,
        );
    }

    fn inline_code(&mut self, text: Option<String>) {
        self.add(
            "inline_code",
            Grade::Warn,
            Text::fixed("runs code that stands in the command", "执行命令中内嵌的代码"),
            text,
        );
    }

    fn remove(&mut self, effective: &Effective<'_>) {
        if effective.arguments.iter().any(|word| word.text == "--no-preserve-root") {
            self.block_delete("--no-preserve-root");
        }
        if !(effective.has('r', "recursive") || effective.has('R', "recursive")) {
            return;
        }
        let targets: Vec<String> = effective.plain().map(str::to_owned).collect();
        for target in &targets {
            if self.scene.is_ancestor(target) {
                self.block_delete(target);
            }
        }
        let text = targets.join(" ");
        self.add("recursive_delete", Grade::Ask, Text::fixed("deletes whole trees", "递归删除"), Some(text));
    }

    fn block_delete(&mut self, target: &str) {
        self.add(
            "delete_everything",
            Grade::Block,
            Text::fixed(
                "deletes the file system, the home directory or what holds the root",
                "删除文件系统、主目录或根目录的上级",
            ),
            Some(target.to_owned()),
        );
    }

    fn dd(&mut self, effective: &Effective<'_>) {
        for word in &effective.arguments {
            let Some(target) = word.text.strip_prefix("of=") else { continue };
            if path::is_block_device(target) {
                self.add(
                    "device_write",
                    Grade::Block,
                    Text::fixed("writes to a block device", "写入块设备"),
                    Some(target.to_owned()),
                );
            } else if path::is_device(target) {
                self.add(
                    "overwrite_device_file",
                    Grade::Ask,
                    Text::fixed("writes to a device file", "写入设备文件"),
                    Some(target.to_owned()),
                );
            }
        }
    }

    fn git(&mut self, effective: &Effective<'_>, text: Option<String>) {
        let plain: Vec<&str> = effective.plain().collect();
        let verb = plain.first().copied().unwrap_or_default();
        let hard = match verb {
            "reset" => effective.has('\0', "hard"),
            "clean" => effective.has('f', "force"),
            "checkout" | "restore" => plain.iter().any(|word| matches!(*word, "." | ":/" | "*")),
            "push" => {
                effective.has('f', "force")
                    || effective.has('\0', "force-with-lease")
                    || effective.has('\0', "mirror")
                    || plain.iter().skip(1).any(|word| word.starts_with('+'))
            }
            "stash" => plain.get(1).is_some_and(|word| matches!(*word, "drop" | "clear")),
            _ => false,
        };
        if hard {
            self.add(
                "hard_reset",
                Grade::Ask,
                Text::fixed("throws away changes that cannot be had back", "丢弃无法恢复的更改"),
                text.clone(),
            );
        }
        if verb == "push" {
            self.add("publish", Grade::Ask, Text::fixed("sends something to others", "向外部发布内容"), text);
        }
    }

    fn network(&mut self, name: &str, effective: &Effective<'_>, text: Option<String>) {
        const TOOLS: [&str; 18] = [
            "curl",
            "wget",
            "ssh",
            "scp",
            "sftp",
            "rsync",
            "nc",
            "ncat",
            "netcat",
            "telnet",
            "ftp",
            "ping",
            "dig",
            "nslookup",
            "host",
            "traceroute",
            "nmap",
            "socat",
        ];
        let verb = effective.plain().next().unwrap_or_default();
        let git =
            name == "git" && matches!(verb, "clone" | "fetch" | "pull" | "push" | "ls-remote" | "submodule");
        if TOOLS.contains(&name) || git {
            self.add("network_tool", Grade::Warn, Text::fixed("uses the network", "使用网络"), text);
        }
    }

    fn installs(&mut self, name: &str, effective: &Effective<'_>, text: Option<String>) {
        let verb = effective.plain().next().unwrap_or_default();
        let found = match name {
            "apt" | "apt-get" | "dnf" | "yum" | "zypper" | "apk" | "brew" | "pacman" | "snap" | "flatpak"
            | "port" => {
                matches!(
                    verb,
                    "install" | "add" | "upgrade" | "remove" | "full-upgrade" | "dist-upgrade" | "purge"
                ) || effective.has('S', "sync")
            }
            "npm" | "pnpm" | "yarn" | "bun" => {
                matches!(verb, "install" | "i" | "ci" | "add" | "update" | "upgrade" | "exec" | "dlx")
                    || (name == "yarn" && verb.is_empty())
            }
            "npx" | "pnpx" | "bunx" | "uvx" | "pipx" => true,
            "pip" | "pip3" | "uv" | "gem" | "conda" | "poetry" | "composer" => {
                effective.plain().any(|word| matches!(word, "install" | "add" | "sync" | "require"))
            }
            "cargo" | "go" | "rustup" | "dotnet" | "deno" => {
                matches!(verb, "install" | "add" | "get" | "update" | "toolchain")
            }
            _ => {
                name.starts_with("python")
                    && effective
                        .arguments
                        .windows(2)
                        .any(|pair| pair[0].text == "-m" && pair[1].text == "pip")
            }
        };
        if found {
            self.add(
                "package_install",
                Grade::Warn,
                Text::fixed(
                    "installs packages, which may run their own programs",
                    "安装软件包，可能会运行其自带程序",
                ),
                text,
            );
        }
    }

    fn publishes(&mut self, name: &str, effective: &Effective<'_>, text: Option<String>) {
        let plain: Vec<&str> = effective.plain().collect();
        let verb = plain.first().copied().unwrap_or_default();
        let found = match name {
            "npm" | "pnpm" | "yarn" | "cargo" | "bun" | "poetry" | "uv" | "vsce" => verb == "publish",
            "docker" | "podman" | "gem" | "nuget" | "helm" => verb == "push",
            "twine" => verb == "upload",
            "gh" => plain.contains(&"create") || plain.contains(&"merge"),
            _ => false,
        };
        if found {
            self.add("publish", Grade::Ask, Text::fixed("sends something to others", "向外部发布内容"), text);
        }
    }

    fn large_output(
        &mut self,
        name: &str,
        effective: &Effective<'_>,
        simple: &Simple,
        next: Option<&Simple>,
    ) {
        let limited = next.is_some_and(|next| {
            let next = argv::effective(next);
            matches!(
                next.name(),
                Some(
                    "head"
                        | "tail"
                        | "wc"
                        | "less"
                        | "more"
                        | "sed"
                        | "awk"
                        | "grep"
                        | "rg"
                        | "sort"
                        | "uniq"
                        | "jq"
                )
            )
        });
        let redirected = simple.redirects.iter().any(|redirect| redirect.writes);
        let large = match name {
            "cat" | "find" | "journalctl" | "dmesg" | "strings" | "hexdump" | "xxd" | "tree" => {
                !effective.has('n', "lines") || name == "cat"
            }
            "rg" => {
                !(effective.has('m', "max-count")
                    || effective.has('c', "count")
                    || effective.has('l', "files-with-matches"))
            }
            "grep" => {
                (effective.has('r', "recursive") || effective.has('R', ""))
                    && !(effective.has('m', "max-count") || effective.has('l', "files-with-matches"))
            }
            "ls" => effective.has('R', "recursive"),
            "git" => {
                effective.plain().next() == Some("log")
                    && !(effective.has('n', "max-count")
                        || effective.arguments.iter().any(|word| {
                            word.text.len() > 1
                                && word.text[1..].bytes().all(|b| b.is_ascii_digit())
                                && word.text.starts_with('-')
                        }))
            }
            _ => false,
        };
        if large && !limited && !redirected {
            self.add(
                "large_output",
                Grade::Info,
                Text::fixed(
                    "may print a lot; the result keeps its start and end",
                    "可能输出大量内容；结果只保留首尾",
                ),
                Some(line(simple)),
            );
        }
    }
}

/// The command as it stands, for findings.
fn line(simple: &Simple) -> String {
    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    words.join(" ")
}
