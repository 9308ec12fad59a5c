//! ChatOS as a service of the person: a systemd user unit on Linux, a launch agent on a Mac.
//!
//! The unit names program, port and state, so that the address stays the same over restarts, and the `PATH` of the
//! person, because agents look for programs there.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use chatos_paths::replace_file;
use chatos_tool::{ErrorCode, Fault, Text};
use serde::Serialize;

/// The name of the service where systems list them.
const UNIT: &str = "chatos.service";
const LABEL: &str = "app.chatos";

/// What is to run, and for whom.
#[derive(Debug, Clone)]
pub struct Service {
    /// The file the service starts.
    pub program: PathBuf,
    /// Home of the person whose service it is.
    pub home: PathBuf,
    /// Where that person keeps configuration, if elsewhere.
    pub config_home: Option<PathBuf>,
    /// Where programs are looked for.
    pub path: String,
    /// The port, kept over restarts.
    pub port: u16,
    /// A state directory other than the usual one.
    pub state_dir: Option<PathBuf>,
}

/// What became of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceDone {
    /// `installed`, `removed` or `absent`.
    pub state: &'static str,
    /// The file that describes the service.
    pub file: PathBuf,
    /// Its port, when it was installed.
    pub port: Option<u16>,
}

impl Service {
    /// Where the service is described.
    pub fn file(&self) -> PathBuf {
        if cfg!(target_os = "macos") {
            return self.home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
        }
        let config = self.config_home.clone().unwrap_or_else(|| self.home.join(".config"));
        config.join("systemd/user").join(UNIT)
    }

    /// Whether a description of the service lies there.
    pub fn is_installed(&self) -> bool {
        self.file().exists()
    }

    /// Writes the description and starts the service, now and whenever the person signs in.
    pub fn install(&self) -> Result<ServiceDone, Fault> {
        let file = self.file();
        let text = if cfg!(target_os = "macos") { self.agent() } else { self.unit() };
        let folder = file.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)
            .and_then(|()| replace_file(&file, text.as_bytes(), 0o644))
            .map_err(|error| cannot_write(&file, &error))?;
        let started = if cfg!(target_os = "macos") {
            // One that runs already is told to go first.
            launchctl(&["bootout", &format!("{}/{LABEL}", domain())]).ok();
            launchctl(&["bootstrap", &domain(), &file.to_string_lossy()])
        } else {
            systemctl(&["daemon-reload"])
                .and_then(|()| systemctl(&["enable", UNIT]))
                .and_then(|()| systemctl(&["restart", UNIT]))
        };
        if let Err(fault) = started {
            // A description nobody runs would only surprise at the next sign-in.
            std::fs::remove_file(&file).ok();
            return Err(fault);
        }
        Ok(ServiceDone { state: "installed", file, port: Some(self.port) })
    }

    /// Stops the service and removes its description; the state stays.
    pub fn remove(&self) -> Result<ServiceDone, Fault> {
        let file = self.file();
        if !self.is_installed() {
            return Ok(ServiceDone { state: "absent", file, port: None });
        }
        if cfg!(target_os = "macos") {
            launchctl(&["bootout", &format!("{}/{LABEL}", domain())])?;
        } else {
            systemctl(&["disable", "--now", UNIT])?;
        }
        std::fs::remove_file(&file).map_err(|error| cannot_write(&file, &error))?;
        if !cfg!(target_os = "macos") {
            systemctl(&["daemon-reload"])?;
        }
        Ok(ServiceDone { state: "removed", file, port: None })
    }

    /// The words after the program.
    fn words(&self) -> Vec<String> {
        let mut words =
            vec!["serve".to_owned(), "--no-open".to_owned(), "--port".to_owned(), self.port.to_string()];
        if let Some(dir) = &self.state_dir {
            words.extend(["--state-dir".to_owned(), dir.to_string_lossy().into_owned()]);
        }
        words
    }

    fn unit(&self) -> String {
        let program = std::iter::once(self.program.to_string_lossy().into_owned());
        let line: Vec<String> = program.chain(self.words()).map(|word| unit_word(&word)).collect();
        format!(
            "# Made by `chatos service install`; `chatos service remove` takes it away.\n\
             [Unit]\nDescription=ChatOS\n\n\
             [Service]\nExecStart={}\nWorkingDirectory=%h\nEnvironment={}\n\
             Restart=on-failure\nRestartSec=2\nTimeoutStopSec=30\n\n\
             [Install]\nWantedBy=default.target\n",
            line.join(" "),
            unit_word(&format!("PATH={}", self.path)).replace("$$", "$"),
        )
    }

    fn agent(&self) -> String {
        let program = std::iter::once(self.program.to_string_lossy().into_owned());
        let words: String = program
            .chain(self.words())
            .map(|word| format!("    <string>{}</string>\n", xml(&word)))
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{LABEL}</string>\n\
             \x20 <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
             \x20 <key>EnvironmentVariables</key>\n  <dict>\n    <key>PATH</key>\n    <string>{}</string>\n  </dict>\n\
             \x20 <key>WorkingDirectory</key>\n  <string>{}</string>\n\
             \x20 <key>RunAtLoad</key>\n  <true/>\n\
             \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
             </dict>\n</plist>\n",
            xml(&self.path),
            xml(&self.home.to_string_lossy()),
        )
    }
}

