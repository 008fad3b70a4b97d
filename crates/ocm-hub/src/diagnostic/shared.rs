//! The texts that many findings have, each kept once.
//!
//! Owns: which texts are known. Flows in: texts. Flows out: the same texts, shared. Must not know: what they are about.

use std::collections::HashSet;
use std::hash::Hash;

use kube_json::Text;

use super::causes::{Cause, Causes};
use super::{Few, Place};

/// The texts of the findings so far: a thousand findings of one mistake differ in little but their object.
#[derive(Debug, Default)]
pub struct SharedTexts {
    texts: HashSet<Text>,
    lists: HashSet<Few<Text>>,
    causes: HashSet<Few<Cause>>,
}

impl SharedTexts {
    /// This text, or the equal one that is known.
    #[must_use]
    pub fn shared(&mut self, mut text: Text) -> Text {
        self.text(&mut text);
        text
    }

    /// Takes over an equal text. Short ones are in their place and take nothing.
    pub(super) fn text(&mut self, text: &mut Text) {
        if text.len() <= Text::INLINE_LIMIT {
            return;
        }
        match self.texts.get(text) {
            Some(known) => text.clone_from(known),
            None => _ = self.texts.insert(text.clone()),
        }
    }

    /// Takes over an equal list.
    pub(super) fn list(&mut self, list: &mut Few<Text>) {
        take_over(&mut self.lists, list);
    }

    /// Takes over equal causes.
    pub(super) fn causes(&mut self, causes: &mut Causes) {
        let list = causes.list();
        for cause in list.own() {
            match cause {
                Cause::Here(pointer) => self.text(pointer),
                Cause::Elsewhere(place) => self.place(place),
            }
        }
        take_over(&mut self.causes, list);
    }

    /// Takes over the texts of a place.
    pub(super) fn place(&mut self, place: &mut Place) {
        if let Place::Field { pointer, .. } = place {
            self.text(pointer);
        }
    }
}

fn take_over<T: Clone + Eq + Hash>(known: &mut HashSet<Few<T>>, list: &mut Few<T>) {
    if list.is_empty() {
        return;
    }
    match known.get(list) {
        Some(known) => list.clone_from(known),
        None => _ = known.insert(list.clone()),
    }
}
