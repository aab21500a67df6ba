//! The recipes that the program carries, so that a workspace can be made without a checkout.

/// File name and text of each shipped recipe, in the order `quarry init` writes them.
pub const SHIPPED: &[(&str, &str)] = &[("sample.toml", include_str!("../../filters/sample.toml"))];
