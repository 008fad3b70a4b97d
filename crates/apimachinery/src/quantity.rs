//! Kubernetes quantities: `250m`, `4`, `1.5Gi`, `2e3`. The value is the approximate float64 that OCM's resource
//! prioritizers compute with.
//!
//! Kubernetes stores a small number as an integer and a power of ten, and all others as an integer of billionths.
//! The float64 of the second kind is sometimes off in its last bit, and the first kind keeps the author's text. Both
//! affect the results of OCM's scheduler, so this module distinguishes the two as well.

use thiserror::Error;

/// More digits than this are refused; nothing real has them.
const MAX_DIGITS: usize = 30;

/// The digits of Kubernetes' quick form: as many as always fit into an int64.
const QUICK_DIGITS: usize = 18;

/// The finest power of ten: nano.
const NANO: i32 = -9;

/// The greatest number with a binary suffix: Kubernetes caps there.
const CAP: i128 = i64::MAX as i128;

/// Why a text is not a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// Nothing that looks like a number.
    #[error(
        "quantities are a sign, digits with an optional decimal point, and a suffix such as m, k, Mi or e3"
    )]
    Format,
    /// The suffix is not one of Kubernetes'.
    #[error(
        "the suffix of a quantity is one of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, or an exponent such as e3"
    )]
    Suffix,
    /// More digits, or a larger exponent, than any machine has.
    #[error("the number is out of range")]
    Range,
}

/// How the author wrote it; the canonical text keeps that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// `Ki`, `Mi`, ...
    Binary,
    /// `m`, `k`, `M`, ...
    Decimal,
    /// `e3`.
    Exponent,
}

/// A quantity: `unscaled * 10^exponent`, exactly, down to nano.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    unscaled: i128,
    exponent: i32,
    format: Format,
    form: Form,
}

/// How Kubernetes stores the number.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// An int64 and a power of ten; with the author's text where that looks canonical.
    Quick(Option<Box<str>>),
    /// An integer of billionths.
    Billionths,
    /// The cap, an integer.
    Capped,
}

/// The parts of a text.
struct Parts<'t> {
    negative: bool,
    /// Digits in front of the point, without leading zeros.
    whole: &'t str,
    /// Digits behind the point.
    fraction: &'t str,
    suffix: &'t str,
}

impl<'t> Parts<'t> {
    fn split(text: &'t str) -> Result<Self, QuantityError> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let split = |text: &'_ str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (whole, rest) = rest.split_at(split(rest));
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(split(rest)),
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(QuantityError::Format);
        }
        let whole = whole.trim_start_matches('0');
        if whole.len().saturating_add(fraction.len()) > MAX_DIGITS {
            return Err(QuantityError::Range);
        }
        Ok(Self {
            negative,
            whole,
            fraction,
            suffix,
        })
    }

    /// All digits as one number.
    fn number(&self) -> Result<i128, QuantityError> {
        let digits = ["0", self.whole, self.fraction].concat();
        digits.parse().map_err(|_| QuantityError::Range)
    }

    /// As many digits as Kubernetes counts: no digit in front of the point is a zero there.
    fn count(&self) -> usize {
        self.whole.len().max(1).saturating_add(self.fraction.len())
    }
}

