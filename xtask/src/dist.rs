//! `cargo xtask dist`: a release from a built program, in one folder.
//!
//! Archives for the install script and `chatos upgrade`, a `.deb`, npm packages, what a container image is built from,
//! the bill of materials, all licences, the list of checksums and its signature. The same program gives the same
//! bytes. How it is published and checked: `docs/releasing.md`.

mod build;
mod container;
mod deb;
mod npm;
mod pack;
mod sign;
mod supply;
mod target;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use self::pack::{Entry, gzip, sha256, tar, zstd};
use self::sign::ReleaseKey;
use self::target::Target;
use crate::process;
use crate::workspace::Workspace;

const INSTALLER: &str = include_str!("../../packaging/install.sh");
const SUMS: &str = "SHA256SUMS";
/// What the program and its download are to stay below (issue: ten seconds on a home connection).
const PROGRAM_GOAL: usize = 30_000_000;
const DOWNLOAD_GOAL: usize = 16_000_000;

/// What goes into every package of a release.
struct Release {
    version: String,
    /// Of every file in every archive, in seconds since 1970.
    date: u64,
    changes: String,
    readme: String,
    mit: String,
    apache: String,
    sbom: String,
    licences: String,
}

struct Options {
    programs: Vec<(Target, PathBuf)>,
    out: PathBuf,
    /// Where the release will be downloaded from.
    url: Option<String>,
}

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<bool> {
    match args.first().map(String::as_str) {
        Some("key") => key(),
        Some("build") => {
            let targets: Result<Vec<Target>> = args[1..].iter().map(|name| Target::named(name)).collect();
            let mut targets = targets?;
            if targets.is_empty() {
                targets.push(Target::here()?);
            }
            for target in targets {
                println!("{}", build::program(workspace, target)?.display());
            }
            Ok(true)
        }
        _ => {
            let mut options = Options::parse(workspace, args)?;
            if options.programs.is_empty() {
                let target = Target::here()?;
                options.programs.push((target, build::program(workspace, target)?));
            }
            make(workspace, &options)
        }
    }
}

impl Options {
    fn parse(workspace: &Workspace, args: &[String]) -> Result<Self> {
        let mut options = Self { programs: Vec::new(), out: workspace.path("target/dist"), url: None };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
            match word.as_str() {
                "--program" => {
                    let (target, file) = value()?.split_once('=').context("write --program TARGET=FILE")?;
                    options.programs.push((Target::named(target)?, PathBuf::from(file)));
                }
                "--out" => options.out = PathBuf::from(value()?),
                "--url" => options.url = Some(value()?.trim_end_matches('/').to_owned()),
                other => bail!("`dist` does not know `{other}`; see `cargo xtask help`"),
            }
        }
        Ok(options)
    }
}

/// A new key: the secret half for the environment of whoever releases, the public one for the build.
fn key() -> Result<bool> {
    let (key, secret) = ReleaseKey::generate()?;
    println!("CHATOS_RELEASE_KEY={secret}");
    println!("CHATOS_RELEASE_PUBLIC_KEY={}", key.public());
    println!(
        "Keep the first one secret: whoever has it signs releases that every installed program accepts."
    );
    Ok(true)
}

fn make(workspace: &Workspace, options: &Options) -> Result<bool> {
    let begun = Instant::now();
    let mut programs = Vec::new();
    for (target, path) in &options.programs {
        let program =
            fs::read(path).with_context(|| format!("cannot read the program: {}", path.display()))?;
        programs.push((*target, program));
    }
    let version = version(workspace)?;
    let date = date(workspace)?;
    let triples: Vec<&str> = programs.iter().map(|(target, _)| target.triple).collect();
    let supply = supply::look(workspace, &version, date, &triples)?;
    let release = Release {
        changes: changes(&workspace.read("CHANGELOG.md")?),
        readme: workspace.read("README.md")?,
        mit: workspace.read("LICENSE-MIT")?,
        apache: workspace.read("LICENSE-APACHE")?,
        version,
        date,
        sbom: supply.sbom,
        licences: supply.licences,
    };
    let key = ReleaseKey::from_environment()?;
    empty(&options.out)?;
    let mut shelf = Shelf { out: &options.out, rows: Vec::new() };
    for (target, program) in &programs {
        packages(&mut shelf, &release, *target, program)?;
    }
    shelf.put("npm package", || npm::main(&release))?;
    shelf.put("bill of materials", || Ok((sbom_name(&release), release.sbom.clone().into_bytes())))?;
    shelf.put("what changed", || Ok(("CHANGES.md".to_owned(), release.changes.clone().into_bytes())))?;
    let installer = installer(options.url.as_deref(), key.as_ref());
    shelf.put("install script", || Ok(("install.sh".to_owned(), installer.clone().into_bytes())))?;
    container::context(&release, &options.out, &programs)?;
    let sums = shelf.sums();
    fs::write(options.out.join(SUMS), &sums)?;
    if let Some(key) = &key {
        let comment = format!("chatos {} {}", release.version, supply::timestamp(date));
        fs::write(options.out.join(format!("{SUMS}.minisig")), key.sign(sums.as_bytes(), &comment))?;
    }
    let table = table(&programs, &shelf.rows, supply.parts);
    fs::write(options.out.join("table.md"), &table)?;
    print!("{table}");
    if key.is_none() {
        println!("not signed: CHATOS_RELEASE_KEY is not set, so `chatos upgrade` accepts none of this");
    }
    println!("{} in {:.1} s", options.out.display(), begun.elapsed().as_secs_f64());
    Ok(true)
}

