use proptest::prelude::*;

use super::*;

#[test]
fn plain_values_are_worked_out() {
    let module = read(
        "A = ['x']\nB = A + [f'{A_}y', *['z']]\nE = {'a': A}\nE['b'] = B\nC = open('f').read()\ndef f(s):\n    D = 'p' 'q'\n    s.install(*B, D, C, '-r', \"r.txt\")\n    s.env['K'] = 'v'\nsetup(name='n', extras_require=E, **{'k': 'w'})\n",
    )
    .unwrap();
    let texts = |value: &Value| value.texts().map(|(text, _)| text.to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&module.names["B"]), ["x", "z"]);
    assert!(!module.names.contains_key("C"));
    let function = &module.functions[0];
    let call = &function.calls[0];
    assert_eq!((call.name.as_str(), call.line), ("s.install", 8));
    let args: Vec<_> = call
        .args
        .iter()
        .map(|arg| arg.text().unwrap_or("?").to_owned())
        .collect();
    assert_eq!(args, ["x", "z", "pq", "?", "-r", "r.txt"]);
    assert_eq!(
        function.sets,
        [("s.env".to_owned(), "K".to_owned(), "v".to_owned(), 9)]
    );
    let setup = module.calls.iter().find(|call| call.name == "setup").unwrap();
    let extras = setup.keyword("extras_require").unwrap();
    assert_eq!(texts(extras.at(&["b"]).unwrap()), ["x", "z"]);
    assert_eq!(setup.keyword("k").unwrap().text(), Some("w"));
}

#[test]
fn files_beyond_all_reason_do_no_harm() {
    for text in [
        "(".repeat(120_000),
        "-".repeat(120_000),
        "a.".repeat(60_000),
        "x+".repeat(60_000),
        format!("r = ['a']\n{}", "r = r + r\n".repeat(60)),
        format!("r = ['a']\n{}", "r = [r, r]\n".repeat(60)),
        format!("r = 'a'\n{}", "r += r\n".repeat(60)),
    ] {
        assert!(read(&text).is_some());
    }
    assert!(read(&"#".repeat(LARGEST + 1)).is_none());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(def f\\(s\\):|\n|    |\\(|\\)|\\[|\\]|\\{|\\}|'|=|\\+|\\*|[a-c]|\\.|,|:|@|é){0,50}") {
        let _ = read(&text);
    }
}
