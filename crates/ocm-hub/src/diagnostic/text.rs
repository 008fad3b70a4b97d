//! Text for people, the same everywhere: numbers with their nouns, lists that are cut, rows of a table, lines that fit
//! a terminal, words quoted for a shell. A plural, "and 3 more", or a quoted word is made here and nowhere else.

use std::fmt::Display;

use super::sanitize::{columns, is_printed_as_it_is};

/// What is between two columns of a table.
pub const GAP: &str = "  ";

/// A number and its noun: `1 file`, `3 files`, `2 policies`. `noun` is singular, and may have an adjective before it.
///
/// ```
/// use ocm_hub::diagnostic::counted;
///
/// assert_eq!(counted(1, "more error"), "1 more error");
/// assert_eq!(counted(0, "policy"), "0 policies");
/// ```
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    if count == "1" {
        format!("1 {noun}")
    } else {
        format!("{count} {}", plural(noun))
    }
}

/// The plural of a noun or of the name of a kind: `files`, `policies`, `GatewayClasses`.
pub fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// `and 3 more paths`, with an empty noun `and 3 more`; `None` where nothing is left out.
pub fn and_more(left_out: usize, noun: &str) -> Option<String> {
    match (left_out, noun) {
        (0, _) => None,
        (_, "") => Some(format!("and {left_out} more")),
        _ => Some(format!("and {}", counted(left_out, &format!("more {noun}")))),
    }
}

/// The first `most` names, and how many more there are: `a, b and 3 more`.
pub fn first_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>, most: usize) -> String {
    listed(names, most, " ")
}

/// The same with a comma before the `and`: `a, b, and 3 more`, for names of several words.
pub fn first_items<N: AsRef<str>>(names: impl IntoIterator<Item = N>, most: usize) -> String {
    listed(names, most, ", ")
}

fn listed<N: AsRef<str>>(names: impl IntoIterator<Item = N>, most: usize, before_and: &str) -> String {
    let mut names = names.into_iter();
    let shown = names.by_ref().take(most).map(|name| name.as_ref().to_owned());
    let shown = shown.collect::<Vec<String>>().join(", ");
    match and_more(names.count(), "") {
        Some(more) => [&shown, before_and, &more].concat(),
        None => shown,
    }
}

/// A kind with its article, as it is spoken: `an HTTPRoute`, `a Gateway`, `a UDPRoute`.
pub fn with_article(kind: &str) -> String {
    let mut letters = kind.chars();
    let (first, second) = (
        letters.next().unwrap_or_default(),
        letters.next().unwrap_or_default(),
    );
    // Of capitals the first is spoken by its name: aitch, ex, you.
    let sounds = if second.is_ascii_uppercase() {
        "AEFHILMNORSX"
    } else if ["Us", "Uni", "Uti"].iter().any(|start| kind.starts_with(start)) {
        ""
    } else {
        "AEIOU"
    };
    let article = if sounds.contains(first) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// As many names as fit into `room` columns, and how many more there are: `a, b, +3 more`. The first one is always
/// there.
pub fn fitting_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>, room: usize) -> String {
    let names: Vec<N> = names.into_iter().collect();
    // With the comma and the blank.
    let columns = |name: &N| name.as_ref().chars().count().saturating_add(2);
    let fits = names.iter().map(columns).sum::<usize>().saturating_sub(2) <= room;
    let (mut shown, mut taken) = (String::new(), 0_usize);
    for (index, name) in names.iter().enumerate() {
        taken = taken.saturating_add(columns(name));
        if index > 0 {
            let more = format!(", +{} more", names.len().saturating_sub(index));
            if !fits && taken.saturating_sub(2).saturating_add(more.len()) > room {
                return shown + &more;
            }
            shown.push_str(", ");
        }
        shown.push_str(name.as_ref());
    }
    shown
}

/// What is said of one, or of any other number.
///
/// ```
/// # use ocm_hub::diagnostic::one_or_many;
/// assert_eq!(one_or_many(1, "leaves", "leave"), "leaves");
/// assert_eq!(one_or_many(0, "it", "them"), "them");
/// ```
pub const fn one_or_many<'t>(count: usize, one: &'t str, many: &'t str) -> &'t str {
    if count == 1 { one } else { many }
}

/// How wide the columns of rows are.
pub fn widths<const N: usize>(rows: impl IntoIterator<Item = [usize; N]>) -> [usize; N] {
    let mut widest = [0; N];
    for row in rows {
        for (widest, width) in widest.iter_mut().zip(row) {
            *widest = width.max(*widest);
        }
    }
    widest
}

