//! The text of a `kustomization.yaml`.
//!
//! Owns: its text, and what is quoted in it. Flows in: resources. Flows out: text. Must not know: what they are.

use kube_yaml::scalar;

/// How each begins.
pub(super) const LIST_BEGIN: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

/// A kustomization that includes `resources` (files and directories beside it), in this order: kustomize sorts them by kind
/// and name unless the one that is built says otherwise, and each of ours may be (docs/systems/gitops.md#kustomize).
///
/// Canonical YAML (docs/systems/kubernetes.md#writing-safely): lists are not indented below their key, and whatever a YAML 1.1 or 1.2
/// reader could take for something other than a string, such as a cluster named `on` or `1e3`, is quoted.
pub(super) fn kustomization<S: AsRef<str>>(resources: &[S]) -> String {
    let names = resources.iter().map(AsRef::as_ref);
    let mut text = LIST_BEGIN.to_owned();
    if resources.is_empty() {
        text.push_str("resources: []\n");
        return text;
    }
    text.push_str("resources:\n");
    for name in names {
        text.push_str("- ");
        text.push_str(&scalar(name));
        text.push('\n');
    }
    text.push_str("sortOptions:\n  order: fifo\n");
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_kustomization_lists_resources_in_the_order_that_is_asked_for() {
        assert_eq!(
            kustomization(&["_hub", "10", "eu-1"]),
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- _hub\n- \"10\"\n- eu-1\nsortOptions:\n  order: fifo\n"
        );
        assert!(kustomization::<&str>(&[]).ends_with("\nresources: []\n"));
    }

    #[test]
    fn what_a_yaml_reader_could_take_for_something_else_is_quoted_and_nothing_more() {
        for name in [
            "on",
            "off",
            "yes",
            "no",
            "y",
            "n",
            "true",
            "false",
            "null",
            "NO",
            "Yes",
            "1e3",
            "0x1f",
            "0o17",
            "0b1",
            "017",
            "1",
            "1.5",
            "1-2",
            "2001-01-01",
            "1_000",
            ".5",
            ".inf",
            "~",
            "-a",
            "...",
            "a: b",
            "a #b",
            "",
            "\"",
            "a\tb",
            "*a",
            "&a",
            "1e-3",
            "0",
        ] {
            let text = kustomization(&[name]);
            assert!(text.lines().nth(3).unwrap().starts_with("- \""), "{text}");
        }
        for name in [
            "eu-1",
            "once",
            "1a",
            "10.0.0.1",
            "_hub",
            "gateway-a.yaml",
            "0x1g",
            "nope",
            "100m",
            "1-cluster",
        ] {
            assert_eq!(
                kustomization(&[name]).lines().nth(3),
                Some(format!("- {name}").as_str())
            );
        }
    }

    proptest! {
        #[test]
        fn a_kustomization_is_read_back_as_exactly_the_names(
            names in proptest::collection::btree_set("[ -~]{0,8}|[0-9a-fxo._eE-]{1,6}|[^\\x00]{0,4}", 0..6),
        ) {
            let names = names.into_iter().collect::<Vec<_>>();
            let read = kube_yaml::read_all(&kustomization(&names), &kube_yaml::Limits::default()).unwrap();
            prop_assert_eq!(&read[0]["resources"], &kube_json::json!(names));
        }
    }
}
