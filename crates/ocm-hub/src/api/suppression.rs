//! Suppressions: which warnings are accepted, where, and why. Those that cannot apply are findings.
//!
//! What users may write: docs/reference/findings.md#suppressions.

use globset::{GlobBuilder, GlobMatcher};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use kube_json::Text;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::schema::List;
use crate::diagnostic::{Code, DocumentId, Finding, Place, Severity, Suppressed, SuppressedBy};
use crate::object::well_known::SUPPRESS_ANNOTATION;
use crate::object::{Object, Origin};
use apimachinery::{named_parts, pointer};

/// Warnings of one code that are accepted.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// The code.
    pub code: Code,
    /// The objects.
    pub subject: Subject,
    /// The files, relative to the configuration; all files if there is none.
    pub path: Option<GlobMatcher>,
    /// Why.
    pub(crate) reason: String,
    /// The first moment at which it no longer applies.
    pub until: Option<Timestamp>,
    /// Where it is.
    pub place: Place,
}

/// The objects that findings are about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Any object, or none.
    Anything,
    /// The object that carries the annotation.
    Own(Origin),
    /// An object that is spelled like this.
    Called {
        /// In lower case.
        kind: String,
        /// As it is given.
        namespace: Option<String>,
        /// As it is given.
        name: String,
    },
}

/// Two of one text are equal: a matcher has no equality of its own.
impl PartialEq for Suppression {
    fn eq(&self, other: &Self) -> bool {
        (self.code, &self.reason, &self.until, &self.place)
            == (other.code, &other.reason, &other.until, &other.place)
    }
}

impl Suppression {
    /// The note that an accepted finding gets.
    pub fn suppressed(&self) -> Suppressed {
        let by = match self.subject {
            Subject::Own(_) => SuppressedBy::Object,
            Subject::Anything | Subject::Called { .. } => SuppressedBy::Configuration,
        };
        let reason = self.reason.clone();
        Suppressed { by, reason }
    }
}

/// Warnings of one code that are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// Their code, such as secret/not-rendered.
    #[schemars(length(min = 1))]
    code: String,
    /// The object that they are about, as KIND/[NAMESPACE/]NAME.
    #[schemars(length(min = 1))]
    object: Option<String>,
    /// Glob of the files that they are in, relative to this file.
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// Why they are accepted.
    #[schemars(length(min = 1))]
    reason: String,
    /// Until when: a date, which is the last day, or an RFC 3339 time. It has an effect only with --now.
    #[schemars(length(min = 1))]
    until: Option<String>,
}

/// The entries of `suppress` in the configuration. Entries that its schema refuses are left out, because they have been
/// reported.
pub(crate) fn from_configuration(
    entries: &List<Entry>,
    document: DocumentId,
    findings: &mut Vec<Finding>,
) -> Vec<Suppression> {
    let read = entries.items().map(|(index, entry)| {
        let at = format!("/suppress/{index}");
        entry.read(|field| Place::value(document, format!("{at}{field}")))
    });
    read.filter_map(|read| read.map_err(|wrong| findings.push(*wrong)).ok())
        .collect()
}

