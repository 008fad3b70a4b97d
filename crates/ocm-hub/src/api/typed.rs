//! Typed views of the kinds that spokewright interprets. The value of an object is read once, when somebody first asks
//! for its view, and the mistakes in it are reported wherever [`Typed::read`] is called. [`Reading`] reads the fields of
//! a view, with a finding for each that is not of the type that its kind requires.

use std::any::Any;
use std::ops::Deref;

use crate::diagnostic::{Code, Finding, Findings};
use crate::object::{Object, first_variable};
use apimachinery::pointer::dotted;
use apimachinery::{Field, Mismatch, core_group};
use kube_json::{Text, Value};

/// The interpreted fields of a kind.
pub trait View: Any + Send + Sync + Sized {
    /// Reads the object; `None` if something essential is wrong, which is then a finding.
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self>;
}

/// A view, and the mistakes in the value.
struct Checked<T> {
    view: Option<T>,
    mistakes: Findings,
}

/// An object and its view.
#[derive(Debug)]
pub struct Typed<'a, T> {
    /// The object.
    pub object: &'a Object,
    view: &'a T,
}

impl<T> Clone for Typed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Typed<'_, T> {}

impl<T> Deref for Typed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.view
    }
}

impl<'a, T: View> Typed<'a, T> {
    /// The view of an object; `None` if something essential in it is wrong.
    pub fn new(object: &'a Object) -> Option<Self> {
        let view = checked::<T>(object).view.as_ref()?;
        Some(Self { object, view })
    }

    /// The same, for a caller that reports the mistakes.
    pub fn read(object: &'a Object, findings: &mut Findings) -> Option<Self> {
        findings.extend(checked::<T>(object).mistakes.iter().cloned());
        Self::new(object)
    }

    /// The view alone.
    pub const fn view(self) -> &'a T {
        self.view
    }
}

fn checked<T: View>(object: &Object) -> &Checked<T> {
    object.view(|object| {
        let mut reading = Reading::new(object);
        let view = T::read(object, &mut reading);
        Checked {
            view,
            mistakes: reading.findings,
        }
    })
}

/// Reads one object and notes what is wrong with it.
#[derive(Debug)]
pub struct Reading<'a> {
    object: &'a Object,
    findings: Findings,
    wrong: bool,
    /// Whether nothing else counts as wrong, as in fields that may mean something else in another kind.
    pub(super) is_silent: bool,
}

impl<'a> Reading<'a> {
    /// Starts reading `object`.
    pub fn new(object: &'a Object) -> Self {
        Self {
            object,
            findings: Findings::default(),
            wrong: false,
            is_silent: false,
        }
    }

    /// What is wrong with the object.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// Whether anything was wrong so far.
    pub(crate) const fn is_wrong(&self) -> bool {
        self.wrong
    }

    /// Notes a finding about the object.
    pub fn wrong(&mut self, finding: Finding) {
        if !self.is_silent {
            self.wrong = true;
            self.findings.push(finding);
        }
    }

