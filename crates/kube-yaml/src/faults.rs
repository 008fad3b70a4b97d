//! The library's faults in words that say what to do. A library error has a place only where the events end, so the
//! message also depends on how far they came.

use saphyr_parser::ScanError;

use super::character::is_name_byte;
use super::error::{Error, ErrorKind};
use super::source::{
    LONGEST_SIMPLE_KEY, Source, directive, key_of_lines, long_key, quoted_end, tab, tab_in_block,
};
use super::write::double_quoted;

const QUOTE: &str = "quote it if it is text, or remove it";

impl Source<'_> {
    pub(super) fn fault(&mut self, error: &ScanError) -> Box<Error> {
        let at = self.place(error.marker().index());
        let info = error.info();
        if let Some(fault) = self.tab_fault(at, info).or_else(|| self.bad_name_ahead()) {
            return fault;
        }
        let here = at..self.character_end(at);
        let line = at..self.line_end(at);
        let (range, message, help) = match info {
            "simple key expect ':'" | "simple key expected" => return self.key_without_colon(),
            "mapping values are not allowed in this context" => {
                let start = self.line_start(at);
                let before = self.slice(start..at);
                if before.chars().count() > LONGEST_SIMPLE_KEY && !before.contains(": ") {
                    return long_key(start..at);
                }
                (
                    here,
                    "`: ` starts a value, and no value can begin here",
                    "quote the whole text if `: ` is part of it; otherwise look at the indentation of this line and \
                     the one above",
                )
            }
            "block sequence entries are not allowed in this context" => (
                here,
                "a list cannot begin on the line of its key",
                "put each `- ` on a line of its own; quote the text if `-` is meant as text",
            ),
            "mapping keys are not allowed in this context" => (
                here,
                "`? ` starts a key, and no key can begin here",
                "quote the text if `?` is meant as text",
            ),
            "while parsing a block mapping, did not find expected key" => (
                line,
                "a key of the mapping is expected here",
                "write `key: value`, align it with the lines above, or quote the value above if it is text",
            ),
            "while parsing a block collection, did not find expected '-' indicator" => (
                line,
                "this line is indented like an entry of the list, but does not start with `- `",
                "start it with `- `, or align it with the lines above",
            ),
            "while scanning a quoted scalar, found unexpected end of stream" => {
                let quote = self.slice(here.clone());
                let message = format!("the text that `{quote}` opens is never closed");
                return Error::syntax(here.clone(), message, format!("close it with `{quote}`"));
            }
            "while scanning a quoted scalar, found unexpected document indicator" => {
                let marker = self.marker_after(at);
                return Error::syntax(
                    marker..marker + 3,
                    "a line that starts with `---` or `...` ends the document, even between quotes",
                    "indent the line, or write the text on one line with \\n",
                )
                .with_related(here, "the text is opened here");
            }
            "invalid indentation in quoted scalar" => {
                let quote = self.slice(here.clone());
                return Error::syntax(
                    here.clone(),
                    format!(
                        "the text that `{quote}` opens goes on in a line that is not indented deeper than its key"
                    ),
                    format!(
                        "close it with `{quote}` on its line, or indent each line of it deeper than the key"
                    ),
                );
            }
            "invalid indentation" | "invalid indentation in flow construct" => (
                line,
                "between brackets, each line must be indented deeper than the key or the `-` of the brackets",
                "indent this line, also if it is only a closing bracket",
            ),
            "while parsing a quoted scalar, found unknown escape character"
            | "while parsing a quoted scalar, did not find expected hexadecimal number"
            | "while parsing a quoted scalar, found invalid Unicode character escape code" => {
                return self
                    .bad_escape(at)
                    .unwrap_or_else(|| Error::syntax(here, "this is not an escape", QUOTE));
            }
            "while parsing a flow mapping, did not find expected ',' or '}'" => {
                return self.flow_not_closed(at, "`,` or `}`");
            }
            "while parsing a flow sequence, expected ',' or ']'" => {
                return self.flow_not_closed(at, "`,` or `]`");
            }
            "while parsing a node, did not find expected node content"
            | "misplaced bracket"
            | "\"-\" is only valid inside a block"
            | "unexpected end of plain scalar" => return self.no_node(at),
            "while parsing node, found unknown anchor" => {
                let name = self.slice(at + 1..self.text.len());
                let length = name.bytes().take_while(|byte| is_name_byte(*byte)).count();
                let name = self.slice(at + 1..at + 1 + length);
                if length == 0
                    || !(self.is_gap(at + 1 + length) || b",]}".contains(&self.byte(at + 1 + length)))
                {
                    return self.bad_name(at, b'*');
                }
                return Error::unknown_alias(at..at + 1 + length, name);
            }
            "while scanning an anchor or alias, did not find expected alphabetic or numeric character" => {
                return self.bad_name(at, self.byte(at));
            }
            "':' may not precede any of `[{` in flow mapping" => (
                here,
                "the bracket is too near to `:`",
                "write a space behind `:`, or quote the text if `:` is part of it",
            ),
            "plain scalar cannot start with '-' followed by ,[]{}" => (
                here,
                "`-` in front of a bracket or a comma is no text without quotes",
                "quote the text, or write a value",
            ),
            "illegal placement of ':' indicator" => return self.key_of_lines(at),
            "the handle wasn't declared" => (
                at..self.word_end(at),
                "no %TAG directive says what this tag stands for",
                "remove the tag, or quote the text if `!` is part of it",
            ),
            "recursion limit exceeded" => {
                return Error::new(
                    ErrorKind::Limit,
                    here,
                    "more than 255 brackets are nested here",
                    "no Kubernetes object is that deep: look for an extra bracket",
                );
            }
            "did not find expected <document start>"
            | "invalid trailing content after double-quoted scalar"
            | "missing explicit document end marker before directive"
                if self.open.is_empty() =>
            {
                return self.dropped(at);
            }
            "invalid content after document end marker" => return self.dropped(at),
            "invalid trailing content after double-quoted scalar" => (
                line,
                "text follows the quote that closes a text",
                "put the whole text in quotes, or write `, ` or `: ` behind it",
            ),
            "while scanning a block scalar, did not find expected comment or line break" => {
                let place = self.header_end(at);
                (
                    place..self.character_end(place),
                    "only `+`, `-`, a digit, and a comment can follow `|` or `>` on the same line",
                    "begin the text on the next line, indented; or quote it if `|` or `>` is part of it",
                )
            }
            "while scanning a block scalar, found an indentation indicator equal to 0" => {
                let place = self.header_end(at);
                (
                    place..place + 1,
                    "a block scalar cannot be indented by 0 spaces",
                    "remove the number, or write the number of spaces, 1 to 9",
                )
            }
            "wrongly indented line in block scalar" => (
                line,
                "this line is indented less than the line that begins the block text",
                "indent all lines of the text alike; a blank line above them must not be deeper",
            ),
            "comment intercepting the multiline text" => (
                here,
                "a comment ends the text in front of it, but the next line goes on with it",
                "remove the comment, or quote the text if `#` is part of it",
            ),
            "comments must be separated from other tokens by whitespace" => (
                here,
                "a comment begins with a space in front of `#`",
                "write a space in front of `#`, or quote the text if `#` is part of it",
            ),
            "a byte order mark must not appear inside a document" => {
                return super::character::refused(at, '\u{feff}');
            }
            _ if info.contains("directive") => return directive(line),
            _ if info.starts_with("unexpected character") => return self.cannot_start(at, self.byte(at)),
            _ if info.contains("tag") || info.contains("TAG") => return self.bad_tag(at),
            _ => return Error::syntax(here, format!("this is not YAML: {info}"), QUOTE),
        };
        Error::syntax(range, message, help)
    }

    pub(super) fn character_end(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        at + rest.chars().next().map_or(0, char::len_utf8)
    }

    fn line_start(&self, at: usize) -> usize {
        self.slice(0..at).rfind(['\n', '\r']).map_or(0, |found| found + 1)
    }

    fn word_end(&self, at: usize) -> usize {
        let line = self.slice(at..self.line_end(at));
        at + line.find([' ', '\t']).unwrap_or(line.len())
    }

    /// The fault of a tab that indents the line of `at`, or that the library names.
    fn tab_fault(&self, at: usize, info: &str) -> Option<Box<Error>> {
        if info == "a block scalar content cannot start with a tab" {
            return Some(tab_in_block(at + self.slice(at..self.text.len()).find('\t')?));
        }
        let start = self.line_start(at);
        let line = self.slice(start..self.line_end(at));
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        let names_it =
            info.contains("tab") || info.ends_with("YAML whitespace") || info == "expected whitespace";
        if let Some(found) = line
            .get(..blanks)?
            .find('\t')
            .filter(|_| names_it || !self.in_flow())
        {
            return Some(tab(start + found));
        }
        let before = self.slice(start..at).trim_end_matches(' ').ends_with('\t');
        let place = match names_it {
            false => return None,
            true if before => start + self.slice(start..at).rfind('\t')?,
            true => at + self.slice(at..self.text.len()).find('\t')?,
        };
        let is_behind_colon = self.slice(start..place).trim_end().ends_with(':');
        Some(if is_behind_colon {
            Error::syntax(
                place..place + 1,
                "a tab stands between `:` and its value, where some readers of YAML refuse it",
                "write a space instead",
            )
        } else {
            tab(place)
        })
    }

    fn key_without_colon(&mut self) -> Box<Error> {
        let _ = self.pass_gap();
        let text = self.at..self.line_end(self.at);
        if self.slice(text.clone()).chars().count() > LONGEST_SIMPLE_KEY {
            return long_key(text);
        }
        Error::syntax(
            text,
            "a key of the mapping is expected here, but no `:` follows on its line",
            "write `key: value`, or indent the line deeper if it continues the value above",
        )
    }

    /// The line inside of a text in quotes that ends the document.
    fn marker_after(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        let found = ["\n---", "\n...", "\r---", "\r..."]
            .iter()
            .filter_map(|mark| rest.find(mark))
            .min();
        at + found.map_or(0, |found| found + 1)
    }

    /// Where something is wrong behind the `|` or `>` at `at`.
    fn header_end(&self, at: usize) -> usize {
        let (mut sign, mut digit) = (false, false);
        let mut place = at + 1;
        loop {
            match self.byte(place) {
                b'+' | b'-' if !sign => sign = true,
                b'1'..=b'9' if !digit => digit = true,
                _ => break,
            }
            place += 1;
        }
        while matches!(self.byte(place), b' ' | b'\t') {
            place += 1;
        }
        place
    }

    /// A key that goes on over lines: in a list, mostly because the bracket is not closed.
    pub(super) fn key_of_lines(&self, at: usize) -> Box<Error> {
        match self.open.iter().rev().find(|open| open.has_brackets) {
            Some(open) if self.byte(open.start) == b'[' => self.flow_not_closed(at, "`,` or `]`"),
            _ => key_of_lines(at),
        }
    }

    fn flow_not_closed(&self, at: usize, expected: &str) -> Box<Error> {
        let Some(open) = self.open.iter().rev().find(|open| open.has_brackets) else {
            return self.no_node(at);
        };
        let bracket = open.start..open.start + 1;
        let (range, message) = if self.slice(at..self.text.len()).trim().is_empty() {
            (
                bracket.clone(),
                format!("this bracket is never closed: {expected} is missing at the end"),
            )
        } else {
            (
                at..self.character_end(at),
                format!("{expected} is missing before this"),
            )
        };
        Error::syntax(
            range,
            message,
            "separate entries with `,`, close the bracket, or quote the text",
        )
        .with_related(bracket, "the bracket opens here")
    }

    fn no_node(&self, at: usize) -> Box<Error> {
        let message = match self.byte(at) {
            b',' => "a value is missing before `,`",
            b']' | b'}' => "a value is missing before the bracket",
            b'-' => "a list of `- ` entries is not allowed inside `[ ]` or `{ }`",
            b':' => "a key is missing before `:`",
            0 if self.in_flow() => return self.flow_not_closed(at, "a value"),
            _ => "no value is allowed here",
        };
        Error::syntax(at..self.character_end(at), message, QUOTE)
    }

    pub(super) fn cannot_start(&self, at: usize, byte: u8) -> Box<Error> {
        Error::syntax(
            at..at + 1,
            format!("text without quotes cannot start with `{}`", char::from(byte)),
            format!("quote the text: {}", double_quoted(&self.word_at(at))),
        )
    }

    /// The rest of the line up to a comment, for help lines; at most 60 characters.
    pub(super) fn word_at(&self, at: usize) -> String {
        let line = self.slice(at..self.line_end(at));
        let mut end = line.find(" #").unwrap_or(line.len());
        if self.in_flow() {
            end = end.min(line.find([',', ']', '}']).unwrap_or(line.len()));
        }
        let word = line.get(..end).unwrap_or(line).trim_end();
        let word = word.strip_suffix(':').unwrap_or(word);
        word.chars().take(60).collect()
    }

    /// The next node's anchor or alias, if its name is wrong. The library takes nearly every character for part of a name, so
    /// it finds a fault behind the name in what is text to Kubernetes' reader: `&a?}` is the text `?}` with the anchor `a`.
    fn bad_name_ahead(&mut self) -> Option<Box<Error>> {
        let before = (self.at, self.last_end, self.indents, self.question);
        let mut ahead = self.gap(true);
        if self.byte(self.at) == b'!'
            && let Ok(end) = self.tag_end()
        {
            self.at = end;
            ahead = ahead.and_then(|()| self.gap(false));
        }
        let sign = self.byte(self.at);
        let is_name = ahead.is_ok() && matches!(sign, b'&' | b'*');
        let fault = is_name.then(|| self.name_end(sign).err()).flatten();
        (self.at, self.last_end, self.indents, self.question) = before;
        fault
    }

    pub(super) fn bad_name(&self, at: usize, sign: u8) -> Box<Error> {
        let name = self.slice(at + 1..self.text.len());
        let end = at + 1 + name.bytes().take_while(|byte| is_name_byte(*byte)).count();
        let what = if sign == b'*' { "an alias" } else { "an anchor" };
        let shown = char::from(sign);
        Error::syntax(
            at..self.character_end(end).min(self.line_end(at)),
            format!("`{shown}` starts {what}, whose name consists of letters, digits, `-`, and `_`"),
            format!(
                "quote the text if `{shown}` is part of it: {}",
                double_quoted(&self.word_at(at))
            ),
        )
    }

    pub(super) fn bad_tag(&self, at: usize) -> Box<Error> {
        Error::syntax(
            at..self.word_end(at),
            "`!` starts a tag, but Kubernetes' reader does not have this tag here",
            "quote the text if `!` is part of it; end a tag with a space",
        )
    }

    /// The first escape that YAML 1.1 does not have, in the text whose opening quote is at `start`.
    pub(super) fn bad_escape(&self, start: usize) -> Option<Box<Error>> {
        let text = self.slice(start..quoted_end(self.text, start));
        let mut from = 0;
        loop {
            let at = start + from + text.get(from..)?.find('\\')?;
            let letter = self.byte(at + 1);
            let digits = match letter {
                b'x' => 2,
                b'u' => 4,
                b'U' => 8,
                _ if b"0abt\tnvfre \"\\N_LP\n\r".contains(&letter) => 0,
                _ => {
                    let shown = self.slice(at..self.character_end(at + 1));
                    let help = match letter {
                        b'/' => "write `/`: only JSON allows `\\/`".to_owned(),
                        b'\'' => "write `'`: between double quotes it needs no escape".to_owned(),
                        _ => format!("write `\\{shown}` for the same text, or use single quotes"),
                    };
                    let message = format!("`{shown}` is not an escape in YAML");
                    return Some(Error::syntax(at..at + shown.len(), message, help));
                }
            };
            let followed = self.slice(at + 2..self.text.len()).bytes();
            // The character after the digits may have several bytes, and `from_str_radix` accepts a sign.
            let written = followed.take(digits).take_while(u8::is_ascii_hexdigit).count();
            let end = at + 2 + written;
            if digits > 0 {
                let number = u32::from_str_radix(self.slice(at + 2..end), 16);
                let message = match number {
                    _ if written < digits => {
                        "this escape needs two (`\\x`), four (`\\u`), or eight (`\\U`) hexadecimal digits"
                    }
                    Ok(number) if char::from_u32(number).is_some() => "",
                    Ok(0xD800..0xE000) => "half of a surrogate pair is not a character",
                    Ok(_) | Err(_) => "no character has this number",
                };
                if !message.is_empty() {
                    return Some(Error::syntax(
                        at..end,
                        message,
                        "write the character itself, or `\\U` with its eight digits, such as \"\\U0001F600\"",
                    ));
                }
            }
            from = end - start;
        }
    }
}
