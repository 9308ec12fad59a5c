//! `chatos upgrade`: the newest release, checked, in the place of this program.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use serde::Serialize;

use crate::fetch::Releases;
use crate::release::{Release, Version};
use crate::signature::PublicKey;
use crate::swap::{Place, former};

/// Lists and texts of a release.
const TEXT_BYTES: usize = 4 * 1024 * 1024;
/// An archive, and the program in it.
const PROGRAM_BYTES: usize = 256 * 1024 * 1024;

/// What a person asked for.
pub struct UpgradeOrder<'a> {
    /// The program to replace.
    pub program: PathBuf,
    /// The version of that program.
    pub version: &'a str,
    /// Where releases are downloaded from.
    pub from: &'a str,
    /// The public key their signature is checked with.
    pub key: &'a str,
    /// A version; the newest otherwise.
    pub to: Option<&'a str>,
    /// Look what there is and change nothing.
    pub check: bool,
    /// Names the proxies on the way.
    pub environment: &'a Environment,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeReport {
    /// `current`, `available` or `upgraded`.
    pub state: &'static str,
    /// The version this program has.
    pub from: String,
    /// The version the release has.
    pub to: String,
    /// The file that is (or would be) replaced.
    pub program: PathBuf,
    /// Where the program before it is kept.
    pub former: Option<PathBuf>,
    /// What changed, as Markdown.
    pub changes: String,
}

/// Gets a release, checks it, and exchanges the program. Nothing is changed before everything is checked.
pub async fn upgrade(order: UpgradeOrder<'_>) -> Result<UpgradeReport, Fault> {
    refuse_managed(&order.program)?;
    let key = PublicKey::parse(order.key)?;
    let wanted = order.to.map(wanted_version).transpose()?.map(|version| version.to_string());
    let releases = Releases::at(order.from, order.environment)?;
    let get = |name: &'static str| releases.file(wanted.as_deref(), name, TEXT_BYTES);
    let sums = get("SHA256SUMS").await?;
    let signature = get("SHA256SUMS.minisig").await?;
    let comment = key.check(&sums, &String::from_utf8_lossy(&signature))?;
    let release = Release::read(&String::from_utf8_lossy(&sums), &comment)?;
    let mut report = UpgradeReport {
        state: "current",
        from: order.version.to_owned(),
        to: release.version.to_string(),
        program: order.program.clone(),
        former: None,
        changes: String::new(),
    };
    if report.to == order.version {
        return Ok(report);
    }
    refuse_older(&order, &release, wanted.as_deref())?;
    let changes = get("CHANGES.md").await?;
    release.check("CHANGES.md", &changes)?;
    report.changes = String::from_utf8_lossy(&changes).into_owned();
    if order.check {
        report.state = "available";
        return Ok(report);
    }
    let name = release.archive(&crate::system())?;
    let archive = releases.file(wanted.as_deref(), &name, PROGRAM_BYTES).await?;
    release.check(&name, &archive)?;
    let program = unpack(&archive)?;
    let place = Place::of(&order.program)?;
    let new = place.put(&program)?;
    if let Err(fault) = try_out(&new, &report.to) {
        // The fault matters more than a leftover.
        std::fs::remove_file(&new).ok();
        return Err(fault);
    }
    place.exchange(&new)?;
    report.state = "upgraded";
    report.former = Some(former(&order.program));
    Ok(report)
}

fn wanted_version(text: &str) -> Result<Version, Fault> {
    Version::parse(text).ok_or_else(|| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("`{text}` is not a version"), format!("`{text}` 不是版本号")),
        )
        .hint(Text::fixed("write it like 0.1.0", "请写成 0.1.0 这样"))
    })
}