/// A row of a table: each cell but the last as wide as its column, without blanks at the end.
pub fn row(cells: &[&str], widths: &[usize]) -> String {
    let mut line = String::new();
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            line.push_str(GAP);
        }
        match widths.get(number) {
            Some(width) => line.push_str(&format!("{cell:width$}")),
            None => line.push_str(cell),
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// A word that a POSIX shell reads as exactly this text, so that a command that is shown can be pasted.
///
/// ```
/// use ocm_hub::diagnostic::shell_word;
///
/// assert_eq!(shell_word("HEAD~1"), "HEAD~1");
/// assert_eq!(shell_word("my hub"), "'my hub'");
/// ```
pub fn shell_word(text: &str) -> String {
    // Shells differ in what they make of anything else: zsh has `^` and a leading `=`, bash and zsh a leading `~` or
    // one behind `=` and `:`, and all of them globs. Inside single quotes nothing is special but the quote itself.
    let is_plain = |(at, byte): (usize, u8)| match byte {
        b'~' => at
            .checked_sub(1)
            .and_then(|before| text.as_bytes().get(before))
            .is_some_and(u8::is_ascii_alphanumeric),
        b'=' | b'-' => at > 0,
        _ => byte.is_ascii_alphanumeric() || b"/._+:,@".contains(&byte),
    };
    if !text.is_empty() && text.bytes().enumerate().all(is_plain) {
        text.to_owned()
    } else if is_printed_as_it_is(text) {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        dollar_quoted(text)
    }
}

/// The same of what would not be printed as it is: only here can each byte be written by its number (POSIX.1-2024,
/// Shell Command Language, 2.2.4 Dollar-Single-Quotes).
fn dollar_quoted(text: &str) -> String {
    let mut word = String::from("$'");
    for character in text.chars() {
        match character {
            '\'' | '\\' => word.extend(['\\', character]),
            ' '..='~' if character != '[' => word.push(character),
            _ => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    word.push_str(&format!("\\{byte:03o}"));
                }
            }
        }
    }
    word.push('\'');
    word
}

/// A path as an argument: one that begins with a dash is not read as an option.
pub fn shell_path(path: &str) -> String {
    if path.starts_with('-') {
        shell_word(&format!("./{path}"))
    } else {
        shell_word(path)
    }
}

/// A name as an argument that is no option, either: nothing behind it is.
pub fn shell_name(name: &str) -> String {
    let word = shell_word(name);
    if name.starts_with('-') {
        format!("-- {word}")
    } else {
        word
    }
}

/// The lines of `text`, each at most `room` columns wide if its words allow that, broken only at spaces. A word stays
/// whole, and so does text between two backticks, because users copy it.
///
/// ```
/// use ocm_hub::diagnostic::wrapped;
///
/// assert_eq!(wrapped("run `git fetch origin` first", 12), ["run", "`git fetch origin`", "first"]);
/// ```
pub fn wrapped(text: &str, room: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    // Byte offsets of the line, and of the last word that fits.
    let (mut start, mut end) = (0_usize, 0_usize);
    for (from, to) in words(text) {
        let line = text.get(start..to).unwrap_or_default();
        if end > start && columns(line) > room {
            lines.push(text.get(start..end).unwrap_or_default());
            start = from;
        }
        end = to;
    }
    lines.push(text.get(start..end).unwrap_or_default());
    lines
}

/// The same where the first line has another room than those after it, which are indented.
///
/// ```
/// use ocm_hub::diagnostic::wrapped_hanging;
///
/// assert_eq!(wrapped_hanging("one two three", 8, 6), ["one two", "three"]);
/// ```
pub fn wrapped_hanging(text: &str, first: usize, others: usize) -> Vec<&str> {
    let line = wrapped(text, first).into_iter().next().unwrap_or_default();
    let rest = text.get(line.len()..).unwrap_or_default().trim_start_matches(' ');
    let mut lines = vec![line];
    if !rest.is_empty() {
        lines.extend(wrapped(rest, others));
    }
    lines
}

/// The lines of `text` behind one of two beginnings, that of the first line and that of those after it, each at most `width`
/// columns wide if its words allow that.
pub fn hanging(text: &str, first: &str, others: &str, width: usize) -> Vec<String> {
    let room = |beginning: &str| width.saturating_sub(beginning.chars().count());
    let lines = wrapped_hanging(text, room(first), room(others)).into_iter();
    let beginnings = std::iter::once(first).chain(std::iter::repeat(others));
    lines
        .zip(beginnings)
        .map(|(line, beginning)| [beginning, line].concat())
        .collect()
}

