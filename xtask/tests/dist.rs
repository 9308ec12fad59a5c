//! `cargo xtask dist` and the install script, as a person meets them: a release made here, given out by a server on
//! this machine that lays files out as a release page does, installed, attacked and removed.
//!
//! The program in it is a script of one line, because what is tested is everything around it; the real one goes the
//! same way in `packaging/check`.

#![expect(clippy::disallowed_methods, reason = "a test of programs starts those programs")]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail like the test itself")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

const PROGRAM: &str = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'chatos 0.1.0'\nexit 0\n";

/// A release in a folder, and the key it was signed with.
struct Made {
    dir: tempfile::TempDir,
    secret: String,
}

impl Made {
    fn new(url: &str) -> Self {
        let keys = String::from_utf8(xtask(&["dist", "key"], &[]).stdout).unwrap();
        let secret = keys.lines().next().unwrap().split_once('=').unwrap().1.to_owned();
        let made = Self { dir: tempfile::tempdir().unwrap(), secret };
        fs::write(made.dir.path().join("program"), PROGRAM).unwrap();
        made.again("release", url);
        made
    }

    fn again(&self, folder: &str, url: &str) {
        let program = format!("x86_64-linux={}", self.dir.path().join("program").display());
        let out = self.dir.path().join(folder);
        let args = ["dist", "--program", &program, "--out", out.to_str().unwrap(), "--url", url];
        let output = xtask(&args, &[("CHATOS_RELEASE_KEY", &self.secret)]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.dir.path().join(folder), "", &mut files);
        files
    }
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

fn xtask(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(args).envs(env.iter().copied()).env("SOURCE_DATE_EPOCH", "1790000000");
    command.output().unwrap()
}

/// A server that gives files out under the two addresses a release page has.
struct Releases {
    url: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Releases {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let files = Arc::new(Mutex::new(BTreeMap::new()));
        let shared = Arc::clone(&files);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that leaves early is no reason to stop.
                answer(stream, &shared).ok();
            }
        });
        Self { url, files }
    }

    fn give(&self, files: BTreeMap<String, Vec<u8>>) {
        *self.files.lock().unwrap() = files;
    }
}

fn answer(mut stream: TcpStream, files: &Mutex<BTreeMap<String, Vec<u8>>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let name = ["/latest/download/", "/download/v0.1.0/", "/download/v9.9.9/"]
        .iter()
        .find_map(|place| path.strip_prefix(place));
    match name.and_then(|name| files.lock().unwrap().get(name).cloned()) {
        Some(content) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                content.len()
            )?;
            stream.write_all(&content)
        }
        None => write!(stream, "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    }
}

/// A person's home, and what is run in it.
struct Home {
    dir: tempfile::TempDir,
    script: PathBuf,
}

impl Home {
    fn new(made: &Made) -> Self {
        let dir = tempfile::Builder::new().prefix("a home with spaces ").tempdir().unwrap();
        Self { dir, script: made.dir.path().join("release/install.sh") }
    }

    fn install(&self, args: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.arg(&self.script).args(args);
        command.env("HOME", self.dir.path()).env("LC_ALL", "C");
        command.output().unwrap()
    }

    fn refused(&self, args: &[&str], reason: &str) {
        let output = self.install(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "it was accepted");
        assert!(said.contains(reason) && said.contains("hint: "), "{said}");
        assert_eq!(self.content(), Vec::<String>::new(), "something was left");
    }

    fn content(&self) -> Vec<String> {
        let mut files = BTreeMap::new();
        collect(self.dir.path(), "", &mut files);
        files.into_keys().collect()
    }
}

