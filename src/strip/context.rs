//! Files that instruct coding agents: what the `no-context` variant is without (CTXbench, section 4.1, setting "None").

use crate::domain::path::RepoPath;

/// How a table's row names what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A file of this name, upper case or lower (a file system may not tell), in any folder.
    File,
    /// A folder of this name, anywhere, with everything in it.
    Folder,
    /// A path, below any folder, exactly as it is written.
    Path,
}

/// The table: name, shape, who reads it.
const TABLE: &[(&str, Shape, &str)] = &[
    ("AGENTS.md", Shape::File, "Codex, Cursor and others"),
    ("AGENTS.override.md", Shape::File, "Codex"),
    ("AGENT.md", Shape::File, "Amp and others"),
    ("CLAUDE.md", Shape::File, "Claude Code"),
    ("CLAUDE.local.md", Shape::File, "Claude Code"),
    ("GEMINI.md", Shape::File, "Gemini CLI"),
    ("QWEN.md", Shape::File, "Qwen Code"),
    ("CRUSH.md", Shape::File, "Crush"),
    ("WARP.md", Shape::File, "Warp"),
    // In lower case a page of documentation like any other.
    ("CONVENTIONS.md", Shape::Path, "aider"),
    (".aider.conf.yml", Shape::File, "aider"),
    (".cursorrules", Shape::File, "Cursor"),
    (".windsurfrules", Shape::File, "Windsurf"),
    (".clinerules", Shape::File, "Cline"),
    (".roorules", Shape::File, "Roo Code"),
    (".goosehints", Shape::File, "Goose"),
    (".mcp.json", Shape::File, "Claude Code"),
    (".cursor", Shape::Folder, "Cursor"),
    (".claude", Shape::Folder, "Claude Code"),
    (".codex", Shape::Folder, "Codex"),
    (".gemini", Shape::Folder, "Gemini CLI"),
    (".qwen", Shape::Folder, "Qwen Code"),
    (".windsurf", Shape::Folder, "Windsurf"),
    (".clinerules", Shape::Folder, "Cline"),
    (".roo", Shape::Folder, "Roo Code"),
    (".continue", Shape::Folder, "Continue"),
    (".augment", Shape::Folder, "Augment"),
    (".amazonq", Shape::Folder, "Amazon Q"),
    (".kiro", Shape::Folder, "Kiro"),
    (".junie", Shape::Folder, "Junie"),
    (".openhands", Shape::Folder, "OpenHands"),
    (".github/copilot-instructions.md", Shape::Path, "Copilot"),
    (".github/instructions", Shape::Path, "Copilot"),
    (".github/prompts", Shape::Path, "Copilot"),
    (".github/chatmodes", Shape::Path, "Copilot"),
    (".github/agents", Shape::Path, "Copilot"),
];

/// Who reads a file as its context; `None` for any other file.
pub fn reader(path: &RepoPath) -> Option<&'static str> {
    let parts: Vec<&[u8]> = path.components().collect();
    let (name, folders) = parts.split_last()?;
    TABLE
        .iter()
        .find(|(pattern, shape, _)| match shape {
            Shape::File => name.eq_ignore_ascii_case(pattern.as_bytes()),
            Shape::Folder => folders.contains(&pattern.as_bytes()),
            Shape::Path => {
                let wanted: Vec<&[u8]> = pattern.split('/').map(str::as_bytes).collect();
                parts
                    .windows(wanted.len())
                    .any(|window| window == wanted.as_slice())
            }
        })
        .map(|(_, _, reader)| *reader)
}

#[cfg(test)]
mod tests {
    use super::reader;
    use crate::domain::path::RepoPath;

    #[test]
    fn nested_ones_are_found_and_namesakes_are_not() {
        for path in [
            "AGENTS.md",
            "src/pkg/CLAUDE.md",
            ".cursor/rules/a.mdc",
            "sub/.claude/settings.json",
            ".github/copilot-instructions.md",
            ".github/instructions/py.instructions.md",
            "claude.md",
            "pkg/Agents.md",
            "CONVENTIONS.md",
        ] {
            assert!(reader(&RepoPath::from(path)).is_some(), "{path}");
        }
        for path in [
            "README.md",
            "agents.md.txt",
            "src/agents.py",
            ".github/workflows/ci.yml",
            "cursor/a.py",
            "docs/conventions.md",
        ] {
            assert!(reader(&RepoPath::from(path)).is_none(), "{path}");
        }
    }
}
