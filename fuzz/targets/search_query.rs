#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::query::search_query(input));