fn sbom_name(release: &Release) -> String {
    format!("chatos-{}.cdx.json", release.version)
}

/// Everything made of one program.
fn packages(shelf: &mut Shelf, release: &Release, target: Target, program: &[u8]) -> Result<()> {
    let folder = format!("chatos-{}-{}", release.version, target.name);
    let files = [
        Entry::program(format!("{folder}/chatos"), program),
        Entry::file(format!("{folder}/CHANGES.md"), release.changes.clone()),
        Entry::file(format!("{folder}/LICENSE-APACHE"), release.apache.clone()),
        Entry::file(format!("{folder}/LICENSE-MIT"), release.mit.clone()),
        Entry::file(format!("{folder}/README.md"), release.readme.clone()),
        Entry::file(format!("{folder}/THIRD-PARTY-LICENCES"), release.licences.clone()),
        Entry::file(format!("{folder}/{}", sbom_name(release)), release.sbom.clone()),
    ];
    let archive = tar(&files, release.date)?;
    shelf.put("archive, zstd", || Ok((format!("{folder}.tar.zst"), zstd(&archive)?)))?;
    shelf.put("archive, gzip", || Ok((format!("{folder}.tar.gz"), gzip(&archive)?)))?;
    if target.debian.is_some() {
        shelf.put("Debian package", || {
            deb::package(release, target, program)?.context("no package for this system")
        })?;
    }
    shelf.put("npm package of the system", || npm::platform(release, target, program))
}

/// The folder of a release while it fills.
struct Shelf<'a> {
    out: &'a Path,
    rows: Vec<Row>,
}

struct Row {
    what: &'static str,
    file: String,
    bytes: usize,
    sha256: String,
    seconds: f64,
}

impl Shelf<'_> {
    fn put(&mut self, what: &'static str, make: impl FnOnce() -> Result<(String, Vec<u8>)>) -> Result<()> {
        let begun = Instant::now();
        let (file, content) = make().with_context(|| format!("cannot make the {what}"))?;
        fs::write(self.out.join(&file), &content).with_context(|| format!("cannot write `{file}`"))?;
        let seconds = begun.elapsed().as_secs_f64();
        self.rows.push(Row { what, file, bytes: content.len(), sha256: sha256(&content), seconds });
        Ok(())
    }

    /// As `sha256sum` writes and reads it.
    fn sums(&self) -> String {
        let mut lines: Vec<String> =
            self.rows.iter().map(|row| format!("{}  {}\n", row.sha256, row.file)).collect();
        lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
        lines.concat()
    }
}

/// Sizes and times, with what is still above its goal said.
fn table(programs: &[(Target, Vec<u8>)], rows: &[Row], parts: usize) -> String {
    let mut text = String::from("| what | file | MB | goal | s |\n|---|---|---|---|---|\n");
    let mb = |bytes: usize| format!("{:.1}", bytes as f64 / 1e6);
    let goal = |bytes: usize, goal: usize| {
        format!("{} {}", mb(goal), if bytes <= goal { "(met)" } else { "(NOT met)" })
    };
    for (target, program) in programs {
        let size = program.len();
        text.push_str(&format!(
            "| program | {} | {} | {} | |\n",
            target.triple,
            mb(size),
            goal(size, PROGRAM_GOAL)
        ));
    }
    for row in rows {
        let limit =
            if row.what.starts_with("archive") { goal(row.bytes, DOWNLOAD_GOAL) } else { String::new() };
        text.push_str(&format!(
            "| {} | {} | {} | {limit} | {:.1} |\n",
            row.what,
            row.file,
            mb(row.bytes),
            row.seconds
        ));
    }
    text.push_str(&format!("\n{parts} packages of others are inside.\n"));
    text
}

/// The install script with the place and the key of this release in it.
fn installer(url: Option<&str>, key: Option<&ReleaseKey>) -> String {
    INSTALLER
        .replace("@RELEASES@", url.unwrap_or_default())
        .replace("@PUBLIC_KEY@", &key.map(ReleaseKey::public).unwrap_or_default())
}

/// The newest part of the changelog: what a person who upgrades is told.
fn changes(changelog: &str) -> String {
    let mut sections = changelog.split("\n## ").skip(1);
    sections.next().map_or_else(|| changelog.to_owned(), |newest| format!("## {}\n", newest.trim_end()))
}

fn version(workspace: &Workspace) -> Result<String> {
    let manifest: toml::Table = toml::from_str(&workspace.read("Cargo.toml")?)?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    version.map(str::to_owned).context("`Cargo.toml` has no version")
}

/// `SOURCE_DATE_EPOCH`, else the date of the last commit: never the clock.
fn date(workspace: &Workspace) -> Result<u64> {
    let text = match process::env("SOURCE_DATE_EPOCH") {
        Some(text) => text,
        None => {
            process::capture(process::command("git", workspace.root()).args(["log", "-1", "--format=%ct"]))?
        }
    };
    text.trim().parse().with_context(|| format!("`{}` is not a date in seconds", text.trim()))
}

/// A folder that held a release, or nothing, is emptied; any other is left alone.
fn empty(out: &Path) -> Result<()> {
    if out.exists() {
        let ours = out.join(SUMS).is_file() || fs::read_dir(out)?.next().is_none();
        ensure!(ours, "{} holds something else; name another folder with --out", out.display());
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out)?;
    Ok(())
}
