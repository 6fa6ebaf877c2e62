/**
 * Each entry takes the database from the version of its index to the next one. Never change an entry that was
 * released: add another.
 *
 * Numbers are signed 64-bit; times are milliseconds since 1970; blobs are protobuf messages of stageplane.v1.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE cluster (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    cluster_id   TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    revision     INTEGER NOT NULL,
    next_run_id  INTEGER NOT NULL,
    next_node_id INTEGER NOT NULL
  ) STRICT;

  -- Names and instance ids are unique at the end of a turn, but need not be between two of its rows.
  CREATE TABLE nodes (
    node_id     INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL,
    instance_id TEXT    NOT NULL,
    cordoned    INTEGER NOT NULL,
    machine     BLOB    NOT NULL, -- Node, with descriptor and engines only
    created_at  INTEGER NOT NULL,
    revision    INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE runs (
    run_id     INTEGER PRIMARY KEY,
    request_id TEXT    NOT NULL,
    mode       INTEGER NOT NULL, -- RunMode
    phase      TEXT    NOT NULL,
    outcome    TEXT,
    generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revision   INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE causes (
    run_id      INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    fault       BLOB    NOT NULL, -- StageFault
    stage_index INTEGER,
    node_id     INTEGER,
    component   TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    fixed       INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE plans (
    run_id     INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    plan_id    TEXT    NOT NULL,
    planned    BLOB    NOT NULL, -- Run, with plan and settings only
    PRIMARY KEY (run_id, generation)
  ) STRICT;

  CREATE TABLE stages (
    run_id      INTEGER NOT NULL,
    generation  INTEGER NOT NULL,
    stage_index INTEGER NOT NULL,
    node_id     INTEGER NOT NULL,
    phase       TEXT    NOT NULL,
    fault       BLOB, -- StageFault
    footprint   BLOB, -- StageFootprint
    PRIMARY KEY (run_id, generation, stage_index),
    FOREIGN KEY (run_id, generation) REFERENCES plans ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    revision INTEGER PRIMARY KEY,
    run_id   INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    event    BLOB    NOT NULL -- RunEvent
  ) STRICT;
  CREATE INDEX events_of_run ON events (run_id, revision);

  -- No reference to the run: the record outlives it, so that a request has its effect once.
  CREATE TABLE requests (
    request_id TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL,
    run_id     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX requests_of_run ON requests (run_id);
  `,
  // Also from here on: the Run in "plans" has its fidelity too.
  `
  CREATE TABLE answers (
    run_id INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    answer BLOB    NOT NULL -- TextAnswer
  ) STRICT;
  `,
  `
  -- No reference to a run: what a stage held is of use as long as somebody may plan the same again.
  CREATE TABLE footprints (
    key          TEXT    PRIMARY KEY,
    device_bytes INTEGER NOT NULL,
    revision     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX footprints_by_age ON footprints (revision);
  `,
  `
  ALTER TABLE nodes ADD COLUMN drain_until INTEGER;

  -- Of runs that may begin again after a fault.
  CREATE TABLE restarts (
    run_id       INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    max_attempts INTEGER NOT NULL,
    backoff      INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    last_cause   BLOB, -- RunCause
    obstacle     TEXT    NOT NULL,
    -- All NULL once the run is over.
    request      BLOB, -- PlanRequest
    inspection   BLOB, -- ModelInspection
    cuts         TEXT  -- JSON
  ) STRICT;

  -- Stages of earlier generations that are LOST.
  CREATE TABLE remnants (
    run_id      INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    generation  INTEGER NOT NULL,
    stage_index INTEGER NOT NULL,
    node_id     INTEGER NOT NULL,
    phase       TEXT    NOT NULL,
    fault       BLOB, -- StageFault
    footprint   BLOB, -- StageFootprint
    settings    BLOB    NOT NULL, -- StageSettings
    PRIMARY KEY (run_id, generation, stage_index)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Join tokens that have not expired, without their secrets.
  CREATE TABLE tokens (
    digest     TEXT    PRIMARY KEY, -- SHA-256 of the secret
    role       TEXT    NOT NULL,
    node_name  TEXT    NOT NULL,    -- '' for any
    expires_at INTEGER NOT NULL,
    -- NULL until it is redeemed.
    used_name  TEXT,
    used_node  INTEGER,             -- NULL for others than agents
    used_key   TEXT                 -- SHA-256 of the public key
  ) STRICT, WITHOUT ROWID;

  -- Certificates that were issued and have not expired.
  CREATE TABLE certificates (
    serial    TEXT    PRIMARY KEY,
    role      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    node_id   INTEGER,              -- NULL for others than agents
    not_after INTEGER NOT NULL,
    revoked   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Who did what. No reference to runs or nodes: the record outlives them.
  CREATE TABLE audit (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: readers resume after it
    kind     TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    caller   TEXT    NOT NULL,
    role     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    serial   TEXT    NOT NULL,
    address  TEXT    NOT NULL,
    method   TEXT    NOT NULL,
    target   TEXT    NOT NULL,
    run_id   INTEGER,
    node_id  INTEGER,
    code     TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    incident TEXT    NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_kind ON audit (kind, id);
  `,
  `
  -- Keys of the HTTP port that have not expired, without their texts.
  CREATE TABLE api_keys (
    digest     TEXT    PRIMARY KEY, -- SHA-256 of the text
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER              -- NULL for never
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The highest id of a node that was deleted since, or that a restored copy knows nothing of.
  ALTER TABLE cluster ADD COLUMN gone_node_id INTEGER NOT NULL DEFAULT 1;
  `,
];
