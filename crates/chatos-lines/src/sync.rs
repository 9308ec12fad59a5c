//! Locks of this crate: `std` mutexes, never held across an await, never across a call that could
//! come back into this crate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; a panic of another holder does not take the queue down with it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
