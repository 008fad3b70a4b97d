//! Writes values as canonical YAML. The layout is that of docs/reference/output.md: block style, lists not indented
//! under their key, keys in byte order except for those that lead. [`super::read()`] reads the text as exactly the same
//! value.
//!
//! The pieces ([`append_entry`], [`append_item`], [`append_value`]) let a caller write something once at a known
//! indentation and put it into many texts. Those for one line or one level ([`append_key`], [`append_text`],
//! [`append_fields`], [`append_deeper`]) need no value around what is written.

use std::fmt::Write as _;

use kube_json::{Map, Number, Value};

use super::style::{Style, fits_literal, is_plain, push_double_quoted, style};

/// Keys longer than this, in bytes, are written behind `? ` (a reader gives up on a plain key after 1,024).
const LONGEST_KEY: usize = 120;

/// The order of a mapping's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyOrder {
    /// Byte order.
    Bytes,
    /// That of a Kubernetes object: `apiVersion`, `kind`, `metadata`, then byte order; in `metadata` `name` and
    /// `namespace` first; byte order in everything deeper.
    Object,
    /// That of an object's metadata: `name`, `namespace`, then byte order.
    Metadata,
}

impl KeyOrder {
    fn leading(self) -> &'static [&'static str] {
        match self {
            Self::Bytes => &[],
            Self::Object => &["apiVersion", "kind", "metadata"],
            Self::Metadata => &["name", "namespace"],
        }
    }

    fn inside(self, key: &str) -> Self {
        if self == Self::Object && key == "metadata" {
            Self::Metadata
        } else {
            Self::Bytes
        }
    }
}

/// A whole document: canonical YAML of a Kubernetes object (or of any value), with a final newline, and never
/// with a line that starts with `---` or `...`.
///
/// Floats without a fraction come out as the integers that every reader of Kubernetes makes of them.
pub fn write_document(value: &Value) -> String {
    let mut out = String::with_capacity(1024);
    append_value(&mut out, value, 0, KeyOrder::Object);
    out
}

/// The same for people who edit it: a text with double quotes is a block, in which none of them is escaped.
pub fn write_editable(value: &Value) -> String {
    let mut out = String::with_capacity(1024);
    let blocks = true;
    Writer {
        out: &mut out,
        blocks,
    }
    .node(value, 0, KeyOrder::Object);
    out
}

/// Appends a value as lines of its own, each indented by `indent` spaces.
pub fn append_value(out: &mut String, value: &Value, indent: usize, order: KeyOrder) {
    spaces(out, indent);
    Writer { out, blocks: false }.node(value, indent, order);
}

/// Appends a value as an entry of a list whose dashes are behind `indent` spaces.
pub fn append_item(out: &mut String, value: &Value, indent: usize, order: KeyOrder) {
    spaces(out, indent);
    out.push_str("- ");
    Writer { out, blocks: false }.node(value, indent + 2, order);
}

/// Appends a field of a mapping whose keys are behind `indent` spaces; `order` is that of the value's keys.
pub fn append_entry(out: &mut String, key: &str, value: &Value, indent: usize, order: KeyOrder) {
    spaces(out, indent);
    Writer { out, blocks: false }.entry(key, value, indent, order);
}

/// Appends a key that needs no quotes behind `indent` spaces; its value is what the caller appends next, on lines of its
/// own.
pub fn append_key(out: &mut String, key: &'static str, indent: usize) {
    spaces(out, indent);
    out.push_str(key);
    out.push_str(":\n");
}

/// Appends a field behind `indent` spaces whose key needs no quotes and whose value is a text.
pub fn append_text(out: &mut String, key: &'static str, text: &str, indent: usize) {
    spaces(out, indent);
    out.push_str(key);
    out.push_str(": ");
    Writer { out, blocks: false }.text(text, indent);
}

/// Appends an entry of a list whose dashes are behind `indent` spaces: a mapping, whose fields `append` appends behind two
/// spaces more, at least one.
pub fn append_fields(out: &mut String, indent: usize, append: impl FnOnce(&mut String)) {
    let dash = out.len() + indent;
    append(out);
    if out.get(dash..=dash) == Some(" ") {
        out.replace_range(dash..=dash, "-");
    }
}

/// Appends lines that were appended to another text before, each behind `deeper` spaces more than there.
pub fn append_deeper(out: &mut String, lines: &str, deeper: usize) {
    if deeper == 0 {
        return out.push_str(lines);
    }
    for line in lines.split_inclusive('\n') {
        // A literal text indents no empty line.
        if line != "\n" {
            spaces(out, deeper);
        }
        out.push_str(line);
    }
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

struct Writer<'o> {
    out: &'o mut String,
    /// Whether a text with double quotes is a block.
    blocks: bool,
}

impl Writer<'_> {
    /// A value whose first line has its indentation already; ends its line.
    fn node(&mut self, value: &Value, indent: usize, order: KeyOrder) {
        match value {
            Value::Object(map) if !map.is_empty() => self.mapping(map, indent, order),
            Value::Array(items) if !items.is_empty() => self.sequence(items, indent),
            scalar => self.scalar(scalar, indent),
        }
    }

    fn mapping(&mut self, map: &Map, indent: usize, order: KeyOrder) {
        let mut first = true;
        let mut field = |writer: &mut Self, key: &str, value: &Value| {
            if !first {
                spaces(writer.out, indent);
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

    fn sequence(&mut self, items: &[Value], indent: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                spaces(self.out, indent);
            }
            self.out.push_str("- ");
            self.node(item, indent + 2, KeyOrder::Bytes);
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
            push_double_quoted(self.out, key);
        }
        if is_explicit {
            self.out.push('\n');
            spaces(self.out, indent);
        }
        self.out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.out.push('\n');
                spaces(self.out, indent + 2);
                self.mapping(map, indent + 2, order);
            }
            Value::Array(items) if !items.is_empty() => {
                self.out.push('\n');
                spaces(self.out, indent);
                self.sequence(items, indent);
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
            Style::Quoted => push_double_quoted(self.out, text),
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
                spaces(self.out, indent);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
        for _ in 1..final_newlines {
            self.out.push('\n');
        }
    }
}
