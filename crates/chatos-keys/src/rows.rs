//! What a key needs of the database it belongs to; the store gives it.

use std::error::Error;

use zeroize::Zeroizing;

use crate::SealError;

/// Why the database could not say or keep something: its own error.
pub type RowsError = Box<dyn Error + Send + Sync>;

/// Opens a sealed text of a place, with the key before. `None`: that key did not seal it.
pub type Opener = Box<dyn Fn(&str, &str) -> Option<Zeroizing<Vec<u8>>> + Send>;

/// Seals a value for a place, with the key that is about to be in force.
pub type Sealer = Box<dyn Fn(&str, &[u8]) -> Result<String, SealError> + Send>;

/// The facts a database keeps about its key, and the values it holds sealed.
pub trait KeyRows: Send + Sync {
    /// The identity of the state.
    fn instance(&self) -> Result<String, RowsError>;
    /// A fact by its name.
    fn fact(&self, name: &str) -> Result<Option<String>, RowsError>;
    /// Keeps a fact, durable on return.
    fn set_fact(&self, name: &str, value: &str) -> Result<(), RowsError>;
    /// Opens and seals every value of `instance`, and keeps `facts`, all or nothing. Returns how many were sealed
    /// anew and how many could not be opened and stay.
    fn reseal(
        &self,
        instance: String,
        open: Opener,
        seal: Sealer,
        facts: Vec<(String, String)>,
    ) -> Result<(usize, usize), RowsError>;
}
