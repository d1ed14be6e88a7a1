#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        // The library turns panics of the term dictionary on a hostile file into errors: only those that come out of it
        // are faults. Theirs is no message here; replay the input by the ordinary tests.
        std::panic::set_hook(Box::new(|_| {}));
    },
    |input: &[u8]| checks::file::open_and_search(input)
);
