//! The keychain of the desktop, asked through `secret-tool`, the program of the Secret Service: values go
//! over its standard input and output, never over its arguments. Every question has three seconds
//! (state §6), so that a host without a desktop never hangs on a dialog nobody sees.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::{KeyPlace, KeyProblem};

const PROGRAM: &str = "secret-tool";
const DEADLINE: Duration = Duration::from_secs(3);
/// A key is 64 digits; what is longer is not one.
const LONGEST: u64 = 256;

/// Which entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The key in force.
    Main,
    /// The one about to be.
    Next,
    /// To see whether entries can be kept at all.
    Probe,
}

/// The entries of one instance: service `ChatOS`, account the instance.
pub(crate) struct Keychain {
    program: PathBuf,
    instance: String,
}

struct Said {
    success: bool,
    out: Zeroizing<String>,
    complaint: String,
}

impl Keychain {
    /// The program, where the environment finds it.
    pub(crate) fn find(place: &KeyPlace, instance: &str) -> Result<Self, KeyProblem> {
        let folders = place.search.as_ref().map(std::env::split_paths).into_iter().flatten();
        let mut programs = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(PROGRAM));
        let program = programs.find(|program| program.is_file());
        match program {
            Some(program) => Ok(Self { program, instance: instance.to_owned() }),
            None => Err(trouble(format!("cannot be asked: there is no program `{PROGRAM}`"))),
        }
    }

    pub(crate) fn read(&self, slot: Slot) -> Result<Option<Zeroizing<String>>, KeyProblem> {
        let said = self.ask(&["lookup"], slot, None)?;
        if said.success {
            return Ok(Some(said.out).filter(|text| !text.is_empty()));
        }
        // Nothing found ends like a failure, but without a word.
        if said.complaint.is_empty() { Ok(None) } else { Err(refused(&said)) }
    }

    /// Keeps a value, instead of one that is there.
    pub(crate) fn write(&self, slot: Slot, value: &str) -> Result<(), KeyProblem> {
        let said = self.ask(&["store", "--label=ChatOS state key"], slot, Some(value))?;
        if !said.success {
            return Err(refused(&said));
        }
        match self.read(slot)? {
            Some(kept) if *kept == value => Ok(()),
            _ => Err(trouble("did not keep what it was given".to_owned())),
        }
    }

    pub(crate) fn remove(&self, slot: Slot) -> Result<(), KeyProblem> {
        let said = self.ask(&["clear"], slot, None)?;
        if said.success || said.complaint.is_empty() { Ok(()) } else { Err(refused(&said)) }
    }

    /// state §6: writes, reads and deletes something that is no key.
    pub(crate) fn probe(&self) -> Result<(), KeyProblem> {
        self.write(Slot::Probe, "probe")?;
        self.remove(Slot::Probe)?;
        match self.read(Slot::Probe)? {
            None => Ok(()),
            Some(_) => Err(trouble("kept what was to be deleted".to_owned())),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the one program this module speaks to")]
    fn ask(&self, words: &[&str], slot: Slot, value: Option<&str>) -> Result<Said, KeyProblem> {
        let suffix = match slot {
            Slot::Main => "",
            Slot::Next => ".next",
            Slot::Probe => ".probe",
        };
        let account = format!("{}{suffix}", self.instance);
        let failed = |error: std::io::Error| trouble(format!("cannot be asked: {error}"));
        let mut child = Command::new(&self.program)
            .args(words)
            .args(["service", "ChatOS", "account", &account])
            .stdin(if value.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        if let (Some(mut input), Some(value)) = (child.stdin.take(), value) {
            // A program that does not read says why on its way out.
            input.write_all(value.as_bytes()).ok();
        }
        let (out, complaint) = (child.stdout.take(), child.stderr.take());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut said = (Zeroizing::new(String::new()), String::new());
            if let Some(out) = out {
                out.take(LONGEST).read_to_string(&mut said.0).ok();
            }
            if let Some(complaint) = complaint {
                complaint.take(LONGEST).read_to_string(&mut said.1).ok();
            }
            // Nobody listens any more once the time is over.
            tell.send(said).ok();
        });
        let Ok((out, complaint)) = told.recv_timeout(DEADLINE) else {
            child.kill().and_then(|()| child.wait()).map_err(failed)?;
            return Err(trouble(format!("did not answer within {} seconds", DEADLINE.as_secs())));
        };
        let success = child.wait().map_err(failed)?.success();
        Ok(Said { success, out, complaint: complaint.trim().to_owned() })
    }
}

fn refused(said: &Said) -> KeyProblem {
    trouble(format!("refused: {}", said.complaint.chars().filter(|c| !c.is_control()).collect::<String>()))
}

fn trouble(reason: String) -> KeyProblem {
    KeyProblem::Keychain { reason }
}
