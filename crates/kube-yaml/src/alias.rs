//! Anchors and aliases.
//!
//! Owns: the node that an alias stands for, and how much all aliases may expand to
//! (docs/systems/kubernetes.md#aliases). Flows in: anchored nodes and aliases, from the composer. Flows out:
//! copies of the nodes. Must not know: tokens.

use std::collections::HashSet;
use std::ops::Range;

use super::composer::{Anchored, BYTES_PER_VALUE, Composer, collection_as_key};
use super::error::{Error, ErrorKind, Outcome};
use super::fields::Complete;
use super::position::Record;
use super::source::is_name_byte;
use super::value::Scalar;

impl<'t, R: Record> Composer<'t, '_, R> {
    /// A place for an anchored node, known by its name from now on; `None` if no alias uses it.
    pub(super) fn open_anchor(&mut self, name: &'t str) -> Option<usize> {
        let text = self.text;
        let wanted = self.wanted.get_or_insert_with(|| alias_names(text));
        if !wanted.contains(name) {
            return None;
        }
        self.names.insert(name, self.anchors.len());
        self.anchors.push(Anchored {
            value: None,
            key: None,
            node: R::Node::default(),
            steps: 0,
            weight: 0,
            height: 0,
        });
        Some(self.anchors.len() - 1)
    }

    pub(super) fn take_anchored_scalar(
        &mut self,
        scalar: Scalar<'t>,
        name: Option<&'t str>,
        range: Range<usize>,
    ) -> Outcome<()> {
        if let Some(index) = name.and_then(|name| self.open_anchor(name))
            && let Some(anchored) = self.anchors.get_mut(index)
        {
            anchored.key = Some(scalar.clone().into_key(&range));
            anchored.value = Some(scalar.clone().into_value(&range));
            anchored.node = R::scalar(&range);
            anchored.steps = 1;
            anchored.weight = match &scalar {
                Scalar::Text(text) => 1 + text.len() / BYTES_PER_VALUE,
                _ => 1,
            };
        }
        if self.key_is_next() {
            return self.take_scalar_key(scalar, range);
        }
        let value = scalar.into_value(&range)?;
        self.complete_scalar(value, range)
    }

    pub(super) fn take_alias(&mut self, name: &'t str, range: Range<usize>) -> Outcome<()> {
        let anchored = self.names.get(name).and_then(|index| self.anchors.get(*index));
        let Some(anchored) = anchored else {
            return Err(Error::new(
                ErrorKind::Alias,
                range,
                format!("there is no `&{name}` before this alias"),
                format!("define it with `&{name}`, or quote the text if `*` is part of it: \"*{name}\""),
            ));
        };
        let Some(value) = &anchored.value else {
            return Err(Error::new(
                ErrorKind::Alias,
                range,
                format!("`*{name}` is inside the value that `&{name}` names"),
                "a value cannot contain itself",
            ));
        };
        self.steps = self.steps.saturating_add(1 + anchored.steps);
        self.alias_steps = self.alias_steps.saturating_add(anchored.steps);
        self.weight = self.weight.saturating_add(anchored.weight);
        self.copied = self.copied.saturating_add(anchored.weight);
        if self.copied > self.limits.alias_nodes {
            return Err(self.too_many_aliases(range));
        }
        if self.key_is_next() {
            let key = match &anchored.key {
                Some(Ok(key)) => key.clone(),
                Some(Err(error)) => return Err(at_alias(error, range)),
                None => return Err(collection_as_key(range)),
            };
            self.check_alias_share(range.clone())?;
            self.set_key(key, range);
            return Ok(());
        }
        if self.frames.len() + anchored.height > self.depth {
            return Err(self.too_deep(range));
        }
        let value = match value {
            Ok(value) => value.clone(),
            Err(error) => return Err(at_alias(error, range)),
        };
        let complete = Complete {
            value,
            node: anchored.node.clone(),
            range: range.clone(),
            height: anchored.height,
            from_alias: true,
        };
        self.check_alias_share(range)?;
        self.complete(complete)
    }

    /// Refuses a document that comes from aliases beyond Kubernetes' own limit.
    pub(super) fn check_alias_share(&self, range: Range<usize>) -> Outcome<()> {
        if comes_from_aliases(self.alias_steps, self.steps) {
            return Err(Error::new(
                ErrorKind::Limit,
                range,
                "nearly all of the document comes from aliases: Kubernetes refuses that",
                "write the values in full, or use fewer aliases inside anchors",
            ));
        }
        Ok(())
    }

    pub(super) fn too_many_aliases(&self, range: Range<usize>) -> Box<Error> {
        Error::new(
            ErrorKind::Limit,
            range,
            format!("aliases expand to more than {} values", self.limits.alias_nodes),
            "use fewer aliases inside anchors",
        )
    }
}

/// The fault of an anchored scalar, reported at the alias that uses it.
fn at_alias(error: &Error, range: Range<usize>) -> Box<Error> {
    Error::new(error.kind, range, error.message.clone(), error.help.clone())
}

/// Every name that follows a `*` in the text: all aliases, and perhaps more.
fn alias_names(text: &str) -> HashSet<&str> {
    text.split('*')
        .skip(1)
        .filter_map(|tail| {
            let end = tail.bytes().take_while(|byte| is_name_byte(*byte)).count();
            tail.get(..end)
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether more of a document comes from aliases than Kubernetes' reader takes: so many of its steps inside of what aliases
/// stand for, of so many in all (docs/systems/kubernetes.md#aliases).
#[allow(clippy::cast_precision_loss)]
pub(super) fn comes_from_aliases(alias_steps: u64, steps: u64) -> bool {
    const FEW: u64 = 400_000;
    const MANY: u64 = 4_000_000;
    if alias_steps <= 100 || steps <= 1000 {
        return false;
    }
    let allowed = match steps {
        ..=FEW => 0.99,
        MANY.. => 0.10,
        steps => 0.99 - 0.89 * ((steps - FEW) as f64 / (MANY - FEW) as f64),
    };
    alias_steps as f64 / steps as f64 > allowed
}

#[cfg(test)]
mod tests {
    use super::comes_from_aliases;

    #[test]
    fn the_share_of_aliases_shrinks_from_99_to_10_percent_between_400_000_and_4_000_000_steps() {
        // The largest share that is taken, and one step more; in between, the share is no round number in binary.
        for (alias_steps, steps) in [
            (396_000, 400_000),
            (1_198_999, 2_200_000),
            (400_000, 4_000_000),
            (500_000, 5_000_000),
        ] {
            assert!(
                !comes_from_aliases(alias_steps, steps),
                "{alias_steps} of {steps}"
            );
            assert!(
                comes_from_aliases(alias_steps + 1, steps),
                "{alias_steps} of {steps}"
            );
        }
        // Small documents may do as they like.
        assert!(!comes_from_aliases(1000, 1000) && comes_from_aliases(1001, 1001));
        assert!(!comes_from_aliases(100, 1001));
    }
}
