//! libFuzzer's entry for plugin.json; the work is in `chatos_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chatos_fuzz::manifest(data));
