//! What programs inherit: their standard streams and nothing else (working-day §1.7).

/// Closes everything beyond the standard streams to whatever this process starts or becomes from now on. What
/// somebody left open when they started this program stays with it: an open file gives what its path refuses.
pub fn keep_streams_only() {
    close_fds::set_fds_cloexec(3, &[]);
}
