#![no_main]

libfuzzer_sys::fuzz_target!(
    // The other parser panics on some texts, which says nothing; the fuzzer's own hook would end the process there.
    // What panics in ours ends it all the same.
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| {
        spokewright_fuzz::yaml(data);
        if let Ok(text) = std::str::from_utf8(data)
            // A text whose first byte is 0xEF is a broken byte order mark to the other parser.
            && let Err(difference) = kube_yaml::testing::agrees(&format!("# c\n{text}\n"))
                .and_then(|()| kube_yaml::testing::lines_agree_with_events(text).map(|_| ()))
        {
            eprintln!("{difference}");
            std::process::abort();
        }
    }
);
