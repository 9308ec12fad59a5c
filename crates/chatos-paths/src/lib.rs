//! Where ChatOS keeps its state.