impl Entry {
    fn read(&self, place: impl Fn(&str) -> Place) -> Result<Suppression, Box<Finding>> {
        let given = |text: &'_ Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let name = self.code.as_str();
        if self.reason.trim().is_empty() {
            return Err(no_reason(place("/reason")).into());
        }
        let code = accepted_code(name, place("/code"))?;
        let (object, path) = (given(&self.object), given(&self.path));
        let wrong = |field, message, help: &str| Box::new(invalid(place(field), message, help.to_owned()));
        if object.is_none() && path.is_none() {
            let message = format!("the suppression of {name} names neither an object nor a path");
            let help = format!("add `object` or `path`, or write `{name}: off` under `findings`");
            return Err(wrong("", message, &help));
        }
        let subject = match object.as_deref().map(|object| named_parts(object).ok_or(object)) {
            None => Subject::Anything,
            Some(Ok((kind, namespace, name))) => Subject::Called {
                kind: kind.to_ascii_lowercase(),
                namespace: namespace.map(str::to_owned),
                name: name.to_owned(),
            },
            Some(Err(object)) => {
                let message = format!("`{object}` is not the name of an object");
                let help = "write KIND/NAME or KIND/NAMESPACE/NAME, as in gateway/shop/web";
                return Err(wrong("/object", message, help));
            }
        };
        let glob = |glob: String| GlobBuilder::new(&glob).literal_separator(true).build();
        let path = path.map(glob).transpose().map_err(|error| {
            let message = format!("`path` has an invalid glob: {error}");
            wrong("/path", message, "write a glob such as `teams/shop/**`")
        })?;
        let until = given(&self.until).map(|until| {
            let message = "`until` is neither a date nor a time".to_owned();
            let help = "write a date, `2027-03-31`, or a time, `2027-03-31T12:00:00Z`";
            moment(&until).ok_or_else(|| wrong("/until", message, help))
        });
        Ok(Suppression {
            code,
            subject,
            path: path.map(|glob| glob.compile_matcher()),
            reason: self.reason.clone(),
            until: until.transpose()?,
            place: place(""),
        })
    }
}

/// The first moment that is later than a date, in UTC, or the moment itself.
fn moment(text: &str) -> Option<Timestamp> {
    let day = |date: Date| Some(date.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    match text.len() {
        10 => day(text.parse().ok()?),
        _ => text.parse().ok(),
    }
}

/// The suppressions in the annotation of an object: entries of a code, a colon, and a reason, one on each line or with
/// `;` between them.
pub fn from_object(object: &Object, findings: &mut Vec<Finding>) -> Vec<Suppression> {
    let Some(text) = object.annotation(SUPPRESS_ANNOTATION) else {
        return Vec::new();
    };
    let place = object.place(&pointer::child("/metadata/annotations", SUPPRESS_ANNOTATION));
    let mut found = Vec::new();
    let entries = text.split([';', '\n']).map(str::trim);
    for entry in entries.filter(|entry| !entry.is_empty()) {
        let (name, reason) = entry.split_once(':').unwrap_or((entry, ""));
        let (name, reason) = (name.trim(), reason.trim());
        match accepted_code(name, place.clone()) {
            Err(finding) => findings.push(*finding),
            Ok(_) if reason.is_empty() => findings.push(no_reason(place.clone())),
            Ok(code) => found.push(Suppression {
                code,
                subject: Subject::Own(object.origin.clone()),
                path: None,
                reason: reason.to_owned(),
                until: None,
                place: place.clone(),
            }),
        }
    }
    found
}

/// The code of this name, unless it is none, or one of an error that stops every run.
fn accepted_code(name: &str, place: Place) -> Result<Code, Box<Finding>> {
    let refuse = |message: String, help: String| Err(Box::new(invalid(place, message, help)));
    let Some(code) = Code::from_name(name) else {
        let help = Code::did_you_mean(name);
        let help = help.unwrap_or_else(|| "write a finding code, a colon, and the reason".to_owned());
        return refuse(format!("there is no code `{name}` to suppress"), help);
    };
    if !code.is_configurable() && code.default_severity() == Severity::Error {
        let message = format!("{name} is an error, and errors cannot be suppressed");
        return refuse(message, "fix the finding, and remove the suppression".to_owned());
    }
    if code.group() == Code::SUPPRESSION_UNUSED.group() {
        let message = format!("{name} is about suppressions, and cannot be suppressed");
        return refuse(message, "remove that suppression".to_owned());
    }
    Ok(code)
}

fn no_reason(place: Place) -> Finding {
    let help = format!("give a reason: in an annotation `{SUPPRESS_ANNOTATION}: \"CODE: REASON\"`");
    invalid(place, "a suppression has no reason", help)
}

/// The finding about a suppression that does not apply.
pub fn invalid(place: Place, message: impl Into<Text>, help: impl Into<Text>) -> Finding {
    Finding::new(Code::SUPPRESSION_INVALID, place, message).help(help)
}
