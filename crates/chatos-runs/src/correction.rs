//! The numbers of a person's corrections in a journal: far above the steps of the loop, which counts its own.

/// Where the numbers of corrections begin.
pub(super) const CORRECTIONS: i64 = 1_000_000_000;

/// Whether a number belongs to a correction.
pub(super) fn is_correction(seq: i64) -> bool {
    seq >= CORRECTIONS
}
