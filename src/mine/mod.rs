//! Mining: a mirror's merged pull requests as candidates.

mod defaults;
pub mod link;
mod markup;
pub mod split;
