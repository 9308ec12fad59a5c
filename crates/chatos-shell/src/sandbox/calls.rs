//! The system calls a command is refused: always what reaches around the boundary or at other processes,
//! and sockets when it has no network (servers §3.1, working-day §1.7).

use std::sync::OnceLock;

use seccompiler::{BpfProgram, sock_filter};

/// Refused to every command.
const ALWAYS: [i64; 33] = [
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
    // They name another process and never mean the caller itself by 0.
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
];

/// Allowed for the caller itself, which is process 0; the number of any other process, its own written out
/// included, is refused: a filter does not know it.
const OWN: [(i64, Own); 9] = [
    (libc::SYS_prlimit64, Own::FirstOrNoThird),
    (libc::SYS_sched_setaffinity, Own::First),
    (libc::SYS_sched_setscheduler, Own::First),
    (libc::SYS_sched_setparam, Own::First),
    (libc::SYS_sched_setattr, Own::First),
    (libc::SYS_migrate_pages, Own::First),
    (libc::SYS_move_pages, Own::First),
    // Of a process; those of a group or a user are never only the caller's.
    (libc::SYS_setpriority, Own::SecondOf(PRIO_PROCESS)),
    (libc::SYS_ioprio_set, Own::SecondOf(IOPRIO_WHO_PROCESS)),
];
const PRIO_PROCESS: u32 = 0;
const IOPRIO_WHO_PROCESS: u32 = 1;

/// Which argument names the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    /// The first.
    First,
    /// The first, and whatever it is when the third is no pointer: then nothing is changed.
    FirstOrNoThird,
    /// The second, and the first has to be this.
    SecondOf(u32),
}

/// The second set of numbers that 64-bit Intel kernels may accept, and those that differ in it.
#[cfg(target_arch = "x86_64")]
const X32: (u32, [u32; 5]) = (0x4000_0000, [521, 528, 533, 539, 540]);

/// Which sockets a command may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    Open,
    /// Those that Landlock holds to the port of the proxy: TCP, connected in the ordinary way.
    Proxy,
    /// None that leads to another machine or service.
    Closed,
}

/// Those that are refused.
#[cfg(target_arch = "x86_64")]
fn x32(sockets: Sockets) -> Vec<u32> {
    // `sendmsg` and `sendmmsg` there.
    let sending: &[u32] = if sockets == Sockets::Proxy { &[518, 538] } else { &[] };
    X32.1.iter().chain(sending).copied().collect()
}

/// Whether filters can be used. Restricts the calling thread.
pub(super) fn available() -> bool {
    rustix::thread::set_no_new_privs(true).is_ok() && refuse(Sockets::Open).is_ok()
}

/// Applies the filter to the calling thread.
pub(super) fn refuse(sockets: Sockets) -> Result<(), String> {
    // Made once for each of the three: a supervisor starts many commands.
    static MADE: [OnceLock<Result<BpfProgram, String>>; 3] = [const { OnceLock::new() }; 3];
    let program = MADE[sockets as usize].get_or_init(|| program(sockets));
    let program = program.as_ref().map_err(String::clone)?;
    seccompiler::apply_filter(program).map_err(|error| error.to_string())
}

/// The program the kernel runs at every system call. When it is installed the kernel tries it once for
/// every call there is, so it is a search tree: a list of rules, one after the other, would take longer to
/// install than the command needs to start.
fn program(sockets: Sockets) -> Result<BpfProgram, String> {
    let arch = arch().ok_or("no filter for this kind of machine")?;
    let mut program = vec![load(ARCH), jump(JEQ, arch, 1, 0), ret(KILL), load(NUMBER)];
    #[cfg(target_arch = "x86_64")]
    {
        // The second set begins at its bit; what is left without it is looked up in the same tree, after
        // the few that have a number of their own there.
        let (bit, others) = (X32.0, x32(sockets));
        program.push(jump(JGE, bit, 0, others.len() as u8 + 3));
        program.push(filter(AND, bit - 1));
        for (index, other) in others.iter().enumerate() {
            program.push(jump(JEQ, *other, (others.len() - index) as u8, 0));
        }
        program.extend([filter(JA, 1), ret(REFUSE)]);
    }
    let mut rules: Vec<(u32, BpfProgram)> =
        ALWAYS.iter().map(|call| (*call as u32, vec![ret(REFUSE)])).collect();
    rules.extend(OWN.iter().map(|(call, own)| (*call as u32, own_only(*own))));
    rules.extend((sockets != Sockets::Open).then(|| (SOCKET, only_sockets(sockets))));
    if sockets == Sockets::Proxy {
        // A connection can also be opened by sending, which no rule of Landlock sees.
        rules.push((libc::SYS_sendto as u32, no_fast_open(FOURTH_ARGUMENT)));
        rules.push((libc::SYS_sendmmsg as u32, no_fast_open(FOURTH_ARGUMENT)));
        rules.push((libc::SYS_sendmsg as u32, no_fast_open(THIRD_ARGUMENT)));
    }
    rules.sort_unstable_by_key(|(number, _)| *number);
    program.extend(tree(&rules));
    Ok(program)
}

