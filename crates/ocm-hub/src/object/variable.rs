//! Variables in the manner of Flux.
//!
//! Owns: their syntax (docs/systems/gitops.md#flux-substitution). Flows in: text. Flows out: the first variable in it.
//! Must not know: whether anything will replace it.

/// The first variable of a text, such as `${DOMAIN}` or `${DOMAIN:=example.com}`. A name begins with a letter or `_`;
/// `$${DOMAIN}` is text.
#[must_use]
pub fn first_variable(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find("${") {
        let start = from.saturating_add(found);
        from = start.saturating_add(2);
        let is_escaped = text.get(..start)?.ends_with('$');
        let rest = text.get(from..)?;
        let name = rest
            .find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
            .unwrap_or(rest.len());
        let begins_well = rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let ends_well = rest
            .get(name..)
            .is_some_and(|after| after.starts_with(['}', ':', '=', '-']));
        let line = rest.lines().next().unwrap_or_default();
        if let Some(end) = line.find('}').filter(|_| !is_escaped && begins_well && ends_well) {
            return text.get(start..from.saturating_add(end).saturating_add(1));
        }
    }
    None
}

/// The command that puts values in before rendering.
pub const SUBSTITUTE_FIRST: &str = "render what Flux would apply: `flux build kustomization NAME --path DIR \
     --kustomization-file FILE --dry-run | spokewright render -`, or `flux envsubst` with the values in the environment";

#[cfg(test)]
mod tests {
    use super::first_variable;

    #[test]
    fn a_variable_has_a_name_and_is_not_escaped() {
        for (text, variable) in [
            ("${DOMAIN}", Some("${DOMAIN}")),
            ("api.${sub_1:=a}.example.com", Some("${sub_1:=a}")),
            ("$${NOT} ${YES}", Some("${YES}")),
            ("${YES} ${TOO}", Some("${YES}")),
            ("${1}", None),
            ("${ request.path }", None),
            ("${a.b}", None),
            ("$DOMAIN", None),
            ("${open", None),
            ("$${", None),
            ("é${É}", None),
        ] {
            assert_eq!(first_variable(text), variable, "{text}");
        }
    }
}
