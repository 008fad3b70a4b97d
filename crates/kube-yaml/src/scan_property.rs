//! The properties in front of a node: anchors, aliases, tags; and the directives in front of a document.
//!
//! Owns: their syntax. Flows in: the scanner at `*`, `&`, `!` or `%`. Flows out: one token. Must not know:
//! what an alias or a tag stands for.

use super::error::{Error, ErrorKind, Outcome};
use super::scanner::Scanner;
use super::token::{TagText, Token, TokenKind};

/// What the names of anchors and tag handles consist of.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_tag_byte(byte: u8) -> bool {
    is_name_byte(byte) || b";/?:@&=+$,.!~*'()[]%".contains(&byte)
}

impl<'t> Scanner<'t> {
    /// `&name` or `*name`.
    pub(super) fn scan_anchor(&mut self, sign: u8) -> Outcome<Token<'t>> {
        let start = self.pos;
        let name_start = start + 1;
        let mut end = name_start;
        while is_name_byte(self.at(end)) {
            end += 1;
        }
        let ends_well = self.is_gap(end) || b"?:,]}%@`".contains(&self.at(end));
        if end == name_start || !ends_well {
            let text = super::style::double_quoted(&self.word_here());
            let what = if sign == b'*' { "an alias" } else { "an anchor" };
            let shown = char::from(sign);
            return Err(Error::syntax(
                start..self.character_end(end).min(self.line_end(start)),
                format!("`{shown}` starts {what}, whose name consists of letters, digits, `-`, and `_`"),
                format!("quote the text if `{shown}` is part of it: {text}"),
            ));
        }
        self.pos = end;
        let name = self.slice(name_start, end);
        let kind = if sign == b'*' {
            TokenKind::Alias(name)
        } else {
            TokenKind::Anchor(name)
        };
        Ok(Token { kind, start, end })
    }

    /// `!suffix`, `!!suffix`, `!handle!suffix`, `!<uri>` or a lone `!`.
    pub(super) fn scan_tag(&mut self) -> Outcome<Token<'t>> {
        let start = self.pos;
        let tag = if self.at(start + 1) == b'<' {
            self.pos = start + 2;
            let suffix = self.scan_tag_text()?;
            if suffix.is_empty() || self.at(self.pos) != b'>' {
                return Err(self.bad_tag(start));
            }
            self.pos += 1;
            TagText { handle: "", suffix }
        } else {
            let mut end = start + 1;
            while is_name_byte(self.at(end)) {
                end += 1;
            }
            let has_handle = self.at(end) == b'!';
            self.pos = if has_handle { end + 1 } else { start + 1 };
            let handle = self.slice(start, self.pos);
            let suffix = self.scan_tag_text()?;
            match (has_handle, suffix.is_empty()) {
                (true, true) => return Err(self.bad_tag(start)),
                (false, true) => TagText {
                    handle: "",
                    suffix: "!".to_owned(),
                },
                (_, false) => TagText { handle, suffix },
            }
        };
        if !self.is_gap(self.pos) {
            return Err(self.bad_tag(start));
        }
        Ok(Token {
            kind: TokenKind::Tag(Box::new(tag)),
            start,
            end: self.pos,
        })
    }

    fn scan_tag_text(&mut self) -> Outcome<String> {
        let start = self.pos;
        let mut bytes = Vec::new();
        loop {
            let byte = self.at(self.pos);
            if !is_tag_byte(byte) {
                break;
            }
            if byte != b'%' {
                bytes.push(byte);
                self.pos += 1;
                continue;
            }
            let digit = |at: usize| {
                char::from(self.at(at))
                    .to_digit(16)
                    .and_then(|digit| u8::try_from(digit).ok())
            };
            let (Some(high), Some(low)) = (digit(self.pos + 1), digit(self.pos + 2)) else {
                return Err(self.bad_tag(start));
            };
            bytes.push(high << 4 | low);
            self.pos += 3;
        }
        String::from_utf8(bytes).map_err(|_| self.bad_tag(start))
    }

    fn bad_tag(&self, start: usize) -> Box<Error> {
        Error::syntax(
            start..self.character_end(self.pos).min(self.line_end(start)).max(start),
            "`!` starts a tag, but YAML does not have this tag",
            "quote the text if `!` is part of it; end a tag with a space",
        )
    }

    /// A line that starts with `%`; `None` when it says nothing.
    pub(super) fn scan_directive(&mut self) -> Outcome<Option<Token<'t>>> {
        let start = self.pos;
        let end = self.line_end(start);
        let line = self.slice(start, end);
        let line = line
            .find(" #")
            .or_else(|| line.find("\t#"))
            .and_then(|comment| line.get(..comment))
            .unwrap_or(line);
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let refuse = |message: &'static str, help: &'static str| {
            Err(Error::syntax(start..start + line.len(), message, help))
        };
        let kind = match (words.next(), words.next(), words.next(), words.next()) {
            (Some("%YAML"), Some("1.1"), None, None) => TokenKind::VersionDirective,
            (Some("%YAML"), _, _, _) => {
                return refuse("Kubernetes reads YAML 1.1 only", "remove the `%YAML` line");
            }
            (Some("%TAG"), Some(handle), Some(prefix), None) if is_handle(handle) => {
                let prefix_end = start + line.rfind(prefix).unwrap_or(0) + prefix.len();
                self.pos = prefix_end - prefix.len();
                let suffix = self.scan_tag_text()?;
                if self.pos != prefix_end {
                    return Err(self.bad_tag(start));
                }
                TokenKind::TagDirective(Box::new(TagText { handle, suffix }))
            }
            _ => {
                return refuse(
                    "a line that starts with `%` is a directive, but YAML does not have this directive",
                    "quote the text if `%` is part of it, or remove the line",
                );
            }
        };
        self.pos = end;
        Ok(Some(Token { kind, start, end }))
    }
}

/// `!`, `!!` or `!name!`.
fn is_handle(text: &str) -> bool {
    let inner = text
        .strip_prefix('!')
        .map(|rest| rest.strip_suffix('!').unwrap_or(rest));
    text.ends_with('!') && inner.is_some_and(|name| name.bytes().all(is_name_byte))
}

/// The whole tag that `tag` stands for, given the document's `%TAG` directives.
pub(super) fn resolve_tag(
    tag: TagText<'_>,
    directives: &[TagText<'_>],
    place: std::ops::Range<usize>,
) -> Outcome<String> {
    if tag.handle.is_empty() {
        return Ok(tag.suffix);
    }
    if let Some(directive) = directives.iter().find(|directive| directive.handle == tag.handle) {
        return Ok(format!("{}{}", directive.suffix, tag.suffix));
    }
    match tag.handle {
        "!" => Ok(format!("!{}", tag.suffix)),
        "!!" => Ok(format!("tag:yaml.org,2002:{}", tag.suffix)),
        _ => Err(Error::new(
            ErrorKind::Syntax,
            place,
            format!("no %TAG directive says what `{}` stands for", tag.handle),
            "remove the tag, or quote the text if `!` is part of it",
        )),
    }
}
