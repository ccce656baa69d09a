CREATE TABLE runs(
    id INTEGER PRIMARY KEY AUTOINCREMENT, created TEXT NOT NULL, koine TEXT NOT NULL, model TEXT NOT NULL,
    file TEXT NOT NULL, experiment TEXT NOT NULL, hash TEXT NOT NULL, settings TEXT NOT NULL, result TEXT NOT NULL,
    is_replaced INTEGER NOT NULL DEFAULT 0, outcome TEXT NOT NULL, message TEXT NOT NULL, start REAL, stop REAL,
    time REAL, points INTEGER NOT NULL, compile_seconds REAL, run_seconds REAL, tags TEXT NOT NULL);
PRAGMA user_version = 1;
INSERT INTO runs(created, koine, model, file, experiment, hash, settings, result, outcome, message, points,
                 run_seconds, tags)
VALUES('2026-01-31T12:00:00Z', '0.1.0', 'Old', 'f', '', 'h', '{}', '', 'done', '', 3, 0.5, ',');
