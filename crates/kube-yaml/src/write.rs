//! Writes values as canonical YAML. The layout is that of docs/reference/output.md: block style, lists not indented
//! under their key, keys in byte order except for those that lead. [`super::read()`] reads the text as exactly the same
//! value.

use std::borrow::Cow;
use std::fmt::Write as _;

use kube_json::{Map, Number, Value};

/// Keys longer than this, in bytes, are written behind `? ` (a reader gives up on a plain key after 1,024).
const LONGEST_KEY: usize = 120;

/// The order of a mapping's keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyOrder {
    /// Byte order.
    Bytes,
    /// That of a Kubernetes object: `apiVersion`, `kind`, `metadata`, then byte order; in `metadata` `name` and
    /// `namespace` first; byte order in everything deeper.
    Object,
    /// That of an object's metadata: `name`, `namespace`, then byte order.
    Metadata,
    /// That of a Kubernetes object whose `spec` has a list of objects.
    Work,
    /// Byte order on the way to that list, `manifests`.
    ToManifests,
}

impl KeyOrder {
    fn leading(self) -> &'static [&'static str] {
        match self {
            Self::Bytes | Self::ToManifests => &[],
            Self::Object | Self::Work => &["apiVersion", "kind", "metadata"],
            Self::Metadata => &["name", "namespace"],
        }
    }

    /// The order in the value of a key, or in the items of a list there.
    fn inside(self, key: &str) -> Self {
        match (self, key) {
            (Self::Object | Self::Work, "metadata") => Self::Metadata,
            (Self::ToManifests, "manifests") => Self::Object,
            (Self::Work, "spec") | (Self::ToManifests, "workload" | "manifestWorkTemplate") => {
                Self::ToManifests
            }
            _ => Self::Bytes,
        }
    }
}

/// A whole document: canonical YAML of a Kubernetes object (or of any value), with a final newline, and never
/// with a line that starts with `---` or `...`.
///
/// Floats without a fraction come out as the integers that every reader of Kubernetes makes of them.
pub fn write_document(value: &Value) -> String {
    write(value, KeyOrder::Object, false)
}

/// The same for people who edit it: a text with double quotes is a block, in which none of them is escaped.
pub fn write_editable(value: &Value) -> String {
    write(value, KeyOrder::Object, true)
}

/// The same of a ManifestWork, or of a set of them: each of its manifests is an object, too.
pub fn write_work(value: &Value) -> String {
    write(value, KeyOrder::Work, false)
}