impl Quantity {
    /// Reads a quantity as Kubernetes' `ParseQuantity` does.
    ///
    /// ```
    /// use apimachinery::Quantity;
    /// assert_eq!(Quantity::parse("1.5Gi").map(|q| q.approximate()), Ok(1_610_612_736.0));
    /// assert!(Quantity::parse("4 cores").is_err());
    /// ```
    ///
    /// # Errors
    /// [`QuantityError`] if the text is not a quantity.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::split(text)?;
        let number = parts.number()?;
        let places = i32::try_from(parts.fraction.len()).map_err(|_| QuantityError::Range)?;
        let (format, power) = suffix_of(parts.suffix)?;
        let exponent = power.saturating_sub(places);
        let (unscaled, exponent, form) = if format == Format::Binary {
            let bits = power.unsigned_abs();
            let factor = 1i128.checked_shl(bits).ok_or(QuantityError::Range)?;
            let value = number.checked_mul(factor).ok_or(QuantityError::Range)?;
            if is_quick_binary(&parts, bits, value) {
                // Kubernetes keeps the text of a number that is no multiple of 8.
                (value, 0, Form::Quick((number % 8 != 0).then(|| text.into())))
            } else {
                capped(value, places)?
            }
        } else if parts.count() <= QUICK_DIGITS && exponent >= NANO {
            let canonical = is_canonical(&parts, exponent).then(|| text.into());
            (number, exponent, Form::Quick(canonical))
        } else {
            let (unscaled, exponent) = at_least_nano(number, exponent);
            (unscaled, exponent, Form::Billionths)
        };
        Ok(Self {
            unscaled: if parts.negative { -unscaled } else { unscaled },
            exponent,
            format,
            form,
        })
    }

    /// From a YAML integer, which Kubernetes reads as its decimal text.
    pub fn from_integer(value: i64) -> Self {
        Self::parse(&value.to_string()).unwrap_or(Self {
            unscaled: i128::from(value),
            exponent: 0,
            format: Format::Decimal,
            form: Form::Billionths,
        })
    }

    /// The value as a float64, computed as Kubernetes' `AsApproximateFloat64` does: the integer part times a
    /// power of ten (docs/systems/ocm-placement.md#scores).
    #[allow(clippy::cast_precision_loss)]
    pub fn approximate(&self) -> f64 {
        match self.form {
            _ if self.unscaled == 0 => 0.0,
            Form::Quick(_) | Form::Capped if self.exponent == 0 => self.unscaled as f64,
            Form::Quick(_) | Form::Capped => self.unscaled as f64 * power_of_ten(self.exponent),
            Form::Billionths => {
                let billionths = format!("{}e{}", self.unscaled, self.exponent.saturating_sub(NANO));
                billionths.parse().unwrap_or(0.0) * power_of_ten(NANO)
            }
        }
    }

    /// The value as Kubernetes' `AsInt64` has it: `None` for what is not stored as a whole number, even if it is one, such
    /// as `1000m`.
    ///
    /// ```
    /// use apimachinery::Quantity;
    /// let int64 = |text| Quantity::parse(text).ok().and_then(|quantity| quantity.int64());
    /// assert_eq!((int64("1.5k"), int64("4Ki")), (Some(1500), Some(4096)));
    /// assert_eq!((int64("1000m"), int64("1.5Ki"), int64("8Ei")), (None, None, None));
    /// ```
    pub fn int64(&self) -> Option<i64> {
        let power = u32::try_from(self.exponent).ok()?;
        let value = self.unscaled.checked_mul(10_i128.checked_pow(power)?)?;
        matches!(self.form, Form::Quick(_))
            .then(|| i64::try_from(value).ok())
            .flatten()
    }

    /// The text that Kubernetes' clients write: the author's, if it looks canonical to them, otherwise the form with
    /// the largest suffix that needs no fraction: `1000m` becomes `1`.
    ///
    /// ```
    /// use apimachinery::Quantity;
    /// let canonical = |text| Quantity::parse(text).map(|quantity| quantity.canonical());
    /// assert_eq!(canonical("1500m"), Ok("1500m".to_owned()));
    /// assert_eq!(canonical("2000m"), Ok("2".to_owned()));
    /// assert_eq!(canonical("1.5Gi"), Ok("1536Mi".to_owned()));
    /// assert_eq!(canonical("1.500"), Ok("1.500".to_owned()));
    /// ```
    pub fn canonical(&self) -> String {
        if let Form::Quick(Some(text)) = &self.form {
            return text.to_string();
        }
        if self.unscaled == 0 {
            return "0".to_owned();
        }
        if self.format == Format::Binary
            && let Some(value) = self.whole()
            && value.unsigned_abs() >= 1024
        {
            let mut value = value;
            let mut steps = 0usize;
            while value % 1024 == 0 && steps < BINARY.len() {
                value /= 1024;
                steps = steps.saturating_add(1);
            }
            let suffix = steps.checked_sub(1).and_then(|index| BINARY.get(index));
            return format!("{value}{}", suffix.copied().unwrap_or_default());
        }
        let mut value = self.unscaled;
        let mut exponent = self.exponent;
        while value % 10 == 0 {
            value /= 10;
            exponent = exponent.saturating_add(1);
        }
        while exponent.rem_euclid(3) != 0 {
            value = value.saturating_mul(10);
            exponent = exponent.saturating_sub(1);
        }
        let decimal = DECIMAL
            .iter()
            .find(|(_, power)| *power == exponent)
            .filter(|_| self.format != Format::Exponent);
        match decimal {
            Some((suffix, _)) => format!("{value}{suffix}"),
            None if exponent == 0 => value.to_string(),
            None => format!("{value}e{exponent}"),
        }
    }

    /// The value as an integer, when it is one.
    fn whole(&self) -> Option<i128> {
        if self.exponent >= 0 {
            let power = u32::try_from(self.exponent).ok()?;
            return 10i128.checked_pow(power)?.checked_mul(self.unscaled);
        }
        let divisor = 10i128.checked_pow(self.exponent.unsigned_abs())?;
        (self.unscaled % divisor == 0).then(|| self.unscaled / divisor)
    }
}