/// Looks for the number among sorted ones, by halves, and goes on with its rule.
fn tree(rules: &[(u32, BpfProgram)]) -> BpfProgram {
    match rules {
        [] => vec![ret(ALLOW)],
        [(number, rule)] => {
            let mut program = vec![jump(JEQ, *number, 1, 0), ret(ALLOW)];
            program.extend(rule.iter().cloned());
            program
        }
        more => {
            let (low, high) = more.split_at(more.len() / 2);
            let first = high[0].0;
            let low = tree(low);
            // Fifty numbers make a tree whose half is below what a jump can pass over.
            debug_assert!(low.len() < 256);
            let mut program = vec![jump(JGE, first, low.len() as u8, 0)];
            program.extend(low);
            program.extend(tree(high));
            program
        }
    }
}

/// The caller itself and nobody else.
fn own_only(own: Own) -> BpfProgram {
    match own {
        Own::First => vec![load(FIRST_ARGUMENT), jump(JEQ, 0, 0, 1), ret(ALLOW), ret(REFUSE)],
        Own::FirstOrNoThird => vec![
            load(FIRST_ARGUMENT),
            jump(JEQ, 0, 4, 0),
            // A pointer has two halves.
            load(THIRD_ARGUMENT),
            jump(JEQ, 0, 0, 3),
            load(THIRD_ARGUMENT_HIGH),
            jump(JEQ, 0, 0, 1),
            ret(ALLOW),
            ret(REFUSE),
        ],
        Own::SecondOf(kind) => vec![
            load(FIRST_ARGUMENT),
            jump(JEQ, kind, 0, 3),
            load(SECOND_ARGUMENT),
            jump(JEQ, 0, 0, 1),
            ret(ALLOW),
            ret(REFUSE),
        ],
    }
}

/// `socket` without network: only local datagrams and questions to the kernel about itself are left, and TCP where
/// there is a proxy; `socketpair` is another call and stays.
fn only_sockets(sockets: Sockets) -> BpfProgram {
    if sockets == Sockets::Closed {
        return vec![
            load(FIRST_ARGUMENT),
            jump(JEQ, libc::AF_NETLINK as u32, 5, 0),
            jump(JEQ, libc::AF_UNIX as u32, 0, 3),
            load(SECOND_ARGUMENT),
            filter(AND, 0xf),
            jump(JEQ, libc::SOCK_DGRAM as u32, 1, 0),
            ret(REFUSE),
            ret(ALLOW),
        ];
    }
    vec![
        load(FIRST_ARGUMENT),
        jump(JEQ, libc::AF_NETLINK as u32, 12, 0),
        jump(JEQ, libc::AF_INET as u32, 5, 0),
        jump(JEQ, libc::AF_INET6 as u32, 4, 0),
        jump(JEQ, libc::AF_UNIX as u32, 0, 8),
        load(SECOND_ARGUMENT),
        filter(AND, 0xf),
        jump(JEQ, libc::SOCK_DGRAM as u32, 6, 5),
        // Streams of the one protocol: others of the same kind are not held to a port.
        load(SECOND_ARGUMENT),
        filter(AND, 0xf),
        jump(JEQ, libc::SOCK_STREAM as u32, 0, 2),
        load(THIRD_ARGUMENT),
        jump(JEQ, 0, 1, 2),
        ret(REFUSE),
        ret(ALLOW),
        jump(JEQ, libc::IPPROTO_TCP as u32, 0, 1),
        ret(ALLOW),
        ret(REFUSE),
    ]
}

