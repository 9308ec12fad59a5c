//! What started a process: the program behind a connection (inbox §1.5).
//!
//! A program is recognised by the name it gives itself, its executable, what an interpreter runs, and its
//! user. That keeps accidents out, not another program of the same user that is made to look like it.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use chatos_prompts::Origin;
use chatos_store::ClientKey;

/// Programs that run what they are given.
const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno", "python", "pypy", "ruby", "perl", "java"];
/// Shells; `sh -c …` stands for whoever started it.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox"];
/// How far up is looked.
const MOST: usize = 16;

/// The process that started this one.
#[derive(Debug, Clone)]
pub struct Starter {
    /// Its process, as long as that lives.
    pub origin: Origin,
    /// `None`: it cannot be told apart from others.
    program: Option<(PathBuf, String)>,
    uid: u32,
}

impl Starter {
    /// Who started this process; a person at a shell is nobody.
    pub fn find() -> Option<Self> {
        Self::above(std::os::unix::process::parent_id())
    }

    /// Who started the process with this pid.
    pub fn of(pid: u32) -> Option<Self> {
        Self::above(Process::read(pid)?.parent)
    }

    fn above(mut pid: u32) -> Option<Self> {
        for _ in 0..MOST {
            let process = Process::read(pid)?;
            if !process.is(SHELLS) {
                return Some(process.starter());
            }
            match process.arguments.get(1).map(String::as_str) {
                None => return None,
                Some(option) if option.starts_with('-') && option.contains('c') => pid = process.parent,
                Some(option) if option.starts_with('-') => return None,
                Some(_) => return Some(process.starter()),
            }
        }
        None
    }

    /// Its executable, or what an interpreter runs.
    pub fn program(&self) -> Option<String> {
        let (path, script) = self.program.as_ref()?;
        if script.is_empty() { path.to_str().map(str::to_owned) } else { Some(script.clone()) }
    }

    /// The program under the name it gives itself.
    pub fn key(&self, name: &str) -> Option<ClientKey> {
        let (path, script) = self.program.as_ref()?;
        let program = path.to_str()?.to_owned();
        (!name.is_empty()).then(|| ClientKey {
            name: name.to_owned(),
            program,
            script: script.clone(),
            uid: self.uid,
        })
    }
}

/// What `/proc` says of a process.
struct Process {
    origin: Origin,
    parent: u32,
    path: PathBuf,
    arguments: Vec<String>,
    uid: u32,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let place = PathBuf::from(format!("/proc/{pid}"));
        let origin = Origin::of(pid)?;
        let stat = std::fs::read_to_string(place.join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let path = std::fs::read_link(place.join("exe")).ok()?;
        let line = std::fs::read(place.join("cmdline")).ok()?;
        let arguments = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let mut arguments: Vec<String> = arguments.collect();
        // Every word ends with a zero, the last one too.
        arguments.pop();
        Some(Self { origin, parent, path, arguments, uid: std::fs::metadata(&place).ok()?.uid() })
    }

    /// `python3.13` is `python`.
    fn is(&self, names: &[&str]) -> bool {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        names.contains(&name)
    }

    fn starter(&self) -> Starter {
        let program = if self.is(INTERPRETERS) || self.is(SHELLS) {
            self.script().map(|script| (self.path.clone(), script))
        } else {
            Some((self.path.clone(), String::new()))
        };
        Starter { origin: self.origin, program, uid: self.uid }
    }

    /// The file an interpreter runs, or its module.
    fn script(&self) -> Option<String> {
        let mut words = self.arguments.iter().skip(1);
        while let Some(word) = words.next() {
            if word == "-m" {
                return words.next().map(|module| format!("-m {module}"));
            }
            if word.starts_with('-') {
                continue;
            }
            let folder = std::fs::read_link(format!("/proc/{}/cwd", self.origin.pid)).ok()?;
            let file = std::fs::canonicalize(folder.join(word)).ok().filter(|path| path.is_file());
            if let Some(file) = file {
                return file.to_str().map(str::to_owned);
            }
        }
        None
    }
}

/// The program, or one that it started, started the process with this pid.
pub(crate) fn is_below(pid: u32, key: &ClientKey) -> bool {
    let mut process = Process::read(pid);
    for _ in 0..MOST * 4 {
        let Some(parent) = process.as_ref().map(|below| below.parent).filter(|parent| *parent > 1) else {
            return false;
        };
        process = Process::read(parent);
        let starter = process.as_ref().map(Process::starter);
        if starter.and_then(|starter| starter.key(&key.name)).is_some_and(|above| above == *key) {
            return true;
        }
    }
    false
}

/// The process with this pid is above this one.
pub fn descends_from(above: u32) -> bool {
    let mut process = Process::read(std::process::id());
    for _ in 0..MOST * 4 {
        let Some(parent) = process.map(|process| process.parent).filter(|parent| *parent > 1) else {
            return false;
        };
        if parent == above {
            return true;
        }
        process = Process::read(parent);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_told_apart_by_what_it_runs() {
        let process = |path: &str, words: &[&str]| Process {
            origin: Origin::here().unwrap(),
            parent: 1,
            path: path.into(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            uid: 0,
        };
        let key = |path: &str, words: &[&str]| process(path, words).starter().key("x").map(|key| key.script);
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = std::fs::canonicalize(file.path()).unwrap().to_str().unwrap().to_owned();
        assert_eq!(key("/opt/agent", &["agent", "--x"]), Some(String::new()));
        assert_eq!(key("/usr/bin/node", &["node", "--no-warnings", &script, "serve"]), Some(script.clone()));
        assert_eq!(key("/usr/bin/python3.13", &["python3", "-m", "agent"]), Some("-m agent".to_owned()));
        assert_eq!(key("/usr/bin/node", &["node", "-e", "1"]), None, "nobody knows which program that is");
        let named = process("/opt/agent", &["agent"]).starter().key("");
        assert_eq!(named, None, "a client without a name is nobody");
    }
}
