//! The order of the stages: what one run of a recipe is.
//!
//! - **In:** a checked recipe, a mirror, and the machine's settings.
//! - **Out:** what each stage left in the ledger, a manifest, and a [`RunReport`](report::RunReport).
//! - **Always:** stages meet only here, through values; cheap rules run before anything is built; a candidate whose
//!   outcome is recorded for its present inputs is not tried again; stopping at any point loses nothing.
//!
//! | module | what it does |
//! |---|---|
//! | [`source`] | a mirror's place → a repository's name and folder, mined |
//! | [`enrich`] | those that pass the rules on git alone → what GitHub says of them |
//! | [`select`] | the ledger's candidates → what the rules say of them |
//! | [`environments`] | candidates → what their trees ask for, in groups that share an environment |
//! | `search` | a group → the environment that is best for it: build, try, repair |
//! | [`tried`] | what a search tried, what came of it, what was chosen and why |
//! | [`named`] | a pull request's or a commit's name → what the ledger knows by it |
//! | [`explain`] | a pull request → its whole story; an attempt → its log |
//! | [`commit`] | one commit → the environment that a run would find for it |
//! | [`prove`] | candidates → environments and oracles |
//! | `after` | a candidate whose tests need what it begins to ask for → its environment |
//! | `proof` | what both came to for one candidate |
//! | `order` | candidates → the same, the longest first |
//! | [`notes`] | a mirror's release notes, with what GitHub tells beside |
//! | `told` | what release notes tell of candidates, for rules that ask |
//! | [`vary`] | those that are kept → the variants that the recipe asks for |
//! | [`documented`] | those that are kept → their tasks, where documentation tells them |
//! | [`publish`] | decisions, oracles and variants → what a manifest is made of |
//! | [`audit`] | a version's files as audit sees them |
//! | [`version`] | an emitted version, and what the workspace knows of its instances |
//! | [`evaluate`] | a version and predictions → what their tests say |
//! | `gate` | whether gold and the empty patch give what they must, before a version is emitted |
//! | [`images`] | a version's instances → an image each |
//! | [`report`] | what a run tells its caller |

mod after;
pub mod audit;
pub mod brake;
pub mod commit;
pub mod documented;
pub mod enrich;
pub mod environments;
mod error;
pub mod evaluate;
pub mod explain;
mod gate;
mod holes;
pub mod images;
pub mod named;
pub mod notes;
mod order;
mod proof;
pub mod prove;
pub mod publish;
pub mod report;
pub mod run;
mod search;
pub mod select;
pub mod source;
mod told;
pub mod tried;
pub mod vary;
pub mod version;

pub use error::PipelineError;
pub use run::{Outcome, Settings, run};