/// One word of a unit file, whatever is in it.
fn unit_word(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' | '$' => quoted.extend([c, c]),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn systemctl(words: &[&str]) -> Result<(), Fault> {
    let words: Vec<&str> = std::iter::once("--user").chain(words.iter().copied()).collect();
    manager("systemctl", &words)
}

fn launchctl(words: &[&str]) -> Result<(), Fault> {
    manager("launchctl", words)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system's own manager of services is told what a person asked for"
)]
fn manager(program: &str, words: &[&str]) -> Result<(), Fault> {
    let shown = format!("{program} {}", words.join(" "));
    let fault = || {
        Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("`{shown}` failed"), format!("`{shown}` 失败")),
        )
        .code("service_manager")
        .hint(Text::fixed(
            "services need systemd with a session of yours (or launchd); without one, start `chatos serve --no-open` yourself",
            "服务需要带有你的会话的 systemd（或 launchd）；没有时请自行启动 `chatos serve --no-open`",
        ))
    };
    let output = std::process::Command::new(program).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| fault().caused_by(&error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    Err(fault().caused_by(&said))
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("cannot write {}", file.display()), format!("无法写入 {}", file.display())),
    )
    .code("service_file")
    .caused_by(error)
    .hint(Text::fixed("check the rights of that folder", "请检查该目录的权限"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        Service {
            program: PathBuf::from("/home/a b/.local/bin/chatos"),
            home: PathBuf::from("/home/a b"),
            config_home: None,
            path: "/usr/bin:/opt/100%/$x".to_owned(),
            port: 7878,
            state_dir: Some(PathBuf::from("/data/\"q\"")),
        }
    }

    #[test]
    fn a_unit_quotes_what_systemd_would_read_otherwise() {
        let unit = service().unit();
        assert!(unit.contains(
            "ExecStart=\"/home/a b/.local/bin/chatos\" \"serve\" \"--no-open\" \"--port\" \"7878\" \"--state-dir\" \"/data/\\\"q\\\"\"\n"
        ), "{unit}");
        assert!(unit.contains("Environment=\"PATH=/usr/bin:/opt/100%%/$x\"\n"), "{unit}");
    }

    #[test]
    fn a_launch_agent_is_xml() {
        let mut service = service();
        service.path = "/a&b:<c>".to_owned();
        let agent = service.agent();
        assert!(agent.contains("<string>/a&amp;b:&lt;c&gt;</string>"), "{agent}");
        assert!(agent.contains("    <string>--port</string>\n    <string>7878</string>\n"), "{agent}");
    }
}
