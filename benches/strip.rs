//! The stripper against its own parser, files in memory: `cargo bench --bench strip -- LIST [JOBS…]`, where LIST names a
//! file of paths, one a line. Prints MB/s, files/s, and the share of the parser's rate that is reached, for each number of threads, and what more threads
//! bring.
//! `scripts/bench strip` runs it on source distributions; without LIST it does nothing.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops when it cannot"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use quarry::strip::python::{Dialect, strip};
use quarry::strip::run::pool;
use quarry::strip::{Check, Policy};
use rayon::prelude::*;
use ruff_python_ast::PySourceType;
use ruff_python_parser::parse_unchecked_source;

struct File {
    bytes: Vec<u8>,
    dialect: Dialect,
}

type Way<'way> = &'way (dyn Fn(&File) + Sync);

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(list) = arguments.next() else { return };
    let mut threads: Vec<usize> = arguments.map(|jobs| jobs.parse().unwrap()).collect();
    if threads.is_empty() {
        threads.push(1);
    }
    let files: Vec<File> = std::fs::read_to_string(list)
        .unwrap()
        .lines()
        .map(|path| {
            let is_stub = Path::new(path).extension().is_some_and(|suffix| suffix == "pyi");
            let dialect = if is_stub { Dialect::Stub } else { Dialect::Module };
            let bytes = std::fs::read(path).unwrap();
            File { bytes, dialect }
        })
        .collect();
    let size: usize = files.iter().map(|file| file.bytes.len()).sum();
    println!("{} files, {:.1} MB", files.len(), size as f64 / 1e6);
    let mut first: Option<[Duration; WAYS]> = None;
    for jobs in threads {
        let best = pool(jobs).unwrap().install(|| rounds(&files));
        println!("{jobs} threads");
        for (index, ((name, _), time)) in ways().into_iter().zip(best).enumerate() {
            let seconds = time.as_secs_f64();
            let gain = first.map_or(String::new(), |first| {
                format!(", {:.2} times as fast", first[index].as_secs_f64() / seconds)
            });
            println!(
                "{name:<20} {:8.2} MB/s {:8.0} files/s {:5.0} % of the parser's rate{gain}",
                size as f64 / 1e6 / seconds,
                files.len() as f64 / seconds,
                best[0].as_secs_f64() / seconds * 100.0
            );
        }
        first = first.or(Some(best));
    }
}

const WAYS: usize = 4;

fn ways() -> [(&'static str, Way<'static>); WAYS] {
    [
        ("parser alone", &parse),
        ("strip --no-check", &|file| run(file, Check::None)),
        ("strip", &|file| run(file, Check::Tokens)),
        ("strip --check tree", &|file| run(file, Check::Tree)),
    ]
}

/// The best of some rounds for each way. They are interleaved, so that a busy machine is as busy for each.
fn rounds(files: &[File]) -> [Duration; WAYS] {
    let mut best = [Duration::MAX; WAYS];
    for _ in 0..7 {
        for (best, (_, way)) in best.iter_mut().zip(ways()) {
            let start = Instant::now();
            files.par_iter().for_each(way);
            *best = (*best).min(start.elapsed());
        }
    }
    best
}

/// Parse and tokens, and nothing else.
fn parse(file: &File) {
    let is_stub = file.dialect == Dialect::Stub;
    let source = if is_stub {
        PySourceType::Stub
    } else {
        PySourceType::Python
    };
    if let Ok(text) = std::str::from_utf8(&file.bytes) {
        black_box(parse_unchecked_source(text, source).tokens().len());
    }
}

fn run(file: &File, check: Check) {
    let policy = Policy {
        check,
        ..Policy::default()
    };
    black_box(strip(&file.bytes, file.dialect, &policy));
}
