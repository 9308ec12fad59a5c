//! libFuzzer's entry for a cmd:// address; the work is in `chatos_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chatos_fuzz::cmd_url(data));
