//! Ends this process at a chosen write of a run's journal, as a power cut would: for tests of what survives.
//!
//! Debug builds only; in a release the calls are nothing. The host arms it, because it reads the environment.

#[cfg(debug_assertions)]
mod armed {
    use std::sync::atomic::{AtomicI64, Ordering};

    // The number of the write, negative for "before it"; 0 is never.
    static AT: AtomicI64 = AtomicI64::new(0);
    static WRITES: AtomicI64 = AtomicI64::new(0);

    pub fn halt_at(at: i64) {
        WRITES.store(0, Ordering::SeqCst);
        AT.store(at, Ordering::SeqCst);
    }

    pub fn halt_around<T>(write: impl FnOnce() -> T) -> T {
        let number = WRITES.fetch_add(1, Ordering::SeqCst) + 1;
        let at = AT.load(Ordering::SeqCst);
        if at == -number {
            end();
        }
        let done = write();
        if at == number {
            end();
        }
        done
    }

    fn end() {
        let own = rustix::process::getpid();
        if rustix::process::kill_process(own, rustix::process::Signal::KILL).is_ok() {
            // The signal is on its way; nothing else of this thread happens.
            std::thread::park();
        }
    }
}

#[cfg(not(debug_assertions))]
mod armed {
    pub fn halt_at(_: i64) {}

    pub fn halt_around<T>(write: impl FnOnce() -> T) -> T {
        write()
    }
}

/// Does one of the writes that are counted.
pub use armed::halt_around;
/// Ends the process after the n-th write of a journal, before it when negative; never when 0.
pub use armed::halt_at;
