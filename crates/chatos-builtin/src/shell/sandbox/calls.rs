//! The system calls a command is refused: always what reaches around the boundary, and sockets when it
//! has no network (servers §3.1).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

/// Refused to every command.
const ALWAYS: [i64; 30] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_bpf,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_perf_event_open,
];

/// The second set of numbers that 64-bit Intel kernels may accept, and those that differ in it.
#[cfg(target_arch = "x86_64")]
const X32: (i64, [i64; 4]) = (0x4000_0000, [521, 528, 539, 540]);

/// Whether filters can be used. Restricts the calling thread.
pub(super) fn available() -> bool {
    rustix::thread::set_no_new_privs(true).is_ok() && refuse(true).is_ok()
}

/// Applies the filter to the calling thread.
pub(super) fn refuse(network: bool) -> Result<(), String> {
    // Made once for each of the two: a supervisor starts many commands.
    static OPEN: OnceLock<Result<BpfProgram, String>> = OnceLock::new();
    static CLOSED: OnceLock<Result<BpfProgram, String>> = OnceLock::new();
    let made = if network { &OPEN } else { &CLOSED };
    let program = made.get_or_init(|| program(network).map_err(|error| error.to_string()));
    let program = program.as_ref().map_err(String::clone)?;
    seccompiler::apply_filter(program).map_err(|error| error.to_string())
}

fn program(network: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    if !network {
        rules.insert(libc::SYS_socket, sockets()?);
    }
    #[cfg(target_arch = "x86_64")]
    {
        let (bit, others) = X32;
        let doubled: Vec<(i64, Vec<SeccompRule>)> =
            rules.iter().map(|(call, rules)| (call | bit, rules.clone())).collect();
        rules.extend(doubled);
        rules.extend(others.map(|call| (call | bit, Vec::new())));
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32), arch)?
        .try_into()
}

/// `socket` without network: only local datagrams and questions to the kernel about itself are left;
/// `socketpair` is another call and stays.
fn sockets() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let is =
        |argument, op, value: i32| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value as u64);
    let kind = |value| -> Result<SeccompRule, seccompiler::BackendError> {
        SeccompRule::new(vec![
            is(0, SeccompCmpOp::Eq, libc::AF_UNIX)?,
            is(1, SeccompCmpOp::MaskedEq(0xf), value)?,
        ])
    };
    Ok(vec![
        SeccompRule::new(vec![
            is(0, SeccompCmpOp::Ne, libc::AF_UNIX)?,
            is(0, SeccompCmpOp::Ne, libc::AF_NETLINK)?,
        ])?,
        kind(libc::SOCK_STREAM)?,
        kind(libc::SOCK_SEQPACKET)?,
    ])
}
