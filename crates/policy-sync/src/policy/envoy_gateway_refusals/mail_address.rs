//! Mail addresses as Go's `net/mail` reads them.
//!
//! Owns: what Go refuses of them. Flows in: texts. Flows out: whether Go reads them. Must not know: fields.
//!
//! `golang/go src/net/mail/message.go@go1.24.0`

/// Whether Go's `mail.ParseAddress` reads a text. What is more than a plain address is taken for one.
pub(super) fn is_address(text: &str) -> bool {
    let is_plain = |character: char| !matches!(character, '<' | '"' | '(' | '[');
    let is_atom = |atom: &str| {
        let of_atoms = |character: char| {
            !character.is_ascii()
                || character.is_ascii_alphanumeric()
                || "!#$%&'*+-/=?^_`{|}~".contains(character)
        };
        !atom.is_empty() && atom.chars().all(of_atoms)
    };
    if !text.chars().all(is_plain) {
        return true;
    }
    let Some((local, domain)) = text.trim_matches([' ', '\t']).split_once('@') else {
        return false;
    };
    [local, domain]
        .into_iter()
        .all(|part| part.trim_matches([' ', '\t']).split('.').all(is_atom))
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn a_mail_address_is_made_of_two_parts_of_atoms() {
        for text in ["a.b+c@d.example", "Ann <a@b>", " a@b ", "\u{e9}@b"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["a", "@b", "a@", "a..b@c", "a b@c", "a@b@c", ".a@b", "a@b."] {
            assert!(!is_address(text), "{text}");
        }
    }
}
