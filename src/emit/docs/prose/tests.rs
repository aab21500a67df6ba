//! What is read of documents, line by line.

use proptest::prelude::*;

use super::*;

/// The lines of which something is read.
fn said(kind: Kind, text: &str) -> Vec<String> {
    let lines = read(kind, text).into_iter();
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .collect()
}

#[test]
fn of_restructured_text_words_are_read() {
    let nothing: [&str; 0] = [];
    for text in [
        ".. a comment\n   goes on\n\n   here\n",
        "..\n   hidden\n\n   too\n",
        ".. todo: this\n",
        ".. _label:\n",
        ".. _one: https://x.org/\n   two\n",
        ".. __: https://x.org\n",
        "__ https://x.org\n",
        ".. image:: a.png\n   :width: a\n      b\n",
        ".. figure:: a.png\n   :width: 20\n",
        ".. |one| image:: one.png\n   :scale: 5\n",
        ".. tags:: a, b\n",
        ".. versionadded:: 2.0\n",
        ".. deprecated-removed:: 3.1 3.2\n",
        "{{ one }}\n{% two %}\n",
        ".. toctree::\n   :maxdepth: 2\n\n   a\n   Title <b>\n",
        ".. include:: ../README.rst\n",
        ".. literalinclude:: a.py\n   :lines: 1-2\n",
        ".. automodule:: a.b\n   :members:\n",
        ".. currentmodule:: a\n",
        ".. code-block:: python\n   :emphasize-lines: 1\n",
        ".. highlight:: python\n",
        ".. note::\n   :class: tip\n",
        ".. raw:: latex\n\n   \\one\n",
        ".. raw:: html\n\n   <script src=\"a.js\">\n   one\n   </script>\n",
        ":orphan:\n:tocdepth: 2\n",
        "====\n....\n",
    ] {
        assert_eq!(said(Kind::Rst, text), nothing, "{text}");
    }
    for (text, lines) in [
        ("..\n\n   quoted\n", vec!["quoted"]),
        (".. a comment\n   goes on\n\nback\n", vec!["back"]),
        (".. _label:\n\n   quoted\n", vec!["quoted"]),
        (".. _label:\nTitle\n=====\n", vec!["Title"]),
        (".. figure:: a.png\n   :width: 1\n\n   Legend\n", vec!["Legend"]),
        (
            ".. py:autoclass:: a.B\n   :members: c,\n             d\n\n   Told here\n",
            vec!["a.B", "Told here"],
        ),
        (
            ".. autosummary::\n   :toctree: generated\n\n   a.b\n",
            vec!["a.b"],
        ),
        (".. toctree::\n\n   a\n\nback\n", vec!["back"]),
        (
            ".. note:: one\n   :ref:`two` three\n",
            vec!["one", ":ref:`two` three"],
        ),
        (".. note::\n   .. a comment\n   one\n", vec!["one"]),
        (".. versionadded:: 2.0 One\n", vec!["One"]),
        (".. deprecated-removed:: 3.1 3.2\n   Two\n", vec!["Two"]),
        (
            ".. image:: a.png\n   :alt: a\n      picture\n   :width: 1\n",
            vec!["a", "picture"],
        ),
        (
            ".. toctree::\n   :caption: One\n   :maxdepth: 1\n\n   a\n",
            vec!["One"],
        ),
        (
            ".. confval:: a\n   :type: int\n   :name: b\n   :default: 3\n",
            vec!["a", ":type: int", ":default: 3"],
        ),
        (
            "* one\n2. two\n#. three\n{{ four }} five\n",
            vec!["one", "two", "three", "{{ four }} five"],
        ),
        (
            ".. function:: f(a)\n   :module: b\n\n   :param a: one\n",
            vec!["f(a)", ":param a: one"],
        ),
        (".. |one| replace:: two\n", vec!["two"]),
        (".. [1] one\n   two\n", vec!["one", "two"]),
        (".. math:: a + b\n", vec!["a + b"]),
        (
            ".. code-block:: c\n   :linenos:\n\n   one\n   .. two\n",
            vec!["one", ".. two"],
        ),
        (
            "So::\n\n   .. image:: a.png\n   :x: y\n",
            vec!["So::", ".. image:: a.png", ":x: y"],
        ),
        (
            ".. raw:: html\n\n   <p class=\"a\">one</p>\n\nback\n",
            vec!["one", "back"],
        ),
        ("one\n\n:field: two\n", vec!["one", ":field: two"]),
        (
            "`one <https://x.org/>`_ ``a <b>`` a < b\n",
            vec!["`one`_ ``a <b>`` a < b"],
        ),
    ] {
        assert_eq!(said(Kind::Rst, text), lines, "{text}");
    }
}