/// Sending without the flag that opens a connection.
fn no_fast_open(flags: u32) -> BpfProgram {
    vec![load(flags), filter(AND, libc::MSG_FASTOPEN as u32), jump(JEQ, 0, 0, 1), ret(ALLOW), ret(REFUSE)]
}

// The few instructions that are needed; where the kernel puts number, architecture and arguments.
const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const JA: u32 = libc::BPF_JMP | libc::BPF_JA;
const JEQ: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const JGE: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const RET: u32 = libc::BPF_RET | libc::BPF_K;
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
/// The lower half of a 64-bit argument.
const LOW: u32 = if cfg!(target_endian = "big") { 4 } else { 0 };
const FIRST_ARGUMENT: u32 = 16 + LOW;
const SECOND_ARGUMENT: u32 = 24 + LOW;
const THIRD_ARGUMENT: u32 = 32 + LOW;
const THIRD_ARGUMENT_HIGH: u32 = 32 + 4 - LOW;
const FOURTH_ARGUMENT: u32 = 40 + LOW;
const SOCKET: u32 = libc::SYS_socket as u32;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
/// A call of another kind of machine has other numbers: there is no telling what it means.
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

/// The kernel's name of this kind of machine.
fn arch() -> Option<u32> {
    match std::env::consts::ARCH {
        "x86_64" => Some(0xc000_003e),
        "aarch64" => Some(0xc000_00b7),
        "riscv64" => Some(0xc000_00f3),
        _ => None,
    }
}

