//! The recipes that the program carries, so that a workspace can be made without a checkout.

/// File name and text of each shipped recipe, in the order `quarry init` writes them.
pub const SHIPPED: &[(&str, &str)] = &[
    ("sample.toml", include_str!("../../filters/sample.toml")),
    ("swebench.toml", include_str!("../../filters/swebench.toml")),
    ("changes.toml", include_str!("../../filters/changes.toml")),
    ("doc2feat.toml", include_str!("../../filters/doc2feat.toml")),
    ("roundtrip.toml", include_str!("../../filters/roundtrip.toml")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_that_lies_in_filters_is_shipped_and_sound() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/filters");
        let mut found = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                found += 1;
                let name = path.file_name().unwrap();
                assert!(
                    SHIPPED.iter().any(|(shipped, _)| name == *shipped),
                    "{name:?} is not shipped"
                );
            }
        }
        assert_eq!(found, SHIPPED.len());
        for (name, text) in SHIPPED {
            let loaded = crate::recipe::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(format!("{}.toml", loaded.recipe.dataset.name), *name);
        }
    }
}
