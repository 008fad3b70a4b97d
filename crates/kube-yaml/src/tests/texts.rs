//! The texts of `tests/texts/`, each a JSON string on a line of its own, and what is read from them.

use std::path::Path;

use super::{Limits, read_document};

/// The value of a document, or what is wrong with it, and where.
fn outcome(text: &str) -> String {
    match read_document(text, &Limits::default()) {
        Ok(value) => value.to_string(),
        Err(error) => {
            let place = text.get(error.range.clone());
            let mut told = format!(
                "{:?} at {place:?}: {}\nhelp: {}",
                error.kind, error.message, error.help
            );
            if let Some(related) = &error.related {
                told += &format!("\nrelated: {related:?}");
            }
            told
        }
    }
}

#[test]
fn every_text_is_read_as_its_snapshot_has_it() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    for file in ["scalars.txt", "structure.txt", "messages.txt"] {
        test_sections::check_lines(directory.join(file), |line| {
            let text: String = serde_json::from_str(line).unwrap();
            // A scalar has the same meaning as an item of a list.
            let scalar = text
                .strip_prefix("k: ")
                .filter(|scalar| scalar.matches('\n').count() == 1);
            let value = read_document(&text, &Limits::default());
            if let (Some(scalar), Ok(value)) = (scalar, value) {
                let item = read_document(&format!("- {scalar}"), &Limits::default()).unwrap();
                assert_eq!(value["k"], item[0], "{text:?}");
            }
            outcome(&text)
        });
    }
}