#[test]
fn of_markdown_words_are_read() {
    let nothing: [&str; 0] = [];
    for text in [
        "---\nlayout: a\n\ntags:\n  - b\n---\n",
        "+++\nweight = \"a\"\n+++\n",
        "[one]: https://x.org\n  [two]: <x> \"title\"\n",
        "<!-- one\ntwo\n\nthree -->\n",
        "<div align=\"center\">\n<img src=\"a.png\"\n     alt=\"a\">\n</div>\n",
        "![](a.png)\n",
        "(label)=\n% remark\n",
        "```python\n```\n",
        "```{toctree}\n:maxdepth: 1\n\na\nb\n```\n",
        "```{image} a.png\n:width: a\n```\n",
        "```{versionadded} 2.0\n```\n",
        "[TOC]\n{: .note }\n{#one}\n> [!NOTE]\n{{ one }}\n",
        "import A from 'a'\nimport {\n  b,\n} from 'b'\nexport const c = 1\n",
        "```{figure} a.png\n---\nwidth: 1\n---\n```\n",
        "```{eval-rst}\n.. automodule:: a\n   :members:\n```\n",
        "::: a.b.C\n    options:\n      show: false\n\n",
        "!!! note\n",
        "--8<-- \"a.md\"\n{% include \"a.md\" %}\n",
    ] {
        assert_eq!(said(Kind::Markdown, text), nothing, "{text}");
    }
    for (text, lines) in [
        ("---\n\none\n\n---\ntwo\n", vec!["one", "two"]),
        ("---\na: b\n---\n# One {#one}\n", vec!["One"]),
        ("---\na: b\n", vec!["a: b"]),
        (
            "---\ntitle: One\ndescription: >\n  two\ntags: a\n---\n",
            vec!["One", "two"],
        ),
        ("one\n\nimport a from 'b'\n", vec!["one", "import a from 'b'"]),
        ("```{image} a.png\n:alt: One\n```\n", vec!["One"]),
        (
            "```{toctree}\n---\ncaption: One\nmaxdepth: 1\n---\na\n```\ntwo\n",
            vec!["One", "two"],
        ),
        ("```{confval} a\n:type: int\n```\n", vec!["a", ":type: int"]),
        (
            "> [!NOTE] One\n> two\n1. three\n",
            vec!["[!NOTE] One", "two", "three"],
        ),
        (
            "[^1]: one\n[Note]: it is so\n",
            vec!["[^1]: one", "[Note]: it is so"],
        ),
        ("one <!-- two --> three <b>four</b>\n", vec!["one three four"]),
        (
            "`<one>` <https://x.org> a &lt; b&nbsp;c\n",
            vec!["`<one>` <https://x.org> a < b c"],
        ),
        ("[one](https://x.org) ![two](a.png)\n", vec!["one two"]),
        (
            "```python\n<one> # two\n[x]: y\n```\nthree\n",
            vec!["<one> # two", "[x]: y", "three"],
        ),
        ("```{note} One\n:class: a\ntwo\n```\n", vec!["One", "two"]),
        ("```{code-cell} ipython3\n:tags: [a]\none\n```\n", vec!["one"]),
        ("```{eval-rst}\n.. note:: one\n```\ntwo\n", vec!["one", "two"]),
        ("```{toctree}\na\n```\none\n", vec!["one"]),
        (":::note One\ntwo\n:::\n", vec!["One", "two"]),
        ("!!! note \"One\"\n    two\n", vec!["One\"", "two"]),
        ("<pre>\none\n</pre>\ntwo\n", vec!["one", "two"]),
        ("<a href=\"b\"\nand so on\n\ntwo\n", vec!["two"]),
    ] {
        assert_eq!(said(Kind::Markdown, text), lines, "{text}");
    }
}

#[test]
fn of_pages_what_stands_between_tags_is_read() {
    let page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>One</title>\n<style>\nbody { color: red }\n</style>\n\
        <SCRIPT>let a = \"<b>\";\nrun()</SCRIPT></head>\n<!-- no\nno -->\n{% extends \"base.html\" %}\n<p\n  class=\"a\">Two &amp; three</p>\n\
        {{ name }} {# no #}four\n<br/>\n";
    assert_eq!(said(Kind::Html, page), ["One", "Two & three", "four"]);
}

#[test]
fn other_documents_are_read_by_their_parts() {
    let cells =
        "[markdown cell]\n<!-- one\n\n[code cell]\n# <b>two</b>\n\n[markdown cell]\n![](a.png)\nthree\n";
    assert_eq!(said(Kind::Notebook, cells), ["# <b>two</b>", "three"]);
    let page = "\"\"\"\nHeat\n====\n\n.. image:: a.png\n\none\n\"\"\"\nx = 1\n# no\n# %%\n# two\n# .. a comment\n#    no\n\n# no\n";
    assert_eq!(said(Kind::Gallery, page), ["Heat", "one", "two"]);
    assert_eq!(said(Kind::Other, "= One\n// two\n"), ["= One", "// two"]);
}

proptest! {
    #[test]
    fn every_line_is_read_by_itself(text in r"(\.\. |::|:a:|_a|\|b\||\[c\]|    |`|```|\{toctree\}|\{eval-rst\}|---|<|>|<!--|-->|&|;|é|<script|\]\(|\)|\{%|d| |\n|\r\n){0,40}") {
        for kind in [Kind::Rst, Kind::Markdown, Kind::Html, Kind::Other, Kind::Notebook] {
            prop_assert_eq!(read(kind, &text).len(), text.lines().count());
        }
        prop_assert!(read(Kind::Gallery, &text).len() <= text.lines().count());
    }
}
