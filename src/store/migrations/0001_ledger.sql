-- The ledger's first shape. `decisions` and `attempts` are append-only: the triggers make sure.
CREATE TABLE candidates (
    id     TEXT    PRIMARY KEY,             -- owner/name#N
    repo   TEXT    NOT NULL,
    number INTEGER NOT NULL,
    data   TEXT    NOT NULL                 -- a Candidate as JSON
) STRICT;
CREATE UNIQUE INDEX candidates_by_repo ON candidates (repo, number);

CREATE TABLE decisions (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    scope     TEXT    NOT NULL,             -- dataset name, or `mine` for mining's own decisions
    candidate TEXT    NOT NULL,
    rule      TEXT    NOT NULL,
    verdict   TEXT    NOT NULL,
    kept      INTEGER NOT NULL,
    observed  TEXT    NOT NULL,             -- JSON
    evidence  TEXT    NOT NULL,
    input_key TEXT    NOT NULL,
    UNIQUE (scope, candidate, rule, input_key)
) STRICT;

CREATE TABLE attempts (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    candidate TEXT    NOT NULL,
    stage     TEXT    NOT NULL,
    input_key TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    detail    TEXT    NOT NULL,
    log       TEXT,                         -- a blob's address
    result    TEXT                          -- JSON, when done
) STRICT;
CREATE INDEX attempts_by_work ON attempts (stage, candidate, input_key);

CREATE TABLE instances (
    dataset   TEXT    NOT NULL,
    candidate TEXT    NOT NULL,
    data      TEXT    NOT NULL,             -- JSON
    PRIMARY KEY (dataset, candidate)
) STRICT;

CREATE TABLE cursors (
    name TEXT PRIMARY KEY,                  -- what was read: `mine:owner/name`
    data TEXT NOT NULL                      -- JSON
) STRICT;

CREATE TRIGGER decisions_keep BEFORE UPDATE ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER attempts_keep BEFORE UPDATE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER attempts_stay BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
