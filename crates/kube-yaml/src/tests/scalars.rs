//! What plain scalars, tagged scalars and keys become (docs/systems/kubernetes.md#scalars).

use crate::scalar;

#[test]
fn tricky_texts_are_quoted_and_plain_ones_are_not() {
    for text in [
        "0_xa",
        "0_x1F",
        "0_b1",
        "yes",
        "0777",
        "*.example.com",
        "",
        " a",
        "a ",
        "a:",
        "a: b",
        "a #b",
        "-",
        "- a",
        "#",
        "1e3",
        "12:30",
        "~",
        "<<",
    ] {
        assert!(scalar(text).starts_with('"'), "{text}");
    }
    for text in [
        "10s",
        ".status.addresses[0].type",
        ".status.listeners[?(@.name==\"api\")].attachedRoutes",
        "managed",
        "1.2.3",
        "10.0.0.1:80",
        "100m",
        "gateways/prod-web",
        "kuadrant.io/v1",
        "a:b",
        "a#b",
        "1Gi",
        "5T",
        "1h30m",
        "JSONPaths",
        "klusterlet-work-sa",
        "open-cluster-management:klusterlet-work:gateway",
        "日本",
        "v1",
        "nullx",
        "on-call",
    ] {
        assert_eq!(scalar(text), text);
    }
}

#[test]
fn base64_is_padded_at_its_end_as_far_as_its_last_group_needs() {
    let read =
        |text: &str| crate::read_document(&format!("k: !!binary \"{text}\"\n"), &crate::Limits::default());
    for (text, wanted) in [
        ("", ""),
        ("QQ==", "A"),
        ("QUE=", "AA"),
        ("QUFB", "AAA"),
        ("QQ==\\n", "A"),
    ] {
        assert_eq!(read(text).unwrap()["k"], wanted, "{text}");
    }
    for text in [
        "=", "Q===", "====", "QQ=", "QQ==QQ==", "QUE=QQ==", "QQ==Q", "QQ===", "Q=Q=", "Q",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}
