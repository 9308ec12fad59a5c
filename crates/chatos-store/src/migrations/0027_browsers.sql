-- Browsers that are signed in. What signs in again is a cookie and a key together; only a digest of the one and the public
-- half of the other are here. A browser that was signed out has no row. No copy of the database has any.
CREATE TABLE browsers (
  -- The beginning of the digest of its public key.
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  public_key BLOB NOT NULL,
  cookie_hash BLOB NOT NULL,
  -- The cookie before, good until the newer one was seen.
  prev_hash BLOB,
  cur_seen INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  address TEXT NOT NULL DEFAULT '',
  -- How old the sign-in was when the browser was last seen, by time that passed and not by the clock.
  age_ms INTEGER NOT NULL DEFAULT 0,
  -- When it was last seen, as time since that start of the machine.
  boot_id TEXT NOT NULL,
  boot_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
