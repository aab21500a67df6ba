//! Any bytes, under the policies that differ most: nothing is unproven, and stripping twice is stripping once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quarry::strip::python::{Dialect, strip};
use quarry::strip::{Check, Policy, Remove};

fuzz_target!(|data: &[u8]| {
    let all = [Remove::AttributeDocstrings, Remove::StringStatements];
    for (keep_lines, remove) in [(false, vec![]), (true, vec![]), (false, all.to_vec())] {
        let policy = Policy { keep_lines, remove: remove.into_iter().collect(), ..Policy::default() };
        let once = strip(data, Dialect::Module, &policy);
        assert!(!once.untouched.is_some_and(|why| why.is_fault()));
        if let Some(bytes) = once.bytes {
            let tree = Policy { check: Check::Tree, ..policy.clone() };
            assert_eq!(strip(data, Dialect::Module, &tree).bytes.as_ref(), Some(&bytes));
            assert_eq!(strip(&bytes, Dialect::Module, &policy).bytes, None);
        }
    }
});