fn write(value: &Value, order: KeyOrder, blocks: bool) -> String {
    let out = String::with_capacity(1024);
    let mut writer = Writer { out, blocks };
    writer.node(value, 0, order);
    writer.out
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

struct Writer {
    out: String,
    /// Whether a text with double quotes is a block.
    blocks: bool,
}

impl Writer {
    /// A value whose first line has its indentation already; ends its line.
    fn node(&mut self, value: &Value, indent: usize, order: KeyOrder) {
        match value {
            Value::Object(map) if !map.is_empty() => self.mapping(map, indent, order),
            Value::Array(items) if !items.is_empty() => self.sequence(items, indent, KeyOrder::Bytes),
            scalar => self.scalar(scalar, indent),
        }
    }

    fn mapping(&mut self, map: &Map, indent: usize, order: KeyOrder) {
        let mut first = true;
        let mut field = |writer: &mut Self, key: &str, value: &Value| {
            if !first {
                spaces(&mut writer.out, indent);
            }
            first = false;
            writer.entry(key, value, indent, order.inside(key));
        };
        let leading = order.leading();
        for key in leading {
            if let Some(value) = map.get(key) {
                field(self, key, value);
            }
        }
        for (key, value) in map {
            if leading.is_empty() || !leading.contains(&key.as_str()) {
                field(self, key, value);
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize, order: KeyOrder) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                spaces(&mut self.out, indent);
            }
            self.out.push_str("- ");
            self.node(item, indent + 2, order);
        }
    }

    /// A field whose indentation stands already.
    fn entry(&mut self, key: &str, value: &Value, indent: usize, order: KeyOrder) {
        let is_plain = is_plain(key);
        let is_explicit = key.len() > LONGEST_KEY || (!is_plain && key.contains('\n'));
        if is_explicit {
            self.out.push_str("? ");
        }
        if is_plain {
            self.out.push_str(key);
        } else {
            push_double_quoted(&mut self.out, key);
        }
        if is_explicit {
            self.out.push('\n');
            spaces(&mut self.out, indent);
        }
        self.out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.out.push('\n');
                spaces(&mut self.out, indent + 2);
                self.mapping(map, indent + 2, order);
            }
            Value::Array(items) if !items.is_empty() => {
                self.out.push('\n');
                spaces(&mut self.out, indent);
                self.sequence(items, indent, order);
            }
            scalar => {
                self.out.push(' ');
                self.scalar(scalar, indent);
            }
        }
    }

    /// A scalar or an empty collection; `indent` is that of the line it is on.
    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Number(number) => self.number(number),
            Value::Array(_) => self.out.push_str("[]"),
            Value::Object(_) => self.out.push_str("{}"),
            Value::String(text) => return self.text(text, indent),
        }
        self.out.push('\n');
    }

    /// A text; `indent` is that of the line it is on.
    fn text(&mut self, text: &str, indent: usize) {
        match style(text) {
            Style::Plain => self.out.push_str(text),
            Style::Quoted if self.blocks && text.contains('"') && fits_literal(text) => {
                return self.literal(text, indent + 2);
            }
            Style::Quoted => push_double_quoted(&mut self.out, text),
            Style::Literal => return self.literal(text, indent + 2),
        }
        self.out.push('\n');
    }

    fn number(&mut self, number: &Number) {
        let integral = number
            .as_f64()
            .filter(|float| number.is_f64() && float.trunc() == *float);
        // Writing to a String cannot fail.
        let _ = match integral {
            // As JSON has it: the shortest digits, and zeros. From 1e21 on the exponent stays.
            Some(float) if float.abs() < 1e21 && !(float == 0.0 && float.is_sign_negative()) => {
                write!(self.out, "{float}")
            }
            _ => write!(self.out, "{number}"),
        };
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let body = text.trim_end_matches('\n');
        let final_newlines = text.len() - body.len();
        self.out.push_str(match final_newlines {
            0 => "|-\n",
            1 => "|\n",
            _ => "|+\n",
        });
        for line in body.split('\n') {
            if !line.is_empty() {
                spaces(&mut self.out, indent);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
        for _ in 1..final_newlines {
            self.out.push('\n');
        }
    }
}

/// One of the three forms in which a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    Plain,
    /// Behind `|`, on lines of its own.
    Literal,
    /// Between double quotes.
    Quoted,
}

/// What a plain scalar may start with.
fn starts_plain(first: char) -> bool {
    first.is_ascii_alphanumeric() || "/_$.(+".contains(first) || !first.is_ascii()
}

/// The words that some reader takes for null or a boolean, in whatever case.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// The form for a value.
pub(super) fn style(text: &str) -> Style {
    if is_plain(text) {
        Style::Plain
    } else if is_literal(text) {
        Style::Literal
    } else {
        Style::Quoted
    }
}

/// The string on one line: plain or between double quotes, as a key, a value or an entry in block context.
pub fn scalar(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(double_quoted(text))
    }
}

/// Whether every reader takes the text without quotes for this string.
pub(super) fn is_plain(text: &str) -> bool {
    text.chars().next().is_some_and(|first| {
        starts_plain(first)
            && !text.ends_with([' ', ':'])
            && is_plain_inside(text)
            && is_plain_by_start(first, text)
    })
}

/// The rule of [`is_plain`] that goes by the whole of a text.
fn is_plain_by_start(first: char, text: &str) -> bool {
    match first {
        '0'..='9' | '.' | '+' => !looks_like_number(text) && !text.starts_with("..."),
        _ => !is_word(text),
    }
}

