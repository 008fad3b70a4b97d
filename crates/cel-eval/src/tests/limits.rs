//! What is paid for up to a limit, and refused beyond it.

use apimachinery::Work;

use crate::meter::BYTES_MAX;
use crate::{Failure, Meter, Stop, Unparsed, parse};

#[test]
fn what_is_touched_or_held_is_paid_for_up_to_the_limit_and_not_beyond() {
    let nothing_left = Work::with_limit(0);
    let mut allowance = nothing_left.allowance_of(5);
    let mut meter = Meter::new(&mut allowance);
    assert_eq!(meter.touch(5 * 64 + 63), Ok(()), "64 bytes a step");
    assert_eq!(meter.touch(63), Ok(()));
    assert_eq!(meter.touch(64), Err(Failure::Stop(Stop::Work)));
    let plenty = Work::unlimited();
    let mut allowance = plenty.allowance_of(0);
    let mut meter = Meter::new(&mut allowance);
    assert_eq!(meter.have_room(BYTES_MAX), Ok(()));
    assert_eq!(meter.have_room(BYTES_MAX + 1), Err(Failure::Stop(Stop::Memory)));
    assert!(!meter.set_free(true), "costs count at first");
    assert_eq!(meter.charge(crate::CALL_LIMIT + 1), Ok(()));
    assert!(meter.set_free(false));
    assert_eq!(meter.charge(crate::CALL_LIMIT), Ok(()));
    assert_eq!(meter.charge(1), Err(Stop::Cost));
}

#[test]
fn as_many_brackets_and_signs_as_fit_are_read_and_not_one_more() {
    let too_much = |text: &str| matches!(parse(text), Err(Unparsed::TooMuch(_)));
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(!too_much(&nested(100)));
    for depth in [101, 102] {
        assert!(too_much(&nested(depth)), "{depth}");
    }
    // Brackets and commas; underscores are no signs.
    let listed = |commas: usize| format!("[{}_a_]", "_a_,".repeat(commas));
    assert!(!too_much(&listed(3_998)));
    for commas in [3_999, 4_100] {
        assert!(too_much(&listed(commas)), "{commas}");
    }
}

#[test]
fn what_is_deep_in_a_key_or_a_value_of_a_mapping_is_as_deep_as_anything() {
    let long = |parts: usize| format!("1{}", "+1".repeat(parts));
    for text in [
        format!("{{'a': {}}}", long(300)),
        format!("{{{}: 'a'}}", long(300)),
    ] {
        assert!(matches!(parse(&text), Err(Unparsed::TooMuch(_))), "{text}");
    }
    assert!(parse(&format!("{{{}: {}}}", long(200), long(200))).is_ok());
}
