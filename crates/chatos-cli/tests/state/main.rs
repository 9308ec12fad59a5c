//! The state as a whole, with the real program: taking over an older one, copies, bringing one back,
//! rescuing a damaged one, secrets, the doctor. Also under kills at any moment.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests make and look into databases with connections of their own"
)]

mod backup;
mod doctor;
mod import;
mod key;
mod recover;
mod secrets;
mod upgrade;
mod versions;

use std::path::Path;

use chatos_testkit::Sandbox;
use rusqlite::Connection;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// One number out of a database, read without disturbing anybody.
fn number(database: &Path, sql: &str) -> i64 {
    Connection::open(database).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}
