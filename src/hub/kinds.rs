//! STAND-IN until the kind table lands.
/// STAND-IN.
#[derive(Debug, Default)]
pub struct KindTable;