fn can_check_signatures() -> bool {
    let version = Command::new("openssl").arg("version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("OpenSSL 3"))
        || Command::new("minisign").arg("-v").output().is_ok()
}

#[test]
fn a_release_has_every_package_and_the_same_bytes_twice() {
    let made = Made::new("https://releases.invalid");
    made.again("again", "https://releases.invalid");
    let (files, again) = (made.files("release"), made.files("again"));
    for (name, content) in &files {
        // It holds times.
        assert!(name == "table.md" || again[name] == *content, "`{name}` differs");
    }
    for name in [
        "chatos-0.1.0-x86_64-linux.tar.zst",
        "chatos-0.1.0-x86_64-linux.tar.gz",
        "chatos_0.1.0_amd64.deb",
        "chatos-npm-0.1.0.tgz",
        "chatos-npm-linux-x64-0.1.0.tgz",
        "SHA256SUMS.minisig",
        "container/Dockerfile",
        "container/amd64/chatos",
    ] {
        assert!(files.contains_key(name), "`{name}` is missing");
    }
    let folder = made.dir.path().join("release");
    let sums =
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&folder).output();
    assert!(sums.unwrap().status.success());
    let table = String::from_utf8(files["table.md"].clone()).unwrap();
    assert!(table.contains("| archive, zstd | chatos-0.1.0-x86_64-linux.tar.zst |"), "{table}");

    let sbom: serde_json::Value = serde_json::from_slice(&files["chatos-0.1.0.cdx.json"]).unwrap();
    let components = sbom["components"].as_array().unwrap();
    for wanted in ["rusqlite", "svelte", "zod"] {
        assert!(
            components.iter().any(|part| part["name"] == wanted),
            "{wanted} is not in the bill of materials"
        );
    }
    // Tools of the build and of tests are not in the program.
    assert!(!components.iter().any(|part| part["name"] == "expect-test" || part["name"] == "vitest"));
    let unnamed: Vec<_> = components.iter().filter(|part| part["licenses"].is_null()).collect();
    assert!(unnamed.is_empty(), "without a licence: {unnamed:?}");
    let licences = String::from_utf8(files["container/licences/THIRD-PARTY-LICENCES"].clone()).unwrap();
    assert!(licences.contains("rusqlite") && licences.contains("Permission is hereby granted"));

    // Debian's own tool takes the package apart, and finds what is to be installed.
    if let Ok(listing) =
        Command::new("dpkg-deb").arg("--contents").arg(folder.join("chatos_0.1.0_amd64.deb")).output()
    {
        let text = String::from_utf8_lossy(&listing.stdout).into_owned();
        assert!(listing.status.success() && text.contains("usr/bin/chatos"), "{text}");
    }
    let tarball =
        Command::new("tar").arg("-tzf").arg(folder.join("chatos-npm-linux-x64-0.1.0.tgz")).output().unwrap();
    assert!(String::from_utf8_lossy(&tarball.stdout).contains("package/bin/chatos\n"));
}

#[test]
fn the_script_installs_keeps_the_former_program_and_leaves_nothing() {
    let releases = Releases::start();
    let made = Made::new(&releases.url);
    releases.give(made.files("release"));
    let home = Home::new(&made);
    let output = home.install(&[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("chatos 0.1.0 is installed"), "{said}");
    assert_eq!(said.contains("The signature is good."), can_check_signatures(), "{said}");
    assert_eq!(home.content(), [".local/bin/chatos"]);
    assert!(home.install(&["--version", "0.1.0"]).status.success());
    assert_eq!(home.content(), [".local/bin/chatos", ".local/bin/chatos.former"]);
    let removed = home.install(&["--uninstall"]);
    assert!(removed.status.success());
    assert!(!home.dir.path().join(".local").exists());
    assert!(home.install(&["--uninstall"]).status.success(), "twice is fine");

    let other = home.dir.path().join("other place");
    assert!(home.install(&["--prefix", other.to_str().unwrap()]).status.success());
    assert_eq!(home.content(), ["other place/bin/chatos"]);
}

#[test]
fn what_is_not_the_release_is_refused_and_nothing_is_installed() {
    let releases = Releases::start();
    let made = Made::new(&releases.url);
    let good = made.files("release");
    let home = Home::new(&made);

    let with = |name: &str, content: &[u8]| {
        let mut files = good.clone();
        files.insert(name.to_owned(), content.to_vec());
        releases.give(files);
    };
    // Whichever of the two this machine takes.
    let mut changed = good.clone();
    for ending in ["zst", "gz"] {
        let archive = changed.get_mut(&format!("chatos-0.1.0-x86_64-linux.tar.{ending}")).unwrap();
        let last = archive.len() - 1;
        archive[last] ^= 1;
    }
    releases.give(changed);
    home.refused(&[], "is not what the release says");

    let mut cut = good.clone();
    cut.remove("SHA256SUMS");
    releases.give(cut);
    home.refused(&[], "cannot download");

    let mut unsigned = good.clone();
    unsigned.remove("SHA256SUMS.minisig");
    releases.give(unsigned);
    home.refused(&[], "has no signature");

    releases.give(good.clone());
    home.refused(&["--version", "9.9.9"], "asked for 9.9.9");
    home.refused(&["--version", "1;rm"], "is not a version");
    home.refused(&["--from", "http://releases.invalid"], "not an encrypted address");
    home.refused(&["--prefix", "here"], "must begin with");
    home.refused(&["--what"], "unknown argument");

    if can_check_signatures() {
        // A list with the right form, signed by somebody else.
        let stranger = Made::new(&releases.url);
        with("SHA256SUMS.minisig", &stranger.files("release")["SHA256SUMS.minisig"]);
        home.refused(&[], "is not from ChatOS");
        let mut sums = good["SHA256SUMS"].clone();
        sums.extend_from_slice(b"\n");
        with("SHA256SUMS", &sums);
        home.refused(&["--require-signature"], "is not from ChatOS");
    }
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let made = Made::new("https://releases.invalid");
    let program = format!("x86_64-linux={}", made.dir.path().join("program").display());
    let output = xtask(&["dist", "--program", &program, "--out", made.dir.path().to_str().unwrap()], &[]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("holds something else"));
    assert!(made.dir.path().join("release/SHA256SUMS").is_file());
}