/// The newest release may be older than this program; a server that mixes releases up may give another one.
fn refuse_older(order: &UpgradeOrder, release: &Release, wanted: Option<&str>) -> Result<(), Fault> {
    let given = release.version.to_string();
    if let Some(wanted) = wanted.filter(|wanted| *wanted != given) {
        return Err(Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("asked for {wanted}, was given {given}; nothing was changed"),
                format!("请求的是 {wanted}，得到的是 {given}；没有任何更改"),
            ),
        )
        .code("release_broken")
        .hint(Text::fixed("the server mixes releases up: report it", "服务器混淆了版本：请报告")));
    }
    let older = Version::parse(order.version).is_some_and(|own| release.version < own);
    if !older {
        return Ok(());
    }
    let own = order.version;
    Err(Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("{given} is older than this program ({own}); nothing was changed"),
            format!("{given} 比本程序（{own}）旧；没有任何更改"),
        ),
    )
    .code("release_older")
    .hint(Text::fixed(
        "a state that a newer version has opened is not read by an older one; `chatos upgrade --undo` brings the former program back",
        "较新版本打开过的状态无法由较旧版本读取；`chatos upgrade --undo` 可换回之前的程序",
    )))
}

/// A program that belongs to a package manager is exchanged by that one.
fn refuse_managed(program: &Path) -> Result<(), Fault> {
    let managed = |manager: &str, command: &str| {
        Err(Fault::new(
            ErrorCode::Conflict,
            Text::new(
                format!("this program was installed by {manager}, which keeps account of its files"),
                format!("本程序由 {manager} 安装，并由其管理文件"),
            ),
        )
        .code("program_managed")
        .hint(Text::new(format!("upgrade with: {command}"), format!("请用此命令升级：{command}"))))
    };
    if program.components().any(|part| part.as_os_str() == "node_modules") {
        return managed("npm", "npm install --global chatos@latest");
    }
    if program.starts_with("/usr/bin") && Path::new("/var/lib/dpkg/info/chatos.list").exists() {
        return managed("dpkg", "apt install ./chatos_<version>_<processor>.deb");
    }
    Ok(())
}

/// The program in an archive, complete.
fn unpack(archive: &[u8]) -> Result<Vec<u8>, Fault> {
    let read = || -> std::io::Result<Option<Vec<u8>>> {
        let mut tar = tar::Archive::new(zstd::Decoder::new(archive)?);
        for entry in tar.entries()? {
            let entry = entry?;
            let path = entry.path()?.into_owned();
            if path.components().count() == 2
                && path.ends_with("chatos")
                && entry.size() <= PROGRAM_BYTES as u64
            {
                let mut content = Vec::new();
                entry.take(PROGRAM_BYTES as u64).read_to_end(&mut content)?;
                return Ok(Some(content));
            }
        }
        Ok(None)
    };
    let refused = || {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed(
                "the archive of the release holds no program; nothing was changed",
                "发布的压缩包中没有程序；没有任何更改",
            ),
        )
        .code("release_broken")
        .hint(Text::fixed("report it", "请报告"))
    };
    read().map_err(|error| refused().caused_by(&error))?.ok_or_else(refused)
}

/// Starts the new program before anybody has to rely on it.
#[expect(clippy::disallowed_methods, reason = "asks the new program for its version; it is ours and signed")]
fn try_out(new: &Path, version: &str) -> Result<(), Fault> {
    let output = std::process::Command::new(new).arg("--version").stdin(Stdio::null()).output();
    let (said, cause) = match output {
        Ok(output) if output.status.success() => {
            (String::from_utf8_lossy(&output.stdout).trim().to_owned(), None)
        }
        Ok(output) => {
            (format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()), None)
        }
        Err(error) => (String::new(), Some(error)),
    };
    if said == format!("chatos {version}") {
        return Ok(());
    }
    let fault = Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("the new program does not run here (`{said}`); this one stays"),
            format!("新程序无法在此运行（`{said}`）；保留现有程序"),
        ),
    )
    .code("release_does_not_run")
    .hint(Text::fixed("report it with the name of your system", "请报告并附上系统名称"));
    Err(match cause {
        Some(error) => fault.caused_by(&error),
        None => fault,
    })
}