/// The rules of [`is_plain`] that hold inside a text, one character after the other.
fn is_plain_inside(text: &str) -> bool {
    let mut previous = '\0';
    for character in text.chars() {
        let broken = match character {
            ' ' => previous == ':',
            '#' => previous == ' ',
            _ => needs_escape(character) || character.is_whitespace(),
        };
        if broken {
            return false;
        }
        previous = character;
    }
    true
}

/// Whether some reader takes the text for null or a boolean.
fn is_word(text: &str) -> bool {
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether some reader could take a text that starts with a digit, a dot or a plus for a number or a time.
/// With two dots or more it is a version or an address; with other letters a quantity or a name.
fn looks_like_number(text: &str) -> bool {
    // Underscores are dropped before anything is read: `0_x1F` is 31.
    let without: Cow<'_, str> = if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    };
    let bare = without.strip_prefix('+').unwrap_or(&without);
    if let [
        b'0',
        prefix @ (b'x' | b'X' | b'o' | b'O' | b'b' | b'B'),
        digits @ ..,
    ] = bare.as_bytes()
    {
        let hexadecimal = matches!(prefix, b'x' | b'X');
        // Go takes a sign behind `0b`.
        let digits = match digits {
            [b'+' | b'-', digits @ ..] => digits,
            digits => digits,
        };
        return digits.iter().all(|byte| match byte {
            b'0'..=b'9' => true,
            byte => hexadecimal && byte.is_ascii_hexdigit(),
        });
    }
    if bare.eq_ignore_ascii_case(".inf") || bare.eq_ignore_ascii_case(".nan") {
        return true;
    }
    let dashes = text.contains('-');
    let mut dots = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'_' | b'+' | b'-' | b':' | b'e' | b'E' => {}
            b'.' => dots += 1,
            b't' | b'T' | b'z' | b'Z' | b' ' if dashes => {}
            _ => return false,
        }
    }
    dots < 2
}

fn is_literal(text: &str) -> bool {
    text.contains('\n') && fits_literal(text)
}

/// Whether the text can be behind `|`: no line with blanks at its end, nothing that needs an escape, and a first line that
/// shows the indentation.
pub(super) fn fits_literal(text: &str) -> bool {
    let escapes = |character| !matches!(character, '\n' | '\t') && needs_escape(character);
    !text.starts_with([' ', '\t', '\n'])
        && !text.split('\n').any(|line| line.ends_with([' ', '\t']))
        && !text.contains(escapes)
}

/// Whether a character is only written as an escape: controls, what looks like a blank or like nothing, what
/// turns the direction of writing, line breaks beyond LF, the byte order mark, the two that are no characters.
fn needs_escape(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The text between double quotes, on one line.
pub(super) fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_double_quoted(&mut out, text);
    out
}

/// Appends the text between double quotes.
pub(super) fn push_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut piece = 0;
    for (at, character) in text.char_indices() {
        let escape = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            '\0' => "\\0",
            ' '..='~' => continue,
            character if !needs_escape(character) => continue,
            _ => "",
        };
        out.push_str(text.get(piece..at).unwrap_or(""));
        piece = at + character.len_utf8();
        if escape.is_empty() {
            let number = u32::from(character);
            // Writing to a String cannot fail.
            let _ = if number <= 0xFF {
                write!(out, "\\x{number:02x}")
            } else {
                write!(out, "\\u{number:04x}")
            };
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(text.get(piece..).unwrap_or(""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_text_is_plain_does_not_depend_on_how_much_stands_around_its_characters() {
        for (character, is_kept) in [
            ("#", true),
            (":", true),
            (": ", false),
            (" #", false),
            ("\t", false),
            ("é", true),
        ] {
            for (before, after) in (0..20).flat_map(|before| (1..20).map(move |after| (before, after))) {
                let text = format!("a{}{character}{}", "b".repeat(before), "c".repeat(after));
                assert_eq!(is_plain(&text), is_kept, "{text}");
            }
        }
    }
}
