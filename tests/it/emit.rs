//! The committed schema is the one the program writes.

use quarry::emit::schema;

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test is told by the environment to write instead of compare"
)]
fn the_committed_schema_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("manifests")
        .join(schema::FILE);
    let current = schema::document().unwrap();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    assert!(
        committed == current,
        "`manifests/{}` is not what the program writes\nhint: run the tests with UPDATE_SCHEMA=1 and look at the difference",
        schema::FILE
    );
    schema::Validators::new().expect("the schema compiles");
}