    /// The string of the member `key` of `holder`, or `None` when it is absent or wrong.
    pub fn string(&mut self, holder: &Field<'a>, key: &'a str) -> Option<&'a Text> {
        let value = holder.member(key)?;
        if !value.is_string() {
            self.checked(holder.get(key).string());
        }
        value.as_text()
    }

    /// The same where an empty string stands for none.
    pub(crate) fn text(&mut self, holder: &Field<'a>, key: &'a str) -> Option<&'a Text> {
        self.string(holder, key).filter(|text| !text.is_empty())
    }

    /// The API group in the member `group` of a reference, or the default when it is absent or wrong.
    pub(super) fn group(&mut self, reference: &Field<'a>, default: &str) -> Text {
        let group = self.string(reference, "group");
        group.map_or(default, |group| core_group(group)).into()
    }

    /// The host name in `field`, or `None` when it is absent, empty or wrong. One that is still a variable can be read,
    /// and no API server takes it.
    pub(crate) fn hostname(&mut self, field: &Field<'a>) -> Option<&'a Text> {
        self.checked(field.string());
        let name = field.value()?.as_text().filter(|name| !name.is_empty())?;
        if first_variable(name).is_some() && !self.is_silent {
            let message = format!("`{name}` of {} is not a hostname", self.object.identity());
            let place = self.object.place(&field.pointer());
            let finding = Finding::new(Code::OBJECT_SCHEMA, place, message);
            self.findings
                .push(finding.help("write a hostname, such as `api.example.com` or `*.example.com`"));
        }
        Some(name)
    }

    /// The integer of the member `key` of `holder`, or `None` when it is absent or wrong.
    pub(crate) fn integer(&mut self, holder: &Field<'a>, key: &'a str) -> Option<i64> {
        self.checked(holder.present(key)?.integer())
    }

    /// Reads a part of the object. If anything in it is wrong, there is none of it: a check that reads the rest of the
    /// part would report the same mistake again.
    pub(crate) fn part<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let was_wrong = std::mem::take(&mut self.wrong);
        let part = read(self).filter(|_| !self.wrong);
        self.wrong |= was_wrong;
        part
    }

    /// The string of the member `key` of `holder`; that it is absent or empty is a finding.
    pub(crate) fn required_string(&mut self, holder: &Field<'a>, key: &'a str) -> Option<&'a Text> {
        // If the mapping itself is wrong or absent, that is the mistake.
        if !self.mapping(holder) {
            if !holder.is_present() {
                self.missing(&holder.pointer());
            }
            return None;
        }
        let found = self.text(holder, key);
        // What is wrong with any other value has been reported.
        if found.is_none() && matches!(holder.member(key), None | Some(Value::Null | Value::String(_))) {
            self.missing(&holder.get(key).pointer());
        }
        found
    }

    /// The elements of the list in `field`; none when it is absent or wrong.
    pub fn items(&mut self, field: &Field<'a>) -> impl ExactSizeIterator<Item = Field<'a>> + use<'a> {
        let list = field.list();
        self.checked(list);
        // What is no list has none.
        field.items()
    }

    /// Checks that `field` is a mapping when it is present.
    pub(crate) fn mapping(&mut self, field: &Field<'a>) -> bool {
        let mapping = field.mapping();
        self.checked(mapping).is_some()
    }

    /// Notes that a required field is missing.
    pub(crate) fn missing(&mut self, pointer: &str) {
        let field = dotted(pointer);
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        let (near, meant) = self.object.origin.missing(&self.object.value, parent, name);
        let near = Some(near).filter(|_| meant.is_some());
        let place = near.unwrap_or_else(|| self.object.place(pointer));
        let message = format!("{} has no `{field}`", self.object.identity());
        let finding = Finding::new(Code::OBJECT_SCHEMA, place, message).label("required here");
        self.wrong(finding.help(meant.unwrap_or_else(|| format!("add `{field}`"))));
    }

    fn checked<T>(&mut self, value: Result<Option<T>, Mismatch>) -> Option<T> {
        let wrong = |mismatch| self.wrong(mismatch_finding(self.object, &mismatch));
        value.map_err(wrong).ok().flatten()
    }
}

fn mismatch_finding(object: &Object, mismatch: &Mismatch) -> Finding {
    let field = dotted(&mismatch.pointer);
    let (Mismatch { expected, found, .. }, identity) = (mismatch, object.identity());
    let message = format!("`{field}` of {identity} must be {expected}, not {found}");
    let finding = Finding::new(Code::OBJECT_SCHEMA, object.place(&mismatch.pointer), message);
    let finding = finding.label(format!("expected {expected}"));
    if *expected == "a string" && !["a list", "a mapping"].contains(found) {
        finding.help("put it in quotes")
    } else {
        finding.help(format!("write {expected} here"))
    }
}
