//! Older kernels and stricter machines: what is started on one lacks a part of what confines commands.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// What a kernel does not have: rules over files, or filters of system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    Landlock,
    Seccomp,
}

/// `prctl` with this as its first argument installs a filter.
const PR_SET_SECCOMP: u64 = 22;

/// Does this where the kernel answers as one that lacks a part: what it starts lives there, too.
pub fn on_a_kernel_without<T: Send>(lacking: Lacking, start: impl FnOnce() -> T + Send) -> T {
    let filter = filter(lacking);
    std::thread::scope(|scope| {
        // What a thread gives up is gone with it.
        let started = scope.spawn(move || {
            if let Err(error) = seccompiler::apply_filter(&filter) {
                panic!("no filter of system calls here: {error}");
            }
            start()
        });
        started.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn filter(lacking: Lacking) -> BpfProgram {
    let always = Vec::new;
    let rules: BTreeMap<i64, Vec<SeccompRule>> = match lacking {
        Lacking::Landlock => [
            (libc::SYS_landlock_create_ruleset, always()),
            (libc::SYS_landlock_add_rule, always()),
            (libc::SYS_landlock_restrict_self, always()),
        ]
        .into(),
        Lacking::Seccomp => {
            let first = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, PR_SET_SECCOMP);
            let rule = first.and_then(|first| SeccompRule::new(vec![first]));
            let rule = rule.unwrap_or_else(|error| panic!("no rule: {error}"));
            [(libc::SYS_seccomp, always()), (libc::SYS_prctl, vec![rule])].into()
        }
    };
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    let arch = std::env::consts::ARCH.try_into();
    let made = arch.and_then(|arch| SeccompFilter::new(rules, SeccompAction::Allow, missing, arch));
    let made = made.and_then(BpfProgram::try_from);
    made.unwrap_or_else(|error| panic!("no filter: {error}"))
}
