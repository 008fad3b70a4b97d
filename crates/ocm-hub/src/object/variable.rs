//! Variables in the manner of Flux, and placeholders of other templates. The syntax is that of
//! docs/systems/gitops.md#flux-substitution.

/// What encloses the name of a placeholder, and which characters besides letters, digits and `_` may be in it.
const ENCLOSED: [(&str, &str, &str); 6] = [
    ("${{", "}}", ANY),
    ("{{", "}}", ANY),
    ("$(", ")", ""),
    ("<", ">", " -."),
    ("@@", "@@", "-."),
    ("%%", "%%", "-."),
];

/// What expressions in double braces are made of.
const ANY: &str = " -.,:;|/$\"'`()[]+*=!<>&?#~";

/// Parts of capitalized words that nobody gives to a thing.
const WORDS: [&str; 5] = ["REPLACE_", "REPLACEME", "PLACEHOLDER", "CHANGEME", "CHANGE_ME"];

/// The first variable of a text, such as `${DOMAIN}` or `${DOMAIN:=example.com}`. A name begins with a letter or `_`;
/// `$${DOMAIN}` is text.
pub fn first_variable(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find("${") {
        let start = from.saturating_add(found);
        from = start.saturating_add(2);
        let is_escaped = text.get(..start)?.ends_with('$');
        let rest = text.get(from..)?;
        let begins_well = rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let after_name =
            rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        let ends_well = after_name.starts_with(['}', ':', '=', '-']);
        let line = rest.lines().next().unwrap_or_default();
        if let Some(end) = line.find('}').filter(|_| !is_escaped && begins_well && ends_well) {
            return text.get(start..from.saturating_add(end).saturating_add(1));
        }
    }
    None
}

/// The first part of a text that stands for a value: a [variable](first_variable), `{{ .Values.host }}`, `<host>`,
/// `$(HOST)`, `@@HOST@@`, `REPLACE_HOST`.
pub fn first_placeholder(text: &str) -> Option<&str> {
    let enclosed = |(open, close, more): (&str, &str, &str)| {
        text.match_indices(open).find_map(|(start, _)| {
            let name = text.get(start.saturating_add(open.len())..)?;
            let is_end =
                |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || more.contains(letter));
            let (name, rest) = name.split_at_checked(name.find(is_end)?)?;
            // A named group of a regular expression is text.
            let is_group = text.get(..start)?.ends_with(['?', 'P']);
            let is_name = name.contains(|letter: char| letter.is_ascii_alphanumeric())
                && (more == ANY
                    || name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'));
            let end = text.len().saturating_sub(rest.len()).saturating_add(close.len());
            (is_name && !is_group && rest.starts_with(close)).then(|| text.get(start..end))?
        })
    };
    let is_word = |word: &&str| {
        // Most words are empty, because each small letter ends one: only a word that is long enough is copied.
        let could_hold = |part: &&&str| part.len() <= word.len();
        let mut parts = WORDS.iter().filter(could_hold);
        parts.any(|part| word.replace('-', "_").contains(part))
    };
    let is_capital = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
    let words = text.split(|letter: char| !(is_capital(letter) || ['_', '-'].contains(&letter)));
    let mut words = words.map(|word| word.trim_matches(['_', '-']));
    first_variable(text)
        .or_else(|| ENCLOSED.into_iter().find_map(enclosed))
        .or_else(|| words.find(is_word))
}

/// Whether a text has no value of its own: it is one placeholder, without a default.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let is_flux = first_variable(text).is_some();
    first_placeholder(text) == Some(text)
        && !text.contains([':', '=', '"', '\'', '`'])
        && !(is_flux && text.contains('-'))
}

/// Whether a text of an object that is otherwise complete has a placeholder that cannot be meant: a word in capitals, an
/// expression of a template in `${{ }}`, or `<name>` as the whole or in a URL. `{{ }}` and `$( )` inside text may be
/// meant, and Flux gives `${NAME}` a value later.
pub(crate) fn is_unfilled(text: &str) -> bool {
    // Nearly all texts end here.
    let mut bytes = text.bytes();
    if !bytes.any(|byte| matches!(byte, b'<' | b'@' | b'$' | b'%' | b'E')) {
        return false;
    }
    let is_meant = |found: &str| {
        ["{{", "$(", "%%"].iter().any(|open| found.starts_with(open)) || first_variable(found).is_some()
    };
    first_placeholder(text).is_some_and(|found| {
        let is_url = text.contains("://") && !text.contains(char::is_whitespace);
        let is_enclosed = found.starts_with('<') && found != text.trim() && !is_url;
        !is_meant(found) && !is_enclosed
    })
}

/// The command that puts values in before rendering.
pub const SUBSTITUTE_FIRST: &str = "render what Flux would apply: `flux build kustomization NAME --path DIR \
     --kustomization-file FILE --dry-run | spokewright render -`, or `flux envsubst` with the values in the environment";

#[cfg(test)]
mod tests {
    use super::{first_placeholder, first_variable, is_placeholder};

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
    #[test]
    fn a_placeholder_is_enclosed_or_a_word_in_capitals() {
        for (text, placeholder) in [
            ("${DOMAIN}", Some("${DOMAIN}")),
            ("${{values.name}}-auth", Some("${{values.name}}")),
            (
                "web-{{ .Values.name | quote }}",
                Some("{{ .Values.name | quote }}"),
            ),
            ("activate-<UTC stamp>", Some("<UTC stamp>")),
            ("$(NAME).example.com", Some("$(NAME)")),
            ("a.@@DOMAIN@@", Some("@@DOMAIN@@")),
            ("%%ZONE%%.b", Some("%%ZONE%%")),
            ("*.acme.REPLACE_DOMAIN", Some("REPLACE_DOMAIN")),
            ("CMP_PLACEHOLDER_HOST", Some("CMP_PLACEHOLDER_HOST")),
            ("YOUR-CHANGE-ME", Some("YOUR-CHANGE-ME")),
            ("REPLACE_ME-auth", Some("REPLACE_ME")),
            ("*.acme.Example", None),
            ("a_b", None),
            ("100%", None),
            ("a < b && c > d", None),
            ("size(a) <3 && 4> b", None),
            ("/users/(?P<name>[a-z", None),
            ("/users/(?<name>[a-z", None),
            ("{{ open", None),
            ("<>", None),
            ("user@@host", None),
            ("replace_me", None),
            ("ReplacePrefixMatch", None),
            ("é<é>", None),
        ] {
            assert_eq!(first_placeholder(text), placeholder, "{text}");
        }
    }

    #[test]
    fn a_placeholder_with_a_default_or_beside_text_has_a_value() {
        for text in ["${KEY}", " <region>\n", "{{ .Values.key }}", "CHANGEME"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "${KEY:-hunter2}",
            "${KEY-hunter2}",
            "a${KEY}",
            "{{ .Key | default \"hunter2\" }}",
            "CHANGEME-hunter2",
            "hunter2",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
