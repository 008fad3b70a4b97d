//! Typed views of the kinds that spokewright interprets. The value of an object is read once, when somebody first asks
//! for its view, and the mistakes in it are reported wherever [`Typed::read`] is called.

use std::any::Any;
use std::ops::Deref;

use crate::diagnostic::Findings;
use crate::object::Object;

/// The interpreted fields of a kind.
pub trait View: Any + Send + Sync + Sized {
    /// Reads the object; `None` if something essential is wrong, which is then a finding.
    fn read(object: &Object, findings: &mut Findings) -> Option<Self>;
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
        let mut mistakes = Findings::new();
        let view = T::read(object, &mut mistakes);
        Checked { view, mistakes }
    })
}
