#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spokewright_fuzz::overlay(data));
