#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::document::split_markdown(input));