const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// The factor of a suffix: a power of two, if it is a binary one, else of ten.
fn suffix_of(text: &str) -> Result<(Format, i32), QuantityError> {
    if let Some((_, power)) = DECIMAL.iter().find(|(suffix, _)| *suffix == text) {
        return Ok((Format::Decimal, *power));
    }
    let bits = BINARY.iter().zip([10, 20, 30, 40, 50, 60]);
    if let Some((_, bits)) = bits.into_iter().find(|(suffix, _)| **suffix == text) {
        return Ok((Format::Binary, bits));
    }
    let digits = text.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(QuantityError::Suffix);
    }
    digits
        .parse::<i32>()
        .ok()
        .filter(|power| power.unsigned_abs() <= 300)
        .map(|power| (Format::Exponent, power))
        .ok_or(QuantityError::Range)
}

/// Kubernetes counts three bits as one digit, and wants fifteen digits at most.
fn is_quick_binary(parts: &Parts<'_>, bits: u32, value: i128) -> bool {
    let digits = usize::try_from(bits).unwrap_or(usize::MAX).saturating_mul(3) / 10;
    parts.fraction.is_empty()
        && parts.whole.len().max(1).saturating_add(digits) < 15
        && i64::try_from(value).is_ok()
}

/// What Kubernetes takes for canonical without looking closer.
fn is_canonical(parts: &Parts<'_>, exponent: i32) -> bool {
    let digits = || parts.whole.bytes().rev();
    let zeros = parts
        .fraction
        .bytes()
        .rev()
        .chain(digits())
        .take_while(|digit| *digit == b'0');
    exponent % 3 == 0 && !parts.whole.is_empty() && zeros.count() < 3
}

/// A number with a binary suffix, capped; what is finer than nano rounds up.
fn capped(value: i128, places: i32) -> Result<(i128, i32, Form), QuantityError> {
    let (unscaled, exponent) = at_least_nano(value, places.saturating_neg());
    let divisor = 10i128
        .checked_pow(exponent.unsigned_abs())
        .ok_or(QuantityError::Range)?;
    let beyond = unscaled / divisor > CAP || (unscaled / divisor == CAP && unscaled % divisor != 0);
    Ok(if beyond {
        (CAP, 0, Form::Capped)
    } else {
        (unscaled, exponent, Form::Billionths)
    })
}

/// Kubernetes rounds what is finer than nano up.
fn at_least_nano(unscaled: i128, exponent: i32) -> (i128, i32) {
    if exponent >= NANO || unscaled == 0 {
        return (unscaled, exponent.max(NANO));
    }
    let finer = NANO.saturating_sub(exponent).unsigned_abs();
    let rounded = match 10i128.checked_pow(finer) {
        Some(divisor) => (unscaled / divisor).saturating_add(i128::from(unscaled % divisor != 0)),
        None => 1,
    };
    (rounded, NANO)
}

/// Ten to a power as Go's `math.Pow10` gives it: exact tables, a negative power by division.
fn power_of_ten(exponent: i32) -> f64 {
    let positive = 10f64.powi(exponent.saturating_abs());
    if exponent < 0 { 1.0 / positive } else { positive }
}

#[cfg(test)]
mod tests;
