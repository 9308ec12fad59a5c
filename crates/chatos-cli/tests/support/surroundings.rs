//! Running the program where it may not write, or among mounts of its own.

use std::process::Command;

use chatos_testkit::{Outcome, Sandbox, child};

/// Programs that change what the command sees before it runs.
pub(crate) struct Surroundings {
    outer: Vec<&'static str>,
}

/// Root passes every mode, so tests about modes take its rights away first.
pub(crate) fn as_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Surroundings {
    /// Modes count: root without its special rights, anybody else as they are.
    pub(crate) fn without_rights() -> Self {
        let outer = if as_root() {
            vec!["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--"]
        } else {
            Vec::new()
        };
        Self { outer }
    }

    /// Mounts that nobody else sees; `None` where this machine allows them to nobody like us.
    pub(crate) fn own_mounts() -> Option<Self> {
        let ways: [&[&'static str]; 2] =
            [&["unshare", "--mount", "--"], &["unshare", "--user", "--map-root-user", "--mount", "--"]];
        ways.into_iter()
            .find(|way| {
                let mut trial = child(way[0]);
                trial.args(&way[1..]).args(["sh", "-c", "mount -t tmpfs none /mnt"]);
                trial.output().is_ok_and(|output| output.status.success())
            })
            .map(|way| Self { outer: way.to_vec() })
    }

    /// Runs `setup` and then the program on the sandbox's state.
    pub(crate) fn run(&self, sandbox: &Sandbox, setup: &str, args: &[&str]) -> Outcome {
        let state = sandbox.state().to_string_lossy().into_owned();
        let mut args = args.to_vec();
        args.extend(["--state-dir", &state]);
        sandbox.run_command(self.command(sandbox, setup, &args))
    }

    /// Runs a shell script among these surroundings.
    pub(crate) fn script(&self, sandbox: &Sandbox, script: &str) -> Outcome {
        let mut command = self.outer(sandbox);
        command.args(["-c", script]);
        sandbox.run_command(command)
    }

    /// The program, in place of the shell that prepared its surroundings: its pid is the child's.
    pub(crate) fn command(&self, sandbox: &Sandbox, setup: &str, args: &[&str]) -> Command {
        let mut command = self.outer(sandbox);
        let setup = if setup.is_empty() { String::new() } else { format!("{setup} && ") };
        command.args(["-c", &format!("{setup}exec \"$0\" \"$@\"")]).arg(sandbox.program()).args(args);
        command
    }

    fn outer(&self, sandbox: &Sandbox) -> Command {
        match self.outer.split_first() {
            Some((first, rest)) => {
                let mut command = sandbox.under(first);
                command.args(rest).arg("sh");
                command
            }
            None => sandbox.under("sh"),
        }
    }
}
