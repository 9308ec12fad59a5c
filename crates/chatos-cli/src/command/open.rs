//! `chatos open`: a fresh sign-in link for the running host, opened in the browser.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{ExitCode, Stdio};

use chatos_paths::{Environment, StateDir};
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::json;

use crate::args::{Global, Open};
use chatos_terminal::client::{Api, block_on, existing_dir};
use chatos_terminal::output::Output;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Open,
) -> Result<ExitCode, Fault> {
    let Some(host) = Api::running(global, &environment)? else { return Err(not_running()) };
    let dir = existing_dir(global, &environment)?;
    let api = Api::Remote(host);
    let answer = block_on(api.call(Method::POST, "/api/v1/auth/link", Some(&json!({})), output.lang))?;
    let link = answer["signInUrl"].as_str().unwrap_or_default();
    if output.json {
        output.json_line(&answer);
    } else {
        output.line(link);
    }
    if let Some(dir) = dir
        && !options.no_open
        && environment.has_display()
    {
        open_browser(&dir, link);
    }
    Ok(ExitCode::SUCCESS)
}

/// No host runs on this state directory.
pub(crate) fn not_running() -> Fault {
    Fault::new(ErrorCode::Unavailable, Text::fixed("ChatOS is not running", "ChatOS 没有运行"))
        .code("not_running")
        .hint(Text::fixed("start it with `chatos serve`", "请用 `chatos serve` 启动"))
}

/// Opens the browser through a private file that redirects: other users can read a program's
/// arguments, and the code must not stand there (security T1). A failure only means that the person
/// uses the printed link.
#[expect(clippy::disallowed_methods, reason = "starts the desktop's opener, which detaches by itself")]
pub(crate) fn open_browser(dir: &StateDir, link: &str) {
    let Ok(folder) = dir.ensure(dir.runtime()) else { return };
    let page = folder.join("open.html");
    std::fs::remove_file(&page).ok();
    // The address may be a stranger's, of a place where one signs in.
    let link = link.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&page).and_then(|mut file| {
        write!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\"><a href=\"{link}\">ChatOS</a>")
    });
    if made.is_err() {
        return;
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    std::process::Command::new(opener)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok();
}
