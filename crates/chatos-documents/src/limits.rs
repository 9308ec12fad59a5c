//! How long one document may be read and how much memory that may take. A person or a test may lower both with
//! `CHATOS_DOCUMENT_LIMITS=MILLISECONDS,MIB`; nobody raises them.

use std::ffi::OsString;
use std::time::Duration;

/// Longest time that is ever given, in milliseconds.
const MILLISECONDS: u64 = 30_000;
/// Most memory that is ever given, in MiB.
const MIB: u64 = 512;
/// The variable of the environment that lowers the limits of the reader.
pub const VARIABLE: &str = "CHATOS_DOCUMENT_LIMITS";

/// The limits of one reading process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    milliseconds: u64,
    mib: u64,
}

impl Limits {
    /// The usual ones, lowered by the value of [`VARIABLE`]; what cannot be understood lowers nothing.
    pub(crate) fn lowered(said: &str) -> Self {
        let mut numbers = said.split(',').map(|word| word.trim().parse::<u64>().ok());
        let mut next = |usual: u64| numbers.next().flatten().map_or(usual, |number| number.clamp(1, usual));
        Self { milliseconds: next(MILLISECONDS), mib: next(MIB) }
    }

    /// As the reading process is told.
    pub(crate) fn words(self) -> [OsString; 2] {
        [self.milliseconds.to_string().into(), self.mib.to_string().into()]
    }

    /// What the reading process was told.
    pub(crate) fn of_words(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut next = || words.next()?.to_str()?.parse::<u64>().ok();
        let (milliseconds, mib) = (next()?, next()?);
        Some(Self { milliseconds: milliseconds.min(MILLISECONDS), mib: mib.min(MIB) })
    }

    /// How long whoever started it waits.
    pub(crate) fn time(self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }

    /// Whole seconds of computing, rounded up.
    pub(crate) fn seconds(self) -> u64 {
        self.milliseconds.div_ceil(1000)
    }

    /// Bytes of memory that may be used.
    pub(crate) fn memory(self) -> u64 {
        self.mib * 1024 * 1024
    }

    /// The time in words, in both languages.
    pub(crate) fn time_said(self) -> (String, String) {
        match self.milliseconds {
            whole if whole % 1000 == 0 => {
                (format!("{} seconds", whole / 1000), format!("{} 秒", whole / 1000))
            }
            part => (format!("{part} milliseconds"), format!("{part} 毫秒")),
        }
    }

    /// The memory that may be used, in MiB.
    pub(crate) fn mib(self) -> u64 {
        self.mib
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_handed_on_and_never_raised() {
        let small = Limits { milliseconds: 250, mib: 64 };
        assert_eq!(Limits::of_words(small.words().into_iter()), Some(small));
        assert_eq!((small.seconds(), small.memory()), (1, 64 << 20));
        let raised = ["99999999", "99999"].map(OsString::from);
        assert_eq!(
            Limits::of_words(raised.into_iter()),
            Some(Limits { milliseconds: MILLISECONDS, mib: MIB })
        );
        assert_eq!(Limits::of_words(std::iter::empty()), None);
    }
}