/// Where the words are, as byte offsets; blanks before the first one belong to it.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        // A backtick that nothing closes quotes nothing.
        if character == '`'
            && (quoted
                || text
                    .get(at.saturating_add(1)..)
                    .is_some_and(|rest| rest.contains('`')))
        {
            quoted = !quoted;
        }
        if character == ' ' && !quoted {
            if in_word {
                words.push((start, at));
                in_word = false;
                start = at.saturating_add(1);
            } else if !words.is_empty() {
                start = at.saturating_add(1);
            }
        } else {
            in_word = true;
        }
    }
    if in_word {
        words.push((start, text.len()));
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_noun_follows_its_number() {
        assert_eq!(counted(1, "class"), "1 class");
        assert_eq!(counted(2, "class"), "2 classes");
        assert_eq!(counted(-1, "route"), "-1 routes");
        assert_eq!(plural("AuthPolicy"), "AuthPolicies");
        assert_eq!(plural("Gateway"), "Gateways");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        assert_eq!(and_more(0, "path"), None);
        assert_eq!(and_more(1, "path").as_deref(), Some("and 1 more path"));
        assert_eq!(and_more(2, "path").as_deref(), Some("and 2 more paths"));
        assert_eq!(first_items(["a (new)", "b", "c"], 2), "a (new), b, and 1 more");
        assert_eq!(first_names([""; 0], 2), "");
        assert_eq!(first_names(["a", "b"], 2), "a, b");
        assert_eq!(first_names(["a", "b", "c", "d"], 2), "a, b and 2 more");
        assert_eq!(fitting_names(["eu-1", "eu-2", "eu-3"], 16), "eu-1, eu-2, eu-3");
        assert_eq!(fitting_names(["eu-1", "eu-2", "eu-3"], 15), "eu-1, +2 more");
        assert_eq!(fitting_names(["eu-1", "eu-2"], 1), "eu-1, +1 more");
    }

    #[test]
    fn an_article_follows_the_sound_of_a_kind() {
        for kind in [
            "HTTPRoute",
            "AuthPolicy",
            "EnvoyPatchPolicy",
            "XBackend",
            "UpstreamSettingsPolicy",
            "OIDCPolicy",
        ] {
            assert_eq!(with_article(kind), format!("an {kind}"));
        }
        for kind in [
            "Gateway",
            "GRPCRoute",
            "UDPRoute",
            "TLSRoute",
            "DNSPolicy",
            "Service",
            "User",
            "",
        ] {
            assert_eq!(with_article(kind), format!("a {kind}"));
        }
    }

    #[test]
    fn a_word_that_a_shell_would_read_otherwise_is_quoted() {
        for plain in [
            "rendered/eu-1/a.yaml",
            "HEAD~1",
            "origin/main",
            "a=b",
            "v1.2+x,@:y",
        ] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("it's; rm -rf x"), r"'it'\''s; rm -rf x'");
        for odd in [
            "",
            "-rf",
            "--",
            "~",
            "~root",
            "a:~",
            "=ls",
            "HEAD^",
            "caf\u{e9}",
            "a b",
            "$x",
            "*.yaml",
        ] {
            assert_eq!(shell_word(odd), format!("'{odd}'"));
        }
    }

    #[test]
    fn a_line_ends_at_the_last_blank_that_fits() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("one two", 7), ["one two"]);
        assert_eq!(wrapped("", 7), [""]);
    }

    #[test]
    fn paths_and_commands_stay_whole() {
        assert_eq!(
            wrapped(
                "see /a/very/long/path and `a command with blanks` or it's` over",
                8
            ),
            [
                "see",
                "/a/very/long/path",
                "and",
                "`a command with blanks`",
                "or it's`",
                "over"
            ]
        );
    }

    #[test]
    fn what_is_wide_counts_twice() {
        assert_eq!(wrapped("日本 日本", 8), ["日本", "日本"]);
    }

    #[test]
    fn what_would_not_be_printed_as_it_is_is_written_by_its_bytes() {
        assert_eq!(shell_word("a\nb'\\"), r"$'a\012b\'\\'");
        assert_eq!(shell_word("\u{202e}é"), r"$'\342\200\256\303\251'");
        assert_eq!(shell_word("##[x]"), r"$'##\133x]'");
        assert_eq!(shell_path("-rf"), "./-rf");
        assert_eq!(shell_path("-a b"), "'./-a b'");
        assert_eq!(shell_name("--kubeconfig=x"), "-- '--kubeconfig=x'");
    }

    proptest! {
        #[test]
        fn a_word_in_a_line_is_the_word_that_was_made(text in "(##\\[|['\\\\`$ -]|\\PC|[\\x01-\\x20\u{80}-\u{a0}\u{2028}-\u{202e}]){0,20}") {
            let word = shell_word(&text);
            prop_assert!(is_printed_as_it_is(&word), "{:?}", word);
            prop_assert!(!word.starts_with('-'), "{:?}", word);
        }

        #[test]
        fn nothing_is_lost_and_only_single_words_are_too_long(text in "[ab` /é]{0,60}", room in 0_usize..20) {
            let lines = wrapped(&text, room);
            let bare = |text: &str| text.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
            for line in lines {
                prop_assert!(columns(line) <= room || words(line).len() <= 1 || line.contains('`'), "{:?}", line);
            }
        }
    }
}
