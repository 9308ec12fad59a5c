//! libFuzzer's entry for an ai.config file; the work is in `chatos_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chatos_fuzz::ai_config(data));
