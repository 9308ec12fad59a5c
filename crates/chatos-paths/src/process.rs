//! Facts about processes, read from the kernel.

use std::fs;

/// Resident memory of this process in bytes; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    let pages: Option<u64> = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// Lets this process hold as many connections and files as its own bounds allow: many systems start
/// programs with a limit of 1,024 descriptors, which is less than the connections a host admits.
pub fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const WANTED: u64 = 8_192;
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(WANTED, |most| most.min(WANTED));
    if limit.current.is_some_and(|now| now < wanted) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
        if let Err(error) = raised {
            tracing::warn!(%error, "the limit of open files stays low");
        }
    }
}

/// When a process started, in clock ticks since boot: with the pid it names one process for ever.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name may hold spaces and brackets; fields are counted after the last bracket.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

/// The machine's name, for messages about who holds a lock.
pub(crate) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The process of this user that listens on a TCP port of this machine, as far as `/proc` tells.
pub fn port_owner(port: u16) -> Option<u32> {
    let wanted = format!(":{port:04X}");
    let sockets: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| {
            table
                .lines()
                .filter_map(|line| {
                    let fields: Vec<&str> = line.split_whitespace().collect();
                    // Local address, state (0A = listening), inode.
                    let listens = fields.get(1)?.ends_with(&wanted) && *fields.get(3)? == "0A";
                    listens.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
                })
                .collect::<Vec<_>>()
        })
        .collect();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let owns = fs::read_dir(entry.path().join("fd")).ok()?.flatten().any(|fd| {
            fs::read_link(fd.path())
                .is_ok_and(|link| sockets.iter().any(|socket| link.as_os_str() == socket.as_str()))
        });
        owns.then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_port_leads_to_this_process() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(port_owner(port), Some(std::process::id()));
    }

    #[test]
    fn this_process_has_memory_and_a_start_time() {
        assert!(resident_bytes() > 100_000);
        assert!(start_time(std::process::id()).unwrap() > 0);
        assert_eq!(start_time(u32::MAX - 7), None);
    }
}