fn filter(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn load(at: u32) -> sock_filter {
    filter(LOAD, at)
}

fn ret(action: u32) -> sock_filter {
    filter(RET, action)
}

/// Passes over so many instructions when the comparison holds, or does not.
fn jump(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..filter(code, k) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do.
    fn judge(program: &BpfProgram, arch: u32, number: u32, arguments: [u64; 3]) -> u32 {
        let (mut at, mut value) = (0_usize, 0_u32);
        loop {
            let step = &program[at];
            at += 1;
            match u32::from(step.code) {
                LOAD => {
                    value = match step.k {
                        NUMBER => number,
                        ARCH => arch,
                        FIRST_ARGUMENT => arguments[0] as u32,
                        SECOND_ARGUMENT => arguments[1] as u32,
                        THIRD_ARGUMENT => arguments[2] as u32,
                        THIRD_ARGUMENT_HIGH => (arguments[2] >> 32) as u32,
                        FOURTH_ARGUMENT => 0,
                        other => panic!("reads {other}"),
                    };
                }
                AND => value &= step.k,
                JA => at += step.k as usize,
                code @ (JEQ | JGE) => {
                    let holds = if code == JEQ { value == step.k } else { value >= step.k };
                    at += usize::from(if holds { step.jt } else { step.jf });
                }
                RET => return step.k,
                code => panic!("unknown {code}"),
            }
        }
    }

    #[test]
    fn every_number_is_judged_as_the_list_says() {
        let own = arch().unwrap();
        for sockets in [Sockets::Open, Sockets::Proxy, Sockets::Closed] {
            let (program, arch) = (program(sockets).unwrap(), own);
            // A jump over the larger half has to fit into a byte.
            assert!(program.len() < 400, "{}", program.len());
            for number in 0..1200 {
                let own = OWN.iter().any(|(call, _)| *call == i64::from(number));
                let refused = ALWAYS.contains(&i64::from(number)) || own;
                // For the calls of `OWN`: another process, something to change.
                let stream = [libc::AF_INET as u64, libc::SOCK_STREAM as u64, 1];
                let wanted =
                    if refused || (number == SOCKET && sockets != Sockets::Open) { REFUSE } else { ALLOW };
                assert_eq!(judge(&program, arch, number, stream), wanted, "{number}");
                #[cfg(target_arch = "x86_64")]
                {
                    let wanted = if x32(sockets).contains(&number) { REFUSE } else { wanted };
                    assert_eq!(judge(&program, arch, number | X32.0, stream), wanted, "x32 {number}");
                }
            }
            assert_eq!(judge(&program, arch, u32::MAX, [0; 3]), ALLOW, "no call has this number");
            assert_eq!(judge(&program, arch ^ 1, 0, [0; 3]), KILL);
        }
        let closed = program(Sockets::Closed).unwrap();
        let socket = |family: i32, kind: i32| judge(&closed, own, SOCKET, [family as u64, kind as u64, 0]);
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
            assert_eq!(socket(libc::AF_UNIX, kind), REFUSE);
            assert_eq!(socket(libc::AF_UNIX, kind | flags), REFUSE);
        }
        assert_eq!(socket(libc::AF_UNIX, libc::SOCK_DGRAM | flags), ALLOW);
        assert_eq!(socket(libc::AF_NETLINK, libc::SOCK_RAW), ALLOW);
        for family in [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET, libc::AF_VSOCK] {
            assert_eq!(socket(family, libc::SOCK_DGRAM), REFUSE);
        }
        let proxy = program(Sockets::Proxy).unwrap();
        let socket = |family: i32, kind: i32, protocol: i32| {
            judge(&proxy, own, SOCKET, [family as u64, kind as u64, protocol as u64])
        };
        for family in [libc::AF_INET, libc::AF_INET6] {
            assert_eq!(socket(family, libc::SOCK_STREAM | flags, 0), ALLOW);
            assert_eq!(socket(family, libc::SOCK_STREAM, libc::IPPROTO_TCP), ALLOW);
            for protocol in [libc::IPPROTO_SCTP, libc::IPPROTO_MPTCP, libc::IPPROTO_UDP] {
                assert_eq!(socket(family, libc::SOCK_STREAM, protocol), REFUSE, "{protocol}");
            }
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET] {
                assert_eq!(socket(family, kind, 0), REFUSE);
            }
        }
        assert_eq!(socket(libc::AF_UNIX, libc::SOCK_STREAM, 0), REFUSE);
        assert_eq!(socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0), ALLOW);
        assert_eq!(socket(libc::AF_NETLINK, libc::SOCK_RAW, 0), ALLOW);
        assert_eq!(socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0), REFUSE);
        let fast = [3, 4, libc::MSG_FASTOPEN as u64];
        assert_eq!(judge(&proxy, own, libc::SYS_sendmsg as u32, fast), REFUSE);
        assert_eq!(judge(&proxy, own, libc::SYS_sendmsg as u32, [3, 4, 0]), ALLOW);
    }
    #[test]
    fn a_command_changes_itself_and_no_other_process() {
        let (program, arch) = (program(Sockets::Open).unwrap(), arch().unwrap());
        let call = |number: i64, arguments| judge(&program, arch, number as u32, arguments);
        let somebody = 4321;
        for number in [
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_setscheduler,
            libc::SYS_sched_setparam,
            libc::SYS_sched_setattr,
            libc::SYS_migrate_pages,
            libc::SYS_move_pages,
        ] {
            assert_eq!(call(number, [0, 9, 9]), ALLOW, "{number}");
            assert_eq!(call(number, [somebody, 9, 9]), REFUSE, "{number}");
            // The kernel looks at the lower half alone.
            assert_eq!(call(number, [1 << 32, 9, 9]), ALLOW, "{number}");
            assert_eq!(call(number, [(1 << 32) + somebody, 9, 9]), REFUSE, "{number}");
        }
        let limit = libc::SYS_prlimit64;
        assert_eq!(call(limit, [0, 1, 0x7fff_0000_0000]), ALLOW, "its own limits");
        assert_eq!(call(limit, [somebody, 1, 0]), ALLOW, "asking changes nothing");
        assert_eq!(call(limit, [somebody, 1, 0x7fff_0000_0000]), REFUSE, "only the upper half is set");
        assert_eq!(call(limit, [somebody, 1, 8]), REFUSE);
        for (number, process, others) in
            [(libc::SYS_setpriority, 0, [1, 2, 3]), (libc::SYS_ioprio_set, 1, [0, 2, 3])]
        {
            assert_eq!(call(number, [process, 0, 9]), ALLOW, "{number}");
            assert_eq!(call(number, [process, somebody, 9]), REFUSE, "{number}");
            for kind in others {
                assert_eq!(call(number, [kind, 0, 9]), REFUSE, "{number} {kind}");
            }
        }
        for number in [libc::SYS_process_madvise, libc::SYS_process_mrelease, libc::SYS_kcmp] {
            assert_eq!(call(number, [0, 0, 0]), REFUSE, "{number}");
        }
    }
}
