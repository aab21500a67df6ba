-- What a forge said, by what it was asked of: `pull:owner/name#N`, `issue:owner/name#N`, `repository:owner/name`.
CREATE TABLE forge (
    name       TEXT PRIMARY KEY,
    updated_at TEXT,                        -- when that changed last, by the forge's own word
    etag       TEXT,                        -- what REST calls this state
    reply      TEXT NOT NULL                -- a blob's address
) STRICT, WITHOUT ROWID;
